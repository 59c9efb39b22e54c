//go:build purego || !(amd64 || arm64)

package exact

// dots is the kernel in Go: there is none in assembly.
func dots(scores, queries, vectors []float32, stride int) {
	goDots(scores, queries, vectors, stride)
}

func squares(v []float32) float64 { return goSquares(v) }

func scale(dst, v []float32, factor float64) { goScale(dst, v, factor) }
