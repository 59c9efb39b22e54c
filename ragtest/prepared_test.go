package ragtest_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// backwards reranks by turning around what it is given.
type backwards struct{}

func (backwards) String() string { return "backwards" }

func (backwards) Rerank(_ context.Context, _ string, chunks []ragtest.ScoredChunk[chunkers.PositionAwareChunk]) ([]ragtest.ScoredChunk[chunkers.PositionAwareChunk], error) {
	turned := slices.Clone(chunks)
	slices.Reverse(turned)
	return turned, nil
}

func TestStepsGiveTheResultOfEvaluate(t *testing.T) {
	text := "apples are red\nplums are blue\nbananas are yellow\nlimes are green\n\napples are red\ncherries are red too\n"
	docs := corpus(t, "a", text, "b", "grapes are green\n"+text)
	one := func(doc spans.DocumentID, start, end int) []spans.Span {
		return []spans.Span{{Doc: doc, Start: start, End: end}}
	}
	e := ragtest.TokenLevel{Corpus: docs, Queries: []ragtest.TokenQuery{
		{Query: ragtest.Query{Text: "what is red"}, Relevant: append(one("a", 0, 14), one("b", 20, 31)...)},
		{Query: ragtest.Query{Text: "yellow fruit"}, Relevant: one("b", 40, 66)},
		{Query: ragtest.Query{Text: "nothing"}},
	}, Metrics: []ragtest.TokenMetric{ragtest.SpanRecall, ragtest.SpanNDCG, ragtest.SpanMAP, ragtest.SpanPrecision}}
	for name, chunker := range map[string]chunkers.PositionAwareChunker{"placed": placedLines{}, "adapted": chunkers.WithPositions(lines), "fixed": chunkers.FixedSize{Size: 9, Overlap: 4}} {
		e.Chunker = chunker
		e.Embedder, e.Retriever = letters{}, nil
		chunks, err := e.Chunk(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p, err := e.Prepare(t.Context(), chunks, 6)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			reranker ragtest.Reranker[chunkers.PositionAwareChunk]
			k, fetch int
		}{{nil, 3, 0}, {nil, 1, 0}, {nil, 6, 0}, {backwards{}, 2, 6}, {backwards{}, 4, 4}, {backwards{}, 1, 2}, {nil, 2, 0}} {
			single := e
			single.Name, single.K, single.FetchK, single.Reranker = "cell", c.k, c.fetch, c.reranker
			want, err := single.Evaluate(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			ranking, err := p.Rank(t.Context(), c.reranker, max(c.fetch, c.k))
			if err != nil {
				t.Fatal(err)
			}
			got, err := ranking.Judge(t.Context(), "cell", c.k)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(encode(t, got), encode(t, want)); diff != "" {
				t.Errorf("%s, k = %d, fetchK = %d: (-steps +evaluate)\n%s", name, c.k, c.fetch, diff)
			}
		}
	}
}

func encode(t *testing.T, r *ragtest.Result) string {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestStepsRefuse(t *testing.T) {
	docs, other := corpus(t, "a", "red apples\n"), corpus(t, "a", "green apples\n")
	e := ragtest.TokenLevel{Corpus: docs, Queries: []ragtest.TokenQuery{{Query: ragtest.Query{Text: "q"}}}, Chunker: placedLines{}, Embedder: letters{}}
	chunks, err := e.Chunk(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Prepare(t.Context(), chunks, 0); err == nil {
		t.Error("a depth of 0 is no error")
	}
	if _, err := (ragtest.TokenLevel{Corpus: other, Queries: e.Queries, Chunker: e.Chunker, Embedder: e.Embedder}).Prepare(t.Context(), chunks, 1); err == nil {
		t.Error("chunks of another corpus are no error")
	}
	p, err := e.Prepare(t.Context(), nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Rank(t.Context(), nil, 3); err == nil {
		t.Error("ranking more than was retrieved is no error")
	}
	ranking, err := p.Rank(t.Context(), nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ranking.Judge(t.Context(), "", 2); err == nil {
		t.Error("judging more than was ranked is no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Chunk(ctx); err == nil {
		t.Error("chunking goes on when the context is done")
	}
	if _, err := e.Prepare(ctx, chunks, 1); err == nil {
		t.Error("preparing goes on when the context is done")
	}
	if _, err := ranking.Judge(ctx, "", 1); err == nil {
		t.Error("judging goes on when the context is done")
	}
}
