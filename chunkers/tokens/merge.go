package tokens

import (
	"math"
	"slices"
)

// merger does byte-pair encoding: it starts from single bytes and joins the
// two neighbours whose union has the lowest rank, the leftmost of equals, until
// no union is a token. It keeps its memory for the next word.
type merger struct {
	*vocabulary
	stop    func() bool // asked now and then within long words; nil: go on
	stopped bool        // stop said so: the tokens of the last word are not known
	ends    []int       // of the tokens of the last word

	// Of a word that is merged by scanning, for the part that begins at each index:
	// the rank of its union with the next part and, in the low byte, the index;
	// and where the parts before and after begin.
	unions     [maxScanned]uint64
	prev, next [maxScanned + 1]uint8

	// Of a word that is merged by a heap.
	nodes      []mergeNode
	candidates mergeHeap
}

// tokens returns where in s the tokens of the word s[start:end] end. They are
// overwritten by the next call.
func (m *merger) tokens(s string, start, end int) (ends []int) {
	switch {
	case m.rank(s, start, end) != noRank:
		m.ends = append(m.ends[:0], end)
	case end-start <= maxScanned:
		m.scan(s, start, end)
	default:
		m.merge(s, start, end)
	}
	return m.ends
}

// maxScanned is how many bytes a word has at most for which looking for the
// lowest rank again and again is faster than keeping a heap. It is a multiple of
// four, and less than 256.
const maxScanned = 96

// noUnion is in unions where no part begins, or none whose union is a token.
const noUnion = math.MaxUint64

// scan merges the word s[start:end] in quadratic time.
func (m *merger) scan(s string, start, end int) {
	n := end - start
	word := s[start:end]
	unions := m.unions[:(n+3)&^3]
	for i := range unions {
		unions[i] = noUnion
	}
	for i := range n {
		m.prev[i+1], m.next[i] = uint8(i), uint8(i+1)
		if i+1 < n {
			unions[i] = union(m.pairs[int(word[i])<<8|int(word[i+1])], i)
		}
	}
	for {
		var lowest [4]uint64 = [4]uint64{noUnion, noUnion, noUnion, noUnion}
		for u := unions; len(u) >= 4; u = u[4:] {
			lowest[0], lowest[1], lowest[2], lowest[3] = min(lowest[0], u[0]), min(lowest[1], u[1]), min(lowest[2], u[2]), min(lowest[3], u[3])
		}
		best := min(lowest[0], lowest[1], lowest[2], lowest[3])
		if best == noUnion {
			break
		}
		at := int(best & 0xFF)
		gone := m.next[at]
		after := m.next[gone]
		m.next[at], m.prev[after] = after, uint8(at)
		unions[gone], unions[at] = noUnion, noUnion
		if int(after) < n {
			unions[at] = union(m.rank(s, start+at, start+int(m.next[after])), at)
		}
		if at > 0 {
			before := int(m.prev[at])
			unions[before] = union(m.rank(s, start+before, start+int(after)), before)
		}
	}
	m.ends = m.ends[:0]
	for i := 0; i < n; {
		i = int(m.next[i])
		m.ends = append(m.ends, start+i)
	}
}

// union returns what is in unions at i for a union of a rank.
func union(rank uint32, i int) uint64 {
	if rank == noRank {
		return noUnion
	}
	return uint64(rank)<<8 | uint64(i)
}

// mergeNode is the part of a word that begins at its index.
type mergeNode struct {
	prev, next int32  // where the parts before and after begin; -1 and the word's length at its ends
	rank       uint32 // of this part joined with the next one, noRank if that is no token
}

// merge merges the word s[start:end] in O(n log n) time for n bytes.
func (m *merger) merge(s string, start, end int) {
	m.ends = m.ends[:0]
	word := s[start:end]
	n := int32(len(word))
	m.nodes = slices.Grow(m.nodes[:0], len(word))
	m.candidates = m.candidates[:0]
	for i := range n {
		rank := uint32(noRank)
		if i+1 < n {
			rank = m.pairs[int(word[i])<<8|int(word[i+1])]
		}
		m.nodes = append(m.nodes, mergeNode{i - 1, i + 1, rank})
		if rank != noRank {
			m.candidates = append(m.candidates, mergeCandidate{rank, i})
		}
	}
	m.candidates.order()
	for taken := 1; len(m.candidates) > 0; taken++ {
		if taken%4096 == 0 && m.stop != nil && m.stop() {
			m.stopped = true
			return
		}
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
		m.propose(word, i)
		if before := m.nodes[i].prev; before >= 0 {
			m.propose(word, before)
		}
	}
	for i := int32(0); i < n; {
		i = m.nodes[i].next
		m.ends = append(m.ends, start+int(i))
	}
}

// propose makes the part of word at i and the next one a candidate if their
// union is a token.
func (m *merger) propose(word string, i int32) {
	node := &m.nodes[i]
	node.rank = noRank
	if int(node.next) == len(word) {
		return
	}
	if rank := m.rank(word, int(i), int(m.nodes[node.next].next)); rank != noRank {
		node.rank = rank
		m.candidates.add(mergeCandidate{rank, i})
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
