// Package ownpipeline evaluates components that are not rageval's: a chunker
// and a vector store of one's own, each checked against its contract first; and
// a search service that exists already.
//
//	go test -v ./examples/ownpipeline
package ownpipeline

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/stretchr/testify/require"
)

// sections cuts Markdown before each heading of the second level. It is what
// many have: a function from a text to the texts of its chunks.
func sections(_ context.Context, text string) ([]string, error) {
	var chunks []string
	for i, section := range strings.Split(text, "\n## ") {
		if i > 0 {
			section = "## " + section
		}
		if section = strings.TrimSpace(section); section != "" {
			chunks = append(chunks, section)
		}
	}
	return chunks, nil
}

// store is a vector store of one's own: here it compares with every vector, in
// production it would ask a database.
type store struct {
	mu     sync.RWMutex
	chunks []chunkers.PositionAwareChunk
	units  [][]float64 // of length 1, or 0
}

func (s *store) Add(ctx context.Context, chunks []chunkers.PositionAwareChunk, vectors [][]float32) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(chunks) != len(vectors) {
		return fmt.Errorf("got %d vectors for %d chunks", len(vectors), len(chunks))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	units := make([][]float64, len(vectors))
	for i, v := range vectors {
		if err := s.fits(v); err != nil {
			return fmt.Errorf("vector %d: %w", i, err)
		}
		if len(v) != len(vectors[0]) {
			return fmt.Errorf("vector %d has dimension %d, want %d", i, len(v), len(vectors[0]))
		}
		units[i] = unit(v)
	}
	s.chunks = append(s.chunks, chunks...)
	s.units = append(s.units, units...)
	return nil
}

func (s *store) Search(ctx context.Context, query []float32, k int) ([]ragtest.ScoredChunk[chunkers.PositionAwareChunk], error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if k < 0 {
		return nil, fmt.Errorf("k is %d, want at least 0", k)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.fits(query); err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	q := unit(query)
	found := make([]ragtest.ScoredChunk[chunkers.PositionAwareChunk], len(s.chunks))
	for i, c := range s.chunks {
		found[i] = ragtest.ScoredChunk[chunkers.PositionAwareChunk]{Chunk: c, Score: dot(q, s.units[i])}
	}
	// A stable sort breaks ties by insertion order.
	slices.SortStableFunc(found, func(a, b ragtest.ScoredChunk[chunkers.PositionAwareChunk]) int {
		return cmp.Compare(b.Score, a.Score)
	})
	return found[:min(k, len(found))], nil
}

// fits returns an error for a vector that cannot be compared with those held.
func (s *store) fits(v []float32) error {
	if len(v) == 0 || len(s.units) > 0 && len(v) != len(s.units[0]) {
		return fmt.Errorf("dimension %d does not fit", len(v))
	}
	for _, x := range v {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return fmt.Errorf("a component is %v", x)
		}
	}
	return nil
}

func unit(v []float32) []float64 {
	u := make([]float64, len(v))
	for i, x := range v {
		u[i] = float64(x)
	}
	if length := math.Sqrt(dot(u, u)); length > 0 {
		for i := range u {
			u[i] /= length
		}
	}
	return u
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// The contracts come first: a store that drops a chunk or a chunker that
// depends on the time would be taken for bad retrieval.
func TestContracts(t *testing.T) {
	require.NoError(t, ragtest.CheckStore(t.Context(), func() (ragtest.VectorStore[chunkers.PositionAwareChunk], error) {
		return &store{}, nil
	}))
	require.NoError(t, chunkers.Check(t.Context(), chunkers.WithPositions(chunkers.Func(sections))))
}

func TestOwnChunkerAndStore(t *testing.T) {
	corpus, err := fixtures.ReadDir("../quickstart/testdata/handbook")
	require.NoError(t, err)
	queries, err := fixtures.ReadTokenTruth(os.DirFS("../quickstart/testdata"), "handbook.golden.jsonl", corpus)
	require.NoError(t, err)

	result := ragtest.RunTokenLevel(t, ragtest.TokenLevel{
		Corpus:   corpus,
		Queries:  queries,
		Chunker:  chunkers.WithPositions(chunkers.Func(sections)), // finds where each chunk came from
		Embedder: lexical.Embedder{},                              // yours
		Store:    &store{},
		K:        3,
	}, ragtest.SpanRecall.AtLeast(0.65))
	require.True(t, result.Diagnostics.PositionAdapter)
	require.Zero(t, result.Diagnostics.SkippedChunks)
}
