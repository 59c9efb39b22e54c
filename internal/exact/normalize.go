package exact

import "math"

// Normalize writes v, scaled to length 1, to dst, as the package comment says.
// The zero vector stays zero. The components must be finite; dst, which may be
// v, must be as long as v.
func Normalize(dst, v []float32) {
	dst = dst[:len(v)]
	norm := math.Sqrt(squares(v))
	if norm == 0 {
		clear(dst)
		return
	}
	scale(dst, v, 1/norm)
}

// goSquares is [squares] in Go.
func goSquares(v []float32) float64 {
	var sums [lanes]float64
	addSquares(&sums, v)
	return reduce64(&sums)
}

// addSquares adds the squares of components to the lanes.
func addSquares(sums *[lanes]float64, v []float32) {
	s0, s1, s2, s3, s4, s5, s6, s7 := sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7]
	for len(v) >= lanes {
		x := (*[lanes]float32)(v)
		s0 += float64(x[0]) * float64(x[0])
		s1 += float64(x[1]) * float64(x[1])
		s2 += float64(x[2]) * float64(x[2])
		s3 += float64(x[3]) * float64(x[3])
		s4 += float64(x[4]) * float64(x[4])
		s5 += float64(x[5]) * float64(x[5])
		s6 += float64(x[6]) * float64(x[6])
		s7 += float64(x[7]) * float64(x[7])
		v = v[lanes:]
	}
	*sums = [lanes]float64{s0, s1, s2, s3, s4, s5, s6, s7}
	for i, x := range v {
		sums[i] += float64(x) * float64(x)
	}
}

func reduce64(l *[lanes]float64) float64 {
	return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]))
}

// goScale is [scale] in Go.
func goScale(dst, v []float32, factor float64) {
	for i, x := range v {
		dst[i] = float32(float64(x) * factor)
	}
}
