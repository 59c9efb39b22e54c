package onnx

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

func crossEncoder(labels int) *bert {
	spec := tiny
	spec.labels = labels
	return newBERT(spec)
}

func candidates(texts ...string) (chunks []ragtest.ScoredChunk[chunkers.PositionAwareChunk]) {
	for i, text := range texts {
		chunks = append(chunks, ragtest.ScoredChunk[chunkers.PositionAwareChunk]{Chunk: chunkers.PositionAwareChunk{
			ID: chunkers.NewPositionAwareChunkID(text), Span: spans.Span{Doc: "a.md", Start: 1000 * i, End: 1000*i + 1}, Text: text,
		}})
	}
	return chunks
}

func TestCrossEncoderGivesTheModelsScores(t *testing.T) {
	onBackends(t, func(t *testing.T, backend Backend) {
		for labels, score := range map[int]func([]float64) float64{
			1: func(logits []float64) float64 { return logits[0] },
			2: func(logits []float64) float64 { return logits[1] - logits[0] },
		} {
			b := crossEncoder(labels)
			r := closed(t, &CrossEncoder[chunkers.PositionAwareChunk]{Model: Model{Dir: modelDir(t, b, nil), Backend: backend}})
			const query = "Where does the cat sleep?"
			got, err := r.Rerank(t.Context(), query, candidates(sentences...))
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(sentences) {
				t.Errorf("got %d chunks, want %d", len(got), len(sentences))
			}
			tokenizer := tinyTokenizer(t)
			for i, c := range got {
				ids, segments := tokenizer.Pair(tokenizer.AppendIDs(nil, query), tokenizer.AppendIDs(nil, c.Chunk.Text))
				want := score(b.logits(ids, segments))
				if d := math.Abs(c.Score - want); !(d <= tolerance) {
					t.Errorf("%d labels: %q: got %v, want %v in double precision", labels, c.Chunk.Text, c.Score, want)
				}
				if i > 0 && c.Score > got[i-1].Score {
					t.Errorf("rank %d has the score %v, the one before it %v", i+1, c.Score, got[i-1].Score)
				}
			}
		}
	})
}

func TestCrossEncoderKeepsTheContract(t *testing.T) {
	onBackends(t, func(t *testing.T, backend Backend) {
		dir := modelDir(t, crossEncoder(1), nil)
		atToken := closed(t, &CrossEncoder[chunkers.PositionAwareChunk]{Model: Model{Dir: dir, Backend: backend}})
		if err := ragtest.CheckReranker(t.Context(), atToken); err != nil {
			t.Error(err)
		}
		atChunk := closed(t, &CrossEncoder[chunkers.Chunk]{Model: Model{Dir: dir, Backend: backend}})
		if err := ragtest.CheckReranker(t.Context(), atChunk); err != nil {
			t.Error(err)
		}
	})
}

func TestEqualScoresKeepTheirOrder(t *testing.T) {
	r := closed(t, &CrossEncoder[chunkers.PositionAwareChunk]{Model: Model{Dir: modelDir(t, crossEncoder(1), nil), Backend: PureGo}})
	given := candidates("the cat", "the key", "the cat", "the cat", "the key")
	got, err := r.Rerank(t.Context(), "cat?", given)
	if err != nil {
		t.Fatal(err)
	}
	var places []int
	for _, c := range got {
		places = append(places, c.Chunk.Span.Start/1000)
	}
	if want := [][]int{{0, 2, 3, 1, 4}, {1, 4, 0, 2, 3}}; !slices.Equal(places, want[0]) && !slices.Equal(places, want[1]) {
		t.Errorf("got the order %d, want one of %d", places, want)
	}
}

func TestCrossEncoderTruncatesPairs(t *testing.T) {
	b := crossEncoder(1)
	onBackends(t, func(t *testing.T, backend Backend) {
		r := closed(t, &CrossEncoder[chunkers.PositionAwareChunk]{Model: Model{Dir: modelDir(t, b, nil), Backend: backend, MaxTokens: 12}})
		query, text := "the cat on the key", strings.Repeat("every day ", 9)
		got, err := r.Rerank(t.Context(), query, candidates(text))
		if err != nil {
			t.Fatal(err)
		}
		tokenizer := tinyTokenizer(t)
		ids, segments := tokenizer.Pair(tokenizer.AppendIDs(nil, "the cat on the"), tokenizer.AppendIDs(nil, "every day every day every"))
		if want := b.logits(ids, segments)[0]; len(ids) != 12 || math.Abs(got[0].Score-want) > tolerance {
			t.Errorf("got the score %v, want %v of %d tokens", got[0].Score, want, len(ids))
		}
	})
}

func TestScoresThatAreNone(t *testing.T) {
	onBackends(t, func(t *testing.T, backend Backend) {
		r := closed(t, &CrossEncoder[chunkers.PositionAwareChunk]{Model: Model{Dir: modelDir(t, crossEncoder(3), nil), Backend: backend}})
		_, err := r.Rerank(t.Context(), "q", candidates("text"))
		wantError(t, err, "reranking candidate 0 with the model tiny-bert: the output logits has the shape [3] for a pair: want one number, or two")

		b := crossEncoder(1)
		b.weights["classifier.bias"][0] = float32(math.NaN())
		r = closed(t, &CrossEncoder[chunkers.PositionAwareChunk]{Model: Model{Dir: modelDir(t, b, nil), Backend: backend}})
		_, err = r.Rerank(t.Context(), "q", candidates("text"))
		wantError(t, err, "the output logits is [NaN]: want finite numbers")

		// An embedder is no cross-encoder, nor the other way round.
		r = closed(t, &CrossEncoder[chunkers.PositionAwareChunk]{Model: Model{Dir: modelDir(t, newBERT(tiny), nil), Backend: backend}})
		_, err = r.Rerank(t.Context(), "q", candidates("text"))
		wantError(t, err, "the output last_hidden_state has the shape [16 32] for a pair", "the output last_hidden_state has the shape [10 32] for a pair", "has the shape [")
	})
}

// wantError fails unless err says one of the texts.
func wantError(tb testing.TB, err error, texts ...string) {
	tb.Helper()
	if err == nil || !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(err.Error(), text) }) {
		tb.Errorf("got the error %v, want one that says %q", err, texts)
	}
}

func TestNames(t *testing.T) {
	e := &Embedder{Model: Model{Dir: "models/all-MiniLM-L6-v2"}}
	all := &Embedder{
		Model: Model{Dir: "x/bge/", File: "m.onnx", MaxTokens: 7, Backend: PureGo, BatchTokens: 3}, Pooling: CLSPooling, Normalization: NotNormalized,
		Prefixes: &Prefixes{Query: "query: "},
	}
	mean := &Embedder{Model: Model{Dir: "e5"}, Pooling: MeanPooling, Normalization: Normalized}
	r := &CrossEncoder[chunkers.Chunk]{Model: Model{Dir: "ms-marco"}}
	got := []string{fmt.Sprint(e), fmt.Sprint(all), fmt.Sprint(mean), fmt.Sprint(r)}
	want := []string{
		"onnx/all-MiniLM-L6-v2",
		`onnx/bge/file=m.onnx/max=7/pooling=cls/notnormalized/prefixes="query: ",""`,
		"onnx/e5/pooling=mean/normalized",
		"onnx/ms-marco",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}
