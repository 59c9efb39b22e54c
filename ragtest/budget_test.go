package ragtest_test

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/rageval/rageval/chunkers"
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

// words counts words.
var words = chunkers.Length{Name: "words", Of: func(s string) int { return len(strings.Fields(s)) }}

func TestRetrievedTokens(t *testing.T) {
	e := fruit(t)
	calls := map[string]int{}
	e.K, e.Repeat = 2, 3
	e.Tokens = chunkers.Length{Name: "words", Of: func(s string) int {
		calls[s]++
		return 10 * len(strings.Fields(s))
	}}
	e.Budgets = []ragtest.BudgetThreshold{ragtest.RetrievedTokens.AtMost(19)}
	var r *ragtest.Result
	said := strings.Join(record(t, &recorder{}, func(tb testing.TB) { r = ragtest.RunTokenLevel(quoted{tb}, e) }), "\n")
	wantAll(t, said, "error: ragtest: retrieved_tokens: got 20, want <= 19", "  retrieved_tokens  20     <= 19 FAILED")
	if got := r.Diagnostics; got.RetrievedTokens == nil || *got.RetrievedTokens != 20 || got.Tokenizer != "words" {
		t.Errorf("got the diagnostics %+v, want 20 tokens by words", got)
	}
	for text, n := range calls {
		if n != 1 {
			t.Errorf("the tokens of %q were counted %d times", text, n)
		}
	}
	data, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(data), `{"metric":"retrieved_tokens","value":20}`) || !strings.Contains(string(data), `"tokenizer":"words"`) {
		t.Errorf("the JSON lacks the tokens: %v", err)
	}
	for want, change := range map[string]func(*ragtest.TokenLevel){
		"field Budgets: threshold 0: retrieved_tokens <= 19: the field Tokens is not set": func(e *ragtest.TokenLevel) { e.Tokens = chunkers.Length{} },
		"field Tokens: has no name":                       func(e *ragtest.TokenLevel) { e.Tokens.Name = "" },
		"field Tokens: words has no function that counts": func(e *ragtest.TokenLevel) { e.Tokens.Of, e.Budgets = nil, nil },
	} {
		e := e
		change(&e)
		wantAll(t, strings.Join(record(t, &recorder{}, func(tb testing.TB) { ragtest.RunTokenLevel(quoted{tb}, e) }), "\n"), "fatal: ragtest: "+want)
	}
	c := fruitChunks(t)
	c.Tokens = words
	if r, err := c.Evaluate(t.Context()); err != nil || *r.Diagnostics.RetrievedTokens != 1 {
		t.Errorf("chunk level: got %v, want one word a query", err)
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
