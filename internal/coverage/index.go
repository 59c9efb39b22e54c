// Package coverage finds how many relevant characters the best choice of chunks
// covers: the ideal that a ranking of overlapping chunks is measured against.
//
// Choosing the chunk that adds most, again and again, is no ideal: where chunks
// overlap, a ranking can beat it. This package finds the true optimum.
package coverage

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/rageval/rageval/spans"
)

// Index holds chunks so that those which touch a span are found by binary
// search. Chunks within other chunks are left out, for the larger chunk serves
// as well. The zero value holds no chunk. An Index that is not being Reset is
// safe for concurrent use.
type Index struct {
	// chunks are sorted by document; within a document both starts and ends
	// are strictly increasing, since none lies within another.
	chunks  []spans.Span
	dropped int // chunks within others, and empty ones
}

// NewIndex returns an index of the given chunks, which may be in any order and
// overlap in any way. It takes O(n log n) time.
func NewIndex(chunks []spans.Span) *Index {
	x := new(Index)
	x.Reset(chunks)
	return x
}

// Reset makes x an index of the given chunks, as [NewIndex] does, reusing its
// memory. The argument is neither modified nor kept.
func (x *Index) Reset(chunks []spans.Span) {
	x.chunks = append(x.chunks[:0], chunks...)
	slices.SortFunc(x.chunks, containingFirst)
	kept := x.chunks[:0]
	for _, c := range x.chunks {
		if c.End <= c.Start {
			continue
		}
		if n := len(kept); n > 0 && kept[n-1].Doc == c.Doc && kept[n-1].End >= c.End {
			continue
		}
		kept = append(kept, c)
	}
	x.dropped = len(x.chunks) - len(kept)
	x.chunks = kept
}

// containingFirst orders spans by document and start, and a span before those
// of the same start that lie within it.
func containingFirst(a, b spans.Span) int {
	if c := strings.Compare(string(a.Doc), string(b.Doc)); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
}

// touching returns the bounds of the chunks that share a character with s,
// which is not empty: chunks[first:last].
func (x *Index) touching(s spans.Span) (first, last int) {
	first = sort.Search(len(x.chunks), func(i int) bool {
		c := &x.chunks[i]
		return c.Doc > s.Doc || c.Doc == s.Doc && c.End > s.Start
	})
	last = first + sort.Search(len(x.chunks)-first, func(i int) bool {
		c := &x.chunks[first+i]
		return c.Doc > s.Doc || c.Start >= s.End
	})
	return first, last
}
