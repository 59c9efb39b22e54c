package ragtest_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/rageval/rageval/ragtest"
)

// paid is letters that counts usage, as a service would be.
type paid struct {
	letters
	cost float64
}

func (p paid) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	ragtest.CountUsage(ctx, ragtest.Usage{Component: "paid", Model: "m1", Calls: 1, Tokens: 10 * len(texts), Cost: p.cost})
	return p.letters.Embed(ctx, texts)
}

func TestBudgets(t *testing.T) {
	for _, tc := range []struct {
		name   string
		cost   float64
		budget ragtest.BudgetThreshold
		want   string
	}{
		{"held", 0, ragtest.RetrievedCharacters.AtMost(12), "  budget                value    threshold\n  retrieved_characters  5.66667  <= 12 ok"},
		{"characters", 0, ragtest.RetrievedCharacters.AtMost(5), "error: ragtest: retrieved_characters: got 5.66667, want <= 5\nreproduce: go test"},
		{"texts", 0, ragtest.EmbeddedTexts.AtMost(3), "error: ragtest: embedded_texts: got 4, want <= 3"},
		{"bytes", 0, ragtest.IndexBytes.AtMost(600), "error: ragtest: index_bytes: got 640, want <= 600"},
		{"calls", 0, ragtest.APICalls.AtMost(1), "error: ragtest: api_calls: got 2, want <= 1"},
		{"tokens", 0, ragtest.APITokens.AtMost(69), "error: ragtest: api_tokens: got 70, want <= 69"},
		{"cost", 0.25, ragtest.APICost.AtMost(0.4), "error: ragtest: api_cost_usd: got 0.5, want <= 0.4"},
		{"cost held", 0.25, ragtest.APICost.AtMost(0.5), "api_cost_usd  0.5    <= 0.5 ok"},
		{"cost without a price", 0, ragtest.APICost.AtMost(0.5), "warning: paid m1 has no price: what it costs is not part of api_cost_usd"},
		{"time is advisory", 0, ragtest.SecondsPerQuery.AtMost(0), "log: ragtest: seconds_per_query: got "},
		{"negative", 0, ragtest.EmbeddedTexts.AtMost(-1), "fatal: ragtest: field Budgets: threshold 0: embedded_texts <= -1: want a finite bound of 0 or more"},
		{"NaN", 0, ragtest.EmbeddedTexts.AtMost(math.NaN()), "fatal: ragtest: field Budgets: threshold 0: embedded_texts <= NaN: want"},
		{"none", 0, ragtest.BudgetThreshold{}, "fatal: ragtest: field Budgets: threshold 0: threshold without a budget"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := fruit(t)
			e.Embedder = paid{cost: tc.cost}
			e.Budgets = []ragtest.BudgetThreshold{tc.budget}
			said := strings.Join(record(t, &recorder{}, func(tb testing.TB) { ragtest.RunTokenLevel(quoted{tb}, e) }), "\n")
			wantAll(t, said, tc.want)
			if failed := strings.Contains(said, "error: ") || strings.Contains(said, "fatal: "); failed != strings.HasPrefix(tc.want, "error: ") && failed != strings.HasPrefix(tc.want, "fatal: ") {
				t.Errorf("got %s", said)
			}
		})
	}
}

func TestUnknownBudget(t *testing.T) {
	e := fruit(t)
	e.Retriever, e.Embedder = ragtest.Dense[chunk](e.Embedder, unsized{ragtest.NewMemoryStore[chunk]()}), nil
	e.Budgets = []ragtest.BudgetThreshold{ragtest.IndexBytes.AtMost(1), ragtest.APICalls.AtMost(0)}
	said := strings.Join(record(t, &recorder{}, func(tb testing.TB) { ragtest.RunTokenLevel(quoted{tb}, e) }), "\n")
	wantAll(t, said, "error: ragtest: could not measure: index_bytes is not known", "api_calls  0      <= 0 ok")
	e.Severities.CouldNotMeasure = ragtest.Warn
	e.Retriever = ragtest.Dense[chunk](letters{}, unsized{ragtest.NewMemoryStore[chunk]()})
	said = strings.Join(record(t, &recorder{}, func(tb testing.TB) { ragtest.RunTokenLevel(quoted{tb}, e) }), "\n")
	wantAll(t, said, "log: ragtest: could not measure: index_bytes is not known")
}

// unsized is a store that does not tell its size.
type unsized struct{ ragtest.VectorStore[chunk] }
