//go:build purego || !(amd64 || arm64)

package exact

// dots is the kernel in Go: there is none in assembly.
func dots(scores, queries, vectors []float32, stride int) {
	goDots(scores, queries, vectors, stride)
}
