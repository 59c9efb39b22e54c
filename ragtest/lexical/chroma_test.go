package lexical

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/ragtest"
)

// chroma reads Chroma's chunking_evaluation data: five corpora and 472 questions
// with the spans that answer them.
func chroma(tb testing.TB) *fixtures.TokenCollection {
	tb.Helper()
	collection, err := fixtures.ReadChroma(os.DirFS(realdata.Dir(tb, "data", "chroma")))
	if err != nil {
		tb.Fatal(err)
	}
	return collection
}

// TestChroma evaluates all questions at K = 5, the five corpora in one index.
// The thresholds are just under what was measured: see the package comment.
func TestChroma(t *testing.T) {
	collection := chroma(t)
	for _, test := range []struct {
		name                 string
		pipeline             func(e *ragtest.TokenLevel)
		recall800, recall400 float64 // of recursive chunks
		fixed800             float64
	}{
		{"bm25", bm25, 0.82, 0.72, 0.86},
		{"embedder", embedder(Embedder{}), 0.755, 0.635, 0.80},
		{"embedder/dim=1024", embedder(Embedder{Dim: 1024}), 0.72, 0.615, 0.78},
		{"embedder/fitted", embedder(Embedder{}.Fit(collection.Corpus)), 0.765, 0.64, 0.815},
		{"rrf", func(e *ragtest.TokenLevel) {
			e.Retriever = Fuse(ragtest.Retriever[chunkers.PositionAwareChunk](NewBM25[chunkers.PositionAwareChunk]()),
				ragtest.Dense[chunkers.PositionAwareChunk](Embedder{}, nil))
		}, 0.80, 0.69, 0.83},
	} {
		for _, chunked := range []struct {
			chunker interface {
				chunkers.PositionAwareChunker
				fmt.Stringer
			}
			recall float64
		}{
			{chunkers.RecursiveCharacter{Size: 800}, test.recall800},
			{chunkers.RecursiveCharacter{Size: 400}, test.recall400},
			{chunkers.FixedSize{Size: 800}, test.fixed800},
		} {
			t.Run(test.name+"/"+chunked.chunker.String(), func(t *testing.T) {
				e := ragtest.TokenLevel{Corpus: collection.Corpus, Queries: collection.Queries, Chunker: chunked.chunker, K: 5}
				test.pipeline(&e)
				r := ragtest.RunTokenLevel(t, e, ragtest.SpanRecall.AtLeast(chunked.recall))
				// Of the 790 relevant spans, 97 are elsewhere too.
				if e := r.Diagnostics.EquivalentText; e == nil || e.Passages != 97 || e.RecallChange < 0 {
					t.Errorf("got %+v, want 97 passages", e)
				}
				if len(r.Queries) != 472 || r.Diagnostics.Documents != 5 {
					t.Errorf("got %d queries over %d documents, want 472 over 5", len(r.Queries), r.Diagnostics.Documents)
				}
			})
		}
	}
}

func bm25(e *ragtest.TokenLevel) { e.Retriever = NewBM25[chunkers.PositionAwareChunk]() }

func embedder(embedder Embedder) func(e *ragtest.TokenLevel) {
	return func(e *ragtest.TokenLevel) { e.Embedder = embedder }
}

// BenchmarkChroma times the whole evaluation, from the corpus to the result, and
// reports which share of it is neither chunking, embedding, indexing nor search.
func BenchmarkChroma(b *testing.B) {
	collection := chroma(b)
	for _, bench := range []struct {
		retrieval string
		pipeline  func(e *ragtest.TokenLevel)
	}{{"bm25", bm25}, {"embedder", embedder(Embedder{})}} {
		b.Run("size=400/retrieval="+bench.retrieval, func(b *testing.B) {
			e := ragtest.TokenLevel{Corpus: collection.Corpus, Queries: collection.Queries, Chunker: chunkers.RecursiveCharacter{Size: 400}, K: 5}
			b.ReportAllocs()
			var total, components time.Duration
			for b.Loop() {
				bench.pipeline(&e)
				r, err := e.Evaluate(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				total += r.Elapsed
				components += busy(r.Trace)
			}
			b.ReportMetric(100*float64(total-components)/float64(total), "overhead-%")
		})
	}
}

// busy returns how long at least one component worked.
func busy(trace ragtest.Trace) time.Duration {
	intervals := slices.DeleteFunc(slices.Clone(trace.Intervals), func(i ragtest.Interval) bool { return i.Stage == "score" })
	slices.SortFunc(intervals, func(a, b ragtest.Interval) int { return a.Start.Compare(b.Start) })
	var total time.Duration
	var until time.Time
	for _, i := range intervals {
		if i.Start.After(until) {
			until = i.Start
		}
		if i.End.After(until) {
			total += i.End.Sub(until)
			until = i.End
		}
	}
	return total
}

// chromaTexts returns the data's chunks of 400 characters, and its questions.
func chromaTexts(tb testing.TB) (chunks []chunkers.PositionAwareChunk, questions []string) {
	tb.Helper()
	collection := chroma(tb)
	for doc := range collection.Corpus.All() {
		pieces, err := chunkers.RecursiveCharacter{Size: 400}.ChunkWithPositions(tb.Context(), doc)
		if err != nil {
			tb.Fatal(err)
		}
		for _, p := range pieces {
			span, err := doc.CharSpan(p.Start, p.End)
			if err != nil {
				tb.Fatal(err)
			}
			chunks = append(chunks, chunkers.PositionAwareChunk{ID: chunkers.NewPositionAwareChunkID(p.Text), Span: span, Text: p.Text})
		}
	}
	for _, q := range collection.Queries {
		questions = append(questions, q.Text)
	}
	return chunks, questions
}
