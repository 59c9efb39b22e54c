package ragtest

import (
	"cmp"
	"slices"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/stats"
	"github.com/rageval/rageval/spans"
)

// tokenCounter counts the tokens of texts, of each text once. It is not safe for
// concurrent use.
type tokenCounter struct {
	length  chunkers.Length // without a function: nothing is counted
	counted map[string]int
}

func newTokenCounter(length chunkers.Length) *tokenCounter {
	return &tokenCounter{length, map[string]int{}}
}

func (c *tokenCounter) of(text string) int {
	n, ok := c.counted[text]
	if !ok {
		n = c.length.Of(text)
		c.counted[text] = n
	}
	return n
}

// countTokens sets how many tokens were retrieved, if they are to be counted.
func (e *engine[C]) countTokens(r *Result) {
	if e.tokens.length.Of == nil {
		return
	}
	totals := make([]float64, len(r.Queries))
	for i, q := range r.Queries {
		for _, h := range q.Hits {
			totals[i] += float64(e.tokens.of(h.Text))
		}
	}
	r.Diagnostics.RetrievedTokens, r.Diagnostics.Tokenizer = new(stats.Mean(totals)), e.tokens.length.Name
}

// fitting returns the first of the hits that fit into the budget together.
func (s *setup[C]) fitting(hits []ScoredChunk[C]) []ScoredChunk[C] {
	if s.tokenBudget == 0 {
		return hits
	}
	left := s.tokenBudget
	for i, h := range hits {
		if left -= s.tokens.of(h.Chunk.IndexText()); left < 0 {
			return hits[:i]
		}
	}
	return hits
}

// within bounds how many relevant characters those of the chunks can hold that fit
// into the token budget: what the most profitable ones hold, of the last of them a
// part (Dantzig, "Discrete-variable extremum problems", 1957), with characters that
// several hold counted several times.
func (l *tokenLevel) within(a *answer, chunks []chunkers.PositionAwareChunk) int {
	type item struct{ tokens, held int }
	var items []item
	for _, c := range chunks {
		tokens := l.tokens.of(c.IndexText())
		own := []ScoredChunk[chunkers.PositionAwareChunk]{{Chunk: c}}
		held := spans.OverlapLen(spans.Union(l.canonical(own, l.counted(a))...), a.set)
		if held > 0 && tokens <= l.tokenBudget {
			items = append(items, item{tokens, held})
		}
	}
	slices.SortFunc(items, func(a, b item) int { return cmp.Compare(b.held*a.tokens, a.held*b.tokens) })
	left, most := l.tokenBudget, 0
	for _, i := range items {
		if i.tokens > left {
			return most + i.held*left/i.tokens
		}
		left -= i.tokens
		most += i.held
	}
	return most
}

// chunksOf returns the indexed chunks that hold part of an answer.
func (l *tokenLevel) chunksOf(a *answer) []chunkers.PositionAwareChunk {
	var list []chunkers.PositionAwareChunk
	for _, row := range l.rowsOf(a.set, l.counted(a)) {
		list = append(list, l.indexed[row])
	}
	return list
}
