//go:build !purego

package exact

// columnDots computes the dot products of a query, given by its terms, with
// columnRows vectors, given by their columns, in the order of summation that the
// package comment fixes.
//
// Leaving out the components of value 0 changes no bit: see [postings].
func columnDots(scores *[columnRows]float32, columns []float32, t *terms, sums *[lanes * columnRows]float32) {
	if !vectorized || len(t.offsets) == 0 {
		goColumnDots(scores, columns, t, sums)
		return
	}
	columnDots64(scores, &columns[0], &t.offsets[0], &t.values[0], &t.ends, sums)
}

//go:noescape
func columnDots64(scores *[columnRows]float32, columns *float32, offsets *uint32, values *float32, ends *[lanes]uint32, sums *[lanes * columnRows]float32)
