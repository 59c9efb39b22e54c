// Package discount discounts gains by rank, the same on every machine.
package discount

import "math/bits"

// Table holds the discount of each rank; that at index 0, no rank, is unused. The
// zero value is ready for use.
type Table []float64

// UpTo returns discounts that include those of ranks up to k.
func (t *Table) UpTo(k int) []float64 {
	if len(*t) == 0 {
		*t = append(*t, 0)
	}
	for len(*t) <= k {
		*t = append(*t, At(len(*t)))
	}
	return *t
}

// At returns 1/log2(rank+1), for a rank of 1 or more: what a gain at that rank
// counts (Järvelin & Kekäläinen 2002, with base 2).
//
// The logarithm is not that of package math, whose last bit differs between
// architectures: results are the same on every machine.
func At(rank int) float64 { return 1 / log2(uint64(rank)+1) }

// log2 returns the binary logarithm of n, which is not 0, in integer arithmetic:
// squaring x doubles its logarithm, so that each squaring yields one more binary
// digit. Truncation changes the result by less than 2^-55.
func log2(n uint64) float64 {
	const digits = 56
	whole := bits.Len64(n) - 1
	log := uint64(whole)
	x := n << (63 - whole) // n / 2^whole, from 1 to 2, with 63 binary places
	for range digits {
		log <<= 1
		square, low := bits.Mul64(x, x) // with 62 places
		if square>>63 == 1 {
			log |= 1
			x = square // halved: with 63 places
		} else {
			x = square<<1 | low>>63
		}
	}
	return float64(log) / (1 << digits)
}
