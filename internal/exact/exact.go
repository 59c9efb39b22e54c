// Package exact searches vectors by cosine similarity, exactly: it compares
// every query with every vector.
//
// Scores are the same bits on every machine, for every number of processors,
// and whether a query is searched for alone or among others. The score of a
// query q and a vector v of dimension d is made like this:
//
//  1. Each is normalised by itself. Its norm is the square root of the sum of
//     the squares of its components in float64, in eight lanes and their sum as
//     in steps 2 and 3; each component is multiplied by 1 / norm in float64 and
//     the product rounded to float32. The zero vector stays zero. (No float32 is
//     too large or too small for this: squares of float32 neither overflow nor
//     underflow in float64, and are exact, so that it does not matter whether a
//     compiler fuses them.)
//  2. Eight lanes start at +0. For i = 0, 1, …, d-1 the product q[i]*v[i] is
//     rounded to float32 and then added to lane i mod 8, which is rounded to
//     float32 again. No multiply-add is fused. Components of value 0 beyond d
//     change nothing: a lane is never -0, because it started at +0.
//  3. The lanes l0 … l7 are added up as
//     ((l0+l4) + (l2+l6)) + ((l1+l5) + (l3+l7)), each sum rounded to float32.
//
// Step 2 is one vertical multiply and one vertical add for one AVX register or
// two NEON registers; step 3 adds the upper half of the register to the lower
// until one lane is left. The kernels in assembly, for amd64 with AVX and for
// arm64, therefore compute the same bits as the one in Go, which other machines
// use, and all do with the build tag purego.
//
// Equal scores are ranked by index, so that the best k are always the first k
// of the best k+1.
package exact

import "cmp"

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
