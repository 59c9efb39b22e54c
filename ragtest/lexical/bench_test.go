package lexical

import (
	"testing"

	"github.com/rageval/rageval/chunkers"
)

func BenchmarkEmbed(b *testing.B) {
	chunks, questions := chromaTexts(b)
	for _, batch := range []struct {
		name string
		size int
	}{{"batch=32", 32}, {"batch=all", 1 << 30}} {
		b.Run(batch.name, func(b *testing.B) {
			texts := append(indexTexts(chunks), questions...)
			b.SetBytes(size(texts))
			b.ReportAllocs()
			for b.Loop() {
				for first := 0; first < len(texts); first += batch.size {
					embedAll(b, Embedder{}, texts[first:min(first+batch.size, len(texts))])
				}
			}
		})
	}
}

func BenchmarkFit(b *testing.B) {
	corpus := chroma(b).Corpus
	b.ReportAllocs()
	for b.Loop() {
		Embedder{}.Fit(corpus)
	}
}

func BenchmarkBM25(b *testing.B) {
	chunks, questions := chromaTexts(b)
	r := NewBM25[chunkers.PositionAwareChunk]()
	b.Run("index", func(b *testing.B) {
		b.SetBytes(size(indexTexts(chunks)))
		b.ReportAllocs()
		for b.Loop() {
			if err := r.Index(b.Context(), chunks); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("retrieve", func(b *testing.B) {
		b.SetBytes(size(questions))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := r.Retrieve(b.Context(), questions, 5); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkFuse(b *testing.B) {
	chunks, questions := chromaTexts(b)
	r := Fuse[chunkers.PositionAwareChunk](NewBM25[chunkers.PositionAwareChunk](), NewBM25[chunkers.PositionAwareChunk]())
	if err := r.Index(b.Context(), chunks); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Retrieve(b.Context(), questions, 5); err != nil {
			b.Fatal(err)
		}
	}
}

func size(texts []string) int64 {
	n := 0
	for _, t := range texts {
		n += len(t)
	}
	return int64(n)
}
