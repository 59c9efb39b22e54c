package ragtest

import (
	"cmp"
	"slices"
	"sort"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

// places tells which of the indexed chunks, given by insertion order, touch a span.
type places map[spans.DocumentID][]placed

// placed is a chunk of a document, in order of its start. A chunk that another one
// follows may reach beyond it: furthest is the furthest end so far.
type placed struct{ start, end, furthest, row int }

func newPlaces(chunks []chunkers.PositionAwareChunk) places {
	of := places{}
	for row, c := range chunks {
		of[c.Span.Doc] = append(of[c.Span.Doc], placed{c.Span.Start, c.Span.End, 0, row})
	}
	for _, list := range of {
		slices.SortStableFunc(list, func(a, b placed) int { return cmp.Compare(a.start, b.start) })
		furthest := 0
		for i := range list {
			furthest = max(furthest, list[i].end)
			list[i].furthest = furthest
		}
	}
	return of
}

// touching appends the chunks that share a character with s to rows, in order of
// their starts. It takes time logarithmic in the chunks of the document and linear
// in those that begin within s, or before it and are crossed by one that reaches it.
func (p places) touching(rows []int, s spans.Span) []int {
	list := p[s.Doc]
	first := sort.Search(len(list), func(i int) bool { return list[i].furthest > s.Start })
	for _, c := range list[first:] {
		if c.start >= s.End {
			break
		}
		if max(c.start, s.Start) < min(c.end, s.End) {
			rows = append(rows, c.row)
		}
	}
	return rows
}
