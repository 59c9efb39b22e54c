package align

import "context"

// place is bytes of the text that a chunk may stand for.
type place struct {
	start, end int32
	loose      bool // equal to the chunk only up to white space
}

// lookBack is how many chunks before it a chunk may overlap in a chain.
const lookBack = 8

// cost orders chains: more characters covered, then fewer chunks left out, then
// fewer that fit only up to white space, then overlaps closer to the expected
// one.
type cost struct {
	covered   int // characters other than white space
	skipped   int // chunks
	loose     int // chunks
	deviation int // sum of |overlap - expected overlap|, in characters
}

func (c cost) less(d cost) bool {
	if c.covered != d.covered {
		return c.covered > d.covered
	}
	if c.skipped != d.skipped {
		return c.skipped < d.skipped
	}
	if c.loose != d.loose {
		return c.loose < d.loose
	}
	return c.deviation < d.deviation
}

// state is a chain that ends with a given place of a given chunk.
type state struct {
	place
	cost
	reach int // the greatest end in the chain
	id    int // index in prev
}

// chain chooses for each chunk one of its places, or none (-1), so that the
// starts increase strictly and the cost is least. Places are sorted by start.
// overlap is the expected overlap of neighbours in characters.
//
// It is a dynamic program over the places of one chunk after the other. The
// chain before a place either ends before it, and then the best of all those is
// looked up by where they end (a Fenwick tree of minima), or it overlaps it,
// and then the places of the last lookBack chunks are tried. That takes
// O(n·k·(log(n·k) + lookBack·k)) time for n chunks with k places each, and a
// word for each place besides the tree's 80 bytes for each distinct end.
//
// The result is exact where no chunk lies within the one before it, and at most
// lookBack-1 chunks in a row are left out between two that overlap.
func chain(ctx context.Context, m measure, textLen int, places [][]place, overlap int) ([]int, error) {
	ends := newRanks(textLen + 1)
	total := 0
	for _, ps := range places {
		for _, p := range ps {
			ends.add(int(p.end))
		}
		total += len(ps)
	}
	closed := make(minTree, ends.count()+1)
	prev := make([]int, 0, total)    // the state before each, or -1
	last := state{id: -1}            // of the best chain
	var recent [lookBack + 1][]state // of the last chunks, by step modulo its length
	for step, ps := range places {
		if step%256 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		states := recent[step%len(recent)][:0]
		var passed [lookBack + 1]int // of the states of each earlier chunk, those that all end before p
		for _, p := range ps {
			start, end := int(p.start), int(p.end)
			startChars, startNonSpace, endNonSpace := m.charsBefore(start), m.nonSpaceBefore(start), m.nonSpaceBefore(end)
			// The chain that begins here, or the best of those that end before.
			best := state{id: -1, cost: cost{skipped: step}}
			if s, ok := closed.min(ends.below(start + 1)); ok {
				s.skipped += step - 1
				s.deviation += startChars + overlap
				if s.cost.less(best.cost) {
					best = s
				}
			}
			best.covered += endNonSpace - startNonSpace
			for back := min(step, lookBack); back > 0; back-- {
				earlier := recent[(step-back)%len(recent)]
				for passed[back] < len(earlier) && earlier[passed[back]].reach <= start {
					passed[back]++
				}
				for i := passed[back]; i < len(earlier) && earlier[i].start < p.start; i++ {
					s := &earlier[i]
					if s.reach <= start {
						continue
					}
					c := s.cost
					if s.reach < end {
						c.covered += endNonSpace - m.nonSpaceBefore(s.reach)
					}
					if c.covered < best.covered {
						continue
					}
					c.skipped += back - 1
					c.deviation += abs(m.charsBefore(int(s.end)) - startChars - overlap)
					if c.less(best.cost) {
						best = *s
						best.cost = c
					}
				}
			}
			if p.loose {
				best.cost.loose++
			}
			states = append(states, state{p, best.cost, max(best.reach, end), len(prev)})
			prev = append(prev, best.id)
		}
		recent[step%len(recent)] = states
		for _, s := range states {
			// Count from here on what else a later chunk adds as if it came
			// from the beginning, so that states of different chunks compare.
			s.skipped -= step
			if last.id < 0 || s.cost.less(last.cost) {
				last = s
			}
			s.deviation -= m.charsBefore(int(s.end))
			closed.add(ends.below(s.reach), s)
		}
	}

	chosen := make([]int, len(places))
	for i := range chosen {
		chosen[i] = -1
	}
	id, first := last.id, total // first is the ID of the first place of the step
	for step := len(places) - 1; step >= 0; step-- {
		first -= len(places[step])
		if id >= first {
			chosen[step] = id - first
			id = prev[id]
		}
	}
	return chosen, nil
}

func abs(i int) int { return max(i, -i) }

// minTree is a Fenwick tree over indices from 0 that knows the state of least
// cost below an index; the first of equals. Its length is one more than the
// number of indices.
type minTree []struct {
	state
	ok bool
}

func (t minTree) add(i int, s state) {
	for i++; i < len(t); i += i & -i {
		if !t[i].ok || s.cost.less(t[i].cost) {
			t[i].state, t[i].ok = s, true
		}
	}
}

// min returns the state of least cost among those at indices less than n.
func (t minTree) min(n int) (best state, ok bool) {
	for i := n; i > 0; i -= i & -i {
		if t[i].ok && (!ok || t[i].cost.less(best.cost)) {
			best, ok = t[i].state, true
		}
	}
	return best, ok
}
