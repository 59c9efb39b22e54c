package align

import "context"

// place is bytes of the text that a chunk may stand for.
type place struct {
	start, end int32
	loose      bool // equal to the chunk only up to white space
}

// lookBack is how many chunks before it a chunk may overlap in a chain.
const lookBack = 8

// cost orders chains: fewer characters uncovered, then fewer chunks left out,
// then fewer that fit only up to white space, then overlaps closer to the
// expected one.
type cost struct {
	uncovered int // characters other than white space
	skipped   int // chunks
	inexact   int // chunks
	deviation int // sum of |overlap - expected overlap|, in characters
}

func (c cost) less(d cost) bool {
	if c.uncovered != d.uncovered {
		return c.uncovered < d.uncovered
	}
	if c.skipped != d.skipped {
		return c.skipped < d.skipped
	}
	if c.inexact != d.inexact {
		return c.inexact < d.inexact
	}
	return c.deviation < d.deviation
}

func (c cost) plus(d cost) cost {
	return cost{c.uncovered + d.uncovered, c.skipped + d.skipped, c.inexact + d.inexact, c.deviation + d.deviation}
}

// state is a chain that ends with a given place of a given chunk. Its cost
// includes what is uncovered before the place but nothing after it.
type state struct {
	place
	cost
	reach int // the greatest end in the chain
	id    int // index in chainer.prev
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
// word for each place besides the tree's 48 bytes for each distinct end.
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
	prev := make([]int, 0, total)       // the state before each, or -1
	var recent [lookBack + 1][]state    // of the last chunks, by step modulo its length
	none := state{id: -1, cost: cost{}} // the chain of no chunk

	// A cost in the tree is counted from the end of the text and the last
	// chunk backwards, which makes those of different ends comparable.
	outstanding := func(s state, step int) cost {
		return cost{m.nonSpaceBefore(s.reach), step, 0, m.charsBefore(int(s.end))}
	}
	for step, ps := range places {
		if step%256 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		states := recent[step%len(recent)][:0]
		for _, p := range ps {
			best := none
			best.uncovered, best.skipped = m.nonSpaceBefore(int(p.start)), step
			chars := m.charsBefore(int(p.start))
			if s, ok := closed.min(ends.below(int(p.start) + 1)); ok {
				s.cost = s.cost.plus(cost{m.nonSpaceBefore(int(p.start)), step - 1, 0, chars + overlap})
				if s.cost.less(best.cost) {
					best = s
				}
			}
			for back := 1; back <= min(step, lookBack); back++ {
				earlier := recent[(step-back)%len(recent)]
				for i := range earlier {
					s := &earlier[i]
					if s.start >= p.start {
						break
					}
					if s.reach <= int(p.start) || s.uncovered > best.uncovered {
						continue
					}
					c := s.cost
					c.skipped += back - 1
					c.deviation += abs(m.charsBefore(int(s.end)) - chars - overlap)
					if c.less(best.cost) {
						best = *s
						best.cost = c
					}
				}
			}
			if p.loose {
				best.inexact++
			}
			states = append(states, state{p, best.cost, max(best.reach, int(p.end)), len(prev)})
			prev = append(prev, best.id)
		}
		recent[step%len(recent)] = states
		for _, s := range states {
			o := outstanding(s, step)
			s.cost = s.cost.plus(cost{-o.uncovered, -o.skipped, 0, -o.deviation})
			closed.add(ends.below(s.reach), s)
		}
	}

	chosen := make([]int, len(places))
	for i := range chosen {
		chosen[i] = -1
	}
	last, ok := closed.min(len(closed) - 1)
	if !ok {
		return chosen, nil
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
