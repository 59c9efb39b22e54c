package exact

// lanes is the number of partial sums of a dot product. Rows are padded with
// zeros to a multiple of it.
const lanes = 8

// goDots is [dots] in Go, for machines without a kernel in assembly and for the
// tests of those.
//
// Note: goTile is the widest that the compiler keeps in registers on amd64. It
// moves all products of a loop body before the first addition, so that a tile
// of 3×3 or 4×2, with more sums than fit beside their products, spills and is
// slower by a third. One pair at a time, eight lanes at once, takes two loads
// for each product instead of 5/6 and half the speed.
func goDots(scores, queries, vectors []float32, stride int) {
	nq, nv := len(queries)/stride, len(vectors)/stride
	row := func(rows []float32, i int) []float32 { return rows[i*stride : (i+1)*stride] }
	q := 0
	for ; q+goTileQueries <= nq; q += goTileQueries {
		q0, q1, q2 := row(queries, q), row(queries, q+1), row(queries, q+2)
		s0, s1, s2 := scores[q*nv:][:nv], scores[(q+1)*nv:][:nv], scores[(q+2)*nv:][:nv]
		v := 0
		for ; v+goTileVectors <= nv; v += goTileVectors {
			var sums [goTileQueries][goTileVectors][lanes]float32
			goTile(&sums, q0, q1, q2, row(vectors, v), row(vectors, v+1))
			s0[v], s0[v+1] = reduce(&sums[0][0]), reduce(&sums[0][1])
			s1[v], s1[v+1] = reduce(&sums[1][0]), reduce(&sums[1][1])
			s2[v], s2[v+1] = reduce(&sums[2][0]), reduce(&sums[2][1])
		}
		for ; v < nv; v++ {
			last := row(vectors, v)
			s0[v], s1[v], s2[v] = dot(q0, last), dot(q1, last), dot(q2, last)
		}
	}
	for ; q < nq; q++ {
		for v := range nv {
			scores[q*nv+v] = dot(row(queries, q), row(vectors, v))
		}
	}
}

const goTileQueries, goTileVectors = 3, 2

// goTile computes the lanes of the dot products of three queries with two
// vectors, all of one length, one lane after the other. The index is unsigned
// because the compiler then sees that it is within bounds.
func goTile(sums *[goTileQueries][goTileVectors][lanes]float32, q0, q1, q2, v0, v1 []float32) {
	n := uint(len(q0))
	q1, q2, v0, v1 = q1[:n], q2[:n], v0[:n], v1[:n]
	for lane := range uint(lanes) {
		var s00, s01, s10, s11, s20, s21 float32
		for i := lane; i < n; i += lanes {
			x0, x1, x2 := q0[i], q1[i], q2[i]
			y0 := v0[i]
			s00 += float32(x0 * y0)
			s10 += float32(x1 * y0)
			s20 += float32(x2 * y0)
			y1 := v1[i]
			s01 += float32(x0 * y1)
			s11 += float32(x1 * y1)
			s21 += float32(x2 * y1)
		}
		sums[0][0][lane], sums[0][1][lane] = s00, s01
		sums[1][0][lane], sums[1][1][lane] = s10, s11
		sums[2][0][lane], sums[2][1][lane] = s20, s21
	}
}

// dot computes one dot product of two rows.
func dot(a, b []float32) float32 {
	var sums [lanes]float32
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	for len(a) >= lanes && len(b) >= lanes {
		x, y := (*[lanes]float32)(a), (*[lanes]float32)(b)
		s0 += float32(x[0] * y[0])
		s1 += float32(x[1] * y[1])
		s2 += float32(x[2] * y[2])
		s3 += float32(x[3] * y[3])
		s4 += float32(x[4] * y[4])
		s5 += float32(x[5] * y[5])
		s6 += float32(x[6] * y[6])
		s7 += float32(x[7] * y[7])
		a, b = a[lanes:], b[lanes:]
	}
	sums = [lanes]float32{s0, s1, s2, s3, s4, s5, s6, s7}
	return reduce(&sums)
}

func reduce(l *[lanes]float32) float32 {
	return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]))
}
