package ragtest_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/rageval/rageval/ragtest"
)

// brokenBatch breaks SearchBatch alone.
type brokenBatch struct {
	*memory
	batch func(ctx context.Context, m *memory, queries [][]float32, k int) ([]ranking, error)
}

func (b *brokenBatch) SearchBatch(ctx context.Context, queries [][]float32, k int) ([][]ragtest.ScoredChunk[chunk], error) {
	return b.batch(ctx, b.memory, queries, k)
}

func TestCheckStoreFindsViolationsOfSearchBatch(t *testing.T) {
	for _, test := range []struct {
		name, want string
		batch      func(ctx context.Context, m *memory, queries [][]float32, k int) ([]ranking, error)
	}{
		{"ignores the context", "cancellation: searching for a batch after the context was cancelled: got no error", func(ctx context.Context, m *memory, queries [][]float32, k int) ([]ranking, error) {
			return m.SearchBatch(context.WithoutCancel(ctx), queries, k)
		}},
		{"no list for a query of an empty store", "batch: searching an empty store for 2 queries: got 0 lists", func(ctx context.Context, m *memory, queries [][]float32, k int) ([]ranking, error) {
			if m.Len() == 0 {
				return nil, nil
			}
			return m.SearchBatch(ctx, queries, k)
		}},
		{"mixes queries up", "batch: query 0, k = 1: got", func(ctx context.Context, m *memory, queries [][]float32, k int) ([]ranking, error) {
			found, err := m.SearchBatch(ctx, queries, k)
			slices.Reverse(found)
			return found, err
		}},
		{"loses a query", "batch: searching with k = 10: got 10 lists for 11 queries", func(ctx context.Context, m *memory, queries [][]float32, k int) ([]ranking, error) {
			found, err := m.SearchBatch(ctx, queries, k)
			return found[:min(10, len(found))], err
		}},
		{"writes to queries", "batch: the queries were modified", func(ctx context.Context, m *memory, queries [][]float32, k int) ([]ranking, error) {
			found, err := m.SearchBatch(ctx, queries, k)
			for _, q := range queries {
				q[0] *= 2
			}
			return found, err
		}},
		{"refuses no queries", "batch: searching for no queries: got 0 lists and error no queries", func(ctx context.Context, m *memory, queries [][]float32, k int) ([]ranking, error) {
			if len(queries) == 0 {
				return nil, errors.New("no queries")
			}
			return m.SearchBatch(ctx, queries, k)
		}},
		{"resizes queries", "batch: searching for queries of dimensions 16 and 2: got no error", func(ctx context.Context, m *memory, queries [][]float32, k int) ([]ranking, error) {
			queries = slices.Clone(queries)
			for i := range queries {
				queries[i] = resized(queries[i], dimensionOf(m, 1))
			}
			return m.SearchBatch(ctx, queries, k)
		}},
		{"takes NaN for 0", "batch: searching for a query with the component NaN: got no error", func(ctx context.Context, m *memory, queries [][]float32, k int) ([]ranking, error) {
			queries = slices.Clone(queries)
			for i := range queries {
				queries[i] = clean(queries[i])
			}
			return m.SearchBatch(ctx, queries, k)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			checkBroken(t, func() ragtest.VectorStore[chunk] { return &brokenBatch{batch: test.batch} }, test.want)
		})
	}
}
