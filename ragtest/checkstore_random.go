package ragtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/rageval/rageval/chunkers"
)

// randomVectors returns n vectors with components in [-1, 1), the same for the
// same seed.
func randomVectors(seed uint64, n, dim int) [][]float32 {
	r := rand.New(rand.NewPCG(seed, uint64(dim)))
	vectors := make([][]float32, n)
	for i := range vectors {
		vectors[i] = make([]float32, dim)
		for j := range vectors[i] {
			vectors[i][j] = float32(r.Int32()-1<<30) / (1 << 30)
		}
	}
	return vectors
}

func (c *storeCheck[C]) prefix() {
	const n, dim = 40, 8
	s, ok := c.store(numbered[C](n), randomVectors(1, n, dim))
	if !ok {
		return
	}
	for i, query := range randomVectors(2, 3, dim) {
		var shorter []ScoredChunk[C]
		for k := range n + 1 {
			found, ok := c.search(s, query, k)
			if !ok {
				return
			}
			if len(found) != k || !equalRankings(found[:len(shorter)], shorter, 0) {
				c.errorf("random query %d: got %v for k = %d but %v for k = %d", i, describe(found), k, describe(shorter), k-1)
				break
			}
			shorter = found
		}
	}
}

func (c *storeCheck[C]) exact() {
	const n = 200
	chunks := numbered[C](n)
	place := make(map[string]int, n)
	for i, chunk := range chunks {
		place[chunk.IndexText()] = i
	}
	for _, dim := range []int{1, 2, 3, 17, 64, 384} {
		vectors := randomVectors(3, n, dim)
		s, ok := c.store(chunks[:n/2], vectors[:n/2])
		if !ok || !c.add(s, chunks[n/2:], vectors[n/2:]) {
			return
		}
		for q, query := range randomVectors(4, 4, dim) {
			for _, k := range []int{10, n} {
				found, ok := c.search(s, query, k)
				if !ok {
					return
				}
				if err := compareWithExact(found, place, vectors, query, k); err != nil {
					c.errorf("dimension %d, random query %d, k = %d: %w", dim, q, k, err)
				}
			}
		}
	}
}

// compareWithExact compares a ranking with the cosine similarities in float64.
// place holds the index of the vector of each chunk, by its text.
func compareWithExact[C chunkers.Indexed](found []ScoredChunk[C], place map[string]int, vectors [][]float32, query []float32, k int) error {
	if want := min(k, len(vectors)); len(found) != want {
		return fmt.Errorf("got %d chunks, want %d", len(found), want)
	}
	rankOf := make(map[int]int, len(found))
	worst := math.Inf(1)
	for i, f := range found {
		rank := i + 1
		index, ok := place[f.Chunk.IndexText()]
		if !ok {
			return fmt.Errorf("rank %d: got the chunk %q, which was not added", rank, f.Chunk.IndexText())
		}
		if earlier, ok := rankOf[index]; ok {
			return fmt.Errorf("ranks %d and %d: got the chunk %q twice", earlier, rank, f.Chunk.IndexText())
		}
		rankOf[index] = rank
		want := cosine(query, vectors[index])
		if !(math.Abs(f.Score-want) <= scoreTolerance) {
			return fmt.Errorf("rank %d: got score %v, want %v", rank, f.Score, want)
		}
		if want > worst+2*scoreTolerance {
			return fmt.Errorf("rank %d: got a chunk of similarity %v after one of %v", rank, want, worst)
		}
		worst = min(worst, want)
	}
	for i, v := range vectors {
		if similarity := cosine(query, v); rankOf[i] == 0 && similarity > worst+2*scoreTolerance {
			return fmt.Errorf("chunk %d of similarity %v is missing: the worst that was found has %v", i, similarity, worst)
		}
	}
	return nil
}

func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot += x * y
		aa += x * x
		bb += y * y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return dot / math.Sqrt(aa*bb)
}

func (c *storeCheck[C]) concurrency() {
	const n, dim, k, goroutines, rounds = 100, 32, 7, 8, 10
	queries := randomVectors(6, goroutines, dim)
	s, ok := c.store(numbered[C](n), randomVectors(5, n, dim))
	if !ok {
		return
	}
	alone := make([][]ScoredChunk[C], goroutines)
	for i, query := range queries {
		if alone[i], ok = c.search(s, query, k); !ok {
			return
		}
	}
	failures := make([]error, goroutines)
	var wg sync.WaitGroup
	for i, query := range queries {
		wg.Go(func() {
			for range rounds {
				got, err := s.Search(c.ctx, query, k)
				if err != nil {
					failures[i] = fmt.Errorf("searching at the same time as others: %w", err)
					return
				}
				if !equalRankings(got, alone[i], 0) {
					failures[i] = fmt.Errorf("searching at the same time as others: got %v, alone %v", describe(got), describe(alone[i]))
					return
				}
			}
		})
	}
	wg.Wait()
	for _, err := range failures {
		if err != nil {
			c.errorf("%w", err)
		}
	}
}

func (c *storeCheck[C]) batch() {
	empty, ok := c.store(nil, nil)
	if !ok {
		return
	}
	b, ok := empty.(BatchSearcher[C])
	if !ok {
		return
	}
	if found, err := b.SearchBatch(c.ctx, [][]float32{{1, 0}, {0, 1}}, 3); err != nil {
		c.errorf("searching an empty store: %w", err)
	} else if len(found) != 2 || len(found[0]) != 0 || len(found[1]) != 0 {
		c.errorf("searching an empty store for 2 queries: got %d lists, want 2 without chunks", len(found))
	}

	const n, dim = 150, 16
	chunks, vectors := numbered[C](n), randomVectors(7, n, dim)
	for i := 0; i+10 < n; i += 10 {
		vectors[i+7] = slices.Clone(vectors[i]) // ties
		clear(vectors[i+3])
	}
	s, ok := c.store(chunks, vectors)
	if !ok {
		return
	}
	if b, ok = s.(BatchSearcher[C]); !ok {
		c.errorf("the first store is a BatchSearcher, a later one is not")
		return
	}
	queries := append(randomVectors(8, 9, dim), make([]float32, dim), vectors[0])
	before := slices.Concat(queries...)
	for _, k := range []int{0, 1, 10, n + 1} {
		found, err := b.SearchBatch(c.ctx, queries, k)
		if err != nil {
			c.errorf("searching with k = %d: %w", k, err)
			continue
		}
		if len(found) != len(queries) {
			c.errorf("searching with k = %d: got %d lists for %d queries", k, len(found), len(queries))
			continue
		}
		for i, query := range queries {
			if want, ok := c.search(s, query, k); ok && !equalRankings(found[i], want, 0) {
				c.errorf("query %d, k = %d: got %v, Search alone %v", i, k, describe(found[i]), describe(want))
				break
			}
		}
	}
	if !slices.Equal(slices.Concat(queries...), before) {
		c.errorf("the queries were modified")
	}
	if found, err := b.SearchBatch(c.ctx, nil, 3); err != nil || len(found) != 0 {
		c.errorf("searching for no queries: got %d lists and error %v, want none", len(found), err)
	}
	_, err := b.SearchBatch(c.ctx, [][]float32{queries[0], {1, 0}}, 3)
	c.wantError(err, "searching for queries of dimensions %d and 2", dim)
	for _, x := range notFinite {
		bad := slices.Clone(queries[0])
		bad[dim-1] = x
		_, err := b.SearchBatch(c.ctx, [][]float32{queries[0], bad}, 3)
		c.wantError(err, "searching for a query with the component %v", x)
	}
}
