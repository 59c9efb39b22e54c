package chunkers_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/spans"
)

// On Chroma's corpora, with an embedder that knows words alone, each rule is to
// give chunks that lose nothing, of the sizes that it promises, and a PrecisionΩ
// just under what was measured. The log shows the sizes beside those of
// RecursiveCharacter.
func TestSemanticOnChroma(t *testing.T) {
	collection, err := fixtures.ReadChroma(os.DirFS(realdata.Dir(t, "data", "chroma")))
	if err != nil {
		t.Fatal(err)
	}
	e := lexical.Embedder{Dim: 512}
	for _, test := range []struct {
		chunker chunkers.PositionAwareChunker
		maxSize int // 0: unbounded
		omega   float64
	}{
		{chunkers.RecursiveCharacter{Size: 400}, 400, 0.579},
		{chunkers.RecursiveCharacter{Size: 800}, 800, 0.345},
		{chunkers.Semantic{Embedder: e, Rule: chunkers.Threshold(0.1)}, 0, 0.415},
		{chunkers.Semantic{Embedder: e, Rule: chunkers.Percentile{Percentile: 50, Buffer: 1}}, 0, 0.405},
		{chunkers.Semantic{Embedder: e, Rule: chunkers.Percentile{Buffer: 1}}, 0, 0.065},
		{chunkers.Semantic{Embedder: e, Rule: chunkers.TargetSize{Size: 400, Buffer: 3}}, 0, 0.3},
		{chunkers.Semantic{Embedder: e, Rule: chunkers.TargetSize{Size: 1200, UnitSize: 200, Buffer: 3}}, 0, 0.15},
		{chunkers.Semantic{Embedder: e, Rule: chunkers.Cluster{MaxSize: 400}}, 400, 0.54},
		{chunkers.Semantic{Embedder: e, Rule: chunkers.Cluster{MaxSize: 800}}, 800, 0.39},
		{chunkers.Semantic{Embedder: e, Rule: chunkers.Cluster{MaxSize: 1600, UnitSize: 200}}, 1600, 0.25},
	} {
		t.Run(nameOf(test.chunker), func(t *testing.T) {
			var chunks []spans.Span
			var sizes []int
			for doc := range collection.Corpus.All() {
				pieces, err := test.chunker.ChunkWithPositions(t.Context(), doc)
				if err != nil {
					t.Fatal(err)
				}
				var joined strings.Builder
				for _, p := range pieces {
					span, err := doc.CharSpan(p.Start, p.End)
					if err != nil {
						t.Fatal(err)
					}
					if test.maxSize > 0 && span.Len() > test.maxSize {
						t.Errorf("%s: chunk %v has %d characters, want at most %d", doc.ID(), span, span.Len(), test.maxSize)
					}
					chunks, sizes = append(chunks, span), append(sizes, span.Len())
					joined.WriteString(p.Text)
				}
				if _, ok := test.chunker.(chunkers.Semantic); ok && joined.String() != doc.Text() {
					t.Errorf("%s: the chunks do not join to the text", doc.ID())
				}
			}
			total, omega := 0, 0.0
			for _, n := range sizes {
				total += n
			}
			for _, q := range collection.Queries {
				omega += ragtest.PrecisionOmega(chunks, q.Relevant)
			}
			omega /= float64(len(collection.Queries))
			slices.Sort(sizes)
			t.Logf("%d chunks, characters: mean %d, median %d, 95th percentile %d, most %d; PrecisionΩ %.4f",
				len(sizes), total/len(sizes), sizes[len(sizes)/2], sizes[len(sizes)*95/100], sizes[len(sizes)-1], omega)
			if omega < test.omega {
				t.Errorf("got PrecisionΩ %.4f, want at least %.4f", omega, test.omega)
			}
		})
	}
}

func nameOf(c chunkers.PositionAwareChunker) string {
	return c.(interface{ String() string }).String()
}
