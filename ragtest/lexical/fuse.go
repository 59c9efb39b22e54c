package lexical

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// Fuse returns a retriever that merges the lists of others by reciprocal rank
// fusion (Cormack, Clarke & Büttcher 2009): the score of a chunk is the sum,
// over the retrievers that return it, of 1/(60+rank), the best rank being 1. It
// needs no scores that can be compared, and so suits lexical and dense retrieval
// together:
//
//	lexical.Fuse(lexical.NewBM25[C](), ragtest.Dense[C](model, store))
//
// Index hands the chunks to each retriever in turn. Retrieve asks each in turn
// for 100 candidates, or for k if that is more, so that for k up to 100 the
// results for a smaller k begin those for a larger one, and returns at most k of
// those that at least one of them returned. Only ranks count, with one exception:
// what [BM25] returns with a score of 0, because it shares no term with the
// query, counts for nothing.
//
// Equal scores are ordered by insertion: as the chunks were indexed, then, for
// chunks that were not given to Index, as they first appear among the
// candidates, those of the first retriever first. Chunks that have the same
// ranks, in whichever lists, have exactly equal scores.
//
// Two candidates are the same chunk if they are a [chunkers.PositionAwareChunk]
// of the same span, a [chunkers.Chunk] of the same ID (of the same text, where
// span or ID is not set), or equal values of another comparable type. The one that
// was indexed is returned, else the one that appeared first. A retriever that
// returns a chunk twice keeps its first rank.
//
// Fuse panics if there is no retriever, if one is nil, or if C is another type
// that cannot be compared. Retrieve may be called from several goroutines at
// once if the retrievers allow it, but not during Index.
func Fuse[C any](retrievers ...ragtest.Retriever[C]) ragtest.Retriever[C] {
	if len(retrievers) == 0 {
		panic("lexical.Fuse: no retrievers: want at least one")
	}
	for i, r := range retrievers {
		if r == nil {
			panic(fmt.Sprintf("lexical.Fuse: retriever %d is nil", i))
		}
	}
	var zero C
	switch any(zero).(type) {
	case chunkers.Chunk, chunkers.PositionAwareChunk:
	default:
		if t := reflect.TypeFor[C](); !t.Comparable() {
			panic(fmt.Sprintf("lexical.Fuse: %v cannot be compared: want a chunk of package chunkers or a comparable type, for instance a pointer", t))
		}
	}
	return &fused[C]{retrievers: slices.Clone(retrievers)}
}

const (
	rankConstant  = 60
	minCandidates = 100
)

type fused[C any] struct {
	retrievers []ragtest.Retriever[C]
	chunks     []C
	order      map[any]int // of each key, the place of its first chunk in chunks
}

// String returns the names of the retrievers, such as
// "rrf(bm25/k1=1.2/b=0.75, main.search)".
func (f *fused[C]) String() string {
	names := make([]string, len(f.retrievers))
	for i, r := range f.retrievers {
		if s, ok := r.(fmt.Stringer); ok {
			names[i] = s.String()
		} else {
			names[i] = fmt.Sprintf("%T", r)
		}
	}
	return "rrf(" + strings.Join(names, ", ") + ")"
}

// Validate returns the first error of the retrievers that can tell one.
func (f *fused[C]) Validate() error {
	for i, r := range f.retrievers {
		if v, ok := r.(chunkers.Validator); ok {
			if err := v.Validate(); err != nil {
				return fmt.Errorf("retriever %d: %w", i, err)
			}
		}
	}
	return nil
}

func (f *fused[C]) Index(ctx context.Context, chunks []C) error {
	order := make(map[any]int, len(chunks))
	for i, c := range chunks {
		key, err := keyOf(c)
		if err != nil {
			return fmt.Errorf("indexing chunk %d: %w", i, err)
		}
		if _, ok := order[key]; !ok {
			order[key] = i
		}
	}
	for i, r := range f.retrievers {
		if err := r.Index(ctx, chunks); err != nil {
			return fmt.Errorf("indexing for retriever %d of %d: %w", i, len(f.retrievers), err)
		}
	}
	f.chunks, f.order = slices.Clone(chunks), order
	return nil
}

// matcher is implemented by [BM25], which can tell chunks that it found from
// those that merely fill up a list.
type matcher[C any] interface {
	retrieveMatches(ctx context.Context, queries []string, k int) ([][]ragtest.ScoredChunk[C], error)
}

func (f *fused[C]) Retrieve(ctx context.Context, queries []string, k int) ([][]ragtest.ScoredChunk[C], error) {
	if k < 0 {
		return nil, fmt.Errorf("retrieving %d chunks: want 0 or more", k)
	}
	found := make([][]ragtest.ScoredChunk[C], len(queries))
	if k == 0 || len(queries) == 0 {
		return found, context.Cause(ctx)
	}
	lists := make([][][]ragtest.ScoredChunk[C], len(f.retrievers))
	for i, r := range f.retrievers {
		retrieve := r.Retrieve
		if m, ok := r.(matcher[C]); ok {
			retrieve = m.retrieveMatches
		}
		var err error
		if lists[i], err = retrieve(ctx, queries, max(k, minCandidates)); err != nil {
			return nil, fmt.Errorf("retrieving from retriever %d of %d: %w", i, len(f.retrievers), err)
		}
		if len(lists[i]) != len(queries) {
			return nil, fmt.Errorf("retriever %d of %d returned %d lists: want one for each of %d queries", i, len(f.retrievers), len(lists[i]), len(queries))
		}
	}
	for q := range queries {
		if err := context.Cause(ctx); err != nil {
			return nil, fmt.Errorf("fusing the results of query %d: %w", q, err)
		}
		ofQuery := make([][]ragtest.ScoredChunk[C], len(lists))
		for i, list := range lists {
			ofQuery[i] = list[q]
		}
		var err error
		if found[q], err = f.fuse(ofQuery, k); err != nil {
			return nil, fmt.Errorf("fusing the results of query %d: %w", q, err)
		}
	}
	return found, nil
}

// candidate is a chunk that some retriever returned.
type candidate[C any] struct {
	chunk C
	order int   // by insertion
	ranks []int // in the lists that hold it, from 1
	list  int   // the last of these
	score float64
}

func (f *fused[C]) fuse(lists [][]ragtest.ScoredChunk[C], k int) ([]ragtest.ScoredChunk[C], error) {
	candidates := make(map[any]*candidate[C])
	var sorted []*candidate[C]
	for i, list := range lists {
		for j, scored := range list {
			key, err := keyOf(scored.Chunk)
			if err != nil {
				return nil, fmt.Errorf("rank %d of retriever %d: %w", j+1, i, err)
			}
			c, ok := candidates[key]
			if !ok {
				c = &candidate[C]{chunk: scored.Chunk, order: len(f.chunks) + len(sorted), list: -1}
				if at, ok := f.order[key]; ok {
					c.chunk, c.order = f.chunks[at], at
				}
				candidates[key] = c
				sorted = append(sorted, c)
			}
			if c.list != i {
				c.list = i
				c.ranks = append(c.ranks, j+1)
			}
		}
	}
	for _, c := range sorted {
		// Rounding depends on the order of the terms: the same ranks must give
		// the same score.
		slices.Sort(c.ranks)
		for _, rank := range c.ranks {
			c.score += 1 / float64(rankConstant+rank)
		}
	}
	slices.SortFunc(sorted, func(a, b *candidate[C]) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.order, b.order))
	})

	found := make([]ragtest.ScoredChunk[C], min(k, len(sorted)))
	for i := range found {
		found[i] = ragtest.ScoredChunk[C]{Chunk: sorted[i].chunk, Score: sorted[i].score}
	}
	return found, nil
}

// keyOf returns a comparable value that identifies a chunk.
func keyOf[C any](chunk C) (any, error) {
	switch c := any(chunk).(type) {
	case chunkers.PositionAwareChunk:
		if c.Span == (spans.Span{}) {
			return chunkers.NewPositionAwareChunkID(c.Text), nil
		}
		return c.Span, nil
	case chunkers.Chunk:
		if c.ID == (chunkers.ChunkID{}) {
			return chunkers.NewChunkID(c.Text), nil
		}
		return c.ID, nil
	default:
		if v := reflect.ValueOf(c); v.IsValid() && !v.Comparable() {
			return nil, fmt.Errorf("a chunk of type %T cannot be compared: want a chunk of package chunkers or a comparable type, for instance a pointer", c)
		}
		return c, nil
	}
}
