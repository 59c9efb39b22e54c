package chunkers_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/spans"
)

// windows returns the fixed windows of a text: size and overlap in characters.
func windows(text string, size, overlap int) []chunkers.Piece {
	var starts []int // of each character, and the end
	for i := range text {
		starts = append(starts, i)
	}
	n := len(starts)
	starts = append(starts, len(text))
	var pieces []chunkers.Piece
	for i := 0; n > 0; i += size - overlap {
		end := min(i+size, n)
		pieces = append(pieces, chunkers.Piece{Text: text[starts[i]:starts[end]], Start: starts[i], End: starts[end]})
		if end == n {
			break
		}
	}
	return pieces
}

func texts(pieces []chunkers.Piece) []string {
	var ts []string
	for _, p := range pieces {
		ts = append(ts, p.Text)
	}
	return ts
}

// constant is a chunker that returns the given chunks for any text.
func constant(chunks []string) chunkers.Func {
	return func(context.Context, string) ([]string, error) { return chunks, nil }
}

func newDocument(tb testing.TB, id, text string) *spans.Document {
	tb.Helper()
	doc, err := spans.NewDocument(spans.DocumentID(id), text, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return doc
}

func chromaDocuments(tb testing.TB) []*spans.Document {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(realdata.Dir(tb, "data", "chroma", "corpora"), "*.md"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("listing Chroma's corpora: %d files, error %v", len(files), err)
	}
	var docs []*spans.Document
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		docs = append(docs, newDocument(tb, filepath.Base(f), string(text)))
	}
	return docs
}

func locate(tb testing.TB, doc *spans.Document, chunks []string) []chunkers.Piece {
	tb.Helper()
	pieces, err := chunkers.WithPositions(constant(chunks)).ChunkWithPositions(tb.Context(), doc)
	if err != nil {
		tb.Fatal(err)
	}
	if len(pieces) != len(chunks) {
		tb.Fatalf("got %d pieces of %d chunks", len(pieces), len(chunks))
	}
	return pieces
}

// trimmed returns the place of p without white space at its ends, which is what
// two places of one chunk have in common if it was found up to white space.
func trimmed(doc *spans.Document, p chunkers.Piece) [2]int {
	if p.Start < 0 {
		return [2]int{-1, -1}
	}
	s := doc.Text()[p.Start:p.End]
	start := p.End - len(strings.TrimLeft(s, " \t\r\n"))
	return [2]int{start, max(start, p.Start+len(strings.TrimRight(s, " \t\r\n")))}
}

func TestWithPositionsOnChroma(t *testing.T) {
	variants := []struct {
		name   string
		change func(i int, text string) (chunk string, ok bool)
		want   float64 // share of chunks at their place
	}{
		{"as they are", func(_ int, s string) (string, bool) { return s, true }, 0.999},
		{"trimmed", func(_ int, s string) (string, bool) { s = strings.TrimSpace(s); return s, s != "" }, 0.999},
		{"white space collapsed", func(_ int, s string) (string, bool) {
			s = strings.Join(strings.Fields(s), " ")
			return s, s != ""
		}, 0.999},
		{"line ends changed", func(_ int, s string) (string, bool) {
			return strings.ReplaceAll(s, "\n", "\r\n"), strings.TrimSpace(s) != ""
		}, 0.999},
		{"every 10th dropped", func(i int, s string) (string, bool) { return s, i%10 != 5 }, 0},
	}
	sizes := [][2]int{{200, 50}, {333, 111}, {400, 200}, {800, 400}, {200, 0}}
	for _, doc := range chromaDocuments(t) {
		for _, size := range sizes {
			pieces := windows(doc.Text(), size[0], size[1])
			for _, v := range variants {
				t.Run(fmt.Sprintf("%s/size=%d/overlap=%d/%s", doc.ID(), size[0], size[1], v.name), func(t *testing.T) {
					var chunks []string
					var want []chunkers.Piece
					for i, p := range pieces {
						if chunk, ok := v.change(i, p.Text); ok {
							chunks = append(chunks, chunk)
							want = append(want, p)
						}
					}
					right := 0
					for i, got := range locate(t, doc, chunks) {
						if trimmed(doc, got) == trimmed(doc, want[i]) {
							right++
						}
					}
					t.Logf("%d of %d chunks where they came from, %d elsewhere", right, len(chunks), len(chunks)-right)
					if share := float64(right) / float64(len(chunks)); share < v.want {
						t.Errorf("got %.4f of the chunks where they came from, want at least %g", share, v.want)
					}
				})
			}
		}
	}
}

var _ = utf8.RuneError
