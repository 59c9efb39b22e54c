package ragtest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// letters embeds a text as the counts of its letters a to z.
type letters struct{}

func (letters) String() string { return "letters" }

func (letters) Embed(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = make([]float32, 26)
		for _, r := range strings.ToLower(text) {
			if r >= 'a' && r <= 'z' {
				vectors[i][r-'a']++
			}
		}
	}
	return vectors, nil
}

type embedFunc func(ctx context.Context, texts []string) ([][]float32, error)

func (f embedFunc) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return f(ctx, texts)
}

// lines cuts a text into its lines, without the line ends.
var lines = chunkers.Func(func(_ context.Context, text string) ([]string, error) {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }), nil
})

// placedLines is lines with positions.
type placedLines struct{}

func (placedLines) String() string { return "lines" }

func (placedLines) ChunkWithPositions(_ context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
	var pieces []chunkers.Piece
	start := 0
	for line := range strings.Lines(doc.Text()) {
		text := strings.TrimSuffix(line, "\n")
		pieces = append(pieces, chunkers.Piece{Text: text, Start: start, End: start + len(text)})
		start += len(line)
	}
	return pieces, nil
}

type chunkFunc func(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error)

func (f chunkFunc) ChunkWithPositions(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
	return f(ctx, doc)
}

type rerankFunc[C any] func(ctx context.Context, query string, chunks []ragtest.ScoredChunk[C]) ([]ragtest.ScoredChunk[C], error)

func (f rerankFunc[C]) Rerank(ctx context.Context, query string, chunks []ragtest.ScoredChunk[C]) ([]ragtest.ScoredChunk[C], error) {
	return f(ctx, query, chunks)
}

func corpus(t testing.TB, idsAndTexts ...string) *spans.Corpus {
	t.Helper()
	var docs []*spans.Document
	for i := 0; i < len(idsAndTexts); i += 2 {
		doc, err := spans.NewDocument(spans.DocumentID(idsAndTexts[i]), idsAndTexts[i+1], nil)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	c, err := spans.NewCorpus(docs...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func tokenQuery(text string, relevant ...spans.Span) ragtest.TokenQuery {
	return ragtest.TokenQuery{Query: ragtest.Query{Text: text}, Relevant: relevant}
}

func chunkQuery(text string, relevant ...string) ragtest.ChunkQuery {
	q := ragtest.ChunkQuery{Query: ragtest.Query{Text: text}}
	for _, r := range relevant {
		q.Relevant = append(q.Relevant, chunkers.NewChunkID(r))
	}
	return q
}

// fruit is an evaluation whose scores are plain to see: lines are chunks, and
// the nearest to a line is itself.
func fruit(t testing.TB) ragtest.TokenLevel {
	return ragtest.TokenLevel{
		Name:    "fruit",
		Corpus:  corpus(t, "a.md", "äpfel\nbananas\n", "b.md", "cherries\nbananas\ndates\n"),
		Chunker: placedLines{},
		Queries: []ragtest.TokenQuery{
			tokenQuery("bananas", spans.Span{Doc: "a.md", Start: 6, End: 13}),
			tokenQuery("pfel", spans.Span{Doc: "a.md", Start: 0, End: 10}),
			tokenQuery("xyz"),
		},
		Embedder: letters{},
		K:        1,
	}
}

func fruitChunks(t testing.TB) ragtest.ChunkLevel {
	return ragtest.ChunkLevel{
		Name:     "fruit",
		Corpus:   fruit(t).Corpus,
		Chunker:  lines,
		Queries:  []ragtest.ChunkQuery{chunkQuery("bananas", "bananas", "dates"), chunkQuery("pfel", "cherries")},
		Embedder: letters{},
		K:        1,
	}
}

type asymmetric struct{ embed, embedQueries embedFunc }

func (a asymmetric) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return a.embed(ctx, texts)
}

func (a asymmetric) EmbedQueries(ctx context.Context, texts []string) ([][]float32, error) {
	return a.embedQueries(ctx, texts)
}

type scored = ragtest.ScoredChunk[chunkers.PositionAwareChunk]

func changeVector(n int, change func([]float32) []float32) func(e *ragtest.TokenLevel) {
	return func(e *ragtest.TokenLevel) {
		e.Embedder = embedFunc(func(ctx context.Context, texts []string) ([][]float32, error) {
			vectors, err := letters{}.Embed(ctx, texts)
			vectors[n] = change(vectors[n])
			return vectors, err
		})
	}
}

func found(hits ...spans.Span) func(e *ragtest.TokenLevel) {
	return func(e *ragtest.TokenLevel) {
		e.Embedder, e.Chunker, e.K = nil, nil, 3
		e.Retriever = ragtest.RetrieverFunc[chunkers.PositionAwareChunk](func(_ context.Context, query string, _ int) (list []scored, err error) {
			if query == "bananas" {
				for _, h := range hits {
					list = append(list, scored{Chunk: chunkers.PositionAwareChunk{Span: h}})
				}
			}
			return list, nil
		})
	}
}

func reranked(rerank func([]scored) ([]scored, error)) func(e *ragtest.TokenLevel) {
	return func(e *ragtest.TokenLevel) {
		e.Reranker = rerankFunc[chunkers.PositionAwareChunk](func(_ context.Context, _ string, chunks []scored) ([]scored, error) {
			return rerank(chunks)
		})
	}
}

func expectError(t testing.TB, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("got no error, want one that contains %q", want)
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("got error %q, want one that contains %q", err, w)
		}
	}
}
