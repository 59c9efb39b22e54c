package exact

import "math"

// codeLanes is what rows of codes are padded to a multiple of, with zeros.
const codeLanes = 16

const (
	// vectorLevels is the largest code of a vector's component: int8.
	vectorLevels = 127
	// queryLevels is the largest code of a query's component, for which 16 bits have
	// room: a query's rounding then adds little to that of the vectors.
	queryLevels = 2047
)

// levelsFor returns the largest code of a query's component with which a sum of
// products overflows no int32.
func levelsFor(dim int) int { return max(1, min(queryLevels, math.MaxInt32/vectorLevels/dim)) }

// codeSize returns how many codes a vector has.
func codeSize(dim int) int { return ceilDiv(dim, codeLanes) * codeLanes }

// encode writes the codes of v, which has length 1 or 0, and returns by what they must
// be multiplied, and an upper bound of the length of what rounding leaves over.
func encode[T int8 | int16](codes []T, v []float32, levels int) (scale, rest float64) {
	largest := 0.0
	for _, x := range v {
		largest = max(largest, math.Abs(float64(x)))
	}
	clear(codes)
	if largest == 0 {
		return 0, 0
	}
	scale = float64(float32(largest / float64(levels)))
	sum := 0.0
	for i, x := range v {
		code := math.RoundToEven(float64(x) / scale)
		codes[i] = T(code)
		left := float64(x) - code*scale
		sum += left * left
	}
	return scale, math.Sqrt(sum) * (1 + 1e-9)
}

// goCodeDots is [codeDots] in Go. Integers make it the same however it is added up.
func goCodeDots(sums []int32, query []int16, rows []int8) {
	for i := range sums {
		row := rows[i*len(query):][:len(query)]
		var s0, s1, s2, s3 int32
		for j := 0; j+4 <= len(row) && j+4 <= len(query); j += 4 {
			s0 += int32(query[j]) * int32(row[j])
			s1 += int32(query[j+1]) * int32(row[j+1])
			s2 += int32(query[j+2]) * int32(row[j+2])
			s3 += int32(query[j+3]) * int32(row[j+3])
		}
		sums[i] = s0 + s1 + s2 + s3
	}
}
