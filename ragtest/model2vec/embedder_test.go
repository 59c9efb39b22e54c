package model2vec

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/ragtest"
)

func openReal(tb testing.TB, name string) (e *Embedder, dir string) {
	tb.Helper()
	dir = realdata.Dir(tb, "models", name)
	e, err := Open(dir)
	if err != nil {
		tb.Fatal(err)
	}
	return e, dir
}

func TestReferenceEmbeddings(t *testing.T) {
	for _, name := range []string{"potion-base-2M-int8", "model2vec-bge-vq64"} {
		t.Run(name, func(t *testing.T) {
			e, dir := openReal(t, name)
			content, err := os.ReadFile(filepath.Join(dir, "reference_embeddings.json"))
			if err != nil {
				t.Fatal(err)
			}
			var reference struct {
				Dim              int
				MedianTokenBytes int `json:"median_token_bytes"`
				Items            []struct {
					Text      string
					IDs       []int
					Embedding []float64
				}
			}
			if err := json.Unmarshal(content, &reference); err != nil {
				t.Fatal(err)
			}
			if e.Dimension() != reference.Dim {
				t.Errorf("got %d dimensions, want %d", e.Dimension(), reference.Dim)
			}
			if got := e.Tokenizer().MedianLength(); got != reference.MedianTokenBytes {
				t.Errorf("got tokens of %d bytes in the median, want %d", got, reference.MedianTokenBytes)
			}
			for _, item := range reference.Items {
				vectors, err := e.Embed(t.Context(), []string{item.Text})
				if err != nil {
					t.Fatal(err)
				}
				if worst := difference(vectors[0], item.Embedding); !(worst <= 1e-6) {
					t.Errorf("%q: a component differs by %g, want at most 1e-6; IDs %d, want %d", item.Text, worst, e.Tokenizer().AppendIDs(nil, item.Text), item.IDs)
				}
			}
		})
	}
}

// difference returns the greatest difference of two components.
func difference(got []float32, want []float64) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	worst := 0.0
	for i, x := range got {
		worst = max(worst, math.Abs(float64(x)-want[i]))
	}
	return worst
}

// The vector that Model2Vec's own tests have for this model.
func TestUpstreamsVector(t *testing.T) {
	e, dir := openReal(t, "model2vec-bge-vq64")
	content, err := os.ReadFile(filepath.Join(dir, "embeddings_vocab_quantized.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want [][]float64
	if err := json.Unmarshal(content, &want); err != nil {
		t.Fatal(err)
	}
	vectors, err := e.Embed(t.Context(), []string{strings.TrimSuffix(strings.Repeat("hello ", 1000), " ")})
	if err != nil {
		t.Fatal(err)
	}
	if worst := difference(vectors[0], want[0]); !(worst <= 1e-6) {
		t.Errorf("a component differs by %g, want at most 1e-6", worst)
	}
}

func TestConformance(t *testing.T) {
	for _, name := range []string{"potion-base-2M-int8", "model2vec-bge-vq64"} {
		e, _ := openReal(t, name)
		if err := ragtest.CheckEmbedder(t.Context(), e); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
