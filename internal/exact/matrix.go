package exact

import (
	"context"
	"runtime"

	"github.com/rageval/rageval/internal/parallel"
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
	segments []segment // each but the last holds segmentRows() rows
}

// segment is a part of a matrix. A full one of mostly zeros has postings too.
type segment struct {
	rows     []float32
	postings *postings
}

// segmentLen is the number of components that a segment holds at most, unless
// a single row has more: 1 MiB.
const segmentLen = 1 << 18

// Len returns the number of rows.
func (m *Matrix) Len() int { return m.rows }

// Dim returns the dimension of the vectors: 0 while there are none.
func (m *Matrix) Dim() int { return m.dim }

// Bytes returns the size of the rows.
func (m *Matrix) Bytes() int64 { return Bytes(m.rows, m.dim) }

// Bytes returns the size of the rows of a matrix that holds so many vectors of
// dimension dim.
func Bytes(rows, dim int) int64 { return 4 * int64(rows) * int64(ceilDiv(dim, lanes)*lanes) }

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
		grown.stride = ceilDiv(grown.dim, lanes) * lanes
	}
	grown.rows += len(vectors)
	perSegment := grown.segmentRows()
	first := m.rows / perSegment // that receives rows
	segments := make([]segment, ceilDiv(grown.rows, perSegment)-first)
	copy(segments, m.segments[first:])
	err := parallel.Do(ctx, runtime.GOMAXPROCS(0), len(segments), func(_ context.Context, i int) error {
		start := (first+i)*perSegment - m.rows // of the segment, in vectors
		mine := vectors[max(0, start):min(len(vectors), start+perSegment)]
		s := &segments[i]
		s.rows = grown.appendRows(s.rows, mine)
		if len(s.rows) == perSegment*grown.stride {
			s.postings = newPostings(s.rows, grown.stride)
		}
		return nil
	})
	if err != nil {
		// What was written behind the end of a segment is of no consequence.
		return err
	}
	grown.segments = append(m.segments[:first], segments...)
	*m = grown
	return nil
}

// appendRows appends normalised, padded vectors to rows. It leaves no more room
// behind them than a segment needs.
func (m *Matrix) appendRows(rows []float32, vectors [][]float32) []float32 {
	start, end := len(rows), len(rows)+len(vectors)*m.stride
	if end > cap(rows) {
		grown := make([]float32, start, max(end, min(2*end, m.segmentRows()*m.stride)))
		copy(grown, rows)
		rows = grown
	}
	rows = rows[:end]
	for _, v := range vectors {
		Normalize(rows[start:start+m.dim], v)
		clear(rows[start+m.dim : start+m.stride])
		start += m.stride
	}
	return rows
}
