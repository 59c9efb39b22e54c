package markdown_test

import (
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/rageval/rageval/chunkers/markdown"
	"github.com/rageval/rageval/spans"
)

// BenchmarkMarkdown compares cutting with goldmark's own parse of the same
// text, with the extensions whose blocks are known to the chunker.
func BenchmarkMarkdown(b *testing.B) {
	corpora := map[string]func(testing.TB) []*spans.Document{"handbook": handbook, "chroma": chromaDocuments}
	for _, name := range []string{"handbook", "chroma"} {
		b.Run("text="+name, func(b *testing.B) {
			docs := corpora[name](b)
			size := 0
			for _, doc := range docs {
				size += len(doc.Text())
			}
			b.Run("goldmark", func(b *testing.B) {
				p := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote, extension.DefinitionList)).Parser()
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					for _, doc := range docs {
						p.Parse(text.NewReader([]byte(doc.Text())))
					}
				}
			})
			for _, c := range []markdown.Markdown{
				{Size: 400},
				{Size: 400, Overlap: 200},
				{Size: 800, MinSize: 200, Overlap: 100},
				{Size: 800, MinSize: 200, Overlap: 100, HeadingPrefix: true},
			} {
				b.Run(c.String(), func(b *testing.B) {
					b.SetBytes(int64(size))
					b.ReportAllocs()
					chunks := 0
					for b.Loop() {
						chunks = 0
						for _, doc := range docs {
							pieces, err := c.ChunkWithPositions(b.Context(), doc)
							if err != nil {
								b.Fatal(err)
							}
							chunks += len(pieces)
						}
					}
					b.ReportMetric(float64(chunks), "chunks")
				})
			}
		})
	}
}
