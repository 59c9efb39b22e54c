package ragtest_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/ragtest"
)

// metered counts what it embeds.
type metered struct {
	ragtest.Embedder
	cost float64 // of each text
}

func (m metered) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	for range texts {
		ragtest.CountUsage(ctx, ragtest.Usage{Component: "meter", Model: "m", Calls: 1, Tokens: 3, Truncated: 1, Cost: m.cost})
	}
	ragtest.CountUsage(ctx, ragtest.Usage{Component: "a", Model: "n", Calls: 1})
	return m.Embedder.Embed(ctx, texts)
}

func TestUsageIsReported(t *testing.T) {
	e := fruit(t)
	e.Embedder = metered{e.Embedder, 0.1}
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	texts := r.Diagnostics.EmbeddedTexts + len(r.Queries)
	cost := 0.0
	for range texts {
		cost += 0.1
	}
	want := []ragtest.Usage{
		{Component: "a", Model: "n", Calls: 2},
		{Component: "meter", Model: "m", Calls: texts, Tokens: 3 * texts, Truncated: texts, Cost: cost},
	}
	if diff := cmp.Diff(want, r.Diagnostics.Usage); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
	if want := "usage: meter m: "; !strings.Contains(r.String(), want) {
		t.Errorf("the table lacks %q:\n%s", want, r)
	}
	ragtest.CountUsage(t.Context(), ragtest.Usage{Component: "meter", Calls: 1}) // outside an evaluation: nothing
}

// What several evaluations share is the usage of none of them.
func TestStepsReportNoUsage(t *testing.T) {
	e := fruit(t)
	e.Embedder, e.Metrics = metered{e.Embedder, 0.1}, []ragtest.TokenMetric{ragtest.SpanRecall}
	p, err := e.Prepare(t.Context(), nil, e.K)
	if err != nil {
		t.Fatal(err)
	}
	ranking, err := p.Rank(t.Context(), nil, e.K)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ranking.Judge(t.Context(), "", e.K)
	if err != nil {
		t.Fatal(err)
	}
	free := func(s ragtest.Score) bool {
		return s.Metric == "retrieved_characters" || s.Metric == "embedded_texts" || s.Metric == "index_bytes"
	}
	if len(r.Diagnostics.Usage) > 0 || len(r.Budgets) != 3 || !free(r.Budgets[0]) || !free(r.Budgets[1]) || !free(r.Budgets[2]) {
		t.Errorf("got the usage %v and the budgets %v, want no usage", r.Diagnostics.Usage, r.Budgets)
	}
	if len(p.Usage()) == 0 {
		t.Error("the steps have no usage")
	}
}

// lingering counts on after Embed has returned.
type lingering struct {
	ragtest.Embedder
	group *sync.WaitGroup
}

func (l lingering) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	l.group.Go(func() {
		for range 1000 {
			ragtest.CountUsage(ctx, ragtest.Usage{Component: "meter", Calls: 1})
		}
	})
	return l.Embedder.Embed(ctx, texts)
}

// The race detector is what this test is for.
func TestUsageMayBeCountedAtAnyTime(t *testing.T) {
	var group sync.WaitGroup
	defer group.Wait()
	e := fruit(t)
	e.Embedder = lingering{e.Embedder, &group}
	if _, err := e.Evaluate(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// forgetful is a store that finds only every other chunk that it should.
type forgetful struct {
	*ragtest.MemoryStore[chunk]
}

func (f forgetful) Search(ctx context.Context, query []float32, k int) (ranking, error) {
	found, err := f.MemoryStore.Search(ctx, query, k)
	var kept ranking
	for i := 0; i < len(found); i += 2 {
		kept = append(kept, found[i])
	}
	return kept, err
}

func (f forgetful) SearchBatch(ctx context.Context, queries [][]float32, k int) ([]ranking, error) {
	lists := make([]ranking, len(queries))
	for i, q := range queries {
		var err error
		if lists[i], err = f.Search(ctx, q, k); err != nil {
			return nil, err
		}
	}
	return lists, nil
}

func TestStoreIsComparedWithExactSearch(t *testing.T) {
	e := fruit(t)
	e.K = 4
	exact, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if exact.Diagnostics.IndexRecall != nil {
		t.Errorf("an exact store has the index recall %v, want none", *exact.Diagnostics.IndexRecall)
	}
	e.Store = forgetful{ragtest.NewMemoryStore[chunk]()}
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Diagnostics.IndexRecall; got == nil || *got != 0.5 {
		t.Errorf("got the index recall %v, want 0.5", got)
	}
	if want := "the store found 0.5000 of what exact search finds"; !strings.Contains(r.String(), want) {
		t.Errorf("the table lacks %q:\n%s", want, r)
	}
}
