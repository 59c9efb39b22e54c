package ragtest_test

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// Under a token budget the first chunks that fit are judged, and ceilings and losses
// are bounds for what any choice that fits has.
func TestTokenBudgetAgainstBruteForce(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 1))
	vowels := chunkers.Length{Name: "vowels", Of: func(s string) int {
		return strings.Count(s, "a") + strings.Count(s, "e")
	}}
	const length = 50
	for trial := range 300 {
		text := make([]byte, length)
		for i := range text {
			text[i] = "aebcd"[random.IntN(5)]
		}
		draw := func(n, longest int) []spans.Span {
			var list []spans.Span
			for range n {
				start := random.IntN(length - longest)
				s := spans.Span{Doc: "a.md", Start: start, End: start + 1 + random.IntN(longest)}
				if !slices.Contains(list, s) {
					list = append(list, s)
				}
			}
			return list
		}
		pieces, relevant := draw(1+random.IntN(8), 12), draw(1+random.IntN(3), 12)
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
			Store:    skipping{ragtest.NewMemoryStore[chunk](), string(text[random.IntN(length)])},
			K:        1 + random.IntN(5),
			Tokens:   vowels,
		}
		e.FetchK = e.K + random.IntN(3)
		e.Reranker = rerankFunc[chunk](reversed[chunk])
		e.Metrics = []ragtest.TokenMetric{ragtest.SpanRecall, ragtest.SpanPrecision, ragtest.SpanIoU, ragtest.SpanMRR}
		free, err := e.Evaluate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		e.TokenBudget = 1 + random.IntN(12)
		if random.IntN(2) == 0 { // the store was filled
			e.Store = skipping{ragtest.NewMemoryStore[chunk](), "z"}
			e2 := e
			e2.TokenBudget, e2.Store = 0, skipping{ragtest.NewMemoryStore[chunk](), "z"}
			if free, err = e2.Evaluate(t.Context()); err != nil {
				t.Fatal(err)
			}
		} else {
			e.Store = skipping{ragtest.NewMemoryStore[chunk](), e.Store.(skipping).skip}
		}
		r, err := e.Evaluate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		q := r.Queries[0]
		used, fits := 0, 0
		for _, h := range free.Queries[0].Hits {
			if used += vowels.Of(h.Text); used > e.TokenBudget {
				break
			}
			fits++
		}
		if len(q.Hits) != fits {
			t.Fatalf("trial %d: got %d hits, want the first %d", trial, len(q.Hits), fits)
		}
		if !r.LossBounds || free.LossBounds || len(q.Ceilings) != 0 {
			t.Fatalf("trial %d: got bounds %v, %v and exact ceilings %v, want bounds under a budget alone", trial, r.LossBounds, free.LossBounds, q.Ceilings)
		}
		set := spans.Union(relevant...)
		best := map[string]float64{}
		for subset := range 1 << len(pieces) {
			var chosen []spans.Span
			tokens := 0
			for i, p := range pieces {
				if subset>>i&1 == 1 {
					chosen = append(chosen, p)
					tokens += vowels.Of(string(text[p.Start:p.End]))
				}
			}
			if len(chosen) > e.K || tokens > e.TokenBudget {
				continue
			}
			union := spans.Union(chosen...)
			best["span_recall"] = max(best["span_recall"], spans.Recall(union, set))
			best["span_precision"] = max(best["span_precision"], spans.Precision(union, set))
			best["span_iou"] = max(best["span_iou"], spans.IoU(union, set))
		}
		for _, c := range q.CeilingBounds {
			if c.Value < best[c.Metric]-1e-12 || c.Value > 1 {
				t.Errorf("trial %d: got the bound %v, want at least %v", trial, c, best[c.Metric])
			}
		}
		recall, _ := q.Score("span_recall")
		for _, l := range q.RecallLosses {
			recall += l.Amount
			if l.Amount < 0 && l.Stage != ragtest.LossIndex {
				t.Errorf("trial %d: got the loss %v", trial, l)
			}
		}
		if math.Abs(recall-1) > 1e-9 {
			t.Errorf("trial %d: recall and losses add up to %v", trial, recall)
		}
		var read ragtest.Result
		if data, err := json.Marshal(r); err != nil || json.Unmarshal(data, &read) != nil || !read.Equal(*r) || read.TokenBudget != e.TokenBudget {
			t.Errorf("trial %d: the JSON reads back as another: %v", trial, err)
		}
	}
}

func TestTokenBudgetIsSaid(t *testing.T) {
	e := fruit(t)
	e.K, e.TokenBudget, e.Tokens = 3, 2, words
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wantAll(t, r.String(), "K = 3 within 2 tokens (words), 5 chunks", "(bound)", "by bounds for what chunks could hold")
	if n := len(r.Queries[0].Hits); n != 2 {
		t.Errorf("got %d hits, want the 2 that fit", n)
	}
	for want, change := range map[string]func(*ragtest.TokenLevel){
		"field TokenBudget: got -1":             func(e *ragtest.TokenLevel) { e.TokenBudget = -1 },
		"field TokenBudget: set without Tokens": func(e *ragtest.TokenLevel) { e.Tokens = chunkers.Length{} },
	} {
		e := e
		change(&e)
		if _, err := e.Evaluate(t.Context()); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got error %v, want %q", err, want)
		}
	}
	// Nothing fits.
	e.TokenBudget, e.Tokens = 1, chunkers.Length{Name: "bytes", Of: func(s string) int { return len(s) }}
	if r, err = e.Evaluate(t.Context()); err != nil || len(r.Queries[0].Hits) != 0 {
		t.Errorf("got %v, error %v, want no hits", r, err)
	}
}
