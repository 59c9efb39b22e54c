package ragtest_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/spans"
)

// pointer is a component of every kind, whose methods need what it points to.
type pointer struct{ invalid error }

func (p *pointer) String() string  { return fmt.Sprint("pointer", p.invalid) }
func (p *pointer) Validate() error { return p.invalid }

func (p *pointer) Chunk(context.Context, string) ([]string, error) { return nil, p.invalid }

func (p *pointer) ChunkWithPositions(context.Context, *spans.Document) ([]chunkers.Piece, error) {
	return nil, p.invalid
}

func (p *pointer) Embed(context.Context, []string) ([][]float32, error) { return nil, p.invalid }

func (p *pointer) Report(context.Context, *ragtest.Result) error { return p.invalid }

type pointerOf[C any] struct{ *pointer }

func (p *pointerOf[C]) Add(context.Context, []C, [][]float32) error { return p.invalid }

func (p *pointerOf[C]) Search(context.Context, []float32, int) ([]ragtest.ScoredChunk[C], error) {
	return nil, p.invalid
}

func (p *pointerOf[C]) Index(context.Context, []C) error { return p.invalid }

func (p *pointerOf[C]) Retrieve(context.Context, []string, int) ([][]ragtest.ScoredChunk[C], error) {
	return nil, p.invalid
}

func (p *pointerOf[C]) Rerank(context.Context, string, []ragtest.ScoredChunk[C]) ([]ragtest.ScoredChunk[C], error) {
	return nil, p.invalid
}

// An interface that holds a nil pointer is not nil: it must not get as far as
// being called. And what can tell that it is not valid is asked before any work.
func TestComponentsAreCheckedFirst(t *testing.T) {
	type place = chunkers.PositionAwareChunk
	none, noneOf := (*pointer)(nil), (*pointerOf[place])(nil)
	invalid := &pointer{errors.New("field Weight: got -1")}
	invalidOf := &pointerOf[place]{invalid}
	for field, change := range map[string]func(e *ragtest.TokenLevel, bad *pointer, badOf *pointerOf[place]){
		"Chunker":  func(e *ragtest.TokenLevel, bad *pointer, _ *pointerOf[place]) { e.Chunker = bad },
		"Embedder": func(e *ragtest.TokenLevel, bad *pointer, _ *pointerOf[place]) { e.Embedder = bad },
		"Store":    func(e *ragtest.TokenLevel, _ *pointer, bad *pointerOf[place]) { e.Store = bad },
		"Retriever": func(e *ragtest.TokenLevel, _ *pointer, bad *pointerOf[place]) {
			e.Embedder, e.Retriever = nil, bad
		},
		"Reranker": func(e *ragtest.TokenLevel, _ *pointer, bad *pointerOf[place]) { e.Reranker = bad },
	} {
		t.Run(field, func(t *testing.T) {
			e := fruit(t)
			e.Embedder = failing{t}
			change(&e, none, noneOf)
			_, err := e.Evaluate(t.Context())
			expectError(t, err, "field "+field+": holds a nil *ragtest_test.pointer")
			e = fruit(t)
			e.Embedder = failing{t}
			change(&e, invalid, invalidOf)
			_, err = e.Evaluate(t.Context())
			expectError(t, err, "field "+field+": field Weight: got -1")
		})
	}
	t.Run("function", func(t *testing.T) {
		e := fruit(t)
		e.Embedder, e.Chunker, e.Retriever = nil, nil, ragtest.RetrieverFunc[place](nil)
		_, err := e.Evaluate(t.Context())
		expectError(t, err, "field Retriever: holds a nil ragtest.RetrieverFunc")
	})
	t.Run("chunk level", func(t *testing.T) {
		e := fruitChunks(t)
		e.Chunker = chunkers.Func(nil)
		_, err := e.Evaluate(t.Context())
		expectError(t, err, "field Chunker: holds a nil chunkers.Func")
	})
	t.Run("within Dense", func(t *testing.T) {
		e := fruit(t)
		e.Embedder, e.Retriever = nil, ragtest.Dense[place](invalid, nil)
		_, err := e.Evaluate(t.Context())
		expectError(t, err, "field Retriever: field Weight: got -1")
	})
	for name, dense := range map[string]func(){
		"no embedder":          func() { ragtest.Dense[place](nil, nil) },
		"nil pointer embedder": func() { ragtest.Dense[place](none, nil) },
		"nil pointer store":    func() { ragtest.Dense[place](letters{}, noneOf) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("Dense did not panic")
				}
			}()
			dense()
		})
	}
}

func TestTextThatIsNotUTF8(t *testing.T) {
	e := fruit(t)
	e.Queries[1].Text = "pf\xffel"
	_, err := e.Evaluate(t.Context())
	expectError(t, err, "query 1", "not valid UTF-8 at byte 2")

	e = fruit(t)
	e.Chunker = rewriter{func(text string) string { return text + "\xc3" }}
	_, err = e.Evaluate(t.Context())
	expectError(t, err, "chunking a.md: piece 0", "not valid UTF-8 at byte 6")

	c := fruitChunks(t)
	c.Chunker = chunkers.Func(func(_ context.Context, text string) ([]string, error) { return []string{"ok", text[1:]}, nil })
	_, err = c.Evaluate(t.Context())
	expectError(t, err, "chunking a.md: chunk 1", "not valid UTF-8 at byte 0")

	// What a service returned is shown as JSON would.
	found(spans.Span{Doc: "a.md", Start: 0, End: 2})(&e)
	e.Retriever = ragtest.RetrieverFunc[chunkers.PositionAwareChunk](func(context.Context, string, int) ([]scored, error) {
		return []scored{{Chunk: chunkers.PositionAwareChunk{Span: spans.Span{Doc: "a.md", Start: 0, End: 2}, Text: "\xe4p"}}}, nil
	})
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Queries[0].Hits[0].Text; got != "\uFFFDp" {
		t.Errorf("got hit %q, want a replacement character and p", got)
	}
}

// rewriter indexes the changed texts of lines.
type rewriter struct{ change func(string) string }

func (rewriter) RewritesText() bool { return true }

func (r rewriter) ChunkWithPositions(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
	pieces, err := placedLines{}.ChunkWithPositions(ctx, doc)
	for i := range pieces {
		pieces[i].Text = r.change(pieces[i].Text)
	}
	return pieces, err
}

// As many as there are: K may be any number.
func TestLargestK(t *testing.T) {
	for name, change := range map[string]func(e *ragtest.TokenLevel){
		"store": func(e *ragtest.TokenLevel) {},
		"reranker": reranked(func(chunks []scored) ([]scored, error) {
			slices.Reverse(chunks)
			return chunks, nil
		}),
		"bm25": func(e *ragtest.TokenLevel) {
			e.Embedder, e.Retriever = nil, lexical.NewBM25[chunkers.PositionAwareChunk]()
		},
	} {
		for _, k := range []int{math.MaxInt, math.MaxInt/4 + 1, math.MaxInt / 4} {
			e := fruit(t)
			change(&e)
			e.K = k
			e.Metrics = []ragtest.TokenMetric{ragtest.SpanRecall, ragtest.SpanNDCG, ragtest.SpanMAP, ragtest.SpanMRR.At(k - 1)}
			r, err := e.Evaluate(t.Context())
			if err != nil {
				t.Errorf("%s, K = %d: %v", name, k, err)
				continue
			}
			if got, _ := r.Score("span_recall"); len(r.Queries[0].Hits) != 5 || got < 0.9 {
				t.Errorf("%s, K = %d: got %d hits and recall %v, want all 5 chunks", name, k, len(r.Queries[0].Hits), got)
			}
		}
	}
}

// What the user handed over is neither modified nor part of the result.
func TestArgumentsAreNotModified(t *testing.T) {
	given := func() ragtest.TokenLevel {
		e := fruit(t)
		e.Queries[0].Metadata = map[string]string{"kind": "easy"}
		e.Queries[1].Relevant = append(e.Queries[1].Relevant, spans.Span{Doc: "b.md", Start: 3, End: 9}, spans.Span{Doc: "a.md", Start: 2, End: 4})
		e.Metrics = append(make([]ragtest.TokenMetric, 0, 9), ragtest.SpanMRR)
		return e
	}
	e := given()
	var result *ragtest.Result
	record(t, &recorder{}, func(tb testing.TB) {
		result = ragtest.RunTokenLevel(tb, e, ragtest.SpanRecall.AtLeast(0), ragtest.SpanNDCG.AtLeast(0))
	})
	result.Queries[0].Metadata["kind"] = "hard"
	want := given()
	if diff := cmp.Diff(e.Queries, want.Queries); diff != "" {
		t.Errorf("queries (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(e.Metrics[:3], []ragtest.TokenMetric{ragtest.SpanMRR, {}, {}}); diff != "" {
		t.Errorf("metrics and what lies behind them (-got +want):\n%s", diff)
	}
}

func TestChunkIDsThatCollide(t *testing.T) {
	// The SHA-256 of both texts begin with the same 48 bits.
	const a, b = "chunk 473387", "chunk 28255661"
	if chunkers.NewChunkID(a) != chunkers.NewChunkID(b) {
		t.Fatal("the texts have different IDs")
	}
	c := fruitChunks(t)
	c.Corpus = corpus(t, "a.md", "bananas\n"+a+"\ndates\n"+b+"\ncherries\n")
	_, err := c.Evaluate(t.Context())
	expectError(t, err, "two different texts", chunkers.NewChunkID(a).String(), `"chunk 473387" of a.md`, `"chunk 28255661", chunk 3 of a.md`)

	// At token level a chunk is its span.
	e := fruit(t)
	e.Corpus = c.Corpus
	e.Queries = []ragtest.TokenQuery{tokenQuery(b, spans.Span{Doc: "a.md", Start: 27, End: 41})}
	e.K = 2
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Queries[0].Hits; r.Chunks != 5 || got[0].Text != a || got[1].Text != b {
		t.Errorf("got %d chunks and hits %+v, want 5 and both texts", r.Chunks, got)
	}
}

// The same numbers, whatever the order in which evaluations of one corpus run.
func TestParallelEvaluations(t *testing.T) {
	store := ragtest.NewMemoryStore[chunkers.PositionAwareChunk]()
	e := fruit(t)
	filled := e
	filled.Store = store
	first, err := filled.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// A store that is filled already, searched by one retriever.
	e.Embedder, e.Chunker, e.Retriever = nil, nil, ragtest.Dense(letters{}, store)
	// Where a chunker was, more is known of what was lost.
	found := func(r *ragtest.Result) string {
		var b strings.Builder
		for _, q := range r.Queries {
			fmt.Fprintln(&b, q.ID, q.Scores, q.Hits, q.Relevant)
		}
		return b.String()
	}
	want := found(first)
	for i := range 8 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			r := ragtest.RunTokenLevel(t, e)
			if got := found(r); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
