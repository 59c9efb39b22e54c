package exact

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"

	"github.com/rageval/rageval/internal/parallel"
)

// Compact finds what a [Matrix] finds, to the bit, with a byte for each component in
// memory: the rows of a Matrix are in a file, and their codes in memory.
//
// A component's code is its multiple, rounded to an integer, of 1/127 of its vector's
// largest component; the query's of 1/2047 of its own. With x̂ what the codes of x stand
// for, |q·v - q̂·v̂| <= |q| |v-v̂| + |q-q̂| |v̂|, and the lengths of v-v̂ and q-q̂ are known.
// That and a bound for the rounding of a score's sums bound every score from both sides.
// Only rows whose upper bound reaches the k-th best lower bound can be among the best k:
// their scores are computed from the file. Codes are integers, and so their products are
// the same on every machine; rounding of the bounds themselves is far below what they
// allow for.
//
// Searching is safe for concurrent use, but not while appending.
type Compact struct {
	dim   int // 0 while there are no rows
	rows  int
	file  *os.File
	parts []codes // each but the last holds partRows() rows
}

// codes are those of some rows.
type codes struct {
	of     []int8    // codeSize(dim) for each row
	scales []float32 // what codes are multiples of
	rests  []float32 // at least the length of what they leave over
}

// codesLen is the number of codes that a part holds at most, unless a single row has
// more.
const codesLen = 1 << 19

// NewCompact returns an empty Compact that keeps rows in file, from its start on.
func NewCompact(file *os.File) *Compact { return &Compact{file: file} }

// Len returns the number of rows.
func (c *Compact) Len() int { return c.rows }

// Dim returns the dimension of the vectors: 0 while there are none.
func (c *Compact) Dim() int { return c.dim }

// Bytes returns how much memory the rows take.
func (c *Compact) Bytes() int64 { return int64(c.rows) * int64(codeSize(c.dim)+8) }

func (c *Compact) partRows() int { return max(4, codesLen/codeSize(c.dim)) }

// matrix returns the matrix of rows that are read from the file, or none.
func (c *Compact) matrix(dim int, rows []float32) *Matrix {
	m := &Matrix{dim: dim, stride: ceilDiv(dim, lanes) * lanes}
	m.rows = len(rows) / m.stride
	for part := range slices.Chunk(rows, m.segmentRows()*m.stride) {
		m.segments = append(m.segments, segment{rows: part})
	}
	return m
}

// Append is [Matrix.Append]. An error of the file changes nothing either.
func (c *Compact) Append(ctx context.Context, vectors [][]float32) error {
	if len(vectors) == 0 {
		return context.Cause(ctx)
	}
	grown := *c
	if grown.dim == 0 {
		grown.dim = len(vectors[0])
	}
	size, m := codeSize(grown.dim), grown.matrix(grown.dim, nil)
	n := len(vectors)
	added := codes{make([]int8, n*size), make([]float32, n), make([]float32, n)}
	const batch = 1024
	err := parallel.Do(ctx, runtime.GOMAXPROCS(0), ceilDiv(n, batch), func(_ context.Context, b int) error {
		from, to := b*batch, min(n, (b+1)*batch)
		rows := m.appendRows(make([]float32, 0, (to-from)*m.stride), vectors[from:to])
		for i := from; i < to; i++ {
			v := rows[(i-from)*m.stride:][:m.dim]
			scale, rest := encode(added.of[i*size:(i+1)*size], v, vectorLevels)
			added.scales[i], added.rests[i] = float32(scale), math.Nextafter32(float32(rest), 2)
		}
		data := make([]byte, 0, 4*len(rows))
		for _, x := range rows {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
		}
		_, err := c.file.WriteAt(data, Bytes(c.rows+from, grown.dim))
		return err
	})
	if err != nil {
		return err
	}
	grown.parts = slices.Clip(grown.parts)
	for at := 0; at < n; {
		perPart := grown.partRows()
		if grown.rows%perPart == 0 {
			room := min(perPart, max(n-at, 64))
			grown.parts = append(grown.parts, codes{make([]int8, 0, room*size), make([]float32, 0, room), make([]float32, 0, room)})
		} else if at == 0 {
			grown.parts = slices.Clone(grown.parts) // The last is changed.
		}
		last := &grown.parts[len(grown.parts)-1]
		take := min(n-at, perPart-grown.rows%perPart)
		last.of = append(last.of, added.of[at*size:(at+take)*size]...)
		last.scales = append(last.scales, added.scales[at:at+take]...)
		last.rests = append(last.rests, added.rests[at:at+take]...)
		at += take
		grown.rows += take
	}
	*c = grown
	return nil
}

// read reads rows [from, to) from the file.
func (c *Compact) read(from, to int) ([]float32, error) {
	data := make([]byte, Bytes(to-from, c.dim))
	if _, err := c.file.ReadAt(data, Bytes(from, c.dim)); err != nil {
		return nil, fmt.Errorf("reading vectors %d to %d: %w", from, to-1, err)
	}
	rows := make([]float32, len(data)/4)
	for i := range rows {
		rows[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return rows, nil
}

// SearchAndRank is [Matrix.SearchAndRank]. With wanted rows it reads the whole file.
func (c *Compact) SearchAndRank(ctx context.Context, queries [][]float32, k int, wanted [][]int) (found [][]Hit, ranked [][]int, err error) {
	if k < 0 {
		return nil, nil, fmt.Errorf("k is %d, want 0 or more", k)
	}
	if c.rows == 0 || len(queries) == 0 || k == 0 && wanted == nil {
		return make([][]Hit, len(queries)), make([][]int, len(wanted)), context.Cause(ctx)
	}
	if wanted != nil {
		return c.scan(ctx, queries, k, wanted)
	}
	found, err = c.search(ctx, queries, k)
	return found, [][]int{}, err
}

// scan searches the file from its start to its end.
func (c *Compact) scan(ctx context.Context, queries [][]float32, k int, wanted [][]int) ([][]Hit, [][]int, error) {
	rungs := make([][]Hit, len(queries))
	for q, rows := range wanted {
		for _, row := range rows {
			one, err := c.read(row, row+1)
			if err != nil {
				return nil, nil, err
			}
			rungs[q] = append(rungs[q], Hit{row, c.matrix(c.dim, one).Scores(queries[q], []int{0})[0]})
		}
		slices.SortFunc(rungs[q], Compare)
	}
	found := make([][]Hit, len(queries))
	counted := make([]ladder, len(queries))
	for q := range counted {
		counted[q] = ladder{rungs[q], make([]int, len(rungs[q]))}
	}
	step := max(1, int((16<<20)/Bytes(1, c.dim)))
	for from := 0; from < c.rows; from += step {
		rows, err := c.read(from, min(from+step, c.rows))
		if err != nil {
			return nil, nil, err
		}
		m := c.matrix(c.dim, rows)
		here := make([][]Hit, len(queries))
		for q := range rungs {
			for _, r := range rungs[q] {
				here[q] = append(here[q], Hit{min(max(r.Index-from, 0), m.rows), r.Score})
			}
		}
		hits, behind, err := m.SearchAndCount(ctx, queries, k, here)
		if err != nil {
			return nil, nil, err
		}
		for q := range queries {
			for _, h := range hits[q] {
				found[q] = append(found[q], Hit{h.Index + from, h.Score})
			}
			slices.SortFunc(found[q], Compare)
			found[q] = slices.Clip(found[q][:min(k, len(found[q]))])
			for i, n := range behind[q] {
				counted[q].behind[i] += n
			}
		}
	}
	ranked := make([][]int, len(wanted))
	for q := range wanted {
		ranked[q] = ranks(wanted[q], counted[q:q+1])
	}
	return found, ranked, nil
}

// search finds the best k rows by way of the codes.
func (c *Compact) search(ctx context.Context, queries [][]float32, k int) ([][]Hit, error) {
	m := c.matrix(c.dim, nil)
	rows := m.appendRows(nil, queries)
	lists, err := c.candidates(ctx, rows, m.stride, k)
	if err != nil {
		return nil, err
	}
	found := make([][]Hit, len(queries))
	err = parallel.Do(ctx, runtime.GOMAXPROCS(0), len(queries), func(ctx context.Context, q int) error {
		query := rows[q*m.stride:][:m.stride]
		for rest := lists[q]; len(rest) > 0; {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			n := 1 // candidates that are read at once
			for n < len(rest) && rest[n].index <= rest[n-1].index+nearRows && rest[n].index < rest[0].index+codeBlock {
				n++
			}
			first := rest[0].index
			vectors, err := c.read(first, rest[n-1].index+1)
			if err != nil {
				return err
			}
			for _, h := range rest[:n] {
				found[q] = append(found[q], Hit{h.index, dot(query, vectors[(h.index-first)*m.stride:][:m.stride])})
			}
			rest = rest[n:]
		}
		slices.SortFunc(found[q], Compare)
		found[q] = slices.Clone(found[q][:min(k, len(found[q]))])
		return nil
	})
	return found, err
}

// candidates returns the rows that may be among the best k of each query, ascending. The
// queries are normalised and padded.
func (c *Compact) candidates(ctx context.Context, queries []float32, stride, k int) ([][]candidate, error) {
	count := len(queries) / stride
	levels := levelsFor(c.dim)
	size := codeSize(c.dim)
	coded := make([]codedQuery, count)
	for q := range coded {
		of := make([]int16, size)
		scale, rest := encode(of, queries[q*stride:][:c.dim], levels)
		coded[q] = newCodedQuery(of, scale, rest, c.dim)
	}
	workers := runtime.GOMAXPROCS(0)
	groups := ceilDiv(count, groupQueries)
	parts := min(len(c.parts), ceilDiv(8*workers, groups))
	inGroup := ceilDiv(count, groups)
	kept := make([][]candidates, parts) // by query
	for i := range kept {
		kept[i] = make([]candidates, count)
	}
	err := parallel.Do(ctx, workers, groups*parts, func(ctx context.Context, i int) error {
		part, first := i%parts, i/parts*inGroup
		last := min(first+inGroup, count)
		for q := first; q < last; q++ {
			kept[part][q] = newCandidates(k)
		}
		var sums [codeBlock]int32
		for p := part * len(c.parts) / parts; p < (part+1)*len(c.parts)/parts; p++ {
			rows := &c.parts[p]
			for from := 0; from < len(rows.scales); from += codeBlock {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				to := min(from+codeBlock, len(rows.scales))
				for q := first; q < last; q++ {
					codeDots(sums[:to-from], coded[q].of, rows.of[from*size:to*size])
					kept[part][q].offer(&coded[q], p*c.partRows()+from, sums[:to-from], rows.scales[from:to], rows.rests[from:to])
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	lists := make([][]candidate, count)
	for q := range lists {
		all := newCandidates(k)
		for part := range kept {
			for _, low := range kept[part][q].lows {
				all.raise(low)
			}
			all.list = append(all.list, kept[part][q].list...)
		}
		all.prune()
		lists[q] = all.list
	}
	return lists, nil
}

// codeBlock is how many rows are compared with a group of queries before the next ones
// are looked at.
const codeBlock = 256

// nearRows is how many rows are read beside those that are needed rather than reading
// twice.
const nearRows = 4

// codedQuery is a query by its codes. A row whose codes leave over a length of rest has
// a score that is off by no more than fixed + each*rest.
type codedQuery struct {
	of          []int16
	scale       float64
	fixed, each float64
}

func newCodedQuery(of []int16, scale, rest float64, dim int) codedQuery {
	// Normalised vectors are longer than 1 by the rounding of their components alone.
	const length = 1 + 1e-6
	// A score is a sum of dim/8 rounded products, in eight lanes that are then added up:
	// each product and sum is off by 2^-24 of itself. This is more than twice as much.
	rounding := float64(dim/lanes+8) * 0x1p-23
	return codedQuery{of, scale, rest*length + rounding, length + rest}
}

// candidates are the rows that may be among the best k.
type candidates struct {
	k     int
	floor float64   // the k-th best lower bound; -Inf while there are fewer
	lows  []float64 // the best k lower bounds: a heap, the worst first
	list  []candidate
	most  int // how long list may become before it is pruned
}

func newCandidates(k int) candidates { return candidates{k: k, floor: math.Inf(-1)} }

type candidate struct {
	index int
	upper float64
}

// offer offers the rows from index on.
func (c *candidates) offer(q *codedQuery, index int, sums []int32, scales, rests []float32) {
	scales, rests = scales[:len(sums)], rests[:len(sums)]
	for i, sum := range sums {
		about := float64(sum) * q.scale * float64(scales[i])
		off := q.fixed + q.each*float64(rests[i])
		if about+off < c.floor {
			continue
		}
		c.list = append(c.list, candidate{index + i, about + off})
		c.raise(about - off)
	}
	if len(c.list) > c.most {
		c.prune()
		c.most = 2*len(c.list) + codeBlock
	}
}

// raise takes account of a lower bound.
func (c *candidates) raise(low float64) {
	if len(c.lows) < c.k {
		c.lows = append(c.lows, low)
		for i := len(c.lows) - 1; i > 0 && c.lows[i] < c.lows[(i-1)/2]; i = (i - 1) / 2 {
			c.lows[i], c.lows[(i-1)/2] = c.lows[(i-1)/2], c.lows[i]
		}
	} else if low > c.floor {
		c.lows[0] = low
		for i := 0; ; {
			least := i
			for child := 2*i + 1; child <= 2*i+2 && child < len(c.lows); child++ {
				if c.lows[child] < c.lows[least] {
					least = child
				}
			}
			if least == i {
				break
			}
			c.lows[i], c.lows[least] = c.lows[least], c.lows[i]
			i = least
		}
	}
	if len(c.lows) == c.k {
		c.floor = c.lows[0]
	}
}

// prune removes what is not among the best k any more.
func (c *candidates) prune() {
	c.list = slices.DeleteFunc(c.list, func(h candidate) bool { return h.upper < c.floor })
}
