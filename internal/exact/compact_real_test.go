package exact_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/internal/exact"
	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/ragtest/model2vec"
)

// TestCompactOnRealVectors compares with a Matrix, and says how many rows are read for that.
func TestCompactOnRealVectors(t *testing.T) {
	model, err := model2vec.Open(realdata.Dir(t, "models", "potion-base-2M-int8"))
	if err != nil {
		t.Fatal(err)
	}
	embed := func(texts []string) [][]float32 {
		vectors, err := model.Embed(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		return vectors
	}
	t.Run("chroma", func(t *testing.T) {
		c, err := fixtures.ReadChroma(os.DirFS(realdata.Dir(t, "data", "chroma")))
		if err != nil {
			t.Fatal(err)
		}
		var texts, queries []string
		for doc := range c.Corpus.All() {
			pieces, err := chunkers.RecursiveCharacter{Size: 200}.ChunkWithPositions(context.Background(), doc)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range pieces {
				texts = append(texts, p.Text)
			}
		}
		for _, q := range c.Queries {
			queries = append(queries, q.Text)
		}
		compareCompact(t, embed(texts), embed(queries))
	})
	t.Run("scifact", func(t *testing.T) {
		c, err := fixtures.ReadBEIR(os.DirFS(realdata.Dir(t, "data", "beir", "scifact")))
		if err != nil {
			t.Fatal(err)
		}
		var texts, queries []string
		for doc := range c.Corpus.All() {
			texts = append(texts, doc.Text())
		}
		for _, q := range c.Queries {
			queries = append(queries, q.Text)
		}
		compareCompact(t, embed(texts), embed(queries))
	})
}

func TestCompactOnRandomVectors(t *testing.T) {
	n := 20_000
	if testing.Short() {
		n = 2000
	}
	r := rand.New(rand.NewPCG(51, 52))
	vectors := make([][]float32, n+200)
	for i := range vectors {
		vectors[i] = make([]float32, 384)
		for j := range vectors[i] {
			vectors[i][j] = float32(r.NormFloat64())
		}
	}
	compareCompact(t, vectors[:n], vectors[n:])
}

func compareCompact(t *testing.T, vectors, queries [][]float32) {
	t.Helper()
	const k = 10
	file, err := os.Create(filepath.Join(t.TempDir(), "vectors"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	m, c := new(exact.Matrix), exact.NewCompact(file)
	for _, x := range []interface {
		Append(context.Context, [][]float32) error
	}{m, c} {
		if err := x.Append(t.Context(), vectors); err != nil {
			t.Fatal(err)
		}
	}
	want, err := m.Search(t.Context(), queries, k)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := c.SearchAndRank(t.Context(), queries, k, nil)
	if err != nil {
		t.Fatal(err)
	}
	for q := range want {
		if !slices.Equal(got[q], want[q]) {
			t.Fatalf("query %d: got %v, want %v", q, got[q], want[q])
		}
	}
	counts := slices.Sorted(slices.Values(c.CandidateCounts(t, queries, k)))
	t.Logf("%d vectors of %d components, %d queries: recall of the best %d is 1; rows read for a query: median %d, most %d; memory %.3f of a matrix's",
		m.Len(), m.Dim(), len(queries), k, counts[len(counts)/2], counts[len(counts)-1], float64(c.Bytes())/float64(m.Bytes()))
}
