package lexical

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// chromaData is Chroma's chunking_evaluation data: five corpora and questions
// with the spans that answer them.
type chromaData struct {
	docs     []*spans.Document
	queries  []string
	relevant []spans.Set
}

func readChroma(tb testing.TB) chromaData {
	tb.Helper()
	dir := realdata.Dir(tb, "data", "chroma")
	var data chromaData
	paths, err := filepath.Glob(filepath.Join(dir, "corpora", "*.md"))
	if err != nil {
		tb.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		doc, err := spans.NewDocument(spans.DocumentID(strings.TrimSuffix(filepath.Base(path), ".md")), string(text), nil)
		if err != nil {
			tb.Fatal(err)
		}
		data.docs = append(data.docs, doc)
	}
	f, err := os.Open(filepath.Join(dir, "questions_df.csv"))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		tb.Fatal(err)
	}
	for _, row := range rows[1:] {
		var refs []struct {
			Start int `json:"start_index"`
			End   int `json:"end_index"`
		}
		if err := json.Unmarshal([]byte(row[1]), &refs); err != nil {
			tb.Fatal(err)
		}
		var relevant []spans.Span
		for _, r := range refs {
			relevant = append(relevant, spans.Span{Doc: spans.DocumentID(row[2]), Start: r.Start, End: r.End})
		}
		data.queries = append(data.queries, row[0])
		data.relevant = append(data.relevant, spans.Union(relevant...))
	}
	if len(data.docs) != 5 || len(data.queries) != 472 {
		tb.Fatalf("got %d corpora and %d questions, want 5 and 472", len(data.docs), len(data.queries))
	}
	return data
}

func (data chromaData) corpus(tb testing.TB) *spans.Corpus {
	tb.Helper()
	corpus, err := spans.NewCorpus(data.docs...)
	if err != nil {
		tb.Fatal(err)
	}
	return corpus
}

// chunk cuts all corpora into recursive chunks of at most size characters.
func (data chromaData) chunk(tb testing.TB, size int) []chunkers.PositionAwareChunk {
	tb.Helper()
	var chunks []chunkers.PositionAwareChunk
	for _, doc := range data.docs {
		start := 0
		for _, text := range splitRecursively(doc.Text(), size, []string{"\n\n", "\n", ". ", " ", ""}) {
			end := start + len(text)
			if strings.TrimSpace(text) != "" {
				span, err := doc.CharSpan(start, end)
				if err != nil {
					tb.Fatal(err)
				}
				chunks = append(chunks, chunkers.PositionAwareChunk{ID: chunkers.NewPositionAwareChunkID(text), Span: span, Text: text})
			}
			start = end
		}
	}
	return chunks
}

// splitRecursively cuts text at the first separator, cuts pieces that are
// longer than size at the next ones, and merges neighbours up to size. The
// pieces concatenate to the text; separators begin pieces.
func splitRecursively(text string, size int, separators []string) []string {
	if utf8.RuneCountInString(text) <= size {
		return []string{text}
	}
	sep := separators[0]
	var parts []string
	for rest := text; rest != ""; {
		i := 1
		if sep == "" {
			_, i = utf8.DecodeRuneInString(rest)
		} else if i = strings.Index(rest[1:], sep) + 1; i == 0 {
			i = len(rest)
		}
		parts = append(parts, rest[:i])
		rest = rest[i:]
	}
	var pieces []string
	pending, length := "", 0
	flush := func() {
		if pending != "" {
			pieces = append(pieces, pending)
		}
		pending, length = "", 0
	}
	for _, part := range parts {
		n := utf8.RuneCountInString(part)
		if n > size {
			flush()
			pieces = append(pieces, splitRecursively(part, size, separators[1:])...)
			continue
		}
		if length+n > size {
			flush()
		}
		pending, length = pending+part, length+n
	}
	flush()
	return pieces
}

// spanRecall is the mean over the queries of the share of the relevant
// characters that the retrieved chunks cover.
func (data chromaData) spanRecall(retrieved [][]ragtest.ScoredChunk[chunkers.PositionAwareChunk]) float64 {
	var sum float64
	for q, relevant := range data.relevant {
		var found []spans.Span
		for _, c := range retrieved[q] {
			found = append(found, c.Chunk.Span)
		}
		sum += spans.Recall(spans.Union(found...), relevant)
	}
	return sum / float64(len(data.queries))
}

// TestChroma measures span recall at 5 over the five corpora in one index. The
// figures are those of the package documentation.
func TestChroma(t *testing.T) {
	const k = 5
	data := readChroma(t)
	type retriever = ragtest.Retriever[chunkers.PositionAwareChunk]
	for _, test := range []struct {
		name             string
		retriever        retriever
		want800, want400 float64
	}{
		{"bm25", NewBM25[chunkers.PositionAwareChunk](), 0.82, 0.72},
		{"embedder", &dense{embedder: Embedder{}}, 0.755, 0.635},
		{"embedder/dim=1024", &dense{embedder: Embedder{Dim: 1024}}, 0.72, 0.615},
		{"embedder/fitted", &dense{embedder: Embedder{}.Fit(data.corpus(t))}, 0.765, 0.64},
		{"rrf", Fuse[chunkers.PositionAwareChunk](NewBM25[chunkers.PositionAwareChunk](), &dense{embedder: Embedder{}}), 0.8, 0.69},
	} {
		for size, want := range map[int]float64{800: test.want800, 400: test.want400} {
			t.Run(fmt.Sprintf("%s/size=%d", test.name, size), func(t *testing.T) {
				chunks := data.chunk(t, size)
				if err := test.retriever.Index(t.Context(), chunks); err != nil {
					t.Fatal(err)
				}
				lists, err := test.retriever.Retrieve(t.Context(), data.queries, k)
				if err != nil {
					t.Fatal(err)
				}
				got := data.spanRecall(lists)
				t.Logf("span recall %.4f, %d chunks", got, len(chunks))
				if got < want {
					t.Errorf("got span recall %.4f, want at least %v", got, want)
				}
			})
		}
	}
}
