package ragtest_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

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
		{"no metric", func(e *ragtest.TokenLevel) { e.Metrics = []ragtest.TokenMetric{} }, []string{"field Metrics", "empty"}},
		{"a metric that is called as a unit", func(e *ragtest.TokenLevel) {
			e.Metrics = []ragtest.TokenMetric{ragtest.NewTokenMetric("chunks", func(ragtest.TokenOutcome) float64 { return 1 })}
		}, []string{"field Metrics", "metric chunks", "unit of benchmarks"}},
		{"a metric that is called as a budget", func(e *ragtest.TokenLevel) {
			e.Metrics = []ragtest.TokenMetric{ragtest.NewTokenMetric("seconds_per_query", func(ragtest.TokenOutcome) float64 { return 1 }).At(1)}
		}, []string{"metric seconds_per_query", "unit of benchmarks"}},
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

// A reranker with no more candidates than are judged shows in metrics that depend
// on the order, or on fewer of them.
func TestRerankerThatCanOnlyReorder(t *testing.T) {
	custom := ragtest.NewTokenMetric("custom", func(ragtest.TokenOutcome) float64 { return 1 })
	sets := []ragtest.TokenMetric{ragtest.SpanRecall, ragtest.SpanPrecision, ragtest.SpanIoU, ragtest.SpanHitRate, ragtest.SpanPrecisionRedundant, ragtest.SpanIoURedundant, ragtest.SpanRecall.At(3)}
	for _, m := range []ragtest.TokenMetric{ragtest.SpanMRR, ragtest.SpanNDCG, ragtest.SpanMAP, ragtest.SpanNDCG.At(3), ragtest.SpanRecall.At(2), custom} {
		e := fruit(t)
		e.K, e.FetchK = 3, 3
		reranked(func(chunks []scored) ([]scored, error) { return chunks, nil })(&e)
		e.Metrics = append(sets[:len(sets):len(sets)], m)
		if _, err := e.Evaluate(t.Context()); err != nil {
			t.Errorf("%s: got error %v, want none", m.Name(), err)
		}
		e.Metrics = sets
		_, err := e.Evaluate(t.Context())
		expectError(t, err, "field Reranker", "FetchK = K = 3", "span_recall@3")
		e.FetchK = 4
		if _, err := e.Evaluate(t.Context()); err != nil {
			t.Errorf("FetchK = 4: got error %v, want none", err)
		}
	}

	c := fruitChunks(t)
	c.FetchK = 1
	c.Reranker = rerankFunc[chunkers.Chunk](func(_ context.Context, _ string, chunks []ragtest.ScoredChunk[chunkers.Chunk]) ([]ragtest.ScoredChunk[chunkers.Chunk], error) {
		return chunks, nil
	})
	_, err := c.Evaluate(t.Context())
	expectError(t, err, "field Reranker", "chunk_recall")
	c.Metrics = []ragtest.ChunkMetric{ragtest.ChunkMAP}
	if _, err := c.Evaluate(t.Context()); err != nil {
		t.Errorf("chunk_map: got error %v, want none", err)
	}
}
