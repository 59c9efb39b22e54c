package tokens

import (
	"iter"
	"math"
)

// merger does byte-pair encoding: it starts from single bytes and joins the
// two neighbours whose union has the lowest rank, the leftmost of equals, until
// no union is a token. The zero value is ready; it keeps its memory for the next
// word.
type merger struct {
	nodes      []mergeNode
	candidates mergeHeap
}

// mergeNode is the part of a word that begins at its index.
type mergeNode struct {
	prev, next int32  // where the parts before and after begin; -1 and the word's length at its ends
	rank       uint32 // of this part joined with the next one, noRank if that is no token
}

const noRank = math.MaxUint32

// merge yields the lengths of the tokens of word, in order. It takes O(n log n)
// time for n bytes.
func (m *merger) merge(ranks map[string]uint32, word string) iter.Seq[int] {
	n := int32(len(word))
	m.nodes = m.nodes[:0]
	m.candidates = m.candidates[:0]
	for i := range n {
		m.nodes = append(m.nodes, mergeNode{i - 1, i + 1, noRank})
	}
	rankAt := func(i int32) uint32 {
		next := m.nodes[i].next
		if next == n {
			return noRank
		}
		if rank, ok := ranks[word[i:m.nodes[next].next]]; ok {
			return rank
		}
		return noRank
	}
	for i := range n {
		if rank := rankAt(i); rank != noRank {
			m.nodes[i].rank = rank
			m.candidates = append(m.candidates, mergeCandidate{rank, i})
		}
	}
	m.candidates.order()
	for len(m.candidates) > 0 {
		top := m.candidates.take()
		i := top.start
		if m.nodes[i].rank != top.rank { // one of the two parts was joined since
			continue
		}
		gone := m.nodes[i].next
		after := m.nodes[gone].next
		m.nodes[gone].rank = noRank
		m.nodes[i].next = after
		if after < n {
			m.nodes[after].prev = i
		}
		for _, start := range [...]int32{i, m.nodes[i].prev} {
			if start < 0 {
				continue
			}
			m.nodes[start].rank = rankAt(start)
			if m.nodes[start].rank != noRank {
				m.candidates.add(mergeCandidate{m.nodes[start].rank, start})
			}
		}
	}
	return func(yield func(int) bool) {
		for i := int32(0); i < n; i = m.nodes[i].next {
			if !yield(int(m.nodes[i].next - i)) {
				return
			}
		}
	}
}

// mergeCandidate is a pair of neighbouring parts whose union is a token: the
// first begins at start.
type mergeCandidate struct {
	rank  uint32
	start int32
}

// mergeHeap has the candidate to merge next at its top.
type mergeHeap []mergeCandidate

func (h mergeHeap) less(a, b mergeCandidate) bool {
	return a.rank < b.rank || a.rank == b.rank && a.start < b.start
}

// order makes h a heap.
func (h mergeHeap) order() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.sink(i)
	}
}

// add puts c into the heap.
func (h *mergeHeap) add(c mergeCandidate) {
	*h = append(*h, c)
	s := *h
	for i := len(s) - 1; i > 0; {
		parent := (i - 1) / 2
		if !s.less(s[i], s[parent]) {
			return
		}
		s[i], s[parent] = s[parent], s[i]
		i = parent
	}
}

// take removes the top.
func (h *mergeHeap) take() mergeCandidate {
	s := *h
	top := s[0]
	s[0] = s[len(s)-1]
	*h = s[:len(s)-1]
	h.sink(0)
	return top
}

// sink moves the candidate at i down to where it belongs.
func (h mergeHeap) sink(i int) {
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && h.less(h[child+1], h[child]) {
			child++
		}
		if !h.less(h[child], h[i]) {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
