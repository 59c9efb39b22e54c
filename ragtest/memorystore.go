package ragtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/rageval/rageval/internal/exact"
)

// MemoryStore is an exact vector store in memory: it compares every query with
// every vector, on all processors. The score is the cosine similarity. It is
// the store of an evaluation that names none.
//
// Vectors are normalised once, when they are added; the zero vector, whether
// stored or searched for, scores 0 with everything. Their length does not
// matter: 1e30 and 1e-30 are as good as 1. Equal scores are ranked by insertion
// order. Scores are computed in float32, in an order of summation that is fixed,
// so that they are the same bits on every machine, for every number of
// processors, and in [MemoryStore.Search] and [MemoryStore.SearchBatch]. Rounding
// may carry a score beyond ±1 by a few units in the last place of a float32.
//
// It is an error if there is not one vector for each chunk, if dimensions
// differ, if a vector is empty, or if a component is NaN or infinite. An Add
// that fails, or whose context is done, changes nothing.
//
// Any number of goroutines may search at once. A search that meets an Add waits
// for it.
//
// A store of [NewCompactStore] takes a quarter of the memory.
//
// The vectors take 4 bytes a component, in rows padded to a multiple of eight
// components; those of mostly zeros, as hashed words are, up to 30% more. A search
// takes O(chunks · dimension) time for each query.
type MemoryStore[C any] struct {
	mu      sync.RWMutex
	chunks  []C
	vectors exact.Matrix   // one row for each chunk, unless
	compact *exact.Compact // this holds them; nil: it does not
	file    *os.File       // of compact
	named   bool           // whether the file has still to be removed
}

// vectorIndex is what holds the vectors of a store.
type vectorIndex interface {
	Dim() int
	Bytes() int64
	Append(ctx context.Context, vectors [][]float32) error
	SearchAndRank(ctx context.Context, queries [][]float32, k int, wanted [][]int) ([][]exact.Hit, [][]int, error)
}

func (s *MemoryStore[C]) index() vectorIndex {
	if s.compact != nil {
		return s.compact
	}
	return &s.vectors
}

// NewMemoryStore returns an empty store. C is [chunkers.Chunk] or
// [chunkers.PositionAwareChunk], or any type of your own.
func NewMemoryStore[C any]() *MemoryStore[C] { return new(MemoryStore[C]) }

// NewCompactStore returns an empty store that finds exactly what one of
// [NewMemoryStore] finds, chunks, scores and ranks, and has one byte for each component
// and eight for each vector in memory. The vectors themselves are in a temporary file in
// dir, "" for the one that [os.CreateTemp] chooses, of four bytes a component.
//
// It compares with bytes, which tell every score to within known bounds, of about 0.01,
// and reads the vectors of all chunks that can be among the best k, so that none is lost:
// for the best 10 of 10,803 chunks of the Chroma corpora 41 at most, of 20,000 random
// vectors 52. The ranks of missed passages, which an evaluation reports, take a pass over
// the file.
//
// [MemoryStore.Close] removes the file. Where the system allows it, the file has no name,
// and is gone with the process.
func NewCompactStore[C any](dir string) (*MemoryStore[C], error) {
	file, err := os.CreateTemp(dir, "ragtest-vectors-*")
	if err != nil {
		return nil, fmt.Errorf("making a compact store: %w", err)
	}
	named := os.Remove(file.Name()) != nil // Windows removes no file that is open: then Close does.
	return &MemoryStore[C]{compact: exact.NewCompact(file), file: file, named: named}, nil
}

// Close releases what a compact store has beside memory; it must not be used any more.
// Of other stores Close does nothing.
func (s *MemoryStore[C]) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if s.named {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	if err != nil {
		return fmt.Errorf("closing a compact store: %w", err)
	}
	s.file, s.named = nil, false
	return nil
}

// Equal reports whether both are the same store.
func (s *MemoryStore[C]) Equal(t *MemoryStore[C]) bool { return s == t }

// String returns "memory", or "compact".
func (s *MemoryStore[C]) String() string {
	if s.compact != nil {
		return "compact"
	}
	return "memory"
}

// Len returns the number of chunks that the store holds.
func (s *MemoryStore[C]) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.chunks)
}

// IndexBytes returns the size of the vectors in memory.
func (s *MemoryStore[C]) IndexBytes() int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.index().Bytes()
}

// Add appends chunks with their vectors. Both are copied; what the chunks point
// to, such as their metadata, is not.
func (s *MemoryStore[C]) Add(ctx context.Context, chunks []C, vectors [][]float32) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := exact.ValidateChunks(len(chunks), vectors, s.index().Dim()); err != nil {
		return fmt.Errorf("adding to the memory store: %w", err)
	}
	if err := s.index().Append(ctx, vectors); err != nil {
		return fmt.Errorf("adding to the memory store: %w", err)
	}
	s.chunks = append(s.chunks, chunks...)
	return nil
}

// Search returns the k chunks whose vectors are most similar to the query, best
// first; all chunks if there are fewer than k. A negative k is an error. A store
// without chunks knows no dimension and returns none for any query.
func (s *MemoryStore[C]) Search(ctx context.Context, query []float32, k int) ([]ScoredChunk[C], error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := exact.ValidateVector(query, s.index().Dim()); err != nil {
		return nil, fmt.Errorf("searching the memory store: query %w", err)
	}
	found, _, err := s.search(ctx, [][]float32{query}, k, nil)
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// SearchBatch returns what [MemoryStore.Search] returns for each query. For
// many queries it is several times as fast: a block of vectors is compared with
// all of them while it is in the processor's cache.
func (s *MemoryStore[C]) SearchBatch(ctx context.Context, queries [][]float32, k int) ([][]ScoredChunk[C], error) {
	found, _, err := s.searchAndRank(ctx, queries, k, nil)
	return found, err
}

// searchAndRank returns what [MemoryStore.SearchBatch] returns and, for each query,
// the ranks that the chunks wanted, given by insertion order, have in the search
// for it.
func (s *MemoryStore[C]) searchAndRank(ctx context.Context, queries [][]float32, k int, wanted [][]int) ([][]ScoredChunk[C], [][]int, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for i, query := range queries {
		if err := exact.ValidateVector(query, s.index().Dim()); err != nil {
			return nil, nil, fmt.Errorf("searching the memory store: query %d %w", i, err)
		}
	}
	return s.search(ctx, queries, k, wanted)
}

// search needs valid queries and s.mu to be held.
func (s *MemoryStore[C]) search(ctx context.Context, queries [][]float32, k int, wanted [][]int) ([][]ScoredChunk[C], [][]int, error) {
	hits, ranks, err := s.index().SearchAndRank(ctx, queries, k, wanted)
	if err != nil {
		return nil, nil, fmt.Errorf("searching the memory store: %w", err)
	}
	found := make([][]ScoredChunk[C], len(queries))
	for i := range hits {
		found[i] = make([]ScoredChunk[C], len(hits[i]))
		for j, h := range hits[i] {
			found[i][j] = ScoredChunk[C]{Chunk: s.chunks[h.Index], Score: float64(h.Score)}
		}
	}
	return found, ranks, nil
}
