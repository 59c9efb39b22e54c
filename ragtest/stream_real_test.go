package ragtest_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
)

func TestStreamOfChromaGivesTheResultOfEvaluate(t *testing.T) {
	c, err := fixtures.ReadChroma(os.DirFS(realdata.Dir(t, "data", "chroma")))
	if err != nil {
		t.Fatal(err)
	}
	for _, equivalent := range []bool{false, true} {
		e := ragtest.TokenLevel{Name: "chroma", Corpus: c.Corpus, Queries: c.Queries, Chunker: chunkers.RecursiveCharacter{Size: 200, Overlap: 40},
			Embedder: lexical.Embedder{Dim: 256}, K: 7, EquivalentText: equivalent,
			Metrics: []ragtest.TokenMetric{ragtest.SpanRecall, ragtest.SpanPrecision, ragtest.SpanIoU, ragtest.SpanNDCG}}
		want, err := e.Evaluate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		e.Corpus = nil
		got, err := e.EvaluateStream(t.Context(), streamOf(c.Corpus))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("equivalent text counts: %t: (-stream +evaluate)\n%s", equivalent, diff)
		}
	}
}
