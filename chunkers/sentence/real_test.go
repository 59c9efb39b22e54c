package sentence

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/spans"
)

func document(tb testing.TB, id, text string) *spans.Document {
	tb.Helper()
	doc, err := spans.NewDocument(spans.DocumentID(id), text, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return doc
}

// chromaCorpora returns the documents of Chroma's chunking evaluation.
func chromaCorpora(tb testing.TB) (docs []*spans.Document) {
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
		docs = append(docs, document(tb, filepath.Base(file), string(text)))
	}
	return docs
}

// xquadParagraphs returns the paragraphs of XQuAD in a language.
func xquadParagraphs(tb testing.TB, language string) (docs []*spans.Document) {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(realdata.Dir(tb, "data", "xquad"), "xquad."+language+".json"))
	if err != nil {
		tb.Fatal(err)
	}
	var file struct {
		Data []struct {
			Paragraphs []struct{ Context string }
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		tb.Fatal(err)
	}
	for i, article := range file.Data {
		for j, p := range article.Paragraphs {
			docs = append(docs, document(tb, fmt.Sprintf("%s/%d/%d", language, i, j), p.Context))
		}
	}
	if len(docs) != 240 {
		tb.Fatalf("XQuAD %s has %d paragraphs, want 240", language, len(docs))
	}
	return docs
}
