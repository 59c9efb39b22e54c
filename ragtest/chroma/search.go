package chroma

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/rageval/rageval/internal/exact"
	"github.com/rageval/rageval/internal/parallel"
	"github.com/rageval/rageval/ragtest"
)

const (
	// queriesAtOnce is how many queries one request holds.
	queriesAtOnce = 64
	// requestsAtOnce is how many requests of a search are under way at once.
	requestsAtOnce = 4
	// recordsAtOnce bounds how many records the answer to a request names, unless
	// those of one query are more.
	recordsAtOnce = 1 << 16
	// chunksAtOnce is how many chunks one request asks for.
	chunksAtOnce = 1000
)

// Search returns the k chunks whose vectors are most similar to the query, best
// first, ties by insertion order; all chunks if there are fewer than k. The score
// is 1 less Chroma's cosine distance, a float32, which rounding may carry beyond
// ±1 by a few units in the last place. See the package comment for what an
// approximate search may miss.
func (s *Store[C]) Search(ctx context.Context, query []float32, k int) ([]ragtest.ScoredChunk[C], error) {
	found, err := s.SearchBatch(ctx, [][]float32{query}, k)
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// SearchBatch searches for several queries, and returns for each what Search
// returns for it.
func (s *Store[C]) SearchBatch(ctx context.Context, queries [][]float32, k int) ([][]ragtest.ScoredChunk[C], error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	found, err := s.searchAll(ctx, queries, k)
	if err != nil {
		return nil, fmt.Errorf("searching the chroma collection %s: %w", s.name, err)
	}
	return found, nil
}

func (s *Store[C]) searchAll(ctx context.Context, queries [][]float32, k int) ([][]ragtest.ScoredChunk[C], error) {
	if s.unusable != nil {
		return nil, s.unusable
	}
	if k < 0 {
		return nil, fmt.Errorf("k is %d, want 0 or more", k)
	}
	for i, q := range queries {
		if err := exact.ValidateVector(q, s.dim); err != nil {
			if len(queries) == 1 {
				return nil, fmt.Errorf("query %w", err)
			}
			return nil, fmt.Errorf("query %d %w", i, err)
		}
	}
	found := make([][]ragtest.ScoredChunk[C], len(queries))
	k = min(k, s.n)
	if err := context.Cause(ctx); err != nil || k == 0 {
		return found, err
	}
	groups := slices.Collect(slices.Chunk(queries, queriesAtOnce))
	err := parallel.Do(ctx, requestsAtOnce, len(groups), func(ctx context.Context, g int) error {
		return s.searchGroup(ctx, groups[g], k, found[g*queriesAtOnce:])
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// searchGroup searches for queries that fit into one request; k is not 0 and at
// most the number of chunks.
func (s *Store[C]) searchGroup(ctx context.Context, queries [][]float32, k int, found [][]ragtest.ScoredChunk[C]) error {
	hits, err := s.nearest(ctx, queries, k)
	if err != nil {
		return err
	}
	chunks, err := s.chunks(ctx, hits)
	if err != nil {
		return err
	}
	for q := range hits {
		found[q] = make([]ragtest.ScoredChunk[C], len(hits[q]))
		for i, h := range hits[q] {
			found[q][i] = ragtest.ScoredChunk[C]{Chunk: chunks[h.Index], Score: float64(h.Score)}
		}
	}
	return nil
}

// nearest returns the k best chunks of each query, best first.
func (s *Store[C]) nearest(ctx context.Context, queries [][]float32, k int) ([][]exact.Hit, error) {
	hits := make([][]exact.Hit, len(queries))
	var open []int // the queries whose k best are not known yet
	units := make([][]float32, len(queries))
	for q, query := range queries {
		units[q] = make([]float32, len(query))
		exact.Normalize(units[q], query)
		if !zero(units[q]) {
			open = append(open, q)
			continue
		}
		for i := range k {
			hits[q] = append(hits[q], exact.Hit{Index: i})
		}
	}
	for limit := min(k+1, s.n); len(open) > 0; limit = min(2*limit, s.n) {
		var tied []int
		for some := range slices.Chunk(open, max(1, recordsAtOnce/limit)) {
			vectors := make([][]float32, len(some))
			for i, q := range some {
				vectors[i] = units[q]
			}
			answers, err := s.client.query(ctx, s.id, vectors, limit)
			if err != nil {
				return nil, err
			}
			for i, q := range some {
				ranked, err := s.rank(answers[i])
				if err != nil {
					return nil, err
				}
				// A chunk that was left out may score what the last one does,
				// and have been added before it.
				if len(ranked) == limit && limit < s.n && ranked[limit-1].Score == ranked[k-1].Score {
					tied = append(tied, q)
					continue
				}
				hits[q] = slices.Clone(ranked[:min(k, len(ranked))])
			}
		}
		open = tied
	}
	return hits, nil
}

// rank returns what the server found, best first, ties by insertion order.
func (s *Store[C]) rank(found []near) ([]exact.Hit, error) {
	hits := make([]exact.Hit, len(found))
	seen := make(map[string]bool, len(found))
	for i, f := range found {
		place, err := strconv.Atoi(f.id)
		if err != nil || strconv.Itoa(place) != f.id || place < 0 || place >= s.n {
			return nil, fmt.Errorf("the collection holds a record %q that was not added by this store", f.id)
		}
		if seen[f.id] {
			return nil, fmt.Errorf("the server found the record %q twice", f.id)
		}
		seen[f.id] = true
		hits[i] = exact.Hit{Index: place, Score: 1 - f.distance}
	}
	slices.SortFunc(hits, exact.Compare)
	return hits, nil
}

// chunks returns the chunks that the hits name, by their places.
func (s *Store[C]) chunks(ctx context.Context, hits [][]exact.Hit) (map[int]C, error) {
	var places []int
	for _, h := range hits {
		for _, hit := range h {
			places = append(places, hit.Index)
		}
	}
	slices.Sort(places)
	places = slices.Compact(places)
	chunks := make(map[int]C, len(places))
	for batch := range slices.Chunk(places, min(chunksAtOnce, s.maxBatch)) {
		ids := make([]string, len(batch))
		for i, place := range batch {
			ids[i] = strconv.Itoa(place)
		}
		records, err := s.client.get(ctx, s.id, ids)
		if err != nil {
			return nil, err
		}
		for i, place := range batch {
			r, ok := records[ids[i]]
			if !ok {
				return nil, fmt.Errorf("the server answered without the record %q that was asked for", ids[i])
			}
			if chunks[place], err = decode[C](r); err != nil {
				return nil, fmt.Errorf("record %q: %w", ids[i], err)
			}
		}
	}
	return chunks, nil
}

func zero(v []float32) bool {
	return !slices.ContainsFunc(v, func(x float32) bool { return x != 0 })
}
