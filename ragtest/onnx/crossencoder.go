package onnx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
)

// CrossEncoder is a [ragtest.Reranker] that runs a cross-encoder, such as
// ms-marco-MiniLM-L-6-v2 or bge-reranker-base, on this machine. It reads the
// query and each chunk's IndexText together.
//
// All candidates are returned, best first; equal scores keep the order given.
// The score is what the model gives, without a sigmoid, so that it may be
// negative: the one number for a pair, or, from a model with two labels, how
// much greater that of label 1 is than that of label 0, as monoBERT's are:
// log-odds either way. A model with more labels is an error.
//
// The model is loaded when it is first needed, or by Validate. Close releases
// it. A CrossEncoder is used through a pointer, is safe for concurrent use, and
// must not be copied once it is in use.
type CrossEncoder[C chunkers.Indexed] struct {
	Model

	model lazy[*crossEncoderModel]
}

// crossEncoderModel is a cross-encoder's model, loaded.
type crossEncoderModel struct {
	*loaded
	output string
}

func (r *CrossEncoder[C]) load() (_ *crossEncoderModel, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("onnx.CrossEncoder: loading the model in %q: %w", r.Dir, err)
		}
	}()
	m := &crossEncoderModel{}
	if m.loaded, err = r.Model.load(); err != nil {
		return nil, err
	}
	if err := m.prepare(); err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

func (m *crossEncoderModel) prepare() (err error) {
	special, segments := m.tokenizer.Pair(nil, nil)
	if len(special) == 0 {
		return errors.New("tokenizer.json: post_processor adds nothing to a pair: want tokens that separate its texts")
	}
	if err := m.checkLimit(special, segments); err != nil {
		return err
	}
	m.output, err = m.chooseOutput("logits")
	return err
}

// Validate loads the model, unless it is loaded, and returns an error that names
// the field or file that cannot be used.
func (r *CrossEncoder[C]) Validate() error {
	return r.model.use(context.Background(), r.load, func(*crossEncoderModel) error { return nil })
}

// Runs loads the model, unless it is loaded, and returns what runs it, such as
// "ONNX Runtime 1.24.3" or "GoMLX".
func (r *CrossEncoder[C]) Runs() (name string, err error) {
	err = r.model.use(context.Background(), r.load, func(m *crossEncoderModel) error {
		name = m.runs()
		return nil
	})
	return name, err
}

// Close releases the model once no call uses it. A later call loads it again.
// The error is always nil.
func (r *CrossEncoder[C]) Close() error {
	r.model.close()
	return nil
}

// String returns the name of the model, which is that of its folder, and the
// fields that change scores, such as "onnx/ms-marco-MiniLM-L-6-v2/max=256".
func (r *CrossEncoder[C]) String() string { return r.Model.String() }

// Rerank returns the chunks by the model's scores. It returns an error soon
// after ctx is done: between two batches.
func (r *CrossEncoder[C]) Rerank(ctx context.Context, query string, chunks []ragtest.ScoredChunk[C]) (ranked []ragtest.ScoredChunk[C], err error) {
	if len(chunks) == 0 {
		return nil, nil
	}
	texts := make([]string, len(chunks))
	for i, c := range chunks {
		texts[i] = c.Chunk.IndexText()
	}
	err = r.model.use(ctx, r.load, func(m *crossEncoderModel) error {
		scores, err := m.scores(ctx, query, texts)
		if err != nil {
			return err
		}
		ranked = slices.Clone(chunks)
		for i := range ranked {
			ranked[i].Score = scores[i]
		}
		slices.SortStableFunc(ranked, func(a, b ragtest.ScoredChunk[C]) int { return cmp.Compare(b.Score, a.Score) })
		return nil
	})
	return ranked, err
}

// scores returns how relevant each text is to the query.
func (m *crossEncoderModel) scores(ctx context.Context, query string, texts []string) ([]float64, error) {
	queryIDs := m.ids(query)
	encodings := make([]encoding, len(texts))
	for i, text := range texts {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		encodings[i] = m.pair(queryIDs, m.ids(text))
	}
	scores := make([]float64, len(texts))
	err := m.run(ctx, m.output, encodings, func(i int, row tensor) (err error) {
		if scores[i], err = m.score(row); err != nil {
			return fmt.Errorf("reranking candidate %d with the model %s: %w", i, m.name, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	m.count(ctx, encodings)
	return scores, nil
}

// score returns the score in the model's output for one pair.
func (m *crossEncoderModel) score(row tensor) (score float64, err error) {
	switch {
	case len(row.shape) > 1 || len(row.data) != 1 && len(row.data) != 2:
		return 0, fmt.Errorf("the output %s has the shape %v for a pair: want one number, or two", m.output, row.shape)
	case len(row.data) == 1:
		score = float64(row.data[0])
	default:
		score = float64(row.data[1]) - float64(row.data[0])
	}
	if math.IsNaN(score) || math.IsInf(score, 0) {
		return 0, fmt.Errorf("the output %s is %v: want finite numbers", m.output, row.data)
	}
	return score, nil
}
