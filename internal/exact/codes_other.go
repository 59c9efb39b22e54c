//go:build (!amd64 && !arm64) || purego

package exact

func codeDots(sums []int32, query []int16, rows []int8) { goCodeDots(sums, query, rows) }
