package model2vec

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
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
				Dim   int
				Items []struct {
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
			for _, item := range reference.Items {
				vectors, err := e.Embed(t.Context(), []string{item.Text})
				if err != nil {
					t.Fatal(err)
				}
				worst := 0.0
				for i, x := range vectors[0] {
					worst = max(worst, math.Abs(float64(x)-item.Embedding[i]))
				}
				if !(worst <= 1e-6) {
					t.Errorf("%q: a component differs by %g, want at most 1e-6; IDs %d, want %d", item.Text, worst, e.Tokenizer().AppendIDs(nil, item.Text), item.IDs)
				}
			}
		})
	}
}

func TestConformance(t *testing.T) {
	e, _ := openReal(t, "potion-base-2M-int8")
	if err := ragtest.CheckEmbedder(t.Context(), e); err != nil {
		t.Error(err)
	}
}
