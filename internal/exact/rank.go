package exact

import (
	"slices"
)

// ladder counts, for one query, how many rows each of some hits is behind.
type ladder struct {
	rungs  []Hit // best first
	behind []int // behind[i]: the rows between rungs i-1 and i
}

func newLadder(hits []Hit) ladder {
	slices.SortFunc(hits, Compare)
	return ladder{hits, make([]int, len(hits))}
}

// fewRungs is up to how many rungs comparing every row with each of them is faster
// than finding the place of a row among them: that depends on its score, which no
// processor foresees.
const fewRungs = 6

// offer counts the rows from index on, which have the given scores.
func (l *ladder) offer(index int, scores []float32) {
	if len(l.rungs) > fewRungs {
		l.place(index, scores)
		return
	}
	before := 0
	for i, rung := range l.rungs {
		// Of equal scores, the row of lower index is ahead.
		at := min(max(rung.Index-index, 0), len(scores))
		ahead := 0
		for _, s := range scores[:at] {
			if s >= rung.Score {
				ahead++
			}
		}
		for _, s := range scores[at:] {
			if s > rung.Score {
				ahead++
			}
		}
		l.behind[i] += ahead - before
		before = ahead
	}
}

func (l *ladder) place(index int, scores []float32) {
	lowest := l.rungs[len(l.rungs)-1].Score
	for i, s := range scores {
		if s < lowest {
			continue
		}
		// The first rung that the row is ahead of.
		first, last := 0, len(l.rungs)
		for first < last {
			middle := int(uint(first+last) / 2)
			if rung := &l.rungs[middle]; s > rung.Score || s == rung.Score && index+i < rung.Index {
				last = middle
			} else {
				first = middle + 1
			}
		}
		if first < len(l.behind) {
			l.behind[first]++
		}
	}
}

// hitsOf returns the hits of a packed query and rows.
func (m *Matrix) hitsOf(query []float32, rows []int) []Hit {
	hits := make([]Hit, len(rows))
	for i, row := range rows {
		segment, at := m.segments[row/m.segmentRows()].rows, row%m.segmentRows()*m.stride
		hits[i] = Hit{row, dot(query, segment[at:at+m.stride])}
	}
	return hits
}

// ranks returns the ranks, from 1, of rows by what ladders of the same rungs have
// counted among all rows.
func ranks(rows []int, ladders []ladder) []int {
	rankOf := make(map[int]int, len(rows))
	rank := 1
	for i, rung := range ladders[0].rungs {
		for _, l := range ladders {
			rank += l.behind[i]
		}
		rankOf[rung.Index] = rank
	}
	list := make([]int, len(rows))
	for i, row := range rows {
		list[i] = rankOf[row]
	}
	return list
}
