package ragtest_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
)

// reversed reranks backwards.
func reversed[C any](ctx context.Context, _ string, chunks []ragtest.ScoredChunk[C]) ([]ragtest.ScoredChunk[C], error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	chunks = slices.Clone(chunks)
	slices.Reverse(chunks)
	return chunks, nil
}

func TestCheckRerankerFindsViolations(t *testing.T) {
	changed := func(change func(chunks ranking) ranking) rerankFunc[chunk] {
		return func(ctx context.Context, query string, chunks []ragtest.ScoredChunk[chunk]) ([]ragtest.ScoredChunk[chunk], error) {
			chunks, err := reversed(ctx, query, chunks)
			if err != nil {
				return nil, err
			}
			return change(chunks), nil
		}
	}
	var calls atomic.Int32
	for _, test := range []struct {
		name, want string // want: a part of the error; "": none
		reranker   ragtest.Reranker[chunk]
	}{
		{"sound", "", rerankFunc[chunk](reversed[chunk])},
		{"drops some", "", changed(func(r ranking) ranking { return r[:len(r)/2] })},
		{"nil", "checking the reranker: it is nil", nil},
		{"no chunk is an error", "no chunks: reranking no chunk: nothing to do", rerankFunc[chunk](func(ctx context.Context, q string, r []ragtest.ScoredChunk[chunk]) ([]ragtest.ScoredChunk[chunk], error) {
			if len(r) == 0 {
				return nil, errors.New("nothing to do")
			}
			return reversed(ctx, q, r)
		})},
		{"an invented chunk", "no chunks: reranking no chunk: got [", changed(func(r ranking) ranking { return append(r, ragtest.ScoredChunk[chunk]{}) })},
		{"one twice", "was returned twice", changed(func(r ranking) ranking { return append(r, r[:min(1, len(r))]...) })},
		{"metadata lost", "was not given", changed(func(r ranking) ranking {
			for i := range r {
				r[i].Chunk.Metadata = nil
			}
			return r
		})},
		{"NaN", "subset: rank 1: the score is NaN", changed(func(r ranking) ranking {
			for i := range r {
				r[i].Score = math.NaN()
			}
			return r
		})},
		{"by text alone", "duplicates: rank ", changed(func(r ranking) ranking {
			places := map[string]chunk{}
			for i, h := range r {
				if _, ok := places[h.Chunk.Text]; !ok {
					places[h.Chunk.Text] = h.Chunk
				}
				r[i].Chunk = places[h.Chunk.Text]
			}
			return r
		})},
		{"large scores overflow", "scores: rank ", changed(func(r ranking) ranking {
			for i := range r {
				r[i].Score *= 1e10
			}
			return r
		})},
		{"another order each time", "deterministic: got ", changed(func(r ranking) ranking {
			if calls.Add(1)%2 == 0 {
				slices.Reverse(r)
			}
			return r
		})},
		{"in place", "arguments: the candidates were modified", rerankFunc[chunk](func(ctx context.Context, _ string, r []ragtest.ScoredChunk[chunk]) ([]ragtest.ScoredChunk[chunk], error) {
			slices.Reverse(r)
			return r, ctx.Err()
		})},
		{"cancellation ignored", "cancellation: reranking after the context was cancelled: got no error", rerankFunc[chunk](func(_ context.Context, q string, r []ragtest.ScoredChunk[chunk]) ([]ragtest.ScoredChunk[chunk], error) {
			return reversed(context.Background(), q, r)
		})},
		{"panic", "the reranker panicked: no model", changed(func(ranking) ranking { panic("no model") })},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := ragtest.CheckReranker(t.Context(), test.reranker)
			if test.want == "" {
				if err != nil {
					t.Errorf("got %v, want no violation", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	t.Run("chunk level", func(t *testing.T) {
		if err := ragtest.CheckReranker(t.Context(), rerankFunc[chunkers.Chunk](reversed[chunkers.Chunk])); err != nil {
			t.Error(err)
		}
	})
}
