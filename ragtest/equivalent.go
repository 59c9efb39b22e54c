package ragtest

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sort"
	"strings"

	"github.com/rageval/rageval/internal/coverage"
	"github.com/rageval/rageval/internal/parallel"
	"github.com/rageval/rageval/spans"
)

// EquivalentText says how much relevant text the corpus holds more than once, and
// what that means: see the field of that name of [TokenLevel].
type EquivalentText struct {
	Passages     int     `json:"passages"`     // relevant spans whose text is elsewhere too
	RecallChange float64 `json:"recallChange"` // what counting that text adds to the mean span_recall, whether it was counted or not
}

// window is how a text begins: up to eight bytes, the first one lowest.
type window struct {
	bytes uint64
	width int
}

const filterBits = 16

func (w window) hash() uint64 {
	return (w.bytes + uint64(w.width)) * 0x9e3779b97f4a7c15 >> (64 - filterBits)
}

func windowOf(text string) window {
	w := window{width: min(8, len(text))}
	for i := range w.width {
		w.bytes |= uint64(text[i]) << (8 * i)
	}
	return w
}

// finder finds texts, none of them empty, in documents.
type finder struct {
	byWindow map[window][]string
	filter   [1 << filterBits / 64]uint64
	widths   []int // in use
}

// occurrence is a place of a text.
type occurrence struct {
	text string
	at   spans.Span
}

func newFinder(texts []string) *finder {
	f := &finder{byWindow: map[window][]string{}}
	for _, text := range texts {
		w := windowOf(text)
		if slices.Contains(f.byWindow[w], text) {
			continue
		}
		f.byWindow[w] = append(f.byWindow[w], text)
		f.filter[w.hash()/64] |= 1 << (w.hash() % 64)
		if !slices.Contains(f.widths, w.width) {
			f.widths = append(f.widths, w.width)
		}
	}
	return f
}

// in returns where a document holds the texts. It takes time linear in the document for
// each length of texts that are shorter than eight bytes, and once for all others.
func (f *finder) in(doc *spans.Document) (found []occurrence, err error) {
	text := doc.Text()
	for _, width := range f.widths {
		// The window moves up a byte at a time: it is the highest bytes of recent.
		var recent uint64
		for end := range len(text) {
			recent = recent>>8 | uint64(text[end])<<56
			w := window{recent >> (64 - 8*width), width}
			h := w.hash()
			if f.filter[h/64]>>(h%64)&1 == 0 || end+1 < width {
				continue
			}
			rest := text[end+1-width:]
			for _, candidate := range f.byWindow[w] {
				if !strings.HasPrefix(rest, candidate) {
					continue
				}
				span, err := doc.CharSpan(end+1-width, end+1-width+len(candidate))
				if err != nil {
					return nil, err
				}
				found = append(found, occurrence{candidate, span})
			}
		}
	}
	return found, nil
}

// addTo adds where the documents hold the texts to places, in their order.
func (f *finder) addTo(ctx context.Context, places map[string][]spans.Span, docs []*spans.Document) error {
	found := make([][]occurrence, len(docs))
	err := parallel.Do(ctx, runtime.GOMAXPROCS(0), len(docs), func(_ context.Context, d int) (err error) {
		found[d], err = f.in(docs[d])
		return err
	})
	for _, list := range found {
		for _, o := range list {
			places[o.text] = append(places[o.text], o.at)
		}
	}
	return err
}

// aliases returns the places elsewhere of the texts of relevant spans, each with
// the characters that it stands for, sorted and disjoint. A relevant character
// stands for itself; one that is part of several such places stands for the longest
// relevant text, of equally long ones for the first.
func aliases(relevant []spans.Span, set spans.Set, textOf func(spans.Span) string, places map[string][]spans.Span) []coverage.Alias {
	order := slices.Clone(relevant)
	slices.SortStableFunc(order, func(a, b spans.Span) int { return cmp.Compare(b.Len(), a.Len()) })
	var list []coverage.Alias
	taken := slices.Collect(set.All())
	for _, s := range order {
		if s.Len() == 0 {
			continue
		}
		blocked := spans.Union(taken...)
		var end spans.Span // of the last place: a text may overlap itself
		for _, place := range places[textOf(s)] {
			from := place
			if end.Doc == place.Doc {
				from.Start = max(from.Start, end.End)
			}
			end = place
			for free := range spans.Union(from).Subtract(blocked).All() {
				shift := s.Start - place.Start
				list = append(list, coverage.Alias{From: free, To: spans.Span{Doc: s.Doc, Start: free.Start + shift, End: free.End + shift}})
				taken = append(taken, free)
			}
		}
	}
	slices.SortFunc(list, func(a, b coverage.Alias) int {
		return cmp.Or(cmp.Compare(a.From.Doc, b.From.Doc), cmp.Compare(a.From.Start, b.From.Start))
	})
	return list
}

// appendCanonical appends s to list, with what it holds of aliases replaced by what
// they stand for.
func appendCanonical(list []spans.Span, s spans.Span, aliases []coverage.Alias) []spans.Span {
	i := sort.Search(len(aliases), func(i int) bool {
		a := aliases[i].From
		return a.Doc > s.Doc || a.Doc == s.Doc && a.End > s.Start
	})
	for ; i < len(aliases) && aliases[i].From.Doc == s.Doc && aliases[i].From.Start < s.End; i++ {
		from, to := aliases[i].From, aliases[i].To
		if s.Start < from.Start {
			list = append(list, spans.Span{Doc: s.Doc, Start: s.Start, End: from.Start})
		}
		start, end := max(s.Start, from.Start), min(s.End, from.End)
		list = append(list, spans.Span{Doc: to.Doc, Start: to.Start + start - from.Start, End: to.Start + end - from.Start})
		s.Start = end
	}
	if s.Start < s.End {
		list = append(list, s)
	}
	return list
}
