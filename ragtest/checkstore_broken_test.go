package ragtest_test

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
)

func TestCheckStoreFindsViolations(t *testing.T) {
	bySpan := func(a, b ragtest.ScoredChunk[chunk]) int { return a.Chunk.Span.Start - b.Chunk.Span.Start }
	byScore := func(a, b ragtest.ScoredChunk[chunk]) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	}
	for _, test := range []struct {
		name, want string // want: a part of the error
		store      func() ragtest.VectorStore[chunk]
	}{
		{"an empty store is an error", "empty store: searching with k = 3: no chunks", func() ragtest.VectorStore[chunk] {
			return &broken{search: func(ctx context.Context, m *memory, query []float32, k int) (ranking, error) {
				if m.Len() == 0 {
					return nil, errors.New("no chunks")
				}
				return m.Search(ctx, query, k)
			}}
		}},
		{"worst first", "order: searching for [1 0] with k = 5", func() ragtest.VectorStore[chunk] {
			return &broken{search: sortedBy(func(a, b ragtest.ScoredChunk[chunk]) int { return byScore(b, a) })}
		}},
		{"in order of place", "order: searching for [1 0] with k = 5", func() ragtest.VectorStore[chunk] {
			return &broken{search: sortedBy(bySpan)}
		}},
		{"distances for scores", "order: searching for [1 0] with k = 5", func() ragtest.VectorStore[chunk] {
			return &broken{search: changed(func(found ranking, _ int) ranking {
				for i := range found {
					found[i].Score = 1 - found[i].Score
				}
				return found
			})}
		}},
		{"dot products for scores", "order: searching for [25 0] with k = 2", func() ragtest.VectorStore[chunk] {
			return &broken{search: func(ctx context.Context, m *memory, query []float32, k int) (ranking, error) {
				found, err := m.Search(ctx, query, k)
				var squares float64
				for _, x := range query {
					squares += float64(x) * float64(x)
				}
				for i := range found {
					found[i].Score *= math.Sqrt(squares)
				}
				return found, err
			}}
		}},
		{"k above the number of chunks is an error", "k: searching with k = 4: too many", func() ragtest.VectorStore[chunk] {
			return &broken{search: func(ctx context.Context, m *memory, query []float32, k int) (ranking, error) {
				if k > m.Len() {
					return nil, errors.New("too many")
				}
				return m.Search(ctx, query, k)
			}}
		}},
		{"k = 0 means a default", "k: searching for [1 0] with k = 0", func() ragtest.VectorStore[chunk] {
			return &broken{search: func(ctx context.Context, m *memory, query []float32, k int) (ranking, error) {
				if k == 0 {
					k = 5
				}
				return m.Search(ctx, query, k)
			}}
		}},
		{"one too few", "k: searching for [1 0] with k = 1", func() ragtest.VectorStore[chunk] {
			return &broken{search: changed(func(found ranking, _ int) ranking { return found[:max(0, len(found)-1)] })}
		}},
		{"the last added first among equals", "ties: searching among equal vectors with k = 1", func() ragtest.VectorStore[chunk] {
			return &broken{search: sortedBy(func(a, b ragtest.ScoredChunk[chunk]) int {
				if c := byScore(a, b); c != 0 {
					return c
				}
				return bySpan(b, a)
			})}
		}},
		{"ties sorted after the cut", "ties: searching among equal vectors with k = 1:", func() ragtest.VectorStore[chunk] {
			return &broken{search: func(ctx context.Context, m *memory, query []float32, k int) (ranking, error) {
				all, err := m.Search(ctx, query, m.Len())
				slices.Reverse(all)
				slices.SortStableFunc(all, byScore)
				all = all[:min(k, len(all))]
				slices.SortStableFunc(all, bySpan)
				slices.SortStableFunc(all, byScore)
				return all, err
			}}
		}},
		{"an ID kept once", "duplicates: searching for [1 0] with k = 4", func() ragtest.VectorStore[chunk] {
			seen := make(map[chunkers.PositionAwareChunkID]bool)
			return &broken{add: func(ctx context.Context, m *memory, chunks []chunk, vectors [][]float32) error {
				if len(chunks) != len(vectors) {
					return errors.New("differing numbers")
				}
				for i, c := range chunks {
					if !seen[c.ID] {
						if err := m.Add(ctx, chunks[i:i+1], vectors[i:i+1]); err != nil {
							return err
						}
						seen[c.ID] = true
					}
				}
				return ctx.Err()
			}}
		}},
		{"metadata lost", "chunks: got", func() ragtest.VectorStore[chunk] {
			return &broken{search: changed(func(found ranking, _ int) ranking {
				for i := range found {
					found[i].Chunk.Metadata = nil
				}
				return found
			})}
		}},
		{"metadata of its own", "chunks: got", func() ragtest.VectorStore[chunk] {
			return &broken{search: changed(func(found ranking, _ int) ranking {
				for i := range found {
					if m := maps.Clone(found[i].Chunk.Metadata); m != nil {
						m["doc"] = string(found[i].Chunk.Span.Doc)
						found[i].Chunk.Metadata = m
					}
				}
				return found
			})}
		}},
		{"text trimmed and line ends normalised", "chunks: got", func() ragtest.VectorStore[chunk] {
			return &broken{search: changed(func(found ranking, _ int) ranking {
				for i := range found {
					found[i].Chunk.Text = strings.ReplaceAll(found[i].Chunk.Text, "\r\n", "\n")
				}
				return found
			})}
		}},
		{"ends in bytes", "chunks: got", func() ragtest.VectorStore[chunk] {
			return &broken{search: changed(func(found ranking, _ int) ranking {
				for i, f := range found {
					found[i].Chunk.Span.End = f.Chunk.Span.Start + len(f.Chunk.Text)
				}
				return found
			})}
		}},
		{"vectors resized", "dimension: adding vectors of dimensions 3 and 2 together: got no error", func() ragtest.VectorStore[chunk] {
			return &broken{add: func(ctx context.Context, m *memory, chunks []chunk, vectors [][]float32) error {
				vectors = slices.Clone(vectors)
				for i := range vectors {
					vectors[i] = resized(vectors[i], dimensionOf(m, max(1, len(vectors[0]))))
				}
				return m.Add(ctx, chunks, vectors)
			}}
		}},
		{"vectors resized", "dimension: adding a vector of dimension 2 to a store of dimension 3: got no error", func() ragtest.VectorStore[chunk] {
			return &broken{add: func(ctx context.Context, m *memory, chunks []chunk, vectors [][]float32) error {
				vectors = slices.Clone(vectors)
				for i := range vectors {
					vectors[i] = resized(vectors[i], dimensionOf(m, len(vectors[0])))
				}
				return m.Add(ctx, chunks, vectors)
			}}
		}},
		{"empty vectors taken for zero", "dimension: adding an empty vector: got no error", func() ragtest.VectorStore[chunk] {
			return &broken{add: func(ctx context.Context, m *memory, chunks []chunk, vectors [][]float32) error {
				vectors = slices.Clone(vectors)
				for i := range vectors {
					if len(vectors[i]) == 0 {
						vectors[i] = []float32{0}
					}
				}
				return m.Add(ctx, chunks, vectors)
			}}
		}},
		{"chunks without a vector dropped", "dimension: adding 2 chunks with 1 vector: got no error", func() ragtest.VectorStore[chunk] {
			return &broken{add: func(ctx context.Context, m *memory, chunks []chunk, vectors [][]float32) error {
				return m.Add(ctx, chunks[:min(len(chunks), len(vectors))], vectors)
			}}
		}},
		{"vectors without a chunk dropped", "dimension: adding 1 chunk with 2 vectors: got no error", func() ragtest.VectorStore[chunk] {
			return &broken{add: func(ctx context.Context, m *memory, chunks []chunk, vectors [][]float32) error {
				return m.Add(ctx, chunks, vectors[:min(len(chunks), len(vectors))])
			}}
		}},
		{"short queries padded", "dimension: searching a store of dimension 3 for a query of dimension 2: got no error", func() ragtest.VectorStore[chunk] {
			return &broken{search: func(ctx context.Context, m *memory, query []float32, k int) (ranking, error) {
				return m.Search(ctx, resized(query, max(len(query), dimensionOf(m, 1))), k)
			}}
		}},
		{"long queries cut", "dimension: searching a store of dimension 3 for a query of dimension 4: got no error", func() ragtest.VectorStore[chunk] {
			return &broken{search: func(ctx context.Context, m *memory, query []float32, k int) (ranking, error) {
				return m.Search(ctx, query[:min(len(query), dimensionOf(m, len(query)))], k)
			}}
		}},
		{"an empty query finds nothing", "dimension: searching a store of dimension 3 for a query of dimension 0: got no error", func() ragtest.VectorStore[chunk] {
			return &broken{search: func(ctx context.Context, m *memory, query []float32, k int) (ranking, error) {
				if len(query) == 0 {
					return nil, nil
				}
				return m.Search(ctx, query, k)
			}}
		}},
		{"NaN stored as 0", "finite: adding a vector with the component NaN: got no error", func() ragtest.VectorStore[chunk] {
			return &broken{add: func(ctx context.Context, m *memory, chunks []chunk, vectors [][]float32) error {
				vectors = slices.Clone(vectors)
				for i := range vectors {
					vectors[i] = clean(vectors[i])
				}
				return m.Add(ctx, chunks, vectors)
			}}
		}},
		{"infinity searched for as 0", "finite: searching for a query with the component +Inf: got no error", func() ragtest.VectorStore[chunk] {
			return &broken{search: func(ctx context.Context, m *memory, query []float32, k int) (ranking, error) {
				return m.Search(ctx, clean(query), k)
			}}
		}},
		{"zero vectors score NaN", "zero vector: searching for [1 0] with k = 2", func() ragtest.VectorStore[chunk] {
			return &broken{search: changed(func(found ranking, _ int) ranking {
				for i := range found {
					if found[i].Score == 0 {
						found[i].Score = math.NaN()
					}
				}
				return found
			})}
		}},
		{"zero vectors last", "zero vector: searching for [1 0]", func() ragtest.VectorStore[chunk] {
			zero := make(map[chunkers.PositionAwareChunkID]bool)
			return &broken{
				add: func(ctx context.Context, m *memory, chunks []chunk, vectors [][]float32) error {
					for i, v := range vectors {
						if i < len(chunks) && !slices.ContainsFunc(v, func(x float32) bool { return x != 0 }) {
							zero[chunks[i].ID] = true
						}
					}
					return m.Add(ctx, chunks, vectors)
				},
				search: sortedBy(func(a, b ragtest.ScoredChunk[chunk]) int {
					if zero[a.Chunk.ID] != zero[b.Chunk.ID] {
						if zero[a.Chunk.ID] {
							return 1
						}
						return -1
					}
					return byScore(a, b)
				}),
			}
		}},
		{"a zero query is an error", "zero vector: searching with k = 6: no direction", func() ragtest.VectorStore[chunk] {
			return &broken{search: func(ctx context.Context, m *memory, query []float32, k int) (ranking, error) {
				if len(query) > 0 && !slices.ContainsFunc(query, func(x float32) bool { return x != 0 }) {
					return nil, errors.New("no direction")
				}
				return m.Search(ctx, query, k)
			}}
		}},
		{"vectors normalised in place", "arguments: adding: the chunks or vectors were modified", func() ragtest.VectorStore[chunk] {
			return &broken{add: func(ctx context.Context, m *memory, chunks []chunk, vectors [][]float32) error {
				err := m.Add(ctx, chunks, vectors)
				for _, v := range vectors {
					for i := range v {
						v[i] *= 0.5
					}
				}
				return err
			}}
		}},
		{"queries normalised in place", "arguments: searching: the query was modified to [1 0]", func() ragtest.VectorStore[chunk] {
			return &broken{search: func(ctx context.Context, m *memory, query []float32, k int) (ranking, error) {
				found, err := m.Search(ctx, query, k)
				if len(query) > 0 && query[0] == 5 {
					query[0] = 1
				}
				return found, err
			}}
		}},
		{"arguments kept", "arguments: searching for [5 0] with k = 3", func() ragtest.VectorStore[chunk] {
			var chunks []chunk
			var vectors [][]float32
			return &broken{
				add: func(ctx context.Context, m *memory, c []chunk, v [][]float32) error {
					if err := m.Add(ctx, c, v); err != nil {
						return err
					}
					chunks, vectors = append(chunks, c...), append(vectors, v...)
					return nil
				},
				search: func(ctx context.Context, _ *memory, query []float32, k int) (ranking, error) {
					m := ragtest.NewMemoryStore[chunk]()
					if err := m.Add(context.WithoutCancel(ctx), chunks, vectors); err != nil {
						return nil, err
					}
					return m.Search(ctx, query, k)
				},
			}
		}},
		{"Add replaces", "ties: searching among equal vectors", func() ragtest.VectorStore[chunk] {
			var last *memory
			return &broken{
				add: func(ctx context.Context, m *memory, chunks []chunk, vectors [][]float32) error {
					last = ragtest.NewMemoryStore[chunk]()
					return last.Add(ctx, chunks, vectors)
				},
				search: func(ctx context.Context, m *memory, query []float32, k int) (ranking, error) {
					if last != nil {
						m = last
					}
					return m.Search(ctx, query, k)
				},
			}
		}},
		{"another ranking for every other k", "prefix: random query 0", func() ragtest.VectorStore[chunk] {
			return &broken{search: changed(func(found ranking, k int) ranking {
				if k > 30 && k%2 == 0 && len(found) > 20 {
					found[10], found[11] = found[11], found[10]
				}
				return found
			})}
		}},
		{"an index that misses chunks", "exact: dimension 64", func() ragtest.VectorStore[chunk] {
			return &broken{search: func(ctx context.Context, m *memory, query []float32, k int) (ranking, error) {
				all, err := m.Search(ctx, query, m.Len())
				if len(all) > 100 && k < len(all) {
					all = all[1:]
				}
				return all[:min(k, len(all))], err
			}}
		}},
		{"fewer than k from a large store", "exact: dimension 384, random query 0, k = 200: got 100 chunks, want 200", func() ragtest.VectorStore[chunk] {
			return &broken{search: changed(func(found ranking, _ int) ranking { return found[:min(100, len(found))] })}
		}},
		{"a chunk twice", "exact: dimension 3, random query 0, k = 10: ranks 9 and 10: got the chunk", func() ragtest.VectorStore[chunk] {
			return &broken{search: changed(func(found ranking, k int) ranking {
				if k == 10 && len(found) == k {
					found[9] = found[8]
				}
				return found
			})}
		}},
		{"scores of three digits", "exact: dimension 17, random query 0, k = 10: rank", func() ragtest.VectorStore[chunk] {
			return &broken{search: changed(func(found ranking, _ int) ranking {
				for i := range found {
					found[i].Score = math.Round(found[i].Score*1000) / 1000
				}
				return found
			})}
		}},
		{"a query in shared memory", "concurrency: searching at the same time as others: got", func() ragtest.VectorStore[chunk] {
			var mu sync.Mutex
			var shared []float32
			return &broken{search: func(ctx context.Context, m *memory, query []float32, k int) (ranking, error) {
				mu.Lock()
				shared = query
				mu.Unlock()
				time.Sleep(20 * time.Microsecond)
				mu.Lock()
				query = shared
				mu.Unlock()
				return m.Search(ctx, query, k)
			}}
		}},
		{"Search ignores the context", "cancellation: searching after the context was cancelled: got no error", func() ragtest.VectorStore[chunk] {
			return &broken{search: func(ctx context.Context, m *memory, query []float32, k int) (ranking, error) {
				return m.Search(context.WithoutCancel(ctx), query, k)
			}}
		}},
		{"Add ignores the context", "cancellation: adding after the context was cancelled: got no error", func() ragtest.VectorStore[chunk] {
			return &broken{add: func(ctx context.Context, m *memory, chunks []chunk, vectors [][]float32) error {
				return m.Add(context.WithoutCancel(ctx), chunks, vectors)
			}}
		}},
	} {
		t.Run(test.name, func(t *testing.T) { checkBroken(t, test.store, test.want) })
	}
}
