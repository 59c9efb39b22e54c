package lexical

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// TestXQuAD measures how often a question finds its own among 240 paragraphs,
// in languages with other letters and without spaces. The figures are those of
// the package documentation.
func TestXQuAD(t *testing.T) {
	dir := realdata.Dir(t, "data", "xquad")
	for _, test := range []struct {
		language               string
		bm25, embedder, fitted float64
	}{
		{"en", 0.92, 0.895, 0.905},
		{"zh", 0.93, 0.845, 0.87},
		{"ar", 0.815, 0.755, 0.795},
	} {
		t.Run(test.language, func(t *testing.T) {
			chunks, queries, answers := readXQuAD(t, filepath.Join(dir, fmt.Sprintf("xquad.%s.json", test.language)))
			var docs []*spans.Document
			for _, c := range chunks {
				doc, err := spans.NewDocument(c.Span.Doc, c.Text, nil)
				if err != nil {
					t.Fatal(err)
				}
				docs = append(docs, doc)
			}
			corpus, err := spans.NewCorpus(docs...)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range []struct {
				name      string
				retriever ragtest.Retriever[chunkers.PositionAwareChunk]
				want      float64
			}{
				{"bm25", NewBM25[chunkers.PositionAwareChunk](), test.bm25},
				{"embedder", ragtest.Dense[chunkers.PositionAwareChunk](Embedder{}, nil), test.embedder},
				{"fitted", ragtest.Dense[chunkers.PositionAwareChunk](Embedder{}.Fit(corpus), nil), test.fitted},
			} {
				if err := r.retriever.Index(t.Context(), chunks); err != nil {
					t.Fatal(err)
				}
				lists, err := r.retriever.Retrieve(t.Context(), queries, 1)
				if err != nil {
					t.Fatal(err)
				}
				hits := 0
				for q, list := range lists {
					if list[0].Chunk.Span == answers[q] {
						hits++
					}
				}
				got := float64(hits) / float64(len(queries))
				t.Logf("%s: hit rate at 1 %.4f", r.name, got)
				if got < r.want {
					t.Errorf("%s: got hit rate at 1 %.4f, want at least %v", r.name, got, r.want)
				}
			}
		})
	}
}

// readXQuAD returns the paragraphs as chunks, the questions, and the paragraph
// that answers each.
func readXQuAD(tb testing.TB, path string) (chunks []chunkers.PositionAwareChunk, queries []string, answers []spans.Span) {
	tb.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	var file struct {
		Data []struct {
			Paragraphs []struct {
				Context string
				Qas     []struct{ Question string }
			}
		}
	}
	if err := json.Unmarshal(content, &file); err != nil {
		tb.Fatal(err)
	}
	for _, article := range file.Data {
		for _, p := range article.Paragraphs {
			id := spans.DocumentID(fmt.Sprintf("paragraph-%d", len(chunks)))
			span := spans.Span{Doc: id, Start: 0, End: len([]rune(p.Context))}
			chunks = append(chunks, chunkers.PositionAwareChunk{ID: chunkers.NewPositionAwareChunkID(p.Context), Span: span, Text: p.Context})
			for _, q := range p.Qas {
				queries = append(queries, q.Question)
				answers = append(answers, span)
			}
		}
	}
	if len(chunks) != 240 || len(queries) != 1190 {
		tb.Fatalf("got %d paragraphs and %d questions, want 240 and 1190", len(chunks), len(queries))
	}
	return chunks, queries, answers
}
