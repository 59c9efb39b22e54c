package main

import (
	"fmt"
	"slices"

	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// collection is a data set of whatever form. It has queries of its level only.
type collection struct {
	level  level
	corpus *spans.Corpus // nil: the form has none
	tokens []ragtest.TokenQuery
	chunks []ragtest.ChunkQuery
	docs   []ragtest.DocumentQuery // their texts are "" if the form has none
}

func (c *collection) size() int { return len(c.tokens) + len(c.chunks) + len(c.docs) }

// dropShort leaves out the answers of fewer characters than least, all spans of an answer
// taken together, and the queries that thereby lose all of them.
func (c *collection) dropShort(least int, l *ledger) {
	if least <= 0 {
		return
	}
	var kept []ragtest.TokenQuery
	answers, queries := 0, 0
	for _, q := range c.tokens {
		list := answersOf(q)
		if len(list) == 0 {
			kept = append(kept, q)
			continue
		}
		long := slices.DeleteFunc(slices.Clone(list), func(a []spans.Span) bool { return spans.Union(a...).Len() < least })
		answers += len(list) - len(long)
		if len(long) == 0 {
			queries++
			continue
		}
		kept = append(kept, withAnswers(q, long))
	}
	c.tokens = kept
	why := fmt.Sprintf("left out, for an answer has fewer than %d characters", least)
	l.leaveOut(answers, "answer", "answers", why)
	l.leaveOut(queries, "query", "queries", "left out, for all their answers are that short")
}

// answersOf returns the answers of a query: none if it has no relevant span.
func answersOf(q ragtest.TokenQuery) [][]spans.Span {
	if len(q.Relevant) == 0 && len(q.Alternatives) == 0 {
		return nil
	}
	return append([][]spans.Span{q.Relevant}, q.Alternatives...)
}

// withAnswers returns q with these answers, of which there is at least one.
func withAnswers(q ragtest.TokenQuery, answers [][]spans.Span) ragtest.TokenQuery {
	q.Relevant, q.Alternatives = answers[0], nil
	if len(answers) > 1 {
		q.Alternatives = answers[1:]
	}
	return q
}

// sample leaves a sample of the queries.
func (c *collection) sample(s fixtures.Sample) {
	chosen := make(map[ragtest.QueryID]bool)
	for _, q := range s.Of(c.queries()) {
		chosen[q.ID] = true
	}
	c.keep(chosen)
}

// queries returns the queries of whatever level, without what is relevant.
func (c *collection) queries() []ragtest.TokenQuery {
	all := make([]ragtest.TokenQuery, 0, c.size())
	for _, q := range c.tokens {
		all = append(all, ragtest.TokenQuery{Query: q.Query})
	}
	for _, q := range c.chunks {
		all = append(all, ragtest.TokenQuery{Query: q.Query})
	}
	for _, q := range c.docs {
		all = append(all, ragtest.TokenQuery{Query: q.Query})
	}
	return all
}

// ids returns the IDs of the queries.
func (c *collection) ids() map[ragtest.QueryID]bool {
	ids := make(map[ragtest.QueryID]bool, c.size())
	for _, q := range c.queries() {
		ids[q.ID] = true
	}
	return ids
}

// keep leaves the queries of these IDs.
func (c *collection) keep(ids map[ragtest.QueryID]bool) {
	c.tokens = slices.DeleteFunc(slices.Clone(c.tokens), func(q ragtest.TokenQuery) bool { return !ids[q.ID] })
	c.chunks = slices.DeleteFunc(slices.Clone(c.chunks), func(q ragtest.ChunkQuery) bool { return !ids[q.ID] })
	c.docs = slices.DeleteFunc(slices.Clone(c.docs), func(q ragtest.DocumentQuery) bool { return !ids[q.ID] })
}
