package exact

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/rageval/rageval/internal/parallel"
)

const (
	// groupQueries is how many queries one pass over the vectors serves at most:
	// enough for a vector's way from memory to be repaid, few enough to share the
	// work of several hundred queries out, and a multiple of what a tile holds.
	groupQueries = 120
	// blockLen is how many components of vectors are compared with a whole
	// group of queries before the next ones are looked at: 96 KiB, which stay in
	// the second-level cache beside the queries.
	blockLen = 24 << 10
)

// Search returns, for each query, the k rows of highest score, best first, ties
// by ascending index; all rows if there are fewer. The queries, which must have
// passed [ValidateVectors] with m.Dim(), are neither modified nor kept. It uses
// all processors and stops soon after ctx is done.
//
// It takes O(queries · rows · dim) time, or, for queries and vectors of mostly
// zeros, as hashed words are, time in proportion to the pairs of components of
// which neither is 0. Besides the result it needs memory for a copy of the
// queries and, for each query, a small number of lists of k hits.
func (m *Matrix) Search(ctx context.Context, queries [][]float32, k int) ([][]Hit, error) {
	found, _, err := m.SearchAndRank(ctx, queries, k, nil)
	return found, err
}

// SearchAndRank returns what [Matrix.Search] does and, for each query q, the
// ranks that the rows wanted[q] have among all rows, from 1: where a search with a
// large enough k would find them. A nil wanted wants none. It takes little more
// time than the search alone, and no memory for rankings.
func (m *Matrix) SearchAndRank(ctx context.Context, queries [][]float32, k int, wanted [][]int) (found [][]Hit, ranked [][]int, err error) {
	if wanted == nil {
		found, _, err := m.search(ctx, queries, k, nil)
		return found, make([][]int, 0), err
	}
	found, behind, err := m.search(ctx, queries, k, func(q int, query []float32) ladder { return newLadder(m.hitsOf(query, wanted[q])) })
	if err != nil {
		return nil, nil, err
	}
	ranked = make([][]int, len(wanted))
	for q, ladders := range behind {
		if len(ladders) > 0 { // there are rows
			ranked[q] = ranks(wanted[q], ladders)
		}
	}
	return found, ranked, nil
}

// SearchAndCount returns what [Matrix.Search] does and, for each query q, how many
// rows come before each of rungs[q] and not before the one in front of it. A rung need
// not be a row: it comes after the rows of lower index that have its score. The rungs
// of a query are in the order of [Compare], and nil ones want nothing. It takes the
// time and the memory of [Matrix.SearchAndRank].
func (m *Matrix) SearchAndCount(ctx context.Context, queries [][]float32, k int, rungs [][]Hit) (found [][]Hit, behind [][]int, err error) {
	found, ladders, err := m.search(ctx, queries, k, func(q int, _ []float32) ladder { return ladder{rungs[q], make([]int, len(rungs[q]))} })
	if err != nil {
		return nil, nil, err
	}
	behind = make([][]int, len(queries))
	for q := range behind {
		behind[q] = make([]int, len(rungs[q]))
		for _, l := range ladders[q] {
			for i, n := range l.behind {
				behind[q][i] += n
			}
		}
	}
	return found, behind, nil
}

// search searches, and counts on the ladders that ladderOf makes for the number of
// a query and its packed form: counted has, for each query, one for each part of the
// rows. A nil ladderOf counts nothing.
func (m *Matrix) search(ctx context.Context, queries [][]float32, k int, ladderOf func(q int, query []float32) ladder) (found [][]Hit, counted [][]ladder, err error) {
	if k < 0 {
		return nil, nil, fmt.Errorf("k is %d, want 0 or more", k)
	}
	found, counted = make([][]Hit, len(queries)), make([][]ladder, len(queries))
	if k == 0 && ladderOf == nil || m.rows == 0 || len(queries) == 0 {
		return found, counted, context.Cause(ctx)
	}
	packed := m.pack(queries)
	workers := runtime.GOMAXPROCS(0)
	shares, parts := m.shares(len(queries), workers)
	tops := make([][]top, len(shares))       // by share and query of its group
	ladders := make([][]ladder, len(shares)) // by share and query of its group
	err = parallel.Do(ctx, workers, len(shares), func(ctx context.Context, i int) error {
		s := shares[i]
		tops[i], ladders[i] = make([]top, s.last-s.first), make([]ladder, s.last-s.first)
		for q := range tops[i] {
			tops[i][q] = newTop(k)
			if ladderOf != nil {
				ladders[i][q] = ladderOf(s.first+q, packed.rows[(s.first+q)*m.stride:(s.first+q+1)*m.stride])
			}
		}
		return m.scan(ctx, packed, s, func(q, index int, scores []float32) {
			tops[i][q].offer(index, scores)
			ladders[i][q].offer(index, scores)
		})
	})
	if err != nil {
		return nil, nil, err
	}
	err = parallel.Do(ctx, workers, len(queries), func(_ context.Context, q int) error {
		var all []Hit
		group := q / shares[0].last * parts // its first share: all groups but the last are as large as the first
		for part := range parts {
			at := q - shares[group].first
			all = append(all, tops[group+part][at].heap...)
			counted[q] = append(counted[q], ladders[group+part][at])
		}
		slices.SortFunc(all, Compare)
		found[q] = slices.Clip(all[:min(k, len(all))])
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return found, counted, nil
}

// packed are normalised, padded queries.
type packed struct {
	rows  []float32
	forms []sparse // nil if none would be used
	count int      // of components other than 0
}

func (m *Matrix) pack(queries [][]float32) packed {
	p := packed{rows: m.appendRows(nil, queries)}
	p.forms, p.count = newSparse(p.rows, m.stride)
	return p
}

// suit reports whether the queries are compared with a segment by its postings.
func (p *packed) suit(s segment) bool {
	return p.forms != nil && s.postings != nil &&
		float64(p.count)*float64(len(s.postings.rows))*sparseShare <= float64(len(p.rows))*float64(len(s.rows))
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// share is a group of queries, [first, last), and part of the rows.
type share struct {
	first, last               int
	firstSegment, lastSegment int
}

// shares shares a search for n queries out, few queries by rows and many by
// groups of about equal size: each group to as many parts of the rows.
func (m *Matrix) shares(n, workers int) (shares []share, parts int) {
	groups := ceilDiv(n, groupQueries)
	size := ceilDiv(ceilDiv(n, groups), 4) * 4 // a multiple of what a tile holds
	parts = min(len(m.segments), ceilDiv(8*workers, groups))
	for first := 0; first < n; first += size {
		for part := range parts {
			shares = append(shares, share{first, min(first+size, n), part * len(m.segments) / parts, (part + 1) * len(m.segments) / parts})
		}
	}
	return shares, parts
}

// scan scores rows for a group of packed queries, a block of rows after the
// other: offer is called with the number of the query in the group, the index of
// the block's first row, and scores that are its own only until it returns.
func (m *Matrix) scan(ctx context.Context, packed packed, s share, offer func(q, index int, scores []float32)) error {
	n := s.last - s.first
	queries := packed.rows[s.first*m.stride : s.last*m.stride]
	blockRows := max(4, blockLen/m.stride/4*4) // a multiple of what a tile holds
	scores := make([]float32, max(n*blockRows, m.segmentRows()))
	var sums []float32
	for i, segment := range m.segments[s.firstSegment:s.lastSegment] {
		index := (s.firstSegment + i) * m.segmentRows()
		if packed.suit(segment) {
			p := segment.postings
			if err := ctx.Err(); err != nil {
				return err
			}
			sums = slices.Grow(sums[:0], lanes*p.count)[:lanes*p.count]
			for q, form := range packed.forms[s.first:s.last] {
				p.dots(scores, form, sums)
				offer(q, index, scores[:p.count])
			}
			continue
		}
		for block := range slices.Chunk(segment.rows, blockRows*m.stride) {
			if err := ctx.Err(); err != nil {
				return err
			}
			rows := len(block) / m.stride
			dots(scores[:n*rows], queries, block, m.stride)
			for q := range n {
				offer(q, index, scores[q*rows:(q+1)*rows])
			}
			index += rows
		}
	}
	return nil
}

// top keeps the k best of the hits that it is offered in order of index.
type top struct {
	k     int
	floor float32 // only a score above it can still enter
	heap  []Hit   // every hit is worse than its children: the worst is first
}

func newTop(k int) top {
	if k == 0 {
		return top{floor: float32(math.Inf(1))}
	}
	return top{k: k, floor: float32(math.Inf(-1))}
}

// offer offers the scores of the rows from index on. A score that equals the
// worst of k is not among the best: its index is higher.
func (t *top) offer(index int, scores []float32) {
	for i, s := range scores {
		if s > t.floor {
			t.push(Hit{index + i, s})
		}
	}
}

func (t *top) push(h Hit) {
	if len(t.heap) < t.k {
		t.heap = append(t.heap, h)
		for i := len(t.heap) - 1; i > 0; {
			parent := (i - 1) / 2
			if Compare(t.heap[i], t.heap[parent]) < 0 {
				break
			}
			t.heap[i], t.heap[parent] = t.heap[parent], t.heap[i]
			i = parent
		}
	} else {
		t.heap[0] = h
		for i := 0; ; {
			worst := i
			for child := 2*i + 1; child <= 2*i+2 && child < len(t.heap); child++ {
				if Compare(t.heap[child], t.heap[worst]) > 0 {
					worst = child
				}
			}
			if worst == i {
				break
			}
			t.heap[i], t.heap[worst] = t.heap[worst], t.heap[i]
			i = worst
		}
	}
	if len(t.heap) == t.k {
		t.floor = t.heap[0].Score
	}
}
