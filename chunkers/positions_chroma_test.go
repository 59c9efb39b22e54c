package chunkers_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/spans"
)

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
		docs = append(docs, documentOf(tb, filepath.Base(f), string(text)))
	}
	return docs
}

// On every document of Chroma's, the windows of four sizes must be found where
// they were cut, however the chunker changes white space. finance.md repeats
// long passages.
func TestWithPositionsOnChroma(t *testing.T) {
	collapse := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	variants := []struct {
		name   string
		change func(text string) string
		drop   func(i int) bool
	}{
		{name: "as cut"},
		{name: "trimmed", change: strings.TrimSpace},
		{name: "white space collapsed", change: collapse},
		{name: "line ends changed", change: crlf},
		{name: "every tenth dropped", drop: func(i int) bool { return i%10 == 5 }},
	}
	for _, doc := range chromaDocuments(t) {
		for _, v := range variants {
			t.Run(string(doc.ID())+"/"+v.name, func(t *testing.T) {
				for _, size := range [][2]int{{200, 50}, {333, 111}, {400, 200}, {800, 400}} {
					var chunks []string
					var want []chunkers.Piece
					for i, p := range slidingWindows(doc.Text(), size[0], size[1]) {
						if v.change != nil {
							p.Text = v.change(p.Text)
						}
						if strings.TrimSpace(p.Text) != "" && (v.drop == nil || !v.drop(i)) {
							chunks = append(chunks, p.Text)
							want = append(want, p)
						}
					}
					right := 0
					for i, got := range placesOf(t, doc, chunks) {
						if trimmedPlace(doc, got) == trimmedPlace(doc, want[i]) {
							right++
						}
					}
					t.Logf("%d/%d: %d of %d chunks elsewhere", size[0], size[1], len(chunks)-right, len(chunks))
					if share := float64(right) / float64(len(chunks)); share < 0.999 {
						t.Errorf("%d/%d: got %.5f of the chunks where they came from, want at least 0.999", size[0], size[1], share)
					}
				}
			})
		}
	}
}

func BenchmarkWithPositionsOnChroma(b *testing.B) {
	for _, doc := range chromaDocuments(b) {
		b.Run("text="+string(doc.ID()), func(b *testing.B) {
			adapter := chunkers.WithPositions(returning(textsOf(slidingWindows(doc.Text(), 200, 50))))
			b.SetBytes(int64(len(doc.Text())))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := adapter.ChunkWithPositions(b.Context(), doc); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
