package spans

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// Set is a set of characters over any number of documents, held as spans that
// are sorted by document ID and start, disjoint and not adjacent. It is
// immutable; the zero value is the empty set.
type Set struct {
	spans []Span
	chars int
}

// Union returns the set of all characters that lie in at least one of the
// spans. Overlapping and adjacent spans of one document are merged; spans of
// different documents never are. A span with End <= Start contributes nothing.
// The arguments are neither modified nor kept. It takes O(n log n) time for
// spans in any order and O(n) for spans that are sorted already.
func Union(spans ...Span) Set {
	kept := make([]Span, 0, len(spans))
	for _, s := range spans {
		if s.End > s.Start {
			kept = append(kept, s)
		}
	}
	if len(kept) == 0 {
		return Set{}
	}
	if !slices.IsSortedFunc(kept, compare) {
		slices.SortFunc(kept, compare)
	}
	merged := kept[:1]
	for _, s := range kept[1:] {
		last := &merged[len(merged)-1]
		if s.Doc == last.Doc && s.Start <= last.End {
			last.End = max(last.End, s.End)
		} else {
			merged = append(merged, s)
		}
	}
	return newSet(merged)
}

// newSet takes ownership of spans, which are sorted, disjoint and non-adjacent.
func newSet(spans []Span) Set {
	chars := 0
	for _, s := range spans {
		chars += s.End - s.Start
	}
	return Set{spans: spans, chars: chars}
}

func compare(a, b Span) int {
	if c := strings.Compare(string(a.Doc), string(b.Doc)); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
}

// Len returns the number of characters in the set.
func (s Set) Len() int { return s.chars }

// Empty reports whether the set holds no character.
func (s Set) Empty() bool { return s.chars == 0 }

// All yields the spans of the set in order of document ID and start: disjoint,
// non-adjacent and none empty.
func (s Set) All() iter.Seq[Span] { return slices.Values(s.spans) }

// Equal reports whether s and t hold the same characters.
func (s Set) Equal(t Set) bool { return slices.Equal(s.spans, t.spans) }

// String returns the spans of the set, separated by spaces, within braces.
func (s Set) String() string {
	var b strings.Builder
	b.WriteByte('{')
	for i, p := range s.spans {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(p.String())
	}
	b.WriteByte('}')
	return b.String()
}

// Intersect returns the characters that are in both s and t, in O(n + m) time.
func (s Set) Intersect(t Set) Set {
	var both []Span
	a, b := s.spans, t.spans
	for len(a) > 0 && len(b) > 0 {
		order := endOrder(a[0], b[0])
		if a[0].Doc == b[0].Doc {
			if start, end := max(a[0].Start, b[0].Start), min(a[0].End, b[0].End); start < end {
				both = append(both, Span{a[0].Doc, start, end})
			}
		}
		if order <= 0 {
			a = a[1:]
		}
		if order >= 0 {
			b = b[1:]
		}
	}
	return newSet(both)
}

// Subtract returns the characters that are in s but not in t, in O(n + m) time.
func (s Set) Subtract(t Set) Set {
	var left []Span
	b := t.spans
	for _, p := range s.spans {
		for len(b) > 0 && (b[0].Doc < p.Doc || b[0].Doc == p.Doc && b[0].End <= p.Start) {
			b = b[1:]
		}
		start := p.Start
		for i := 0; i < len(b) && b[i].Doc == p.Doc && b[i].Start < p.End; i++ {
			if start < b[i].Start {
				left = append(left, Span{p.Doc, start, b[i].Start})
			}
			start = b[i].End
		}
		if start < p.End {
			left = append(left, Span{p.Doc, start, p.End})
		}
	}
	return newSet(left)
}

// endOrder compares the places at which two spans end: document, then End.
func endOrder(a, b Span) int {
	if a.Doc != b.Doc {
		return strings.Compare(string(a.Doc), string(b.Doc))
	}
	return cmp.Compare(a.End, b.End)
}

// OverlapLen returns the number of characters that are in both a and b.
// It takes one sweep over both sets and allocates nothing.
func OverlapLen(a, b Set) int {
	n := 0
	p, q := a.spans, b.spans
	for i, j := 0, 0; i < len(p) && j < len(q); {
		s, t := &p[i], &q[j]
		if s.Doc != t.Doc {
			if s.Doc < t.Doc {
				i++
			} else {
				j++
			}
			continue
		}
		if lo, hi := max(s.Start, t.Start), min(s.End, t.End); lo < hi {
			n += hi - lo
		}
		if s.End <= t.End {
			i++
		} else {
			j++
		}
	}
	return n
}

// Recall returns the share of the relevant characters that were retrieved:
// |retrieved ∩ relevant| / |relevant|. It is 1 where nothing is relevant.
func Recall(retrieved, relevant Set) float64 {
	if relevant.Empty() {
		return 1
	}
	return float64(OverlapLen(retrieved, relevant)) / float64(relevant.chars)
}

// Precision returns the share of the retrieved characters that are relevant:
// |retrieved ∩ relevant| / |retrieved|. It is 0 where nothing was retrieved.
func Precision(retrieved, relevant Set) float64 {
	if retrieved.Empty() {
		return 0
	}
	return float64(OverlapLen(retrieved, relevant)) / float64(retrieved.chars)
}

// IoU returns the intersection over union (the Jaccard index) of two sets:
// |a ∩ b| / |a ∪ b|. It is 1 where both are empty and 0 where exactly one is.
func IoU(a, b Set) float64 {
	if a.Empty() && b.Empty() {
		return 1
	}
	both := OverlapLen(a, b)
	return float64(both) / float64(a.chars+b.chars-both)
}
