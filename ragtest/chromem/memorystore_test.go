package chromem_test

import (
	"fmt"
	"math"
	"testing"

	chromemgo "github.com/philippgille/chromem-go"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/chromem"
)

// TestEqualsMemoryStore compares the two implementations, with vectors that
// chromem-go alone would rank at random among them.
func TestEqualsMemoryStore(t *testing.T) {
	const n, dim, k = 3000, 96, 10
	ctx := t.Context()
	vectors := randomVectors(2, n, dim)
	for i := 100; i < n; i += 100 {
		vectors[i] = vectors[i-100] // thirty equal vectors
	}
	memory := ragtest.NewMemoryStore[chunkers.Chunk]()
	s, err := chromem.NewInMemory[chunkers.Chunk]()
	if err != nil {
		t.Fatal(err)
	}
	for _, store := range []ragtest.VectorStore[chunkers.Chunk]{memory, s} {
		if err := store.Add(ctx, numbered(n), vectors); err != nil {
			t.Fatal(err)
		}
	}
	queries := append(randomVectors(3, 50, dim), vectors[0])
	batch, err := memory.SearchBatch(ctx, queries, n)
	if err != nil {
		t.Fatal(err)
	}
	for q, query := range queries {
		exact := make(map[string]float64, n)
		for _, f := range batch[q] {
			exact[f.Chunk.Text] = f.Score
		}
		found, err := s.Search(ctx, query, k)
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range found {
			// Summed in another order, scores differ in their last bits, and
			// neighbours that differ in no more may change places.
			const tolerance = 1e-6
			want := batch[q][i]
			if math.Abs(got.Score-want.Score) > tolerance || math.Abs(exact[got.Chunk.Text]-want.Score) > tolerance {
				t.Errorf("query %d, rank %d: got %q %v, want %q %v", q, i+1, got.Chunk.Text, got.Score, want.Chunk.Text, want.Score)
			}
		}
	}
	for i, f := range batch[len(queries)-1][:30] {
		if want := fmt.Sprintf("passage %d", 100*i); f.Chunk.Text != want {
			t.Errorf("equal vectors, rank %d: got %q, want %q", i+1, f.Chunk.Text, want)
		}
	}
}

// BenchmarkSearch compares MemoryStore with a query of chromem-go itself. Both
// use all processors; ns/query is what to compare.
func BenchmarkSearch(b *testing.B) {
	const dim, k, batch = 384, 10, 500
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("vectors=%d", n), func(b *testing.B) {
			if testing.Short() && n > 10_000 {
				b.Skip("skipped with -short: takes some seconds and 600 MB")
			}
			vectors, queries := randomVectors(4, n, dim), randomVectors(5, batch, dim)
			memory := ragtest.NewMemoryStore[chunkers.Chunk]()
			if err := memory.Add(b.Context(), make([]chunkers.Chunk, n), vectors); err != nil {
				b.Fatal(err)
			}
			for _, size := range []int{batch, 1} {
				b.Run(fmt.Sprintf("impl=memory/batch=%d", size), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if _, err := memory.SearchBatch(b.Context(), queries[:size], k); err != nil {
							b.Fatal(err)
						}
					}
					reportPerQuery(b, size)
				})
			}
			b.Run("impl=chromem/batch=1", func(b *testing.B) {
				collection, err := chromemgo.NewDB().CreateCollection("benchmark", nil, nil)
				if err != nil {
					b.Fatal(err)
				}
				for i, v := range vectors {
					if err := collection.AddDocument(b.Context(), chromemgo.Document{ID: fmt.Sprint(i), Embedding: v}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportAllocs()
				next := 0
				for b.Loop() {
					if _, err := collection.QueryEmbedding(b.Context(), queries[next%batch], k, nil, nil); err != nil {
						b.Fatal(err)
					}
					next++
				}
				reportPerQuery(b, 1)
			})
		})
	}
}

func reportPerQuery(b *testing.B, queries int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*queries), "ns/query")
}
