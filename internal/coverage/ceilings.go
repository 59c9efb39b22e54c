package coverage

import (
	"cmp"
	"slices"

	"github.com/rageval/rageval/spans"
)

// Ceiling is the largest value that a score can have.
type Ceiling struct {
	Value float64
	Bound bool // no choice of chunks exceeds Value, but perhaps none reaches it
}

// Ceilings finds the largest precision and IoU that any choice of n chunks has.
// It holds memory that is reused from call to call, so that it is not safe for
// concurrent use.
//
// Note: they are quotients of what chunks cover together and how long they are
// together, so that a choice must be of exactly n chunks: of fewer, one that holds
// nothing but relevant text would often be perfect.
type Ceilings struct {
	index       *Index
	overlapping bool
	shortest    []int     // chunks by ascending length; only if none overlap
	padding     []padding // padding[q]: the q chunks with the smallest union; only if some overlap

	relevant   []spans.Span
	rows       []stretch // near, ascending
	near       []candidate
	padded     []pad
	last, next []choice
	optimum    Optimum
}

// padding is a choice of chunks of the smallest union.
type padding struct {
	chars  int
	chunks []int
}

// candidate is a chunk that touches the relevant text or is linked by overlaps to
// one that does. from and to are how many relevant characters of its document come
// before its start and its end.
type candidate struct {
	spans.Span
	from, to int
}

// stretch is a range of chunks of the index: [first, last).
type stretch struct{ first, last int }

// choice is what chosen chunks hold together.
type choice struct {
	covered, chars int
	value          int // covered·gain - chars·price
	ok             bool
	bound          bool
}

// mostCandidates bounds the time for a query. Beyond, a bound is returned.
const mostCandidates = 256

// NewCeilings returns what finds the ceilings of choices of up to k chunks of x.
// It takes O(n·(log n + k)) time for n chunks.
func NewCeilings(x *Index, k int) *Ceilings {
	c := &Ceilings{index: x}
	for i := 1; i < len(x.chunks); i++ {
		if x.chunks[i].Overlaps(x.chunks[i-1]) {
			c.overlapping = true
			break
		}
	}
	if x.dropped > 0 {
		return c
	}
	if c.overlapping {
		c.pad(min(k, len(x.chunks)))
		return c
	}
	c.shortest = make([]int, len(x.chunks))
	for i := range c.shortest {
		c.shortest[i] = i
	}
	slices.SortStableFunc(c.shortest, func(a, b int) int { return cmp.Compare(x.chunks[a].Len(), x.chunks[b].Len()) })
	return c
}

// pad finds the choices of up to k chunks of the smallest union.
func (c *Ceilings) pad(k int) {
	chunks := c.index.chunks
	const none = int(^uint(0) >> 1)
	type step struct{ chars, before int }
	rows := make([][]step, k+1) // by number of chunks: the least chars if chunk j is the last
	c.padding = make([]padding, k+1)
	for q := 1; q <= k; q++ {
		rows[q] = make([]step, len(chunks))
		apart := step{none, -1} // the best of those that end before j starts
		if q == 1 {
			apart = step{0, -1}
		}
		over := 0
		least := -1
		for j, chunk := range chunks {
			for ; over < j && (chunks[over].Doc != chunk.Doc || chunks[over].End <= chunk.Start); over++ {
				if q > 1 && rows[q-1][over].chars < apart.chars {
					apart = step{rows[q-1][over].chars, over}
				}
			}
			s := step{none, -1}
			if apart.chars < none {
				s = step{apart.chars + chunk.Len(), apart.before}
			}
			for p := over; q > 1 && p < j; p++ {
				if r := rows[q-1][p].chars; r < none && r+chunk.End-chunks[p].End < s.chars {
					s = step{r + chunk.End - chunks[p].End, p}
				}
			}
			rows[q][j] = s
			if s.chars < none && (least < 0 || s.chars < rows[q][least].chars) {
				least = j
			}
		}
		c.padding[q].chars = rows[q][least].chars
		for i, j := q, least; i > 0; i-- {
			c.padding[q].chunks = append(c.padding[q].chunks, j)
			j = rows[i][j].before
		}
	}
}

// Best returns the largest precision and IoU that any n chunks have. n is at most
// the k of [NewCeilings] and the number of chunks.
//
// The quotient of two sums over a choice is maximised by the method of Dinkelbach
// ("On nonlinear fractional programming", Management Science 1967): the choice that
// maximises covered - λ·chars for the quotient λ of the last choice, until none is
// better. That choice is found as in [Optimum], among the chunks that touch the
// relevant text or are linked by overlaps to such; what the other chunks add is
// their length alone. All numbers are integers.
//
// A bound is returned where chunks lie within others; where the shortest choice of
// other chunks is not clear of those that were looked at; and where they are too
// many.
func (c *Ceilings) Best(relevant spans.Set, n int) (precision, iou Ceiling) {
	switch {
	case n == 0 && relevant.Empty():
		return Ceiling{}, Ceiling{Value: 1}
	case n == 0 || relevant.Empty():
		return Ceiling{}, Ceiling{}
	}
	if c.index.dropped > 0 || !c.gather(relevant, n) {
		return c.bounds(relevant, n)
	}
	if len(c.near) == 0 {
		return Ceiling{}, Ceiling{}
	}
	all := relevant.Len()
	// Precision is covered / chars, IoU covered / (chars + all - covered).
	precision = c.maximise(n, false, func(s choice) int { return s.chars })
	iou = c.maximise(n, true, func(s choice) int { return s.chars + all - s.covered })
	return precision, iou
}

// bounds returns what no choice exceeds.
func (c *Ceilings) bounds(relevant spans.Set, n int) (precision, iou Ceiling) {
	_, most := c.optimum.Reach(c.index, relevant, n)
	if most == 0 {
		return Ceiling{}, Ceiling{}
	}
	return Ceiling{1, true}, Ceiling{float64(most) / float64(relevant.Len()), true}
}

// gather sets near to the chunks that touch the relevant text and those that up to
// n overlaps link to them; false if they are too many.
func (c *Ceilings) gather(relevant spans.Set, n int) bool {
	chunks := c.index.chunks
	linked := func(i, j int) bool { return chunks[i].Doc == chunks[j].Doc && chunks[i].End > chunks[j].Start }
	c.rows, c.near, c.relevant = c.rows[:0], c.near[:0], c.relevant[:0]
	for r := range relevant.All() {
		c.relevant = append(c.relevant, r)
		first, last := c.index.touching(r)
		if first == last {
			continue
		}
		for range n - 1 {
			from := first
			for first > 0 && linked(first-1, from) {
				first--
			}
			to := last
			for last < len(chunks) && linked(to-1, last) {
				last++
			}
			if from == first && to == last || last-first > mostCandidates {
				break
			}
		}
		if before := len(c.rows) - 1; before >= 0 && c.rows[before].last >= first {
			c.rows[before].first = min(c.rows[before].first, first)
			c.rows[before].last = max(c.rows[before].last, last)
			continue
		}
		c.rows = append(c.rows, stretch{first, last})
	}
	for _, s := range c.rows {
		if len(c.near)+s.last-s.first > mostCandidates {
			return false
		}
		for _, chunk := range chunks[s.first:s.last] {
			c.near = append(c.near, candidate{chunk, c.relevantBefore(chunk.Doc, chunk.Start), c.relevantBefore(chunk.Doc, chunk.End)})
		}
	}
	return true
}

// relevantBefore returns the number of relevant characters before a place.
func (c *Ceilings) relevantBefore(doc spans.DocumentID, at int) int {
	n := 0
	for _, r := range c.relevant {
		if r.Doc > doc || r.Doc == doc && r.Start >= at {
			break
		}
		end := r.End
		if r.Doc == doc {
			end = min(end, at)
		}
		n += end - r.Start
	}
	return n
}

// maximise returns the largest covered/below of any choice of n chunks, where
// below is chars or, if it is less what is covered, that and a constant.
func (c *Ceilings) maximise(n int, lessCovered bool, below func(choice) int) Ceiling {
	pads := c.pads(n)
	numerator, denominator := 0, 1
	bound := false
	for {
		gain := denominator
		if lessCovered {
			gain += numerator
		}
		best := c.choose(n, gain, numerator, pads)
		if best.covered*denominator <= numerator*below(best) {
			return Ceiling{float64(numerator) / float64(denominator), bound}
		}
		numerator, denominator, bound = best.covered, below(best), best.bound
	}
}

// choose returns the choice of n chunks of the greatest value.
func (c *Ceilings) choose(n, gain, price int, pads []pad) (best choice) {
	worth := func(covered, chars int) choice {
		return choice{covered: covered, chars: chars, value: covered*gain - chars*price, ok: true}
	}
	better := func(a, b choice) bool { return a.ok && (!b.ok || a.value > b.value) }
	last, next := c.last[:0], c.next[:0] // by last chunk
	for m := 1; m <= min(n, len(c.near)); m++ {
		next = next[:0]
		var apart choice // the best of those that end before chunk j starts
		apart.ok = m == 1
		over := 0
		for j, chunk := range c.near {
			for ; over < j && (c.near[over].Doc != chunk.Doc || c.near[over].End <= chunk.Start); over++ {
				if m > 1 && better(last[over], apart) {
					apart = last[over]
				}
			}
			var s choice
			if apart.ok {
				s = worth(apart.covered+chunk.to-chunk.from, apart.chars+chunk.Len())
			}
			for p := over; m > 1 && p < j; p++ {
				if !last[p].ok {
					continue
				}
				before := c.near[p]
				if t := worth(last[p].covered+chunk.to-before.to, last[p].chars+chunk.End-before.End); better(t, s) {
					s = t
				}
			}
			next = append(next, s)
			if q := n - m; s.ok && pads[q].ok {
				t := worth(s.covered, s.chars+pads[q].chars)
				t.bound = q > 0 && pads[q].bound
				if better(t, best) {
					best = t
				}
			}
		}
		last, next = next, last
	}
	c.last, c.next = last, next
	return best
}

// pad is the least that chunks add which are not near.
type pad struct {
	chars int
	bound bool // the chunks may be near
	ok    bool // there are so many
}

// pads returns what q chunks add, for q from 0 to n.
func (c *Ceilings) pads(n int) []pad {
	c.padded = append(c.padded[:0], pad{ok: true})
	if c.overlapping {
		for q := 1; q <= n; q++ {
			c.padded = append(c.padded, pad{c.padding[q].chars, slices.ContainsFunc(c.padding[q].chunks, c.isNear), q <= len(c.index.chunks)-len(c.near)})
		}
		return c.padded
	}
	for _, row := range c.shortest {
		if q := len(c.padded); q > n {
			break
		} else if !c.isNear(row) {
			c.padded = append(c.padded, pad{c.padded[q-1].chars + c.index.chunks[row].Len(), false, true})
		}
	}
	for len(c.padded) <= n {
		c.padded = append(c.padded, pad{})
	}
	return c.padded
}

func (c *Ceilings) isNear(row int) bool {
	return slices.ContainsFunc(c.rows, func(s stretch) bool { return s.first <= row && row < s.last })
}

// SmallestUnions returns how many characters the m chunks of the smallest union have,
// at index m-1, for m up to k and the number of chunks, and whether some chunks overlap
// and some lie within others or are empty, which are left out. It is all that the
// ceilings of other documents' relevant text depend on: of the documents without
// relevant text, the k with the smallest unions of m chunks, for each m, and of equal
// ones the first by ID, have all chunks that those ceilings need. It takes O(n·log n)
// time for n chunks, and O(n·k) time and memory if some overlap.
func SmallestUnions(chunks []spans.Span, k int) (chars []int, overlapping, nested bool) {
	c := NewCeilings(NewIndex(chunks), 0)
	if !c.overlapping {
		for _, chunk := range c.index.chunks {
			chars = append(chars, chunk.Len())
		}
		slices.Sort(chars)
		chars = chars[:min(k, len(chars))]
		for i := 1; i < len(chars); i++ {
			chars[i] += chars[i-1]
		}
		return slices.Clip(chars), false, c.index.dropped > 0
	}
	c.pad(min(k, len(c.index.chunks)))
	for _, p := range c.padding[1:] {
		chars = append(chars, p.chars)
	}
	return chars, c.overlapping, c.index.dropped > 0
}
