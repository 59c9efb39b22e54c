package ragtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// fixedLists is a retriever that returns the same lists each time.
type fixedLists struct{ lists [][]scored }

func (fixedLists) Index(context.Context, []chunkers.PositionAwareChunk) error { return nil }

func (f fixedLists) Retrieve(context.Context, []string, int) ([][]scored, error) { return f.lists, nil }

func hit(doc spans.DocumentID, start, end int) scored {
	return scored{Chunk: chunkers.PositionAwareChunk{Span: spans.Span{Doc: doc, Start: start, End: end}}}
}

// listed is an evaluation of what a retriever returns for the queries of fruit.
func listed(t testing.TB, lists ...[]scored) ragtest.TokenLevel {
	e := fruit(t)
	e.Embedder, e.Chunker, e.Retriever, e.K = nil, nil, fixedLists{lists}, 2
	return e
}

func TestListsOfARetriever(t *testing.T) {
	a, b, c := hit("a.md", 0, 5), hit("a.md", 6, 13), hit("b.md", 0, 8)
	c.Score = 9
	e := listed(t, []scored{a, b, c}, nil, []scored{})
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got [][]spans.Span
	for _, q := range r.Queries {
		var list []spans.Span
		for _, h := range q.Hits {
			list = append(list, h.Span)
		}
		got = append(got, list)
	}
	// Best first is what the retriever says, not the score; K are judged.
	if diff := cmp.Diff(got, [][]spans.Span{{a.Chunk.Span, b.Chunk.Span}, nil, nil}); diff != "" {
		t.Errorf("hits (-got +want):\n%s", diff)
	}

	_, err = listed(t, nil, nil).Evaluate(t.Context())
	expectError(t, err, "retrieving: got 2 lists of chunks for 3 queries")
	_, err = listed(t).Evaluate(t.Context())
	expectError(t, err, "retrieving: got 0 lists of chunks for 3 queries")

	e = fruit(t)
	e.Store = shortBatch{ragtest.NewMemoryStore[chunkers.PositionAwareChunk]()}
	_, err = e.Evaluate(t.Context())
	expectError(t, err, "retrieving: got 1 lists of chunks for 3 queries")

	// A search without a store is told so.
	_, err = listed(t, []scored{a, a}, nil, nil).Evaluate(t.Context())
	expectError(t, err, "bananas", "rank 2: the chunk a.md[0:5] was returned twice; want each once")
	e = fruit(t)
	e.Embedder, e.Retriever = nil, fixedLists{[][]scored{nil, {hit("a.md", 1, 5)}, nil}}
	_, err = e.Evaluate(t.Context())
	expectError(t, err, `"pfel"`, "rank 1: this run did not add the chunk a.md[1:5]", "leave Chunker nil")
}

type shortBatch struct {
	*ragtest.MemoryStore[chunkers.PositionAwareChunk]
}

func (shortBatch) SearchBatch(context.Context, [][]float32, int) ([][]scored, error) {
	return make([][]scored, 1), nil
}

// A retriever may return what it keeps, as one with a cache does.
func TestListsAreTheRetrievers(t *testing.T) {
	setFlag(t, "test.benchtime", "3x")
	lists := [][]scored{{hit("a.md", 0, 5), hit("a.md", 6, 13), hit("b.md", 0, 8)}, {hit("a.md", 0, 5)}, nil}
	want := slices.Clone(lists)
	for i := range want {
		want[i] = slices.Clone(want[i])
	}
	testing.Benchmark(func(b *testing.B) {
		e := listed(b, lists...)
		e.K, e.FetchK = 1, 3
		e.Reranker = rerankFunc[chunkers.PositionAwareChunk](func(_ context.Context, _ string, chunks []scored) ([]scored, error) {
			slices.Reverse(chunks)
			return chunks[:1], nil
		})
		ragtest.RunTokenLevel(b, e)
	})
	if diff := cmp.Diff(lists, want); diff != "" {
		t.Errorf("the evaluation changed the retriever's lists (-got +want):\n%s", diff)
	}
}

// At chunk level the same holds, though repeated chunks are taken out.
func TestRepeatedChunksStayInTheRetrieversList(t *testing.T) {
	chunk := func(text string) ragtest.ScoredChunk[chunkers.Chunk] {
		return ragtest.ScoredChunk[chunkers.Chunk]{Chunk: chunkers.Chunk{ID: chunkers.NewChunkID(text), Text: text}}
	}
	list := []ragtest.ScoredChunk[chunkers.Chunk]{chunk("x"), chunk("x"), chunk("bananas"), chunk("y")}
	e := fruitChunks(t)
	e.Embedder, e.Chunker, e.K = nil, nil, 4
	e.Retriever = ragtest.RetrieverFunc[chunkers.Chunk](func(context.Context, string, int) ([]ragtest.ScoredChunk[chunkers.Chunk], error) { return list, nil })
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Queries[0].Hits) != 3 || r.Queries[1].Hits[1].Text != "bananas" {
		t.Errorf("got hits %+v, want x, bananas, y", r.Queries[0].Hits)
	}
	if list[1].Chunk.Text != "x" || list[2].Chunk.Text != "bananas" {
		t.Errorf("the retriever's list changed: %+v", list)
	}
}

// A store or a service may return no more than which chunk it is: rerankers and
// results still have its text.
func TestChunksAreCompleted(t *testing.T) {
	e := listed(t, []scored{hit("a.md", 6, 13)}, nil, nil)
	e.Reranker = rerankFunc[chunkers.PositionAwareChunk](func(_ context.Context, _ string, chunks []scored) ([]scored, error) {
		if chunks[0].Chunk.Text != "bananas" {
			t.Errorf("the reranker got %+v, want the text bananas", chunks[0])
		}
		return []scored{hit("a.md", 6, 13)}, nil
	})
	token, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := fruitChunks(t)
	c.Embedder = nil
	c.Retriever = ragtest.RetrieverFunc[chunkers.Chunk](func(context.Context, string, int) ([]ragtest.ScoredChunk[chunkers.Chunk], error) {
		return []ragtest.ScoredChunk[chunkers.Chunk]{{Chunk: chunkers.Chunk{ID: chunkers.NewChunkID("bananas")}}}, nil
	})
	chunk, err := c.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*ragtest.Result{token, chunk} {
		if h := r.Queries[0].Hits[0]; h.Text != "bananas" || h.Doc != "a.md" || !strings.HasSuffix(h.ChunkID, chunkers.NewChunkID("bananas").String()) {
			t.Errorf("%s level: got hit %+v, want bananas of a.md", r.Level, h)
		}
	}
}

// It must not, but many an embedder puts a prefix before its texts in place.
func TestEmbedderThatWritesToItsTexts(t *testing.T) {
	e := fruit(t)
	want, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e.Embedder = named{embedFunc(func(ctx context.Context, texts []string) ([][]float32, error) {
		for i := range texts {
			texts[i] = "123 " + texts[i]
		}
		return letters{}.Embed(ctx, texts)
	})}
	got, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

// named goes by the name of letters.
type named struct{ ragtest.Embedder }

func (named) String() string { return "letters" }

// A component that gives up by ending its goroutine, as t.FailNow does, must not
// leave holes in a result that looks complete.
func TestComponentThatEndsItsGoroutine(t *testing.T) {
	e := fruit(t)
	found()(&e)
	e.Retriever = ragtest.RetrieverFunc[chunkers.PositionAwareChunk](func(_ context.Context, query string, _ int) ([]scored, error) {
		if query == "pfel" {
			runtime.Goexit()
		}
		return nil, nil
	})
	_, err := e.Evaluate(t.Context())
	expectError(t, err, "retrieving", "ended its goroutine")
}

func TestErrorsNameTheQuery(t *testing.T) {
	boom := errors.New("boom")
	e := fruit(t)
	e.Store = searchFails{boom}
	_, err := e.Evaluate(t.Context())
	expectError(t, err, `retrieving: query 0 ("bananas"): boom`)

	e = fruit(t)
	e.Queries = e.Queries[:1]
	e.Embedder = asymmetric{letters{}.Embed, func(context.Context, []string) ([][]float32, error) { return nil, boom }}
	_, err = e.Evaluate(t.Context())
	if want := `embedding query 0 ("bananas"): boom`; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}

	e.Embedder = embedFunc(func(_ context.Context, texts []string) ([][]float32, error) {
		return make([][]float32, len(texts)), nil
	})
	_, err = e.Evaluate(t.Context())
	if want := "embedding chunk 0 of a.md: got an empty vector"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}

	// Queries are compared with what was indexed.
	e.Embedder = asymmetric{letters{}.Embed, func(context.Context, []string) ([][]float32, error) { return [][]float32{{1, 2}}, nil }}
	_, err = e.Evaluate(t.Context())
	expectError(t, err, `embedding query 0 ("bananas")`, "dimension 2, want 26")
}

// searchFails is a store that searches for one query at a time, in vain.
type searchFails struct{ err error }

func (searchFails) Add(context.Context, []chunkers.PositionAwareChunk, [][]float32) error { return nil }

func (s searchFails) Search(context.Context, []float32, int) ([]scored, error) { return nil, s.err }

// Results say nothing of the clock, nor of what differs from run to run.
func TestEqualRunsAreEqualByteForByte(t *testing.T) {
	var first []byte
	for range 3 {
		e := fruit(t)
		e.Reranker = rerankFunc[chunkers.PositionAwareChunk](func(_ context.Context, _ string, chunks []scored) ([]scored, error) { return chunks, nil })
		r, err := e.Evaluate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = data
		}
		if string(data) != string(first) {
			t.Errorf("got\n%s\nand\n%s", data, first)
		}
	}
}
