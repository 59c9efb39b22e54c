package ragtest

import (
	"sort"

	"github.com/rageval/rageval/spans"
)

// truth is a set of relevant characters that can be searched: the spans of a
// [spans.Set].
type truth []spans.Span

// reset returns the spans of relevant, in the memory of t.
func (t truth) reset(relevant spans.Set) truth {
	t = t[:0]
	for r := range relevant.All() {
		t = append(t, r)
	}
	return t
}

// charsIn returns the number of relevant characters of doc in [start, end).
func (t truth) charsIn(doc spans.DocumentID, start, end int) int {
	i := sort.Search(len(t), func(i int) bool { return t[i].Doc > doc || t[i].Doc == doc && t[i].End > start })
	n := 0
	for ; i < len(t) && t[i].Doc == doc && t[i].Start < end; i++ {
		n += max(0, min(end, t[i].End)-max(start, t[i].Start))
	}
	return n
}
