package onnx

import (
	"strings"
	"testing"
)

// BenchmarkEmbed embeds texts of 128 tokens with a model of all-MiniLM-L6-v2's
// shape and pseudo-random weights.
func BenchmarkEmbed(b *testing.B) {
	dir := modelDir(b, newBERT(bert{layers: 6, hidden: 384, heads: 12, inner: 1536, vocabulary: 30522, positions: 512, segments: true}), nil)
	texts := make([]string, 4)
	for i := range texts {
		texts[i] = strings.Repeat("every ", 126)
	}
	for _, backend := range []struct {
		name string
		Backend
	}{{"ONNXRuntime", ONNXRuntime}, {"PureGo", PureGo}} {
		b.Run("backend="+backend.name, func(b *testing.B) {
			if backend.Backend == ONNXRuntime {
				needLibrary(b)
			}
			e := closed(b, &Embedder{Model: Model{Dir: dir, Backend: backend.Backend}})
			mustEmbed(b, e, texts...)
			b.ReportAllocs()
			for b.Loop() {
				mustEmbed(b, e, texts...)
			}
			b.ReportMetric(float64(len(texts)*b.N)/b.Elapsed().Seconds(), "texts/s")
		})
	}
}
