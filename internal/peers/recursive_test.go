package peers

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/textsplitter"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/cputime"
	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/spans"
)

var separators = []string{"\n\n", "\n", ". ", " ", ""}

var settings = []struct{ size, overlap int }{{400, 0}, {400, 200}}

var charSettings = append(settings, []struct{ size, overlap int }{{200, 0}, {800, 0}}...)

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

// langchaingo and rageval cut a document with the two libraries, set to the
// same.

func langchaingo(tb testing.TB, doc *spans.Document, size, overlap int) []string {
	texts, err := textsplitter.NewRecursiveCharacter(
		textsplitter.WithChunkSize(size),
		textsplitter.WithChunkOverlap(overlap),
		textsplitter.WithSeparators(separators),
		textsplitter.WithKeepSeparator(true),
	).SplitText(doc.Text())
	if err != nil {
		tb.Fatal(err)
	}
	return texts
}

func rageval(tb testing.TB, doc *spans.Document, size, overlap int) []chunkers.Piece {
	c := chunkers.RecursiveCharacter{Size: size, Overlap: overlap, Separators: separators, Trim: true}
	pieces, err := c.ChunkWithPositions(tb.Context(), doc)
	if err != nil {
		tb.Fatal(err)
	}
	return pieces
}

func TestRecursiveCharacterDoesTheSameWork(t *testing.T) {
	docs, _ := chromaCorpora(t)
	for _, s := range charSettings {
		for _, doc := range docs {
			var got []string
			for _, p := range rageval(t, doc, s.size, s.overlap) {
				got = append(got, p.Text)
			}
			if want := langchaingo(t, doc, s.size, s.overlap); !slices.Equal(got, want) {
				t.Errorf("%s, size %d, overlap %d: our %d chunks are not langchaingo's %d", doc.ID(), s.size, s.overlap, len(got), len(want))
			}
		}
	}
}

// BenchmarkRecursiveCharacter compares our pieces, which have positions, with
// langchaingo's chunks, which have none, and with a scan of the text that looks
// each byte up in a table and does nothing else. The unit B/textbyte is all the
// memory allocated, which is more than is in use at any time, for each byte of
// text; cpu-ns/op is the time of all processors, which a busy machine changes less.
func BenchmarkRecursiveCharacter(b *testing.B) {
	docs, size := chromaCorpora(b)
	impls := []struct {
		name string
		cut  func(b *testing.B, doc *spans.Document, size, overlap int) (found int)
	}{
		{"rageval", func(b *testing.B, doc *spans.Document, size, overlap int) int {
			return len(rageval(b, doc, size, overlap))
		}},
		{"langchaingo", func(b *testing.B, doc *spans.Document, size, overlap int) int {
			return len(langchaingo(b, doc, size, overlap))
		}},
		{"tablescan", func(_ *testing.B, doc *spans.Document, _, _ int) (found int) {
			var separates [256]bool
			separates['\n'], separates['.'], separates[' '] = true, true, true
			text := doc.Text()
			for i := range len(text) {
				if separates[text[i]] {
					found++
				}
			}
			return found
		}},
	}
	for _, impl := range impls {
		for _, s := range charSettings {
			b.Run(fmt.Sprintf("impl=%s/size=%d/overlap=%d", impl.name, s.size, s.overlap), func(b *testing.B) {
				b.SetBytes(size)
				b.ReportAllocs()
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				found := 0
				cpu := cputime.Used(b)
				for b.Loop() {
					found = 0
					for _, doc := range docs {
						found += impl.cut(b, doc, s.size, s.overlap)
					}
				}
				b.ReportMetric(float64(cputime.Used(b)-cpu)/float64(b.N), "cpu-ns/op")
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(found), "found")
				b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(b.N)/float64(size), "B/textbyte")
			})
		}
	}
}

// BenchmarkRecursiveCharacterGrowth cuts texts of two lengths: the longer one is of 50 MB
// and 35 times as long.
func BenchmarkRecursiveCharacterGrowth(b *testing.B) {
	docs, _ := chromaCorpora(b)
	var corpora strings.Builder
	for _, doc := range docs {
		corpora.WriteString(doc.Text())
	}
	for _, times := range []int{1, 35} {
		b.Run(fmt.Sprintf("corpora=%d", times), func(b *testing.B) {
			doc, err := spans.NewDocument("corpora", strings.Repeat(corpora.String(), times), nil)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(doc.Text())))
			cpu := cputime.Used(b)
			for b.Loop() {
				rageval(b, doc, 400, 0)
			}
			b.ReportMetric(float64(cputime.Used(b)-cpu)/float64(b.N)/float64(len(doc.Text())), "cpu-ns/textbyte")
		})
	}
}
