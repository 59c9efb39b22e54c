package exact

import "testing"

// CandidateCounts returns how many rows a search reads for each query.
func (c *Compact) CandidateCounts(tb testing.TB, queries [][]float32, k int) []int {
	tb.Helper()
	m := c.matrix(c.dim, nil)
	lists, err := c.candidates(tb.Context(), m.appendRows(nil, queries), m.stride, k)
	if err != nil {
		tb.Fatal(err)
	}
	counts := make([]int, len(lists))
	for q, list := range lists {
		counts[q] = len(list)
	}
	return counts
}
