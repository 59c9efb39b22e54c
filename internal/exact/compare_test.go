package exact

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// compared returns the scores of all pairs, those of vector i in row n-1-i of n.
func compared(tb testing.TB, q *Queries, vectors [][]float32) (scores *Scores, rows []int) {
	tb.Helper()
	scores = NewScores(len(vectors), q.Len())
	for i := range vectors {
		rows = append(rows, len(vectors)-1-i)
	}
	if err := q.Compare(tb.Context(), scores, rows, vectors); err != nil {
		tb.Fatal(err)
	}
	return scores, rows
}

// kinds are vectors and queries that are compared in columns, and others.
var kinds = []struct {
	name    string
	columns bool
	vectors func(r *rand.Rand, n int) [][]float32
	queries func(r *rand.Rand, n int) [][]float32
}{
	{"sparse", true,
		func(r *rand.Rand, n int) [][]float32 { return sparseVectors(r, n, 2048, 270) },
		func(r *rand.Rand, n int) [][]float32 { return sparseVectors(r, n, 2048, 110) }},
	{"sparse queries", true,
		func(r *rand.Rand, n int) [][]float32 { return randomVectors(r, n, 300, 9) },
		func(r *rand.Rand, n int) [][]float32 { return sparseVectors(r, n, 300, 20) }},
	{"few dimensions", true,
		func(r *rand.Rand, n int) [][]float32 { return sparseVectors(r, n, 13, 9) },
		func(r *rand.Rand, n int) [][]float32 { return sparseVectors(r, n, 13, 2) }},
	{"dense", false,
		func(r *rand.Rand, n int) [][]float32 { return randomVectors(r, n, 101, 9) },
		func(r *rand.Rand, n int) [][]float32 { return randomVectors(r, n, 101, 9) }},
}

// Scores are those of the package comment, to the bit, and a search among them finds
// what one among the vectors does, whatever the number of vectors, queries and processors.
func TestScoresEqualSearch(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, kind := range kinds {
		for _, size := range []struct{ vectors, queries, procs int }{{1, 1, 2}, {63, 3, 1}, {64, 17, 2}, {65, 16, 3}, {1500, 35, 2}} {
			t.Run(fmt.Sprintf("%s/%d vectors, %d queries", kind.name, size.vectors, size.queries), func(t *testing.T) {
				runtime.GOMAXPROCS(size.procs)
				r := rand.New(rand.NewPCG(31, uint64(size.vectors)))
				vectors, queries := kind.vectors(r, size.vectors), kind.queries(r, size.queries)
				clear(vectors[len(vectors)/2])
				clear(queries[len(queries)/2])
				q := NewQueries(queries)
				if columns := q.terms != nil; columns != kind.columns && size.queries > 1 {
					t.Fatalf("compared in columns: %t, want %t", columns, kind.columns)
				}
				scores, rows := compared(t, q, vectors)
				for v := range vectors {
					for i := range queries {
						if got, want := scores.at(i, rows[v]), naiveScore(queries[i], vectors[v]); got != want {
							t.Fatalf("vector %d, query %d: got %x, want %x", v, i, got, want)
						}
					}
				}
				m := newMatrix(t, vectors...)
				if got, want := q.MatrixBytes(size.vectors), m.Bytes(); got != want {
					t.Errorf("got %d bytes, want %d", got, want)
				}
				wanted := make([][]int, len(queries))
				for i := range wanted {
					wanted[i] = []int{0, len(vectors) / 2, len(vectors) - 1}[:1+i%3]
				}
				for _, k := range []int{0, 1, 7, 2000} {
					for _, some := range [][][]int{nil, wanted} {
						found, ranked, err := scores.Search(t.Context(), rows, k, some)
						if err != nil {
							t.Fatal(err)
						}
						wantFound, wantRanked, err := m.SearchAndRank(t.Context(), queries, k, some)
						if err != nil {
							t.Fatal(err)
						}
						if diff := cmp.Diff(wantFound, found) + cmp.Diff(wantRanked, ranked); diff != "" {
							t.Fatalf("k = %d: (-matrix +scores)\n%s", k, diff)
						}
					}
				}
			})
		}
	}
}

// The kernel in assembly computes the bits of the one in Go.
func TestColumnDotsEqualGo(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 34))
	for _, count := range []int{0, 1, 5, 200} {
		q := NewQueries(append(sparseVectors(r, 1, 1024, count), make([]float32, 1024)))
		columns := make([]float32, columnRows*1024)
		for i := range columns {
			columns[i] = r.Float32() - 0.5
		}
		var got, want [columnRows]float32
		var sums [lanes * columnRows]float32
		columnDots(&got, columns, &q.terms[0], &sums)
		goColumnDots(&want, columns, &q.terms[0], &sums)
		if got != want {
			t.Errorf("%d terms: got %v, want %v", count, got, want)
		}
	}
}

func TestCompareStops(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 36))
	vectors := randomVectors(r, 300, 16, 3)
	q := NewQueries(vectors[:20])
	scores, rows := compared(t, q, vectors)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := q.Compare(ctx, scores, rows, vectors); err == nil {
		t.Error("Compare goes on after its context is done")
	}
	if _, _, err := scores.Search(ctx, rows, 3, nil); err == nil {
		t.Error("Search goes on after its context is done")
	}
	if _, _, err := scores.Search(t.Context(), rows, -1, nil); err == nil {
		t.Error("a negative k is no error")
	}
}

// BenchmarkCompare compares texts as the lexical embedder makes them, and dense ones.
func BenchmarkCompare(b *testing.B) {
	r := rand.New(rand.NewPCG(37, 38))
	for _, kind := range []struct {
		name             string
		vectors, queries [][]float32
	}{
		{"sparse", sparseVectors(r, 2048, 2048, 270), sparseVectors(r, 472, 2048, 110)},
		{"dense", randomVectors(r, 2048, 384, 1000), randomVectors(r, 472, 384, 1000)},
	} {
		b.Run(kind.name, func(b *testing.B) {
			b.ReportAllocs()
			q := NewQueries(kind.queries)
			scores, rows := compared(b, q, kind.vectors)
			for b.Loop() {
				if err := q.Compare(b.Context(), scores, rows, kind.vectors); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(kind.vectors)*len(kind.queries)), "ns/pair")
		})
	}
}

func BenchmarkSearchScores(b *testing.B) {
	r := rand.New(rand.NewPCG(39, 40))
	vectors := randomVectors(r, 4000, 8, 1000)
	q := NewQueries(randomVectors(r, 472, 8, 1000))
	scores, rows := compared(b, q, vectors)
	wanted := make([][]int, q.Len())
	for i := range wanted {
		wanted[i] = []int{i, i + 1}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := scores.Search(b.Context(), rows, 5, wanted); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(vectors)*q.Len()), "ns/pair")
}
