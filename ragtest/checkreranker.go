package ragtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/rageval/rageval/chunkers"
)

// CheckReranker verifies a reranker. Use it in the test of your own reranker:
//
//	if err := ragtest.CheckReranker(t.Context(), r); err != nil {
//		t.Error(err)
//	}
//
// It makes about a dozen calls with a few short chunks each. It does not judge
// whether the order is any good: that is what an evaluation does. The result is
// nil if the reranker keeps every rule, and otherwise all violations joined, each
// with the rule's name before it:
//
//   - no chunks: there are none in the result, and there is no error.
//   - subset: only chunks that were given are returned, none more often than it
//     was given, as they were given (ID, place, text, metadata), with finite scores.
//   - duplicates: chunks of equal text are told apart by place at token level.
//   - scores: candidates with scores of any sign and size, or all equal, are
//     reranked without error.
//   - deterministic: the same call gives the same order.
//   - arguments: the candidates are not modified.
//   - concurrency: calls at the same time return what they return alone. Run the
//     test with -race.
//   - cancellation: there is an error if the context is done.
//
// If ctx is done, CheckReranker returns its cause together with what it has found.
func CheckReranker[C chunkers.Indexed](ctx context.Context, r Reranker[C]) error {
	if r == nil || holdsNil(r) {
		return errors.New("checking the reranker: it is nil")
	}
	c := &rerankerCheck[C]{conformance{ctx: ctx, component: "reranker"}, r}
	return c.run([]rule{
		{"no chunks", c.noChunks},
		{"subset", c.subset},
		{"duplicates", c.duplicates},
		{"scores", c.scores},
		{"deterministic", c.deterministic},
		{"arguments", c.arguments},
		{"concurrency", c.concurrency},
		{"cancellation", c.cancellation},
	})
}

type rerankerCheck[C chunkers.Indexed] struct {
	conformance
	reranker Reranker[C]
}

const rerankQuery = "How often are access keys rotated?"

// candidates returns plainTexts as chunks with descending scores.
func (c *rerankerCheck[C]) candidates() []ScoredChunk[C] {
	given := make([]ScoredChunk[C], len(plainTexts))
	for i, text := range plainTexts {
		given[i] = ScoredChunk[C]{newChunk[C]("handbook/rerank.md", 100*i, text, map[string]string{"heading": fmt.Sprint("Part ", i)}), 1 - float64(i)/8}
	}
	return given
}

// rerank returns the order for the candidates; false after a violation.
func (c *rerankerCheck[C]) rerank(given []ScoredChunk[C]) ([]ScoredChunk[C], bool) {
	got, err := c.reranker.Rerank(c.ctx, rerankQuery, slices.Clone(given))
	if err != nil {
		c.errorf("reranking %s: %w", count(len(given), "chunk"), err)
		return nil, false
	}
	return got, c.sound(given, got)
}

// sound reports whether got holds only what was given, each as often at most.
func (c *rerankerCheck[C]) sound(given, got []ScoredChunk[C]) bool {
	left := slices.Clone(given)
	for rank, h := range got {
		i := slices.IndexFunc(left, func(g ScoredChunk[C]) bool { return equalChunks(g.Chunk, h.Chunk) })
		switch {
		case i < 0 && slices.ContainsFunc(given, func(g ScoredChunk[C]) bool { return equalChunks(g.Chunk, h.Chunk) }):
			c.errorf("rank %d: the chunk %s was returned twice", rank+1, describe(got[rank:rank+1]))
			return false
		case i < 0:
			c.errorf("rank %d: the chunk %+v was not given", rank+1, h.Chunk)
			return false
		case math.IsNaN(h.Score) || math.IsInf(h.Score, 0):
			c.errorf("rank %d: the score is %v, want a finite number", rank+1, h.Score)
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	return true
}

func (c *rerankerCheck[C]) noChunks() {
	got, err := c.reranker.Rerank(c.ctx, rerankQuery, nil)
	if err != nil {
		c.errorf("reranking no chunk: %w", err)
	} else if len(got) != 0 {
		c.errorf("reranking no chunk: got %s", describe(got))
	}
}

func (c *rerankerCheck[C]) subset() {
	given := c.candidates()
	c.rerank(given[2:3])
	c.rerank(given)
}

func (c *rerankerCheck[C]) duplicates() {
	const text = "Rotate the access keys."
	given := []ScoredChunk[C]{
		{newChunk[C]("a.md", 0, text, nil), 0.5},
		{newChunk[C]("a.md", 100, "Whisk the eggs.", nil), 0.4},
	}
	if _, tokenLevel := any(given[0].Chunk).(chunkers.PositionAwareChunk); tokenLevel {
		given = append(given, ScoredChunk[C]{newChunk[C]("b.md", 7, text, nil), 0.3}, ScoredChunk[C]{newChunk[C]("a.md", 200, text, nil), 0.5})
	}
	c.rerank(given)
}

func (c *rerankerCheck[C]) scores() {
	for _, scores := range [][]float64{{0, 0, 0, 0, 0}, {-1, -2, -3, -4, -5}, {1e300, 1, 1e-300, 0, -1e300}} {
		given := c.candidates()
		for i := range given {
			given[i].Score = scores[i]
		}
		c.rerank(given)
	}
}

func (c *rerankerCheck[C]) deterministic() {
	given := c.candidates()
	first, ok := c.rerank(given)
	if !ok {
		return
	}
	if again, ok := c.rerank(given); ok && !sameOrder(first, again) {
		c.errorf("got %s, and for the same call again %s", describe(first), describe(again))
	}
}

func (c *rerankerCheck[C]) arguments() {
	given, want := c.candidates(), c.candidates()
	if _, err := c.reranker.Rerank(c.ctx, rerankQuery, given); err != nil {
		c.errorf("reranking %s: %w", count(len(given), "chunk"), err)
	} else if !equalRankings(given, want, 0) {
		c.errorf("the candidates were modified to %s", describe(given))
	}
}

func (c *rerankerCheck[C]) concurrency() {
	given := c.candidates()
	alone, ok := c.rerank(given)
	if !ok {
		return
	}
	const calls = 4
	got, errs := make([][]ScoredChunk[C], calls), make([]error, calls)
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					errs[i] = fmt.Errorf("the reranker panicked: %v", r)
				}
			}()
			got[i], errs[i] = c.reranker.Rerank(c.ctx, rerankQuery, slices.Clone(given))
		})
	}
	wg.Wait()
	for i := range calls {
		switch {
		case errs[i] != nil:
			c.errorf("called %d times at once: %w", calls, errs[i])
			return
		case !sameOrder(got[i], alone):
			c.errorf("called %d times at once: got %s, and alone %s", calls, describe(got[i]), describe(alone))
			return
		}
	}
}

func (c *rerankerCheck[C]) cancellation() {
	done, cancel := context.WithCancel(c.ctx)
	cancel()
	_, err := c.reranker.Rerank(done, rerankQuery, c.candidates())
	c.wantError(err, "reranking after the context was cancelled")
}

// sameOrder reports whether both hold the same chunks in the same order: scores
// of hosted models differ from call to call.
func sameOrder[C chunkers.Indexed](a, b []ScoredChunk[C]) bool {
	return slices.EqualFunc(a, b, func(x, y ScoredChunk[C]) bool { return equalChunks(x.Chunk, y.Chunk) })
}
