//go:build !amd64 || purego

package exact

// columnDots computes the dot products of a query, given by its terms, with
// columnRows vectors, given by their columns, in the order of summation that the
// package comment fixes.
//
// Leaving out the components of value 0 changes no bit: see [postings].
func columnDots(scores *[columnRows]float32, columns []float32, t *terms, sums *[lanes * columnRows]float32) {
	goColumnDots(scores, columns, t, sums)
}
