package html_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	xhtml "golang.org/x/net/html"

	"github.com/rageval/rageval/chunkers/html"
)

// BenchmarkHTML compares cutting with reading the tokens of the same text: one
// that is mostly tags, and whole pages.
func BenchmarkHTML(b *testing.B) {
	handbook, _ := handbook()
	texts := pages(b)
	all := strings.Join(slices.Sorted(maps.Values(texts)), "\n")
	b.Run("handbook", func(b *testing.B) { compare(b, strings.Repeat(handbook, 50)) })
	b.Run("pages", func(b *testing.B) { compare(b, strings.Repeat(all, 40)) })
}

func compare(b *testing.B, text string) {
	doc := document(b, "page.html", text)
	b.Run("tokenizer", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			z := xhtml.NewTokenizer(strings.NewReader(text))
			for z.Next() != xhtml.ErrorToken {
				z.TagName()
			}
		}
	})
	for _, c := range []html.HTML{
		{Size: 400},
		{Size: 800, MinSize: 200, Overlap: 100},
		{Size: 800, MinSize: 200, Overlap: 100, PlainText: true},
	} {
		b.Run(c.String(), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			chunks := 0
			for b.Loop() {
				pieces, err := c.ChunkWithPositions(b.Context(), doc)
				if err != nil {
					b.Fatal(err)
				}
				chunks = len(pieces)
			}
			b.ReportMetric(float64(chunks), "chunks")
		})
	}
}
