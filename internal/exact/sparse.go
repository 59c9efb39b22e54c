package exact

// sparse is a query by its components that are not 0, in the order in which the
// lanes take them: those of lane 0 by index, then those of lane 1, and so on.
//
// Leaving out the others changes no bit of a score: they add +0 or -0 to a lane,
// and a lane is never -0.
type sparse struct {
	first   [lanes + 1]uint32 // lane l holds components [first[l], first[l+1])
	indexes []uint32
	values  []float32
}

// sparseShare is how many times fewer components than all of them a query must
// have for leaving out the others to be faster: looking a component up costs
// about as much as six that are read in order by [tile].
const sparseShare = 6

// newSparse returns the sparse forms of queries, rows of stride components; nil
// if there are too few zeros in them for that to pay.
func newSparse(queries []float32, stride int) []sparse {
	count := 0
	for _, x := range queries {
		if x != 0 {
			count++
		}
	}
	if count*sparseShare > len(queries) {
		return nil
	}
	indexes := make([]uint32, 0, count)
	values := make([]float32, 0, count)
	forms := make([]sparse, len(queries)/stride)
	for q := range forms {
		row := queries[q*stride : (q+1)*stride]
		start := len(indexes)
		for lane := range lanes {
			for i := lane; i < stride; i += lanes {
				if row[i] != 0 {
					indexes = append(indexes, uint32(i))
					values = append(values, row[i])
				}
			}
			forms[q].first[lane+1] = uint32(len(indexes) - start)
		}
		forms[q].indexes, forms[q].values = indexes[start:], values[start:]
	}
	return forms
}

// sparseDots computes what [dots] does for one query.
func sparseDots(scores []float32, query sparse, vectors []float32, stride int) {
	v := 0
	for ; v+4 <= len(scores); v += 4 {
		// Four vectors at once: the sum of one waits for its last addition.
		v0, v1 := vectors[v*stride:(v+1)*stride], vectors[(v+1)*stride:(v+2)*stride]
		v2, v3 := vectors[(v+2)*stride:(v+3)*stride], vectors[(v+3)*stride:(v+4)*stride]
		var sums [4][lanes]float32
		for lane := range lanes {
			from, to := query.first[lane], query.first[lane+1]
			indexes, values := query.indexes[from:to], query.values[from:to]
			var s0, s1, s2, s3 float32
			for i, at := range indexes {
				x := values[i]
				s0 += float32(x * v0[at])
				s1 += float32(x * v1[at])
				s2 += float32(x * v2[at])
				s3 += float32(x * v3[at])
			}
			sums[0][lane], sums[1][lane], sums[2][lane], sums[3][lane] = s0, s1, s2, s3
		}
		scores[v], scores[v+1] = reduce(&sums[0]), reduce(&sums[1])
		scores[v+2], scores[v+3] = reduce(&sums[2]), reduce(&sums[3])
	}
	for ; v < len(scores); v++ {
		row := vectors[v*stride : (v+1)*stride]
		var sums [lanes]float32
		for lane := range lanes {
			from, to := query.first[lane], query.first[lane+1]
			for i, at := range query.indexes[from:to] {
				sums[lane] += float32(query.values[from:to][i] * row[at])
			}
		}
		scores[v] = reduce(&sums)
	}
}
