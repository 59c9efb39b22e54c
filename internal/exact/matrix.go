package exact

import (
	"context"
	"slices"
)

// Matrix holds normalised vectors as rows. The zero value is empty and ready
// for use. Searching is safe for concurrent use, but not while appending.
//
// Rows lie one after the other in segments of bounded size, so that a matrix
// that grows is never copied as a whole.
type Matrix struct {
	dim      int // 0 while there are no rows
	stride   int // dim, rounded up to a multiple of lanes
	rows     int
	segments [][]float32 // each but the last holds segmentRows() rows
}

// segmentLen is the number of components that a segment holds at most, unless
// a single row has more: 1 MiB.
const segmentLen = 1 << 18

// Len returns the number of rows.
func (m *Matrix) Len() int { return m.rows }

// Dim returns the dimension of the vectors: 0 while there are none.
func (m *Matrix) Dim() int { return m.dim }

// Bytes returns the size of the rows.
func (m *Matrix) Bytes() int64 { return 4 * int64(m.rows) * int64(m.stride) }

func (m *Matrix) segmentRows() int { return max(1, segmentLen/m.stride) }

// Append adds the vectors, which have passed [ValidateVectors] with m.Dim(), as
// rows. They are copied. The only error is that of a context that is done; the
// matrix is then unchanged.
func (m *Matrix) Append(ctx context.Context, vectors [][]float32) error {
	if len(vectors) == 0 {
		return context.Cause(ctx)
	}
	grown := *m
	if grown.dim == 0 {
		grown.dim = len(vectors[0])
		grown.stride = (grown.dim + lanes - 1) / lanes * lanes
	}
	// What append writes behind the end of the last segment is of no
	// consequence until the grown matrix replaces m.
	grown.segments = slices.Clone(m.segments)
	perSegment := grown.segmentRows()
	for len(vectors) > 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		last := grown.rows / perSegment
		n := min(len(vectors), perSegment-grown.rows%perSegment)
		if last == len(grown.segments) {
			grown.segments = append(grown.segments, make([]float32, 0, n*grown.stride))
		}
		grown.segments[last] = grown.appendRows(grown.segments[last], vectors[:n])
		grown.rows += n
		vectors = vectors[n:]
	}
	*m = grown
	return nil
}

// appendRows appends normalised, padded vectors to rows.
func (m *Matrix) appendRows(rows []float32, vectors [][]float32) []float32 {
	start := len(rows)
	rows = slices.Grow(rows, len(vectors)*m.stride)[:start+len(vectors)*m.stride]
	for _, v := range vectors {
		Normalize(rows[start:start+m.dim], v)
		clear(rows[start+m.dim : start+m.stride])
		start += m.stride
	}
	return rows
}
