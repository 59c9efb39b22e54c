// Package exact searches vectors by cosine similarity, exactly: it compares
// every query with every vector.
//
// Scores are the same bits on every machine, for every number of processors,
// and whether a query is searched for alone or among others. The score of a
// query q and a vector v of dimension d is made like this:
//
//  1. Each is normalised by itself. Its norm is the square root of the sum of
//     the squares of its components, first to last, in float64; each component
//     is divided by the norm in float64 and the quotient rounded to float32. The
//     zero vector stays zero. (No float32 is too large or too small for this:
//     squares of float32 neither overflow nor underflow in float64, and are
//     exact, so that it does not matter whether a compiler fuses them.)
//  2. Eight lanes start at +0. For i = 0, 1, …, d-1 the product q[i]*v[i] is
//     rounded to float32 and then added to lane i mod 8, which is rounded to
//     float32 again. No multiply-add is fused. Components of value 0 beyond d
//     change nothing: a lane is never -0, because it started at +0.
//  3. The lanes l0 … l7 are added up as
//     ((l0+l4) + (l2+l6)) + ((l1+l5) + (l3+l7)), each sum rounded to float32.
//
// Step 2 is one vertical multiply and one vertical add for one AVX register or
// two NEON registers; step 3 adds the upper half of the register to the lower
// until one lane is left. A kernel in assembly therefore computes the same bits
// at full speed.
//
// Equal scores are ranked by index, so that the best k are always the first k
// of the best k+1.
package exact

import (
	"cmp"
	"math"
)

// Hit is a row of a [Matrix] that was found for a query. Score is the cosine
// similarity: rounding may carry it beyond ±1 by a few units in the last place.
type Hit struct {
	Index int
	Score float32
}

// Compare orders hits best first: by descending score, then ascending index.
func Compare(a, b Hit) int {
	if c := cmp.Compare(b.Score, a.Score); c != 0 {
		return c
	}
	return cmp.Compare(a.Index, b.Index)
}

// Normalize writes v, scaled to length 1, to dst, as the package comment says.
// The zero vector stays zero. The components must be finite; dst, which may be
// v, must be as long as v.
func Normalize(dst, v []float32) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	norm := math.Sqrt(sum)
	if norm == 0 {
		clear(dst)
		return
	}
	for i, x := range v {
		dst[i] = float32(float64(x) / norm)
	}
}
