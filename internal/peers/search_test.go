package peers

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/philippgille/chromem-go"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/rageval/rageval/internal/cputime"
	"github.com/rageval/rageval/ragtest"
)

const searchDim, searchK, searchBatch = 384, 10, 500

// unitVectors returns random vectors of length 1, one after the other in memory.
func unitVectors(seed uint64, n int) (flat []float32, vectors [][]float32) {
	r := rand.New(rand.NewPCG(seed, 0))
	flat = make([]float32, n*searchDim)
	for v := range slices.Chunk(flat, searchDim) {
		sum := 0.0
		for i := range v {
			v[i] = float32(r.NormFloat64())
			sum += float64(v[i]) * float64(v[i])
		}
		for i := range v {
			v[i] = float32(float64(v[i]) / math.Sqrt(sum))
		}
		vectors = append(vectors, v)
	}
	return flat, vectors
}

type hit struct {
	index int
	score float64
}

// gonumSearch multiplies blocks of vectors with all queries by Sgemm, which uses
// all processors, as the search for the best k among the products does.
func gonumSearch(queries, vectors []float32, k int) [][]hit {
	const block = 10_000
	nq, nv := len(queries)/searchDim, len(vectors)/searchDim
	best := make([][]hit, nq)
	scores := make([]float32, nq*block)
	a := blas32.General{Rows: nq, Cols: searchDim, Stride: searchDim, Data: queries}
	for first := 0; first < nv; first += block {
		n := min(block, nv-first)
		b := blas32.General{Rows: n, Cols: searchDim, Stride: searchDim, Data: vectors[first*searchDim:]}
		c := blas32.General{Rows: nq, Cols: n, Stride: n, Data: scores}
		blas32.Gemm(blas.NoTrans, blas.Trans, 1, a, b, 0, c)
		var wg sync.WaitGroup
		workers := runtime.GOMAXPROCS(0)
		for w := range workers {
			wg.Go(func() {
				for q := w; q < nq; q += workers {
					top := best[q]
					for i, s := range scores[q*n : (q+1)*n] {
						if len(top) == k && float64(s) <= top[k-1].score {
							continue
						}
						h := hit{first + i, float64(s)}
						at, _ := slices.BinarySearchFunc(top, h, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
						top = slices.Insert(top, at, h)
						top = top[:min(k, len(top))]
					}
					best[q] = top
				}
			})
		}
		wg.Wait()
	}
	return best
}

// memoryStore returns a store whose chunks are numbers.
func memoryStore(tb testing.TB, vectors [][]float32) *ragtest.MemoryStore[int] {
	tb.Helper()
	numbers := make([]int, len(vectors))
	for i := range numbers {
		numbers[i] = i
	}
	store := ragtest.NewMemoryStore[int]()
	if err := store.Add(tb.Context(), numbers, vectors); err != nil {
		tb.Fatal(err)
	}
	return store
}

func chromemCollection(tb testing.TB, vectors [][]float32) *chromem.Collection {
	tb.Helper()
	collection, err := chromem.NewDB().CreateCollection("benchmark", nil, nil)
	if err != nil {
		tb.Fatal(err)
	}
	for i, v := range vectors {
		if err := collection.AddDocument(tb.Context(), chromem.Document{ID: fmt.Sprint(i), Embedding: v}); err != nil {
			tb.Fatal(err)
		}
	}
	return collection
}

func TestSearchersDoTheSameWork(t *testing.T) {
	flat, vectors := unitVectors(1, 3000)
	flatQueries, queries := unitVectors(2, 20)
	found, err := memoryStore(t, vectors).SearchBatch(t.Context(), queries, searchK)
	if err != nil {
		t.Fatal(err)
	}
	collection := chromemCollection(t, vectors)
	products := gonumSearch(flatQueries, flat, searchK)
	for q, query := range queries {
		results, err := collection.QueryEmbedding(t.Context(), query, searchK, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, ours := range found[q] {
			// They add up in orders of their own: neighbours may change places.
			const tolerance = 1e-6
			if got := products[q][i].score; math.Abs(got-ours.Score) > tolerance {
				t.Errorf("query %d, rank %d: gonum's score is %v, ours %v", q, i+1, got, ours.Score)
			}
			if got := float64(results[i].Similarity); math.Abs(got-ours.Score) > tolerance {
				t.Errorf("query %d, rank %d: chromem-go's score is %v, ours %v", q, i+1, got, ours.Score)
			}
		}
	}
}

// BenchmarkSearch compares exact search for the best 10 with chromem-go's, with
// gonum's matrix product, and with reading as much memory as the vectors take.
// All use all processors, but for the reading: compare ns/query for the time
// that passes, and cpu-ns/query, the time of all processors together, for the
// work, above all on a machine that does something else too.
func BenchmarkSearch(b *testing.B) {
	flatQueries, queries := unitVectors(2, searchBatch)
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("vectors=%d", n), func(b *testing.B) {
			if testing.Short() && n > 10_000 {
				b.Skip("skipped with -short: takes some seconds and 600 MB")
			}
			flat, vectors := unitVectors(1, n)
			run := func(name string, batch int, search func(b *testing.B, i int) error) {
				b.Run(fmt.Sprintf("batch=%d/impl=%s", batch, name), func(b *testing.B) {
					b.ReportAllocs()
					i := 0
					var cpu time.Duration
					for b.Loop() {
						if i == 0 {
							cpu = cputime.Used(b)
						}
						if err := search(b, i); err != nil {
							b.Fatal(err)
						}
						i++
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(i*batch), "ns/query")
					b.ReportMetric(float64(cputime.Used(b)-cpu)/float64(i*batch), "cpu-ns/query")
				})
			}
			store := memoryStore(b, vectors)
			run("rageval", 1, func(b *testing.B, i int) error {
				_, err := store.Search(b.Context(), queries[i%searchBatch], searchK)
				return err
			})
			memory := bytes.Repeat([]byte{2}, 4*len(flat)) // zeros that nobody wrote would share one page
			run("read", 1, func(b *testing.B, _ int) error {
				if bytes.IndexByte(memory, 1) >= 0 {
					return fmt.Errorf("found what is not there")
				}
				return nil
			})
			run("rageval", searchBatch, func(b *testing.B, _ int) error {
				_, err := store.SearchBatch(b.Context(), queries, searchK)
				return err
			})
			run("gonum", searchBatch, func(*testing.B, int) error {
				gonumSearch(flatQueries, flat, searchK)
				return nil
			})
			collection := chromemCollection(b, vectors)
			run("chromem-go", 1, func(b *testing.B, i int) error {
				_, err := collection.QueryEmbedding(b.Context(), queries[i%searchBatch], searchK, nil, nil)
				return err
			})
		})
	}
}
