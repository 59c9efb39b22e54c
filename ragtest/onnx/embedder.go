package onnx

import (
	"context"
	"fmt"
	"math"
)

// Embedder is a [ragtest.Embedder] and [ragtest.QueryEmbedder] that runs a
// sentence-transformer, such as all-MiniLM-L6-v2, on this machine.
//
// The model is loaded when it is first needed, or by Validate. Close releases
// it. An Embedder is used through a pointer, is safe for concurrent use, and must
// not be copied once it is in use. What its fields do not say is what the
// model's files say: see the package documentation.
type Embedder struct {
	Model

	Pooling       Pooling       // how the tokens' vectors become the text's; zero: as the model's files say
	Normalization Normalization // whether vectors get the length 1; zero: as the model's files say

	// Prefixes stand before texts, as asymmetric models want; nil: those in the
	// model's config_sentence_transformers.json, if any. E5's are
	// {"query: ", "passage: "}, which its files do not say. Empty ones are none.
	Prefixes *Prefixes

	model lazy[*embedderModel]
}

// Pooling is how the vectors of a text's tokens become its vector.
type Pooling int

const (
	PoolingOfModel Pooling = iota // as 1_Pooling/config.json says; without it, MeanPooling
	MeanPooling                   // the mean over all tokens, special ones included
	CLSPooling                    // the vector of the first token
)

// Normalization is whether vectors are divided by their length.
type Normalization int

const (
	NormalizationOfModel Normalization = iota // as modules.json says; without it, Normalized
	Normalized                                // every vector but the zero vector has the length 1
	NotNormalized
)

// Prefixes is what stands before queries and before passages, with the space
// after it.
type Prefixes struct{ Query, Passage string }

// embedderModel is an embedder's model, loaded.
type embedderModel struct {
	*loaded
	recipe recipe
	output string
}

func (e *Embedder) load() (_ *embedderModel, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("onnx.Embedder: loading the model in %q: %w", e.Dir, err)
		}
	}()
	switch {
	case e.Pooling < 0 || e.Pooling > CLSPooling:
		return nil, fmt.Errorf("field Pooling: got %d, want PoolingOfModel, MeanPooling or CLSPooling", int(e.Pooling))
	case e.Normalization < 0 || e.Normalization > NotNormalized:
		return nil, fmt.Errorf("field Normalization: got %d, want NormalizationOfModel, Normalized or NotNormalized", int(e.Normalization))
	}
	m := &embedderModel{}
	if m.loaded, err = e.Model.load(); err != nil {
		return nil, err
	}
	if err := m.prepare(e); err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

func (m *embedderModel) prepare(e *Embedder) (err error) {
	if err := m.checkLimit(m.tokenizer.Single(nil)); err != nil {
		return err
	}
	if m.recipe, err = e.recipe(); err != nil {
		return err
	}
	m.output, err = m.chooseOutput("last_hidden_state", "token_embeddings")
	return err
}

// Validate loads the model, unless it is loaded, and returns an error that names
// the field or file that cannot be used.
func (e *Embedder) Validate() error {
	return e.model.use(context.Background(), e.load, func(*embedderModel) error { return nil })
}

// Runs loads the model, unless it is loaded, and returns what runs it, such as
// "ONNX Runtime 1.24.3" or "GoMLX".
func (e *Embedder) Runs() (name string, err error) {
	err = e.model.use(context.Background(), e.load, func(m *embedderModel) error {
		name = m.runs()
		return nil
	})
	return name, err
}

// Close releases the model once no call uses it. A later call loads it again.
// The error is always nil.
func (e *Embedder) Close() error {
	e.model.close()
	return nil
}

// String returns the name of the model, which is that of its folder, and the
// fields that change vectors, such as "onnx/all-MiniLM-L6-v2/max=128". It does
// not say what runs the model.
func (e *Embedder) String() string {
	s := e.Model.String()
	switch e.Pooling {
	case MeanPooling:
		s += "/pooling=mean"
	case CLSPooling:
		s += "/pooling=cls"
	}
	switch e.Normalization {
	case Normalized:
		s += "/normalized"
	case NotNormalized:
		s += "/notnormalized"
	}
	if p := e.Prefixes; p != nil {
		s += fmt.Sprintf("/prefixes=%q,%q", p.Query, p.Passage)
	}
	return s
}

// Embed returns the vectors of passages. A text without any tokens, which only
// models without special tokens have, is the zero vector. It returns an error
// soon after ctx is done: between two batches.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return e.embed(ctx, texts, func(p Prefixes) string { return p.Passage })
}

// EmbedQueries returns the vectors of queries, as Embed does those of passages.
func (e *Embedder) EmbedQueries(ctx context.Context, queries []string) ([][]float32, error) {
	return e.embed(ctx, queries, func(p Prefixes) string { return p.Query })
}

func (e *Embedder) embed(ctx context.Context, texts []string, prefix func(Prefixes) string) (vectors [][]float32, err error) {
	if len(texts) == 0 {
		return nil, nil
	}
	err = e.model.use(ctx, e.load, func(m *embedderModel) (err error) {
		vectors, err = m.embed(ctx, prefix(m.recipe.prefixes), texts)
		return err
	})
	return vectors, err
}

func (m *embedderModel) embed(ctx context.Context, prefix string, texts []string) ([][]float32, error) {
	encodings := make([]encoding, len(texts))
	for i, text := range texts {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		encodings[i] = m.single(prefix + text)
	}
	vectors := make([][]float32, len(texts))
	err := m.run(ctx, m.output, encodings, func(i int, row tensor) (err error) {
		if vectors[i], err = m.pool(row, len(encodings[i].ids)); err != nil {
			return fmt.Errorf("embedding text %d with the model %s: %w", i, m.name, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	m.count(ctx, encodings)
	return vectors, nil
}

// pool returns the vector of a text with n tokens from the model's output, which
// is a vector for each token or, in some models, already that of the text.
func (m *embedderModel) pool(row tensor, n int) ([]float32, error) {
	var sum []float64
	switch {
	case len(row.shape) == 1:
		sum = make([]float64, row.shape[0])
		n = 1
	case len(row.shape) == 2 && row.shape[0] >= n:
		sum = make([]float64, row.shape[1])
		if m.recipe.pooling == CLSPooling {
			n = min(n, 1)
		}
	default:
		return nil, fmt.Errorf("the output %s has the shape %v for a text of %d tokens: want a vector for each", m.output, row.shape, n)
	}
	if len(sum) == 0 {
		return nil, fmt.Errorf("the output %s has vectors of dimension 0", m.output)
	}
	for i, v := range row.data[:n*len(sum)] {
		sum[i%len(sum)] += float64(v)
	}
	return m.finish(sum, n)
}

// finish makes a vector of the sum of n.
func (m *embedderModel) finish(sum []float64, n int) ([]float32, error) {
	scale, square := 1/float64(max(1, n)), 0.0
	for _, v := range sum {
		square += v * v
	}
	if math.IsNaN(square) || math.IsInf(square, 0) {
		return nil, fmt.Errorf("the output %s holds numbers that are not finite", m.output)
	}
	if m.recipe.normalization == Normalized && square > 0 {
		scale = 1 / math.Sqrt(square)
	}
	vector := make([]float32, len(sum))
	for i, v := range sum {
		vector[i] = float32(v * scale)
	}
	return vector, nil
}
