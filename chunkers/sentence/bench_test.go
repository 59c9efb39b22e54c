package sentence

import (
	"testing"
)

func benchmark(b *testing.B, cases ...chunker) {
	docs := chromaCorpora(b)
	size := 0
	for _, doc := range docs {
		size += len(doc.Text())
	}
	for _, c := range cases {
		b.Run("chunker="+c.String(), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n = 0
				for _, doc := range docs {
					pieces, err := c.ChunkWithPositions(b.Context(), doc)
					if err != nil {
						b.Fatal(err)
					}
					n += len(pieces)
				}
			}
			b.ReportMetric(float64(n), "chunks")
		})
	}
}

func BenchmarkSentence(b *testing.B) {
	benchmark(b, Sentence{}, Sentence{MaxSize: 400}, Sentence{MaxSize: 400, Overlap: 2})
}

func BenchmarkParagraph(b *testing.B) {
	benchmark(b, Paragraph{}, Paragraph{MaxSize: 800, MinSize: 200})
}

func BenchmarkSemanticDensity(b *testing.B) {
	benchmark(b, SemanticDensity{Size: 400, MinOverlap: 20, MaxOverlap: 120})
}
