package peers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/tmc/langchaingo/textsplitter"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/spans"
)

var separators = []string{"\n\n", "\n", ". ", " ", ""}

var settings = []struct{ size, overlap int }{{400, 0}, {400, 200}}

// chromaCorpora returns the documents of Chroma's chunking evaluation.
func chromaCorpora(tb testing.TB) (docs []*spans.Document, bytes int64) {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(realdata.Dir(tb, "data", "chroma", "corpora"), "*.md"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("listing the Chroma corpora: %d files, error %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		doc, err := spans.NewDocument(spans.DocumentID(filepath.Base(file)), string(text), nil)
		if err != nil {
			tb.Fatal(err)
		}
		docs = append(docs, doc)
		bytes += int64(len(text))
	}
	return docs, bytes
}

// BenchmarkRecursiveCharacter compares our pieces, which have positions, with
// langchaingo's chunks, which have none, and with a scan of the text that looks
// each byte up in a table and does nothing else.
func BenchmarkRecursiveCharacter(b *testing.B) {
	docs, size := chromaCorpora(b)
	impls := []struct {
		name string
		cut  func(size, overlap int) (chunks int, err error)
	}{
		{"rageval", func(size, overlap int) (chunks int, err error) {
			c := chunkers.RecursiveCharacter{Size: size, Overlap: overlap, Separators: separators, Trim: true}
			for _, doc := range docs {
				pieces, err := c.ChunkWithPositions(context.Background(), doc)
				if err != nil {
					return 0, err
				}
				chunks += len(pieces)
			}
			return chunks, nil
		}},
		{"langchaingo", func(size, overlap int) (chunks int, err error) {
			c := textsplitter.NewRecursiveCharacter(
				textsplitter.WithChunkSize(size),
				textsplitter.WithChunkOverlap(overlap),
				textsplitter.WithSeparators(separators),
				textsplitter.WithKeepSeparator(true),
			)
			for _, doc := range docs {
				texts, err := c.SplitText(doc.Text())
				if err != nil {
					return 0, err
				}
				chunks += len(texts)
			}
			return chunks, nil
		}},
		{"tablescan", func(int, int) (hits int, err error) {
			var isSeparator [256]bool
			isSeparator['\n'], isSeparator['.'], isSeparator[' '] = true, true, true
			for _, doc := range docs {
				text := doc.Text()
				for i := range len(text) {
					if isSeparator[text[i]] {
						hits++
					}
				}
			}
			return hits, nil
		}},
	}
	for _, impl := range impls {
		for _, s := range settings {
			b.Run(fmt.Sprintf("impl=%s/size=%d/overlap=%d", impl.name, s.size, s.overlap), func(b *testing.B) {
				b.SetBytes(size)
				b.ReportAllocs()
				var chunks int
				for b.Loop() {
					var err error
					if chunks, err = impl.cut(s.size, s.overlap); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(chunks), "chunks")
			})
		}
	}
	runtime.KeepAlive(docs)
}
