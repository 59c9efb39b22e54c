package ragtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
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

func TestTokenLevel(t *testing.T) {
	e := fruit(t)
	e.Queries = e.Queries[:2]
	got, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.Elapsed <= 0 || got.Trace.Elapsed("embed") < 0 || len(got.Trace.Intervals) == 0 {
		t.Errorf("got Elapsed %v and trace %v, want both", got.Elapsed, got.Trace)
	}
	want := &ragtest.Result{
		Name: "fruit", Level: "token", K: 1, Chunks: 5,
		// The second query retrieves 5 of its 10 relevant characters.
		Metrics: []ragtest.Score{{Metric: "span_recall", Value: 0.75}, {Metric: "span_precision", Value: 1}, {Metric: "span_iou", Value: 0.75}},
		Queries: []ragtest.QueryResult{{
			ID: ragtest.NewQueryID("bananas"), Text: "bananas",
			Scores: []ragtest.Score{{Metric: "span_recall", Value: 1}, {Metric: "span_precision", Value: 1}, {Metric: "span_iou", Value: 1}},
			// Both lines say bananas: the tie goes to the first.
			Hits: []ragtest.Hit{{Rank: 1, ChunkID: chunkers.NewPositionAwareChunkID("bananas").String(), Doc: "a.md",
				Span: spans.Span{Doc: "a.md", Start: 6, End: 13}, Score: got.Queries[0].Hits[0].Score, Text: "bananas"}},
			Relevant: []ragtest.Passage{{Doc: "a.md", Span: spans.Span{Doc: "a.md", Start: 6, End: 13}, Text: "bananas"}},
		}, {
			ID: ragtest.NewQueryID("pfel"), Text: "pfel",
			Scores: []ragtest.Score{{Metric: "span_recall", Value: 0.5}, {Metric: "span_precision", Value: 1}, {Metric: "span_iou", Value: 0.5}},
			Hits: []ragtest.Hit{{Rank: 1, ChunkID: chunkers.NewPositionAwareChunkID("äpfel").String(), Doc: "a.md",
				Span: spans.Span{Doc: "a.md", Start: 0, End: 5}, Score: got.Queries[1].Hits[0].Score, Text: "äpfel"}},
			Relevant: []ragtest.Passage{{Doc: "a.md", Span: spans.Span{Doc: "a.md", Start: 0, End: 10}, Text: "äpfel\nbana"}},
			Missed:   []ragtest.Passage{{Doc: "a.md", Span: spans.Span{Doc: "a.md", Start: 5, End: 10}, Text: "\nbana"}},
		}},
		Diagnostics:       ragtest.Diagnostics{Documents: 2, EmbeddedTexts: 4, DuplicateChunks: 1},
		Components:        ragtest.Components{Chunker: "lines", Embedder: "letters", Store: got.Components.Store},
		CorpusFingerprint: e.Corpus.Fingerprint(),
	}
	if !got.Equal(*want) {
		a, _ := json.MarshalIndent(got, "", " ")
		b, _ := json.MarshalIndent(want, "", " ")
		t.Errorf("got, want (-, +):\n%s", cmp.Diff(string(a), string(b)))
	}
	for _, q := range got.Queries {
		if s := q.Hits[0].Score; math.Abs(s-1) > 1e-6 {
			t.Errorf("query %s: got cosine %v, want 1", q.Text, s)
		}
	}
}

func TestChunkLevel(t *testing.T) {
	got, err := fruitChunks(t).Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.Level != "chunk" || got.Chunks != 4 || got.Diagnostics.DuplicateChunks != 1 {
		t.Errorf("got level %q with %d chunks and %d duplicates, want chunk, 4, 1", got.Level, got.Chunks, got.Diagnostics.DuplicateChunks)
	}
	// The first query finds one of two relevant chunks, the second none.
	for metric, want := range map[string]float64{"chunk_recall": 0.25, "chunk_precision": 0.5, "chunk_f1": 1.0 / 3} {
		if value, ok := got.Score(metric); !ok || value != want {
			t.Errorf("%s: got %v, %v, want %v", metric, value, ok, want)
		}
	}
	want := []ragtest.Passage{{ChunkID: chunkers.NewChunkID("dates").String(), Doc: "b.md", Text: "dates"}}
	if diff := cmp.Diff(got.Queries[0].Missed, want); diff != "" {
		t.Errorf("missed (-got +want):\n%s", diff)
	}
	if hit := got.Queries[0].Hits[0]; hit.Text != "bananas" || hit.Doc != "a.md" || hit.Span != (spans.Span{}) {
		t.Errorf("got first hit %+v, want bananas of a.md without a span", hit)
	}
}

// failing is a component none of whose methods may be called.
type failing struct{ t testing.TB }

func (f failing) Embed(context.Context, []string) ([][]float32, error) {
	f.t.Error("Embed was called for an evaluation that cannot run")
	return nil, errors.New("not reached")
}

func TestEvaluationErrors(t *testing.T) {
	nan := math.NaN()
	for _, tc := range []struct {
		name   string
		change func(e *ragtest.TokenLevel)
		want   []string
	}{
		{"no corpus", func(e *ragtest.TokenLevel) { e.Corpus = nil }, []string{"Corpus"}},
		{"empty corpus", func(e *ragtest.TokenLevel) { e.Corpus = corpus(t) }, []string{"Corpus"}},
		{"no query", func(e *ragtest.TokenLevel) { e.Queries = nil }, []string{"Queries"}},
		{"no embedder", func(e *ragtest.TokenLevel) { e.Embedder = nil }, []string{"Embedder", "Retriever"}},
		{"embedder and retriever", func(e *ragtest.TokenLevel) {
			e.Retriever = ragtest.Dense(letters{}, ragtest.NewMemoryStore[chunkers.PositionAwareChunk]())
		}, []string{"Embedder", "Retriever"}},
		{"store and retriever", func(e *ragtest.TokenLevel) {
			e.Retriever = ragtest.Dense[chunkers.PositionAwareChunk](letters{}, nil)
			e.Embedder = nil
			e.Store = ragtest.NewMemoryStore[chunkers.PositionAwareChunk]()
		}, []string{"Store", "Retriever"}},
		{"no chunker", func(e *ragtest.TokenLevel) { e.Chunker = nil }, []string{"Chunker"}},
		{"negative K", func(e *ragtest.TokenLevel) { e.K = -1 }, []string{"K", "-1"}},
		{"FetchK below K", func(e *ragtest.TokenLevel) { e.K, e.FetchK = 3, 2 }, []string{"FetchK", "2", "3"}},
		{"negative FetchK", func(e *ragtest.TokenLevel) { e.FetchK = -2 }, []string{"FetchK", "-2"}},
		{"negative MaxUnlocated", func(e *ragtest.TokenLevel) { e.MaxUnlocated = -1 }, []string{"MaxUnlocated", "-1"}},
		{"query without text", func(e *ragtest.TokenLevel) { e.Queries = append(e.Queries, tokenQuery("")) }, []string{"query 3", "empty"}},
		{"two queries of one text", func(e *ragtest.TokenLevel) { e.Queries = append(e.Queries, tokenQuery("pfel")) }, []string{"queries 1", "and 3", "pfel", "query_"}},
		{"unknown document", func(e *ragtest.TokenLevel) {
			e.Queries[1].Relevant = []spans.Span{{Doc: "c.md", Start: 0, End: 1}}
		}, []string{"pfel", "c.md"}},
		{"span outside its document", func(e *ragtest.TokenLevel) {
			e.Queries[1].Relevant = []spans.Span{{Doc: "a.md", Start: 13, End: 15}}
		}, []string{"pfel", "a.md[13:15]", "14"}},
		{"span back to front", func(e *ragtest.TokenLevel) {
			e.Queries[1].Relevant = []spans.Span{{Doc: "a.md", Start: 3, End: 2}}
		}, []string{"pfel", "a.md[3:2]"}},
		{"At(0)", func(e *ragtest.TokenLevel) { e.Metrics = []ragtest.TokenMetric{ragtest.SpanRecall.At(0)} }, []string{"span_recall", "K = 1"}},
		{"At beyond K", func(e *ragtest.TokenLevel) { e.Metrics = []ragtest.TokenMetric{ragtest.SpanRecall.At(2)} }, []string{"span_recall", "2", "K = 1"}},
		{"two metrics of one name", func(e *ragtest.TokenLevel) {
			e.Metrics = []ragtest.TokenMetric{ragtest.SpanRecall, ragtest.SpanRecall}
		}, []string{"two metrics", "span_recall"}},
		{"a metric without a name", func(e *ragtest.TokenLevel) { e.Metrics = make([]ragtest.TokenMetric, 1) }, []string{"metric 0"}},
		{"a reranker that could change nothing", func(e *ragtest.TokenLevel) {
			e.FetchK = e.K
			e.Reranker = rerankFunc[chunkers.PositionAwareChunk](func(_ context.Context, _ string, chunks []scored) ([]scored, error) { return chunks, nil })
		}, []string{"Reranker", "FetchK", "span_recall"}},
		{"chunker that does not validate", func(e *ragtest.TokenLevel) { e.Chunker = chunkers.FixedSize{Size: 10, Overlap: 10} }, []string{"Chunker", "Overlap", "10"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := fruit(t)
			e.Embedder = failing{t}
			tc.change(&e)
			_, err := e.Evaluate(t.Context())
			expectError(t, err, tc.want...)
		})
	}
	t.Run("a score that is not a number", func(t *testing.T) {
		e := fruit(t)
		e.Metrics = []ragtest.TokenMetric{ragtest.NewTokenMetric("odd", func(ragtest.TokenOutcome) float64 { return nan })}
		_, err := e.Evaluate(t.Context())
		expectError(t, err, "odd", "NaN", string(ragtest.NewQueryID("bananas")))
	})
	t.Run("ground truth of another chunker", func(t *testing.T) {
		e := fruitChunks(t)
		e.Queries = append(e.Queries, chunkQuery("elderberries", "elderberries", "bananas"))
		_, err := e.Evaluate(t.Context())
		expectError(t, err, "names 4 chunks", "did not produce 1", chunkers.NewChunkID("elderberries").String(), "another chunker or corpus")
	})
	t.Run("a chunk ID that is zero", func(t *testing.T) {
		e := fruitChunks(t)
		e.Queries[0].Relevant = append(e.Queries[0].Relevant, chunkers.ChunkID{})
		_, err := e.Evaluate(t.Context())
		expectError(t, err, "relevant chunk 2", "no ID")
	})
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

func TestStageErrors(t *testing.T) {
	boom := errors.New("boom")
	for _, tc := range []struct {
		name   string
		change func(e *ragtest.TokenLevel)
		want   []string
	}{
		{"chunker", func(e *ragtest.TokenLevel) {
			e.Chunker = chunkFunc(func(_ context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
				if doc.ID() == "b.md" {
					return nil, boom
				}
				return nil, nil
			})
		}, []string{"chunking b.md: boom"}},
		{"chunker that finds nothing", func(e *ragtest.TokenLevel) {
			e.Chunker = chunkFunc(func(context.Context, *spans.Document) ([]chunkers.Piece, error) { return nil, nil })
		}, []string{"no chunk from 2 documents"}},
		{"piece outside the text", func(e *ragtest.TokenLevel) {
			e.Chunker = chunkFunc(func(_ context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
				return []chunkers.Piece{{Text: "x", Start: 0, End: 100}}, nil
			})
		}, []string{"chunking a.md", "piece 0", "[0:100]", "15"}},
		{"piece in characters", func(e *ragtest.TokenLevel) {
			e.Chunker = chunkFunc(func(_ context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
				return []chunkers.Piece{{Text: "bananas", Start: 6, End: 13}}, nil
			})
		}, []string{"chunking a.md", "piece 0", `"bananas"`, `"banana"`, "bytes", "RewritesText"}},
		{"embedder", func(e *ragtest.TokenLevel) {
			e.Embedder = embedFunc(func(context.Context, []string) ([][]float32, error) { return nil, boom })
		}, []string{"embedding chunk 0 of a.md", "boom"}},
		{"fewer vectors than texts", func(e *ragtest.TokenLevel) {
			e.Embedder = embedFunc(func(_ context.Context, texts []string) ([][]float32, error) {
				return make([][]float32, len(texts)-1), nil
			})
		}, []string{"embedding chunk 2 of b.md", "got 3 vectors for the 4 texts"}},
		{"vectors of differing dimension", changeVector(2, func(v []float32) []float32 { return v[:25] }), []string{"embedding chunk 0 of b.md", "dimension 25, want 26"}},
		{"vector with NaN", changeVector(1, func(v []float32) []float32 { v[3] = float32(math.NaN()); return v }), []string{"embedding chunk 1 of a.md", "component 3", "NaN"}},
		{"infinite vector", changeVector(3, func(v []float32) []float32 { v[0] = float32(math.Inf(1)); return v }), []string{"embedding chunk 2 of b.md", "component 0", "Inf"}},
		{"query embedder", func(e *ragtest.TokenLevel) {
			e.Embedder = embedFunc(func(_ context.Context, texts []string) ([][]float32, error) {
				if texts[0] == e.Queries[0].Text && len(texts) == 3 {
					return nil, boom
				}
				return letters{}.Embed(context.Background(), texts)
			})
		}, []string{"embedding query 0", "bananas", "boom"}},
		{"store that held chunks", func(e *ragtest.TokenLevel) {
			store := ragtest.NewMemoryStore[chunkers.PositionAwareChunk]()
			v, _ := letters{}.Embed(context.Background(), []string{"bananas"})
			old := chunkers.PositionAwareChunk{ID: chunkers.NewPositionAwareChunkID("bananas"), Span: spans.Span{Doc: "z.md", Start: 0, End: 7}, Text: "bananas"}
			if err := store.Add(context.Background(), []chunkers.PositionAwareChunk{old}, v); err != nil {
				t.Fatal(err)
			}
			e.Store = store
		}, []string{"bananas", "rank 1", "z.md[0:7]", "already held chunks", "fresh"}},
		{"retriever", func(e *ragtest.TokenLevel) {
			e.Embedder, e.Chunker = nil, nil
			e.Retriever = ragtest.RetrieverFunc[chunkers.PositionAwareChunk](func(_ context.Context, query string, _ int) ([]ragtest.ScoredChunk[chunkers.PositionAwareChunk], error) {
				if query == "xyz" {
					return nil, boom
				}
				return nil, nil
			})
		}, []string{"retrieving", `"xyz"`, "boom"}},
		{"retrieved span outside its document", found(spans.Span{Doc: "a.md", Start: 0, End: 99}), []string{"bananas", "rank 1", "a.md[0:99]"}},
		{"retrieved span of no document", found(spans.Span{Doc: "q.md", Start: 0, End: 9}), []string{"bananas", "rank 1", "q.md"}},
		{"a span retrieved twice", found(spans.Span{Doc: "a.md", Start: 0, End: 9}, spans.Span{Doc: "a.md", Start: 0, End: 9}), []string{"bananas", "rank 2", "twice"}},
		{"reranker", reranked(func(chunks []scored) ([]scored, error) { return nil, boom }), []string{"reranking", "query_", "boom"}},
		{"reranker that returns a chunk twice", reranked(func(chunks []scored) ([]scored, error) {
			return append(chunks, chunks[0]), nil
		}), []string{"reranking", "query_", "rank 5", "twice"}},
		{"reranker that makes up a chunk", reranked(func(chunks []scored) ([]scored, error) {
			chunks[1].Chunk.Span.Start++
			return chunks, nil
		}), []string{"reranking", "query_", "rank 2", "not given"}},
		{"reranker without a number", reranked(func(chunks []scored) ([]scored, error) {
			chunks[0].Score = math.NaN()
			return chunks, nil
		}), []string{"reranking", "rank 1", "NaN"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := fruit(t)
			tc.change(&e)
			_, err := e.Evaluate(t.Context())
			expectError(t, err, tc.want...)
		})
	}
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

func TestReranker(t *testing.T) {
	e := fruit(t)
	var candidates atomic.Int64
	e.Reranker = rerankFunc[chunkers.PositionAwareChunk](func(_ context.Context, query string, chunks []scored) ([]scored, error) {
		candidates.Store(int64(len(chunks)))
		for i := range chunks { // last first
			chunks[i].Score = float64(i)
		}
		for i, j := 0, len(chunks)-1; i < j; i, j = i+1, j-1 {
			chunks[i], chunks[j] = chunks[j], chunks[i]
		}
		return chunks, nil
	})
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := candidates.Load(); got != 4 {
		t.Errorf("got %d candidates, want 4*K = 4", got)
	}
	if recall, _ := r.Queries[0].Score("span_recall"); recall != 0 {
		t.Errorf("got recall %v with the best candidate last, want 0", recall)
	}
	if n := len(r.Queries[0].Hits); n != 1 {
		t.Errorf("got %d hits, want K = 1", n)
	}
}

// A search that is in production already needs neither chunker nor embedder,
// and may return spans of its own making.
func TestRetrieverWithoutChunker(t *testing.T) {
	e := fruit(t)
	found(spans.Span{Doc: "a.md", Start: 0, End: 13}, spans.Span{Doc: "a.md", Start: 6, End: 13})(&e)
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if recall, _ := r.Queries[0].Score("span_recall"); recall != 1 {
		t.Errorf("got recall %v, want 1", recall)
	}
	if precision, _ := r.Queries[0].Score("span_precision"); precision != 7.0/13 {
		t.Errorf("got precision %v, want 7/13: overlapping chunks count once", precision)
	}
	want := ragtest.Hit{Rank: 2, ChunkID: chunkers.NewPositionAwareChunkID("bananas").String(), Doc: "a.md", Span: spans.Span{Doc: "a.md", Start: 6, End: 13}, Text: "bananas"}
	if diff := cmp.Diff(r.Queries[0].Hits[1], want); diff != "" {
		t.Errorf("second hit (-got +want):\n%s", diff)
	}
	if r.Chunks != 0 {
		t.Errorf("got %d chunks, want 0: nothing was indexed", r.Chunks)
	}
}

func TestChunkLevelKeepsTheFirstRank(t *testing.T) {
	e := fruitChunks(t)
	e.Embedder, e.Chunker, e.K, e.FetchK = nil, nil, 2, 4
	e.Metrics = []ragtest.ChunkMetric{ragtest.ChunkRecall, ragtest.ChunkMRR}
	hit := func(text string) ragtest.ScoredChunk[chunkers.Chunk] {
		return ragtest.ScoredChunk[chunkers.Chunk]{Chunk: chunkers.Chunk{ID: chunkers.NewChunkID(text), Text: text}}
	}
	e.Retriever = ragtest.RetrieverFunc[chunkers.Chunk](func(context.Context, string, int) ([]ragtest.ScoredChunk[chunkers.Chunk], error) {
		return []ragtest.ScoredChunk[chunkers.Chunk]{hit("dates"), hit("dates"), hit("cherries"), hit("bananas")}, nil
	})
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := r.Score("chunk_recall"); got != (0.5+1)/2 {
		t.Errorf("got recall %v, want 0.75", got)
	}
	if got, _ := r.Score("chunk_mrr"); got != (1+0.5)/2 {
		t.Errorf("got mrr %v, want 0.75: the copy at rank 2 takes no rank", got)
	}
}

func TestUnlocatedChunks(t *testing.T) {
	e := fruit(t)
	lost := chunkFunc(func(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
		pieces, err := placedLines{}.ChunkWithPositions(ctx, doc)
		return append(pieces, chunkers.Piece{Text: "made up", Start: -1}, chunkers.Piece{}), err
	})
	e.Chunker = lost
	_, err := e.Evaluate(t.Context())
	expectError(t, err, "2 of 7 chunks could not be located", "chunk 2 of a.md", "made up", "MaxUnlocated = 0")
	e.MaxUnlocated = 2
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := r.Diagnostics; d.SkippedChunks != 2 || d.EmptyChunks != 2 || len(d.Warnings) != 2 || r.Chunks != 5 {
		t.Errorf("got %d chunks and diagnostics %+v, want 5 chunks, 2 skipped, 2 empty, 2 warnings", r.Chunks, d)
	}
}

func TestNothingRelevant(t *testing.T) {
	e := fruit(t)
	e.Metrics = []ragtest.TokenMetric{ragtest.SpanRecall, ragtest.SpanMRR}
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	q := r.Queries[2]
	if recall, _ := q.Score("span_recall"); recall != 1 {
		t.Errorf("got recall %v, want 1", recall)
	}
	if mrr, _ := q.Score("span_mrr"); mrr != 0 {
		t.Errorf("got mrr %v, want 0", mrr)
	}
	if r.Diagnostics.QueriesWithoutRelevant != 1 {
		t.Errorf("got %d queries without relevant text, want 1", r.Diagnostics.QueriesWithoutRelevant)
	}
}

// Each distinct text is embedded once, in batches that do not depend on how
// many processors there are.
func TestDistinctTextsAreEmbeddedOnce(t *testing.T) {
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, "line %d\n", i%6000)
	}
	e := fruit(t)
	e.Corpus = corpus(t, "long.md", text.String())
	e.Queries = []ragtest.TokenQuery{tokenQuery("line 7", spans.Span{Doc: "long.md", Start: 0, End: 6})}
	var calls, texts, queries, most atomic.Int64
	count := func(ctx context.Context, batch []string) ([][]float32, error) {
		calls.Add(1)
		texts.Add(int64(len(batch)))
		for m := most.Load(); int64(len(batch)) > m && !most.CompareAndSwap(m, int64(len(batch))); m = most.Load() {
		}
		return letters{}.Embed(ctx, batch)
	}
	e.Embedder = asymmetric{count, func(ctx context.Context, batch []string) ([][]float32, error) {
		queries.Add(int64(len(batch)))
		return letters{}.Embed(ctx, batch)
	}}
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if texts.Load() != 6000 || r.Diagnostics.EmbeddedTexts != 6000 {
		t.Errorf("embedded %d texts and reported %d, want 6000", texts.Load(), r.Diagnostics.EmbeddedTexts)
	}
	if queries.Load() != 1 {
		t.Errorf("embedded %d queries with EmbedQueries, want 1", queries.Load())
	}
	if calls.Load() > 30 || most.Load() > 256 {
		t.Errorf("got %d calls of at most %d texts, want batches of at most 256", calls.Load(), most.Load())
	}
	if r.Chunks != 10_000 || r.Diagnostics.DuplicateChunks != 4000 {
		t.Errorf("got %d chunks, %d duplicates, want 10000, 4000", r.Chunks, r.Diagnostics.DuplicateChunks)
	}
}

type asymmetric struct{ embed, embedQueries embedFunc }

func (a asymmetric) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return a.embed(ctx, texts)
}

func (a asymmetric) EmbedQueries(ctx context.Context, texts []string) ([][]float32, error) {
	return a.embedQueries(ctx, texts)
}

func TestSameResultAtEveryGOMAXPROCS(t *testing.T) {
	var docs []string
	for d := range 40 {
		var text strings.Builder
		for i := range 50 {
			fmt.Fprintf(&text, "%c%c%c %d\n", 'a'+(d*7+i)%26, 'a'+i%26, 'a'+(i*d)%26, i%5)
		}
		docs = append(docs, fmt.Sprintf("%02d.md", d), text.String())
	}
	e := fruit(t)
	e.Corpus, e.K, e.Chunker = corpus(t, docs...), 7, chunkers.WithPositions(lines)
	e.Queries = nil
	for i := range 60 {
		e.Queries = append(e.Queries, tokenQuery(fmt.Sprintf("%c%c %d", 'a'+i%26, 'a'+i*5%26, i), spans.Span{Doc: "07.md", Start: i, End: 2 * i}))
	}
	e.Metrics = []ragtest.TokenMetric{ragtest.SpanRecall, ragtest.SpanNDCG, ragtest.SpanMAP}
	var first []byte
	for _, procs := range []int{1, 2, 3, 8, 1} {
		before := runtime.GOMAXPROCS(procs)
		r, err := e.Evaluate(t.Context())
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got
		} else if string(got) != string(first) {
			t.Errorf("GOMAXPROCS=%d: the result differs:\n%s", procs, cmp.Diff(string(got), string(first)))
		}
	}
}

func TestTwoTextsOfOneSpan(t *testing.T) {
	e := fruit(t)
	e.Chunker = twice{}
	e.K = 10
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.Chunks != 10 || len(r.Queries[0].Hits) != 10 {
		t.Errorf("got %d chunks, %d hits, want 10 of each", r.Chunks, len(r.Queries[0].Hits))
	}
}

// twice indexes each line as it is and in upper case.
type twice struct{}

func (twice) RewritesText() bool { return true }

func (twice) ChunkWithPositions(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
	pieces, err := placedLines{}.ChunkWithPositions(ctx, doc)
	for _, p := range pieces {
		p.Text = strings.ToUpper(p.Text)
		pieces = append(pieces, p)
	}
	return pieces, err
}

func TestDenseAsRetriever(t *testing.T) {
	e := fruit(t)
	want, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e.Embedder, e.Retriever = nil, ragtest.Dense[chunkers.PositionAwareChunk](letters{}, nil)
	got, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("Dense differs from Embedder and Store (-got +want):\n%s", diff)
	}
	_, err = e.Evaluate(t.Context())
	expectError(t, err, "indexed before", "fresh")
}

// At chunk level a chunk that is retrieved twice keeps its first rank; a store
// that returns one twice was not fresh, which is said.
func TestStoreThatHeldTheSameChunks(t *testing.T) {
	e := fruitChunks(t)
	e.Store, e.K = ragtest.NewMemoryStore[chunkers.Chunk](), 3
	fresh, err := e.Evaluate(t.Context())
	if err != nil || len(fresh.Diagnostics.Warnings) > 0 {
		t.Fatalf("a fresh store: got error %v and warnings %q", err, fresh.Diagnostics.Warnings)
	}
	reused, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if w := reused.Diagnostics.Warnings; len(w) != 1 || !strings.Contains(w[0], "give each evaluation a fresh one") {
		t.Errorf("a store that was used before: got warnings %q, want one", w)
	}
}
