//go:build (amd64 || arm64) && !purego

package exact

// codeQuad computes the dot products of the codes of one query with those of four
// vectors, which lie one after the other. The stride is a positive multiple of
// [codeLanes].
//
//go:noescape
func codeQuad(sums *[4]int32, query *int16, vectors *int8, stride int)

// codeDots computes the dot products of the codes of a query with those of the vectors
// in rows, which have as many: sums is as long as there are rows. No sum may overflow.
func codeDots(sums []int32, query []int16, rows []int8) {
	whole := 0
	if vectorizedCodes {
		whole = len(sums) / 4 * 4
		for i := 0; i < whole; i += 4 {
			codeQuad((*[4]int32)(sums[i:]), &query[0], &rows[i*len(query) : (i+4)*len(query)][0], len(query))
		}
	}
	goCodeDots(sums[whole:], query, rows[whole*len(query):])
}
