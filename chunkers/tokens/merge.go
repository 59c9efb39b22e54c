package tokens

// merger does byte-pair encoding: it starts from single bytes and joins the
// two neighbours whose union has the lowest rank, the leftmost of equals, until
// no union is a token. It keeps its memory for the next word.
type merger struct {
	*vocabulary
	stop       func() bool // asked now and then within long words; nil: go on
	stopped    bool        // stop said so: the tokens of the last word are not known
	nodes      []mergeNode
	candidates mergeHeap
	ends       []int
}

// mergeNode is the part of a word that begins at its index.
type mergeNode struct {
	prev, next int32  // where the parts before and after begin; -1 and the word's length at its ends
	rank       uint32 // of this part joined with the next one, noRank if that is no token
}

// tokens returns where the tokens of word end. They are overwritten by the next
// call.
func (m *merger) tokens(word string) (ends []int) {
	if _, ok := m.ranks[word]; ok {
		m.ends = append(m.ends[:0], len(word))
		return m.ends
	}
	return m.merge(word)
}

// merge returns where the tokens of word end. They are overwritten by the next
// call. It takes O(n log n) time for n bytes.
func (m *merger) merge(word string) (ends []int) {
	n := int32(len(word))
	m.nodes = m.nodes[:0]
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
			return nil
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
	m.ends = m.ends[:0]
	for i := int32(0); i < n; {
		i = m.nodes[i].next
		m.ends = append(m.ends, int(i))
	}
	return m.ends
}

// propose makes the part of word at i and the next one a candidate if their
// union is a token.
func (m *merger) propose(word string, i int32) {
	node := &m.nodes[i]
	node.rank = noRank
	if int(node.next) == len(word) {
		return
	}
	if rank, ok := m.ranks[word[i:m.nodes[node.next].next]]; ok {
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
