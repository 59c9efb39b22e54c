package catalog

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"unicode"

	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/spans"
)

// realDocuments returns the five corpora of Chroma's chunking evaluation and the
// paragraphs of XQuAD in three languages.
func realDocuments(t *testing.T) []*spans.Document {
	t.Helper()
	var docs []*spans.Document
	add := func(id, text string) {
		doc, err := spans.NewDocument(spans.DocumentID(id), text, nil)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	read := func(path string) []byte {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	corpora, err := filepath.Glob(filepath.Join(realdata.Dir(t, "data", "chroma", "corpora"), "*.md"))
	if err != nil || len(corpora) != 5 {
		t.Fatalf("got %d corpora, error %v, want 5", len(corpora), err)
	}
	for _, path := range corpora {
		add(filepath.Base(path), string(read(path)))
	}
	for _, language := range []string{"en", "zh", "ar"} {
		var file struct {
			Data []struct{ Paragraphs []struct{ Context string } }
		}
		if err := json.Unmarshal(read(filepath.Join(realdata.Dir(t, "data", "xquad"), "xquad."+language+".json")), &file); err != nil {
			t.Fatal(err)
		}
		for i, article := range file.Data {
			for j, paragraph := range article.Paragraphs {
				add(fmt.Sprintf("xquad.%s/%d/%d", language, i, j), paragraph.Context)
			}
		}
	}
	return docs
}

// Every chunk of every chunker is where it says, and together they hold all of
// each document but white space. (None of them holds markup that HTML drops.)
func TestPositionsOnRealDocuments(t *testing.T) {
	docs := realDocuments(t)
	for _, name := range []string{
		"fixed/size=400", "fixed/size=400/overlap=100",
		"recursive/size=400", "recursive/size=400/overlap=200/trim=true", "recursive/size=400/separators=markdown/keep=end",
		"recursive/size=200/overlap=100/length=cl100k",
		"fixedtoken/tokens=200/overlap=50", "fixedtoken/tokens=50/encoding=o200k",
		"sentence/maxsize=400/overlap=1", "paragraph/maxsize=800/minsize=100", "density/size=400/minoverlap=20/maxoverlap=200",
		"markdown/size=400", "markdown/size=800/minsize=200/overlap=100", "html/size=400/overlap=50",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := Parse(name)
			if err != nil {
				t.Fatal(err)
			}
			chunks := 0
			for _, doc := range docs {
				pieces, err := c.ChunkWithPositions(t.Context(), doc)
				if err != nil {
					t.Fatal(err)
				}
				chunks += len(pieces)
				text, until, start := doc.Text(), 0, 0
				for i, p := range pieces {
					if p.Start < start || p.End < p.Start || p.End > len(text) || text[p.Start:p.End] != p.Text {
						t.Fatalf("%s: piece %d is not at [%d:%d]: %.60q", doc.ID(), i, p.Start, p.End, p.Text)
					}
					start = p.Start
					if p.Start > until {
						checkDropped(t, doc, until, p.Start)
					}
					until = max(until, p.End)
				}
				checkDropped(t, doc, until, len(text))
			}
			if chunks < len(docs) {
				t.Errorf("got %d chunks of %d documents", chunks, len(docs))
			}
		})
	}
}

func checkDropped(t *testing.T, doc *spans.Document, start, end int) {
	t.Helper()
	for i, r := range doc.Text()[start:end] {
		if !unicode.IsSpace(r) && r != '\ufeff' {
			t.Errorf("%s: bytes [%d:%d] are in no piece, and %q at %d is not white space", doc.ID(), start, end, r, start+i)
			return
		}
	}
}
