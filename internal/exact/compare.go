package exact

import (
	"context"
	"runtime"
	"slices"

	"github.com/rageval/rageval/internal/parallel"
)

// Queries are normalised queries that any number of vectors are compared with: for
// searches of many matrices that have rows in common. They are immutable, and safe
// for concurrent use.
type Queries struct {
	n, dim, stride int
	rows           []float32
	terms          []terms  // of each query; nil if too few of its components are 0
	used           []uint32 // the components that are not 0 in some query, ascending; nil without terms
}

// terms are the components of a query that are not 0, those of lane 0 first and in
// ascending order within each lane.
type terms struct {
	offsets []uint32 // of their columns in a block, in bytes
	values  []float32
	ends    [lanes]uint32 // where the terms of each lane end
}

const (
	// columnRows is how many vectors are compared with a query at a time: the sums of
	// one lane fit into the registers of a processor with AVX.
	columnRows = 64
	// termShare is how many times fewer components than all of them must be other than
	// 0 in the queries for columns to be faster than rows.
	termShare = 4
)

// NewQueries returns the queries, which have passed [ValidateVectors] and are at
// least one. They are copied.
func NewQueries(queries [][]float32) *Queries {
	m := Matrix{dim: len(queries[0])}
	m.stride = ceilDiv(m.dim, lanes) * lanes
	q := &Queries{n: len(queries), dim: m.dim, stride: m.stride, rows: m.appendRows(nil, queries)}
	total := 0
	for _, x := range q.rows {
		total += nonzero(x)
	}
	if total*termShare > len(q.rows) {
		return q
	}
	inUse := make([]bool, q.stride)
	for row := range slices.Chunk(q.rows, q.stride) {
		var t terms
		for lane := range lanes {
			for c := lane; c < q.stride; c += lanes {
				if row[c] != 0 {
					inUse[c] = true
					t.offsets, t.values = append(t.offsets, uint32(c*columnRows*4)), append(t.values, row[c])
				}
			}
			t.ends[lane] = uint32(len(t.offsets))
		}
		q.terms = append(q.terms, t)
	}
	for c, used := range inUse {
		if used {
			q.used = append(q.used, uint32(c))
		}
	}
	return q
}

// Len returns the number of queries.
func (q *Queries) Len() int { return q.n }

// Dim returns the dimension of the queries.
func (q *Queries) Dim() int { return q.dim }

// MatrixBytes returns what [Matrix.Bytes] returns for a matrix of rows that the
// queries can search.
func (q *Queries) MatrixBytes(rows int) int64 { return 4 * int64(rows) * int64(q.stride) }

// Compare sets the scores of the vectors in scores, which is of q.Len() queries: each
// of vectors[i] in row rows[i]. They are the bits that a search of a [Matrix] with that
// vector finds. The vectors, which have passed [ValidateVectors] with q.Dim(), are
// neither modified nor kept, and the rows differ. It uses all processors and stops soon
// after ctx is done.
func (q *Queries) Compare(ctx context.Context, scores *Scores, rows []int, vectors [][]float32) error {
	blocks := ceilDiv(len(vectors), columnRows)
	workers := min(runtime.GOMAXPROCS(0), blocks)
	return parallel.Do(ctx, workers, workers, func(ctx context.Context, w int) error {
		c := newComparer(q)
		for b := w; b < blocks; b += workers {
			if err := ctx.Err(); err != nil {
				return err
			}
			first, last := b*columnRows, min((b+1)*columnRows, len(vectors))
			c.compare(scores, rows[first:last], vectors[first:last])
		}
		return nil
	})
}

// comparer compares up to columnRows vectors at a time.
type comparer struct {
	*Queries
	rows    []float32 // the vectors, normalised and padded
	columns []float32 // theirs, by component: columnRows values each; nil without terms
	sums    [lanes * columnRows]float32
	scores  []float32
}

func newComparer(q *Queries) *comparer {
	c := &comparer{Queries: q, rows: make([]float32, columnRows*q.stride)}
	if q.terms != nil {
		c.columns = make([]float32, columnRows*q.stride)
		c.scores = make([]float32, columnRows)
	} else {
		c.scores = make([]float32, columnRows*q.n)
	}
	return c
}

func (c *comparer) compare(scores *Scores, rows []int, vectors [][]float32) {
	for i, v := range vectors {
		row := c.rows[i*c.stride:][:c.stride]
		Normalize(row[:c.dim], v)
		clear(row[c.dim:])
	}
	if c.terms == nil {
		n := len(vectors)
		dots(c.scores[:c.n*n], c.Queries.rows, c.rows[:n*c.stride], c.stride)
		for q := range c.n {
			scores.set(q, rows, c.scores[q*n:(q+1)*n])
		}
		return
	}
	clear(c.rows[len(vectors)*c.stride:])
	c.transpose()
	for q := range c.terms {
		columnDots((*[columnRows]float32)(c.scores), c.columns, &c.terms[q], &c.sums)
		scores.set(q, rows, c.scores[:len(rows)])
	}
}

// transpose sets the columns that queries use.
func (c *comparer) transpose() {
	for i := 0; i < columnRows; i += 4 {
		r0, r1 := c.rows[i*c.stride:][:c.stride], c.rows[(i+1)*c.stride:][:c.stride]
		r2, r3 := c.rows[(i+2)*c.stride:][:c.stride], c.rows[(i+3)*c.stride:][:c.stride]
		for _, at := range c.used {
			column := (*[4]float32)(c.columns[int(at)*columnRows+i:])
			column[0], column[1], column[2], column[3] = r0[at], r1[at], r2[at], r3[at]
		}
	}
}

// goColumnDots is [columnDots] in Go.
func goColumnDots(scores *[columnRows]float32, columns []float32, t *terms, sums *[lanes * columnRows]float32) {
	clear(sums[:])
	at := uint32(0)
	for lane, end := range t.ends {
		sum := (*[columnRows]float32)(sums[lane*columnRows:])
		for ; at < end; at++ {
			x := t.values[at]
			column := (*[columnRows]float32)(columns[t.offsets[at]/4:])
			for i := range columnRows {
				sum[i] += float32(x * column[i])
			}
		}
	}
	var l [lanes]float32
	for i := range columnRows {
		for lane := range lanes {
			l[lane] = sums[lane*columnRows+i]
		}
		scores[i] = reduce(&l)
	}
}
