package exact

import (
	"math"
	"slices"
)

// postings are the components of rows that are not 0, by component.
//
// Leaving the others out changes no bit of a score: they add +0 or -0 to a lane,
// and a lane is never -0.
type postings struct {
	count  int      // of rows
	first  []uint32 // component c is held by rows[first[c]:first[c+1]], with as many values
	rows   []uint16 // ascending for each component
	values []float32
}

const (
	// postingShare is how many times fewer components than all of them must be
	// other than 0 for postings to be kept. They take 6 bytes for each, so that a
	// matrix grows by 30% at most.
	postingShare = 5
	// sparseShare is how many times fewer pairs of components than all of them
	// must both be expected to be other than 0 for postings to be faster: a pair
	// that is looked up costs as much as about 20 that are read in order by the
	// kernels in assembly. In vectors of hashed words it is 1 of 50 to 1,000.
	sparseShare = 32
	// sparseStride is the least stride for which postings are kept: the sums of a
	// segment's rows then fit into the first-level cache.
	sparseStride = 256
)

// newPostings returns the postings of rows of stride components; nil if too few
// are 0.
func newPostings(rows []float32, stride int) *postings {
	if stride < sparseStride {
		return nil
	}
	total := 0
	for row := range slices.Chunk(rows, stride) {
		for _, x := range row {
			total += nonzero(x)
		}
		if float64(total)*postingShare > float64(len(rows)) {
			return nil
		}
	}
	components := make([]uint32, 0, total+stride) // that are not 0, of all rows
	ends := make([]int, 0, len(rows)/stride)      // of each row's
	for row := range slices.Chunk(rows, stride) {
		components = appendNonzero(components, row)
		ends = append(ends, len(components))
	}
	first := make([]uint32, stride+2)
	for _, c := range components {
		first[c+2]++
	}
	for c := range stride {
		first[c+2] += first[c+1]
	}
	// first[c+1] is where component c's next posting goes, and in the end where
	// those of component c+1 start.
	p := &postings{len(ends), first[:stride+1], make([]uint16, total), make([]float32, total)}
	start := 0
	for i, end := range ends {
		row := rows[i*stride:][:stride]
		for _, c := range components[start:end] {
			at := first[c+1]
			first[c+1]++
			p.rows[at], p.values[at] = uint16(i), row[c]
		}
		start = end
	}
	return p
}

// nonzero returns 1 if x is neither 0 nor -0. It does not branch on what no
// processor could foresee.
func nonzero(x float32) int {
	magnitude := math.Float32bits(x) << 1
	return int((magnitude | -magnitude) >> 31)
}

// appendNonzero appends the indexes of the components that are not 0.
func appendNonzero(indexes []uint32, row []float32) []uint32 {
	n := len(indexes)
	indexes = slices.Grow(indexes, len(row))[:n+len(row)]
	for c, x := range row {
		indexes[n] = uint32(c)
		n += nonzero(x)
	}
	return indexes[:n]
}

// sparse is a query by its components that are not 0, in ascending order.
type sparse struct {
	indexes []uint32
	values  []float32
}

// newSparse returns the sparse forms of queries, rows of stride components, and
// how many components they hold; nil if too few are 0 for any postings to pay.
func newSparse(queries []float32, stride int) (forms []sparse, count int) {
	if stride < sparseStride {
		return nil, len(queries)
	}
	var components []uint32
	for query := range slices.Chunk(queries, stride) {
		components = appendNonzero(components[:0], query)
		indexes := slices.Clone(components)
		if count += len(indexes); float64(count)*sparseShare > float64(len(queries))*postingShare {
			return nil, len(queries)
		}
		values := make([]float32, len(indexes))
		for i, c := range indexes {
			values[i] = query[c]
		}
		forms = append(forms, sparse{indexes, values})
	}
	return forms, count
}

// dots computes what the function of this name does for one query. It uses sums
// for the lanes of all rows: lanes times the number of rows.
func (p *postings) dots(scores []float32, query sparse, sums []float32) {
	n := p.count
	scores, sums = scores[:n], sums[:lanes*n]
	clear(sums)
	for i, c := range query.indexes {
		x, lane := query.values[i], sums[int(c%lanes)*n:][:n]
		from, to := p.first[c], p.first[c+1]
		values := p.values[from:to]
		for j, row := range p.rows[from:to] {
			lane[row] += float32(x * values[j])
		}
	}
	l0, l1, l2, l3 := sums[:n], sums[n:2*n], sums[2*n:3*n], sums[3*n:4*n]
	l4, l5, l6, l7 := sums[4*n:5*n], sums[5*n:6*n], sums[6*n:7*n], sums[7*n:8*n]
	for i := range scores {
		scores[i] = ((l0[i] + l4[i]) + (l2[i] + l6[i])) + ((l1[i] + l5[i]) + (l3[i] + l7[i]))
	}
}
