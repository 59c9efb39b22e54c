package lexical_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
)

// chroma is the evaluation of all questions of Chroma's chunking_evaluation
// data, its five corpora in one index.
func chroma(tb testing.TB, chunker chunkers.PositionAwareChunker, hashing bool) ragtest.TokenLevel {
	tb.Helper()
	collection, err := fixtures.ReadChroma(os.DirFS(realdata.Dir(tb, "data", "chroma")))
	if err != nil {
		tb.Fatal(err)
	}
	e := ragtest.TokenLevel{Corpus: collection.Corpus, Queries: collection.Queries, Chunker: chunker, K: 5}
	if hashing {
		e.Embedder = lexical.Embedder{}
	} else {
		e.Retriever = lexical.NewBM25[chunkers.PositionAwareChunk]()
	}
	return e
}

// The thresholds are just under what was measured: see the package comment.
func TestChromaEvaluation(t *testing.T) {
	for _, tc := range []struct {
		chunker chunkers.PositionAwareChunker
		hashing bool
		recall  float64
	}{
		{chunkers.RecursiveCharacter{Size: 800}, false, 0.82},
		{chunkers.RecursiveCharacter{Size: 800}, true, 0.75},
		{chunkers.RecursiveCharacter{Size: 400}, false, 0.72},
		{chunkers.RecursiveCharacter{Size: 400}, true, 0.63},
		{chunkers.FixedSize{Size: 800}, false, 0.86},
		{chunkers.FixedSize{Size: 800}, true, 0.80},
	} {
		t.Run(fmt.Sprintf("%s/hashing=%v", tc.chunker, tc.hashing), func(t *testing.T) {
			r := ragtest.RunTokenLevel(t, chroma(t, tc.chunker, tc.hashing), ragtest.SpanRecall.AtLeast(tc.recall))
			relevant := 0
			for _, q := range r.Queries {
				relevant += len(q.Relevant)
			}
			if len(r.Queries) != 472 || r.Diagnostics.Documents != 5 || relevant < 780 {
				t.Errorf("got %d queries with %d relevant spans over %d documents, want 472 with about 790 over 5", len(r.Queries), relevant, r.Diagnostics.Documents)
			}
		})
	}
}

// BenchmarkChromaEvaluation times the whole evaluation from corpus to result,
// and reports which share of it is neither chunking, embedding, indexing nor
// searching.
func BenchmarkChromaEvaluation(b *testing.B) {
	for _, hashing := range []bool{false, true} {
		b.Run(fmt.Sprintf("size=400/hashing=%v", hashing), func(b *testing.B) {
			e := chroma(b, chunkers.RecursiveCharacter{Size: 400}, hashing)
			b.ReportAllocs()
			var total, components time.Duration
			for b.Loop() {
				r, err := e.Evaluate(context.Background())
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
