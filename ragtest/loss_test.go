package ragtest_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

func losses(unlocatable, budget, retriever, index, reranker float64) []ragtest.Loss {
	return []ragtest.Loss{
		{Stage: ragtest.LossUnlocatable, Amount: unlocatable},
		{Stage: ragtest.LossBudget, Amount: budget},
		{Stage: ragtest.LossRetriever, Amount: retriever},
		{Stage: ragtest.LossIndex, Amount: index},
		{Stage: ragtest.LossReranker, Amount: reranker},
	}
}

func precisionLosses(granularity, wrong float64) []ragtest.Loss {
	return []ragtest.Loss{{Stage: ragtest.LossGranularity, Amount: granularity}, {Stage: ragtest.LossWrongChunks, Amount: wrong}}
}

// byPlace embeds a text by its first letter, so that a test decides what is near.
// The query names the angle of each letter.
type byPlace map[byte]float64

func (p byPlace) Embed(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		angle := p[text[0]]
		vectors[i] = []float32{float32(math.Cos(angle)), float32(math.Sin(angle))}
	}
	return vectors, nil
}

// skipping is a store that finds all but some chunks.
type skipping struct {
	*ragtest.MemoryStore[chunk]
	skip string
}

func (s skipping) SearchBatch(ctx context.Context, queries [][]float32, k int) ([]ranking, error) {
	lists, err := s.MemoryStore.SearchBatch(ctx, queries, k+len(s.skip))
	for i := range lists {
		lists[i] = slices.DeleteFunc(lists[i], func(h scored) bool { return strings.Contains(s.skip, h.Chunk.Text[:1]) })
		lists[i] = lists[i][:min(k, len(lists[i]))]
	}
	return lists, err
}

// Each stage is broken on purpose by a known amount of the 20 relevant
// characters.
func TestLossesAreAttributed(t *testing.T) {
	// Lines of four letters are chunks; the query's letter is q, at angle 0.
	doc := "aaaa\nbbbb\ncccc\ndddd\neeee\nffff\ngggg\nhhhh\n"
	near := byPlace{'q': 0, 'a': 0.1, 'b': 0.2, 'c': 0.3, 'd': 0.4, 'e': 0.5, 'f': 0.6, 'g': 0.7, 'h': 0.8}
	line := func(i int) spans.Span { return spans.Span{Doc: "a.md", Start: 5 * i, End: 5*i + 4} }
	evaluation := func() ragtest.TokenLevel {
		return ragtest.TokenLevel{
			Corpus:   corpus(t, "a.md", doc),
			Queries:  []ragtest.TokenQuery{tokenQuery("q", line(0), line(1), line(2), line(3), line(4))},
			Chunker:  placedLines{},
			Embedder: near,
			K:        5,
		}
	}
	for _, test := range []struct {
		name   string
		change func(e *ragtest.TokenLevel)
		want   []ragtest.Loss
		missed string // the stage and rank of each missed passage
	}{
		{"sound", func(*ragtest.TokenLevel) {}, losses(0, 0, 0, 0, 0), ""},
		{"unlocatable", func(e *ragtest.TokenLevel) {
			e.Chunker = chunkFunc(func(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
				pieces, err := placedLines{}.ChunkWithPositions(ctx, doc)
				return slices.Delete(pieces, 1, 2), err
			})
		}, losses(0.2, 0, 0, 0, 0), "unlocatable 0"},
		{"budget", func(e *ragtest.TokenLevel) { e.K = 3 }, losses(0, 0.4, 0, 0, 0), "budget 4, budget 5"},
		{"retriever", func(e *ragtest.TokenLevel) {
			e.Embedder = byPlace{'q': 0, 'a': 0.1, 'b': 0.2, 'c': 0.65, 'd': 0.4, 'e': 0.75, 'f': 0.5, 'g': 0.6, 'h': 0.7}
		}, losses(0, 0, 0.4, 0, 0), "retriever 6, retriever 8"},
		{"index", func(e *ragtest.TokenLevel) { e.Store = skipping{ragtest.NewMemoryStore[chunk](), "b"} }, losses(0, 0, 0, 0.2, 0), "index 2"},
		{"a lucky index", func(e *ragtest.TokenLevel) {
			e.Embedder = byPlace{'q': 0, 'a': 0.1, 'b': 0.2, 'c': 0.3, 'd': 0.4, 'e': 0.6, 'f': 0.5, 'g': 0.7, 'h': 0.8}
			e.Store = skipping{ragtest.NewMemoryStore[chunk](), "f"}
		}, losses(0, 0, 0.2, -0.2, 0), ""},
		{"reranker", func(e *ragtest.TokenLevel) {
			e.FetchK = 8
			e.Reranker = rerankFunc[chunk](reversed[chunk])
		}, losses(0, 0, 0, 0, 0.6), "reranker 8, reranker 7, reranker 6"},
		{"a reranker that drops", func(e *ragtest.TokenLevel) {
			e.FetchK = 8
			e.Reranker = rerankFunc[chunk](func(_ context.Context, _ string, r []scored) ([]scored, error) { return r[:4], nil })
		}, losses(0, 0, 0, 0, 0.2), "reranker 5"},
		{"all at once", func(e *ragtest.TokenLevel) {
			e.Chunker = chunkFunc(func(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
				pieces, err := placedLines{}.ChunkWithPositions(ctx, doc)
				return slices.Delete(pieces, 0, 1), err // no a
			})
			// Of b, c, d and e, three could be had; exact search finds f, b, c, d, the
			// store f, c, d, e, and the reranker keeps f, e, d.
			e.Embedder = byPlace{'q': 0, 'f': 0.1, 'b': 0.2, 'c': 0.3, 'd': 0.4, 'e': 0.5, 'g': 0.7, 'h': 0.8}
			e.Store = skipping{ragtest.NewMemoryStore[chunk](), "b"}
			e.K, e.FetchK = 3, 4
			e.Reranker = rerankFunc[chunk](func(_ context.Context, _ string, r []scored) ([]scored, error) {
				return []scored{r[0], r[3], r[2]}, nil
			})
		}, losses(0.2, 0.2, 0, 0, 0.2), "unlocatable 0, budget 2, reranker 3"},
		{"a retriever of one's own", func(e *ragtest.TokenLevel) {
			e.Embedder = nil
			e.Retriever = ragtest.RetrieverFunc[chunk](func(context.Context, string, int) ([]scored, error) {
				return []scored{{Chunk: chunk{Span: line(0)}}, {Chunk: chunk{Span: line(5)}}}, nil
			})
			e.K = 4
		}, []ragtest.Loss{{Stage: ragtest.LossUnlocatable}, {Stage: ragtest.LossBudget, Amount: 0.2}, {Stage: ragtest.LossRetriever, Amount: 0.6}, {Stage: ragtest.LossReranker}},
			"retriever 0, retriever 0, retriever 0, retriever 0"},
		{"a search in production", func(e *ragtest.TokenLevel) {
			e.Embedder, e.Chunker = nil, nil
			e.Retriever = ragtest.RetrieverFunc[chunk](func(context.Context, string, int) ([]scored, error) {
				return []scored{{Chunk: chunk{Span: line(0)}}, {Chunk: chunk{Span: line(1)}}, {Chunk: chunk{Span: line(2)}}}, nil
			})
			e.K, e.FetchK = 2, 3
			e.Reranker = rerankFunc[chunk](func(_ context.Context, _ string, r []scored) ([]scored, error) { return r[:1], nil })
		}, []ragtest.Loss{{Stage: ragtest.LossRetriever, Amount: 0.6}, {Stage: ragtest.LossReranker, Amount: 0.2}},
			"reranker 0, reranker 0, retriever 0, retriever 0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := evaluation()
			test.change(&e)
			r, err := e.Evaluate(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			about := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })
			if diff := cmp.Diff(test.want, r.RecallLosses, about); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
			var missed []string
			for _, p := range r.Queries[0].Missed {
				missed = append(missed, fmt.Sprint(p.Lost, " ", p.Rank))
			}
			merged := !slices.ContainsFunc(test.want, func(l ragtest.Loss) bool { return l.Stage == ragtest.LossIndex })
			if table := r.String(); strings.Contains(table, "retriever with index") != merged && len(missed) > 0 {
				t.Errorf("got %s, want it to say whether the index is part of the retriever: %v", table, merged)
			}
			if got := strings.Join(missed, ", "); got != test.missed {
				t.Errorf("got the missed passages %q, want %q", got, test.missed)
			}
		})
	}
}

func TestPrecisionLosses(t *testing.T) {
	e := fruit(t)
	e.Queries = []ragtest.TokenQuery{tokenQuery("bananas", spans.Span{Doc: "a.md", Start: 8, End: 11})}
	e.K = 2 // both lines that say bananas
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(precisionLosses(4.0/14, 7.0/14), r.PrecisionLosses); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Amounts add up, and equal those of a search through all subsets.
func TestLossesAddUp(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 1))
	for range 150 {
		text := make([]byte, 60)
		for i := range text {
			text[i] = byte('a' + random.IntN(26))
		}
		draw := func(n, longest int) []spans.Span {
			list := make([]spans.Span, n)
			for i := range list {
				start := random.IntN(len(text) - longest)
				list[i] = spans.Span{Doc: "a.md", Start: start, End: start + 1 + random.IntN(longest)}
			}
			return list
		}
		pieces := draw(1+random.IntN(9), 15)
		relevant := draw(1+random.IntN(3), 12)
		k := 1 + random.IntN(4)
		fetchK := k + random.IntN(4)
		skip := string(text[random.IntN(len(text))])
		e := ragtest.TokenLevel{
			Corpus:  corpus(t, "a.md", string(text)),
			Queries: []ragtest.TokenQuery{tokenQuery(string(text[:20]), relevant...)},
			Chunker: chunkFunc(func(_ context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
				var cut []chunkers.Piece
				for _, p := range pieces {
					cut = append(cut, chunkers.Piece{Text: doc.Text()[p.Start:p.End], Start: p.Start, End: p.End})
				}
				return cut, nil
			}),
			Embedder: letters{},
			Store:    skipping{ragtest.NewMemoryStore[chunk](), skip},
			Reranker: rerankFunc[chunk](reversed[chunk]),
			K:        k, FetchK: fetchK,
			Metrics: []ragtest.TokenMetric{ragtest.SpanRecall, ragtest.SpanPrecision, ragtest.SpanMRR},
		}
		r, err := e.Evaluate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sum := func(list []ragtest.Loss) (sum float64) {
			for _, l := range list {
				sum += l.Amount
			}
			return sum
		}
		recall, _ := r.Score("span_recall")
		if got := sum(r.RecallLosses); math.Abs(got+recall-1) > 1e-9 {
			t.Errorf("recall %v and its losses %v do not add up to 1", recall, r.RecallLosses)
		}
		precision, _ := r.Score("span_precision")
		if got := sum(r.PrecisionLosses); len(r.Queries[0].Hits) > 0 && math.Abs(got+precision-1) > 1e-9 {
			t.Errorf("precision %v and its losses %v do not add up to 1", precision, r.PrecisionLosses)
		}
		set := spans.Union(relevant...)
		best, bestPrecision := 0, 0.0
		for subset := range 1 << len(pieces) {
			var chosen []spans.Span
			for i, p := range pieces {
				if subset>>i&1 == 1 {
					chosen = append(chosen, p)
				}
			}
			union := spans.Union(chosen...)
			if len(chosen) <= k {
				best = max(best, spans.OverlapLen(union, set))
			}
			if len(chosen) == len(r.Queries[0].Hits) {
				bestPrecision = max(bestPrecision, spans.Precision(union, set))
			}
		}
		want := []ragtest.Score{{Metric: "span_recall", Value: float64(best) / float64(set.Len())}}
		if got := slices.Concat(r.Ceilings, r.CeilingBounds); len(got) != 2 || got[1].Metric != "span_precision" || got[1].Value < bestPrecision ||
			len(r.Ceilings) == 2 && got[1].Value > bestPrecision {
			t.Errorf("got the ceilings %v and %v, want a precision of %v", r.Ceilings, r.CeilingBounds, bestPrecision)
		}
		r.Ceilings = r.Ceilings[:1]
		if diff := cmp.Diff(want, r.Ceilings); diff != "" {
			t.Errorf("ceilings (-want +got):\n%s", diff)
		}
	}
}
