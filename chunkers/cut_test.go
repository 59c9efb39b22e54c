package chunkers

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/spans"
)

// testChunker is what the chunkers of this package have in common.
type testChunker interface {
	Chunker
	PositionAwareChunker
	fmt.Stringer
}

var (
	_ testChunker = FixedSize{}
	_ testChunker = RecursiveCharacter{}
	_ Validator   = FixedSize{}
	_ Validator   = RecursiveCharacter{}
)

func document(tb testing.TB, text string) *spans.Document {
	tb.Helper()
	doc, err := spans.NewDocument("text", text, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return doc
}

// mustCut returns the pieces of text, having verified that each equals the part
// of the text it stands for and that both methods agree.
func mustCut(tb testing.TB, c testChunker, text string) []Piece {
	tb.Helper()
	pieces, err := c.ChunkWithPositions(context.Background(), document(tb, text))
	if err != nil {
		tb.Fatalf("%s: %v", c, err)
	}
	texts, err := c.Chunk(context.Background(), text)
	if err != nil {
		tb.Fatalf("%s: %v", c, err)
	}
	if len(texts) != len(pieces) {
		tb.Fatalf("%s: Chunk returned %d texts and ChunkWithPositions %d pieces", c, len(texts), len(pieces))
	}
	for i, p := range pieces {
		if p.Start < 0 || p.End <= p.Start || p.End > len(text) || text[p.Start:p.End] != p.Text {
			tb.Fatalf("%s: piece %d is %q at [%d:%d], which is not what the text has there", c, i, p.Text, p.Start, p.End)
		}
		if texts[i] != p.Text {
			tb.Fatalf("%s: text %d is %q, but the piece is %q", c, i, texts[i], p.Text)
		}
	}
	return pieces
}

// trimmedTexts returns the texts of the pieces, without white space at both
// ends if trim is set.
func trimmedTexts(pieces []Piece, trim bool) []string {
	texts := make([]string, 0, len(pieces))
	for _, p := range pieces {
		if trim {
			p.Text = strings.TrimFunc(p.Text, isWhiteSpace)
		}
		texts = append(texts, p.Text)
	}
	return texts
}

// chromaCorpora returns the five corpora of Chroma's chunking evaluation and
// their size in bytes.
func chromaCorpora(tb testing.TB) (docs []*spans.Document, bytes int) {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(realdata.Dir(tb, "data", "chroma", "corpora"), "*.md"))
	if err != nil || len(files) != 5 {
		tb.Fatalf("listing the Chroma corpora: got %d files and error %v, want 5 files", len(files), err)
	}
	for _, file := range files {
		text := readTexts(tb, file)[0]
		docs = append(docs, document(tb, text))
		bytes += len(text)
	}
	return docs, bytes
}

type sizes struct{ Size, Overlap int }

var benchmarkSizes = []sizes{{400, 0}, {400, 200}}

func benchmarkOnChroma(b *testing.B, chunker func(sizes) testChunker) {
	docs, size := chromaCorpora(b)
	for _, s := range benchmarkSizes {
		b.Run(fmt.Sprintf("size=%d/overlap=%d", s.Size, s.Overlap), func(b *testing.B) {
			c := chunker(s)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				for _, doc := range docs {
					if _, err := c.ChunkWithPositions(b.Context(), doc); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// TestMemory holds all that is allocated, which is more than is ever in use at
// once, against the size of the text.
func TestMemory(t *testing.T) {
	docs := map[string]*spans.Document{
		"50 MB of words":                document(t, strings.Repeat("word ", 10_000_000)),
		"50 MB without a separator":     document(t, strings.Repeat("x", 50_000_000)),
		"10 MB of one-letter words":     document(t, strings.Repeat("é ", 3_333_333)),
		"10 MB of lines and paragraphs": document(t, strings.Repeat("A sentence. Another one.\nA line.\n\n", 300_000)),
	}
	for name, doc := range docs {
		for _, s := range append([]sizes{{len(doc.Text()) / 2, 1000}}, benchmarkSizes...) {
			for _, c := range []testChunker{FixedSize(s), RecursiveCharacter{Size: s.Size, Overlap: s.Overlap}} {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				if _, err := c.ChunkWithPositions(t.Context(), doc); err != nil {
					t.Fatal(err)
				}
				runtime.ReadMemStats(&after)
				ratio := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(doc.Text()))
				if ratio >= 2 {
					t.Errorf("%s of %s: allocated %.2f times the size of the text, want less than 2", c, name, ratio)
				} else {
					t.Logf("%s of %s: %.3f times the size of the text", c, name, ratio)
				}
			}
		}
	}
}
