package exact

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func BenchmarkDots(b *testing.B) {
	const dim, nq, nv = 384, 12, 24
	r := rand.New(rand.NewPCG(9, 10))
	queries := slices.Concat(randomVectors(r, nq, dim, 1000)...)
	vectors := slices.Concat(randomVectors(r, nv, dim, 1000)...)
	for _, n := range []int{1, nq} {
		b.Run(fmt.Sprintf("queries=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			scores := make([]float32, n*nv)
			for b.Loop() {
				dots(scores, queries[:n*dim], vectors, dim)
			}
			b.ReportMetric(float64(b.N)*float64(n*nv*dim)/float64(b.Elapsed().Nanoseconds()), "products/ns")
		})
	}
}

func BenchmarkSearch(b *testing.B) {
	const dim, rows, k = 384, 20_000, 10
	r := rand.New(rand.NewPCG(11, 12))
	vectors := randomVectors(r, rows, dim, 1000)
	queries := randomVectors(r, 500, dim, 1000)
	for _, index := range []interface {
		SearchAndRank(ctx context.Context, queries [][]float32, k int, wanted [][]int) ([][]Hit, [][]int, error)
	}{newMatrix(b, vectors...), newCompact(b, vectors, 1)} {
		for _, n := range []int{1, 500} {
			b.Run(fmt.Sprintf("queries=%d/index=%T", n, index), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, _, err := index.SearchAndRank(b.Context(), queries[:n], k, nil); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)*float64(n*rows*dim)/float64(b.Elapsed().Nanoseconds()), "products/ns")
			})
		}
	}
}

// BenchmarkSearchSparse searches vectors of 2,048 components of which 270 are not
// 0, with queries of 110, as hashed words and their parts make them.
func BenchmarkSearchSparse(b *testing.B) {
	const dim, rows, k = 2048, 5000, 10
	r := rand.New(rand.NewPCG(15, 16))
	m := newMatrix(b, sparseVectors(r, rows, dim, 270)...)
	queries := sparseVectors(r, 500, dim, 110)
	for _, n := range []int{1, 500} {
		b.Run(fmt.Sprintf("queries=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Search(b.Context(), queries[:n], k); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	vectors := randomVectors(rand.New(rand.NewPCG(13, 14)), 1000, 384, 1000)
	b.ReportAllocs()
	for b.Loop() {
		newMatrix(b, vectors...)
	}
}
