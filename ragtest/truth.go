package ragtest

import (
	"github.com/rageval/rageval/internal/intern"
	"github.com/rageval/rageval/spans"
)

// truth is a set of relevant characters, numbered from 0 through all documents, that
// spans are clipped to. The characters of one document that a span holds have
// numbers without a gap, however many relevant spans they are of.
type truth struct {
	parts []relevantPart // sorted, disjoint

	// Where there are many: parts[places[n].first:places[n].last] are those of the
	// document with number n.
	docs   intern.Table[spans.DocumentID]
	places []struct{ first, last int }
	known  bool // docs and places
}

type relevantPart struct {
	spans.Span
	before int // relevant characters before it
}

// fewParts is how many parts are faster looked through than searched: most of
// them are told apart by two comparisons of numbers.
const fewParts = 12

// reset makes t the set, in the memory of t.
func (t *truth) reset(set spans.Set) {
	t.parts, t.known = t.parts[:0], false
	before := 0
	for r := range set.All() {
		t.parts = append(t.parts, relevantPart{r, before})
		before += r.End - r.Start
	}
}

// clip returns the numbers of the relevant characters in s: from, and less than to.
// They are equal if there is none.
func (t *truth) clip(s *spans.Span) (from, to int) {
	i, end := 0, len(t.parts)
	if len(t.parts) > fewParts {
		i, end = t.search(s)
	}
	for ; i < end; i++ {
		p := &t.parts[i]
		if p.End <= s.Start || p.Start >= s.End || p.Doc != s.Doc {
			continue
		}
		start, stop := max(s.Start, p.Start), min(s.End, p.End)
		if start >= stop {
			return 0, 0 // s is empty
		}
		from, to = p.before+start-p.Start, p.before+stop-p.Start
		for i++; i < end && t.parts[i].Start < s.End && t.parts[i].Doc == s.Doc; i++ {
			p := &t.parts[i]
			to = p.before + min(s.End, p.End) - p.Start
		}
		return from, to
	}
	return 0, 0
}

// search returns the bounds of parts that s may touch: the first that does, and
// where its document ends. They are equal if there is none.
func (t *truth) search(s *spans.Span) (first, last int) {
	if !t.known {
		t.findPlaces()
	}
	doc, known := t.docs.Find(s.Doc)
	if !known {
		return 0, 0
	}
	first, last = t.places[doc].first, t.places[doc].last
	for low, high := first, last; ; {
		if low == high {
			if low < last && t.parts[low].Start >= s.End {
				last = low
			}
			return low, last
		}
		if middle := int(uint(low+high) / 2); t.parts[middle].End <= s.Start {
			low = middle + 1
		} else {
			high = middle
		}
	}
}

func (t *truth) findPlaces() {
	t.known = true
	t.docs.Reset(0)
	t.places = t.places[:0]
	for i := range t.parts {
		if i == 0 || t.parts[i].Doc != t.parts[i-1].Doc {
			t.docs.Number(t.parts[i].Doc)
			t.places = append(t.places, struct{ first, last int }{i, i})
		}
		t.places[len(t.places)-1].last++
	}
}
