package coverage

import (
	"cmp"
	"slices"

	"github.com/rageval/rageval/spans"
)

// Optimum finds optimal choices of chunks. It holds memory that is reused from
// call to call, so that it is not safe for concurrent use. The zero value is
// ready.
type Optimum struct {
	parts      []part
	best, next []int
	window     []int
	curve      []int
	coverable  int // of the last call
	bound      bool
	held       []heldPart
}

// Alias says that the characters of From count as those of To, which are relevant:
// both have the same text.
type Alias struct{ From, To spans.Span }

// heldPart is a range of relevant characters that a chunk of the index holds.
type heldPart struct {
	chunk int
	part
}

// part is what a chunk holds of the relevant characters, when these are
// numbered from 0 through all documents: always a range, since a chunk is one.
type part struct{ start, end int }

// Curve returns, for i = 1, 2, …, k at index i-1, the largest number of relevant
// characters that any i chunks of x cover together. The slice ends early once
// more chunks cover no more: then its last number holds for every greater i. It
// is valid until the next call, and empty if no chunk holds a relevant
// character.
//
// Only the n chunks that touch the relevant set are looked at; the time is
// O(|relevant| log |x| + n·k). After the first calls nothing is allocated.
//
// Of aliases, what a chunk holds is relevant too. Where a chunk then holds several
// parts of the relevant set that are apart, it counts as if it held what is
// between them too: the numbers are upper bounds, and [Optimum.Bound] says so.
func (o *Optimum) Curve(x *Index, relevant spans.Set, k int, aliases ...Alias) []int {
	o.bound = false
	if len(aliases) > 0 {
		return o.curveOfAliases(x, relevant, k, aliases)
	}
	o.project(x, relevant)
	o.curve = o.curve[:0]
	o.coverable = 0
	o.best = o.best[:0]
	for j, p := range o.parts {
		from := p.start
		if j > 0 {
			from = max(from, o.parts[j-1].end)
		}
		o.coverable += p.end - from
		o.best = append(o.best, p.end-p.start)
	}
	return o.climb(k)
}

// climb adds chunk after chunk.
func (o *Optimum) climb(k int) []int {
	if len(o.parts) == 0 || k < 1 {
		return o.curve
	}
	most := min(slices.Max(o.best), o.coverable)
	o.curve = append(o.curve, most)
	for len(o.curve) < k && most < o.coverable {
		o.addChunk()
		most = min(slices.Max(o.best), o.coverable)
		o.curve = append(o.curve, most)
	}
	return o.curve
}

// Bound reports whether the numbers of the last call are only upper bounds.
func (o *Optimum) Bound() bool { return o.bound }

// curveOfAliases is Curve where there are aliases.
func (o *Optimum) curveOfAliases(x *Index, relevant spans.Set, k int, aliases []Alias) []int {
	o.held = o.held[:0]
	hold := func(s spans.Span, number int) {
		first, last := x.touching(s)
		for i := first; i < last; i++ {
			c := x.chunks[i]
			o.held = append(o.held, heldPart{i, part{number + max(c.Start, s.Start) - s.Start, number + min(c.End, s.End) - s.Start}})
		}
	}
	before := 0
	for r := range relevant.All() {
		hold(r, before)
		for _, a := range aliases {
			if a.To.Doc == r.Doc && a.To.Start >= r.Start && a.To.End <= r.End && a.From.Len() > 0 {
				hold(a.From, before+a.To.Start-r.Start)
			}
		}
		before += r.End - r.Start
	}

	byStart := func(a, b part) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) }
	slices.SortFunc(o.held, func(a, b heldPart) int { return byStart(a.part, b.part) })
	o.coverable = 0
	end := 0
	for _, h := range o.held {
		o.coverable += max(0, h.end-max(h.start, end))
		end = max(end, h.end)
	}
	slices.SortStableFunc(o.held, func(a, b heldPart) int { return cmp.Compare(a.chunk, b.chunk) })
	hulls := o.parts[:0]
	for i, h := range o.held {
		if i == 0 || o.held[i-1].chunk != h.chunk {
			hulls = append(hulls, h.part)
			continue
		}
		hull := &hulls[len(hulls)-1]
		o.bound = o.bound || h.start > hull.end
		hull.end = max(hull.end, h.end)
	}
	slices.SortFunc(hulls, byStart)
	o.parts = hulls[:0]
	o.best, o.curve = o.best[:0], o.curve[:0]
	for _, p := range hulls {
		if n := len(o.parts); n > 0 && o.parts[n-1].end >= p.end {
			continue
		}
		o.parts = append(o.parts, p)
		o.best = append(o.best, p.end-p.start)
	}
	return o.climb(k)
}

// Reach returns how many relevant characters all chunks of x cover together, and
// how many the best k of them do. It takes the time of [Optimum.Curve].
func (o *Optimum) Reach(x *Index, relevant spans.Set, k int, aliases ...Alias) (all, best int) {
	if curve := o.Curve(x, relevant, k, aliases...); len(curve) > 0 {
		best = curve[len(curve)-1]
	}
	return o.coverable, best
}

// project sets parts to what the chunks hold of the relevant characters,
// without those whose part lies within another's: both starts and ends are
// strictly increasing.
func (o *Optimum) project(x *Index, relevant spans.Set) {
	parts := o.parts[:0]
	seen := 0   // the last part is that of chunk seen-1, the one before of seen-2, …
	before := 0 // relevant characters before r
	for r := range relevant.All() {
		first, last := x.touching(r)
		for i := first; i < last; i++ {
			c := &x.chunks[i]
			end := before + min(c.End, r.End) - r.Start
			if i < seen {
				parts[len(parts)-(seen-i)].end = end
				continue
			}
			parts = append(parts, part{before + max(c.Start, r.Start) - r.Start, end})
			seen = i + 1
		}
		before += r.End - r.Start
	}
	o.parts = parts[:0]
	for _, p := range parts {
		if n := len(o.parts); n > 0 {
			last := &o.parts[n-1]
			if p.end == last.end {
				continue
			}
			if p.start == last.start {
				last.end = p.end
				continue
			}
		}
		o.parts = append(o.parts, p)
	}
}

// addChunk takes best from i chunks to i+1, where best[j] is the most that so
// many chunks or fewer cover if part j is the last of them.
//
// Part j adds all of itself to a choice that ends before it starts, and
// otherwise what lies beyond the end of the part before it in the choice, p:
//
//	next[j] = max( max over p that end before j starts of best[p] + j.end - j.start,
//	               max over the other p < j of best[p] - p.end + j.end )
//
// Starts and ends increase with j, so that the first maximum is a running one
// and the second is over a window that slides: window holds the candidates of
// which none is surpassed by a later one, the greatest first.
func (o *Optimum) addChunk() {
	o.next = o.next[:0]
	window := o.window[:0]
	head := 0  // of window
	apart := 0 // the most that chunks cover which end before j starts; none cover 0
	over := 0  // the first part that does not
	beyond := func(p int) int { return o.best[p] - o.parts[p].end }
	for j, part := range o.parts {
		if j > 0 {
			for len(window) > head && beyond(window[len(window)-1]) <= beyond(j-1) {
				window = window[:len(window)-1]
			}
			window = append(window, j-1)
		}
		for over < j && o.parts[over].end <= part.start {
			apart = max(apart, o.best[over])
			over++
		}
		for head < len(window) && window[head] < over {
			head++
		}
		most := apart + part.end - part.start
		if head < len(window) {
			most = max(most, beyond(window[head])+part.end)
		}
		o.next = append(o.next, most)
	}
	o.window = window
	o.best, o.next = o.next, o.best
}
