package model2vec

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rageval/rageval/internal/realdata"
)

// realChunks returns texts of 200 tokens.
func realChunks(tb testing.TB, e *Embedder, corpus string) (chunks []string) {
	tb.Helper()
	content, err := os.ReadFile(filepath.Join(realdata.Dir(tb, "data", "chroma", "corpora"), corpus))
	if err != nil {
		tb.Fatal(err)
	}
	text, start, n := string(content), 0, 0
	for _, end := range e.Tokenizer().Tokens(text) {
		if n++; n == 200 {
			chunks = append(chunks, text[start:end])
			start, n = end, 0
		}
	}
	return chunks
}

// BenchmarkEmbed embeds on one core: run it with -cpu 1.
func BenchmarkEmbed(b *testing.B) {
	for _, name := range []string{"potion-base-2M-int8", "model2vec-bge-vq64"} {
		b.Run("model="+name, func(b *testing.B) {
			e, _ := openReal(b, name)
			chunks := realChunks(b, e, "wikitexts.md")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Embed(b.Context(), chunks); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(chunks)*b.N)/b.Elapsed().Seconds(), "chunks/s")
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	dir := realdata.Dir(b, "models", "potion-base-2M-int8")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Open(dir); err != nil {
			b.Fatal(err)
		}
	}
}
