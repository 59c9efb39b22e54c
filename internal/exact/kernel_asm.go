//go:build (amd64 || arm64) && !purego

package exact

// tile computes the dot products of four queries with two vectors, which lie one
// after the other: sums[2*q+v]. The stride is a positive multiple of [lanes].
//
//go:noescape
func tile(sums *[8]float32, queries, vectors *float32, stride int)

// quad computes the dot products of one query with four vectors.
//
//go:noescape
func quad(sums *[4]float32, query, vectors *float32, stride int)

// dots computes the dot product of every query with every vector, in the order
// of summation that the package comment fixes: scores[q*n+v] for query q and
// vector v of n. Both slices hold rows of stride components, a positive
// multiple of [lanes]; scores is as long as there are pairs.
func dots(scores, queries, vectors []float32, stride int) {
	if !vectorized {
		goDots(scores, queries, vectors, stride)
		return
	}
	nq, nv := len(queries)/stride, len(vectors)/stride
	q := 0
	for ; q+4 <= nq; q += 4 {
		four := queries[q*stride : (q+4)*stride]
		s0, s1, s2, s3 := scores[q*nv:][:nv], scores[(q+1)*nv:][:nv], scores[(q+2)*nv:][:nv], scores[(q+3)*nv:][:nv]
		v := 0
		for ; v+2 <= nv; v += 2 {
			var sums [8]float32
			tile(&sums, &four[0], &vectors[v*stride : (v+2)*stride][0], stride)
			s0[v], s0[v+1] = sums[0], sums[1]
			s1[v], s1[v+1] = sums[2], sums[3]
			s2[v], s2[v+1] = sums[4], sums[5]
			s3[v], s3[v+1] = sums[6], sums[7]
		}
		if v < nv {
			// A product is the same bits either way round.
			var sums [4]float32
			quad(&sums, &vectors[v*stride : (v+1)*stride][0], &four[0], stride)
			s0[v], s1[v], s2[v], s3[v] = sums[0], sums[1], sums[2], sums[3]
		}
	}
	for ; q < nq; q++ {
		query, s := queries[q*stride:(q+1)*stride], scores[q*nv:][:nv]
		v := 0
		for ; v+4 <= nv; v += 4 {
			quad((*[4]float32)(s[v:]), &query[0], &vectors[v*stride : (v+4)*stride][0], stride)
		}
		for ; v < nv; v++ {
			s[v] = dot(query, vectors[v*stride:(v+1)*stride])
		}
	}
}

// addSquares8 adds the squares of n components, a positive multiple of [lanes],
// to the lanes.
//
//go:noescape
func addSquares8(sums *[lanes]float64, v *float32, n int)

// scale8 multiplies n components, a positive multiple of [lanes], as [scale].
//
//go:noescape
func scale8(dst, v *float32, n int, factor float64)

// squares returns the sum of the squares of the components, as the package
// comment says. It is finite if and only if they all are.
func squares(v []float32) float64 {
	if !vectorized || len(v) < lanes {
		return goSquares(v)
	}
	var sums [lanes]float64
	whole := len(v) / lanes * lanes
	addSquares8(&sums, &v[0], whole)
	for i, x := range v[whole:] {
		sums[i] += float64(x) * float64(x)
	}
	return reduce64(&sums)
}

// scale multiplies each component by the factor in float64 and rounds it to
// float32. dst, which may be v, is as long as v.
func scale(dst, v []float32, factor float64) {
	whole := 0
	if vectorized && len(v) >= lanes {
		whole = len(v) / lanes * lanes
		scale8(&dst[:whole][0], &v[0], whole, factor)
	}
	goScale(dst[whole:], v[whole:], factor)
}
