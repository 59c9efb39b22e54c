package ragtest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/rageval/rageval/internal/stats"
)

// Budget measures what an evaluation costs beside its quality: less is better. The
// predeclared ones are immutable and compared with Equal; the zero value is none.
type Budget struct{ measure *budgetMeasure }

type budgetMeasure struct {
	name     string
	of       func(r *Result) (value float64, known bool)
	advisory bool // it differs from run to run: a threshold warns only, and no result holds it
}

// The budgets. One that an evaluation does not know, such as the size of a store
// that does not tell, is not reported; a threshold for it is an error.
var (
	// RetrievedCharacters, "retrieved_characters", is the mean over the queries of the
	// characters of the K chunks, each in full: what a language model has to read.
	RetrievedCharacters = Budget{&budgetMeasure{name: "retrieved_characters", of: func(r *Result) (float64, bool) {
		lengths := make([]float64, len(r.Queries))
		for i, q := range r.Queries {
			for _, h := range q.Hits {
				lengths[i] += float64(utf8.RuneCountInString(h.Text))
			}
		}
		return stats.Mean(lengths), len(lengths) > 0
	}}}

	// RetrievedTokens, "retrieved_tokens", is the mean over the queries of the tokens of
	// the K chunks, each in full and by itself, as the evaluation's field Tokens counts
	// them. It is unknown without.
	RetrievedTokens = Budget{&budgetMeasure{name: "retrieved_tokens", of: func(r *Result) (float64, bool) {
		if r.Diagnostics.RetrievedTokens == nil {
			return 0, false
		}
		return *r.Diagnostics.RetrievedTokens, true
	}}}

	// EmbeddedTexts, "embedded_texts", is the number of distinct texts of the corpus
	// that were embedded. It is unknown with a Retriever of your own.
	EmbeddedTexts = Budget{&budgetMeasure{name: "embedded_texts", of: func(r *Result) (float64, bool) {
		return float64(r.Diagnostics.EmbeddedTexts), r.Components.Embedder != ""
	}}}

	// IndexBytes, "index_bytes", is the size of the store's vectors in bytes. It is
	// unknown unless the store is a [SizedStore].
	IndexBytes = Budget{&budgetMeasure{name: "index_bytes", of: func(r *Result) (float64, bool) {
		if r.Diagnostics.IndexBytes == nil {
			return 0, false
		}
		return float64(*r.Diagnostics.IndexBytes), true
	}}}

	// APICalls, "api_calls", is the number of requests to services that components
	// counted with [CountUsage].
	APICalls = usageBudget("api_calls", func(u Usage) float64 { return float64(u.Calls) })

	// APITokens, "api_tokens", is the number of tokens that services counted.
	APITokens = usageBudget("api_tokens", func(u Usage) float64 { return float64(u.Tokens) })

	// APICost, "api_cost_usd", is the cost in US dollars, by the prices that the
	// components were given. Calls without a price cost nothing, which a threshold
	// warns of.
	APICost = usageBudget("api_cost_usd", func(u Usage) float64 { return u.Cost })

	// SecondsPerQuery, "seconds_per_query", is the time of embedding the queries,
	// retrieving and reranking, in seconds for each query. It depends on the machine
	// and what else it does: a threshold warns and never fails.
	SecondsPerQuery = Budget{&budgetMeasure{name: "seconds_per_query", advisory: true, of: func(r *Result) (float64, bool) {
		total := r.Trace.Elapsed("embed queries") + r.Trace.Elapsed("retrieve") + r.Trace.Elapsed("rerank")
		return total.Seconds() / float64(max(1, len(r.Queries))), len(r.Trace.Intervals) > 0
	}}}
)

// budgets are those that results hold, in their order.
func budgets() []Budget {
	return []Budget{RetrievedCharacters, RetrievedTokens, EmbeddedTexts, IndexBytes, APICalls, APITokens, APICost}
}

func usageBudget(name string, part func(Usage) float64) Budget {
	return Budget{&budgetMeasure{name: name, of: func(r *Result) (float64, bool) {
		total := 0.0
		for _, u := range r.Diagnostics.Usage {
			total += part(u)
		}
		return total, true
	}}}
}

// SizedStore is implemented by stores that know the size of their vectors.
type SizedStore interface {
	IndexBytes() int64 // in bytes, with whatever the index adds
}

// Name returns the name of b, which is a unit of benchmarks too.
func (b Budget) Name() string {
	if b.measure == nil {
		return ""
	}
	return b.measure.name
}

// Equal reports whether both are the same budget.
func (b Budget) Equal(c Budget) bool { return b == c }

// AtMost returns the threshold that demands max or less. A max that is negative, NaN
// or infinite is an error in an evaluation.
func (b Budget) AtMost(max float64) BudgetThreshold { return BudgetThreshold{b, max} }

// BudgetThreshold is a demand on a budget, made by [Budget.AtMost], for the field
// Budgets of an evaluation. Thresholds are immutable and compared with Equal.
type BudgetThreshold struct {
	budget Budget
	most   float64
}

// String returns t in the form "retrieved_characters <= 4000".
func (t BudgetThreshold) String() string { return t.budget.Name() + " " + t.bound().String() }

// Equal reports whether both thresholds demand the same of the same budget.
func (t BudgetThreshold) Equal(u BudgetThreshold) bool {
	return t.budget == u.budget && t.bound().equal(u.bound())
}

func (t BudgetThreshold) bound() bound { return bound{limit: t.most, upper: true} }

func (t BudgetThreshold) validate() error {
	if t.budget.measure == nil {
		return fmt.Errorf("threshold without a budget: want one made by Budget.AtMost")
	}
	if !(t.most >= 0) || math.IsInf(t.most, 0) {
		return fmt.Errorf("%s: want a finite bound of 0 or more", t)
	}
	return nil
}

// judge returns the verdict on a result.
func (t BudgetThreshold) judge(r *Result) (ThresholdResult, error) {
	value, known := t.budget.measure.of(r)
	if !known {
		return ThresholdResult{}, fmt.Errorf("%s is not known: neither the components nor the result tell it", t.budget.Name())
	}
	return ThresholdResult{Metric: t.budget.Name(), Want: t.bound().String(), Got: value, Pass: value <= t.most}, nil
}

// judgeBudgets judges the thresholds: those that depend on the machine by a line in
// the log alone. It returns what could not be judged.
func (r *Result) judgeBudgets(tb testing.TB, thresholds []BudgetThreshold) error {
	tb.Helper()
	var unknown []error
	for _, t := range thresholds {
		verdict, err := t.judge(r)
		if err != nil {
			unknown = append(unknown, err)
			continue
		}
		if t.budget.measure.advisory {
			if !verdict.Pass {
				tb.Logf("ragtest: %s: got %.4g, want %s (advisory: the test does not fail)", verdict.Metric, verdict.Got, verdict.Want)
			}
			continue
		}
		if t.budget == APICost {
			for _, u := range r.Diagnostics.Usage {
				if u.Calls > 0 && u.Cost == 0 {
					r.Diagnostics.warn("%s has no price: what it costs is not part of %s", strings.TrimSpace(u.Component+" "+u.Model), t.budget.Name())
				}
			}
		}
		r.Thresholds = append(r.Thresholds, verdict)
	}
	return errors.Join(unknown...)
}

// measureBudgets returns the budgets that are known and not 0.
func (r *Result) measureBudgets() []Score {
	var list []Score
	for _, b := range budgets() {
		if value, known := b.measure.of(r); known && value > 0 {
			list = append(list, Score{b.Name(), value})
		}
	}
	return list
}

// budgetTable returns a row for each budget that has a threshold.
func (r *Result) budgetTable() string {
	judged := slices.DeleteFunc(slices.Clone(r.Thresholds), func(t ThresholdResult) bool {
		return !slices.ContainsFunc(budgets(), func(b Budget) bool { return b.Name() == t.Metric })
	})
	if len(judged) == 0 {
		return ""
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  budget\tvalue\tthreshold")
	for _, t := range judged {
		verdict := "ok"
		if !t.Pass {
			verdict = "FAILED"
		}
		fmt.Fprintf(w, "  %s\t%.6g\t%s %s\n", t.Metric, t.Got, t.Want, verdict)
	}
	w.Flush()
	return "\n" + b.String()
}
