package percontext

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// Result is what an evaluation found.
type Result struct {
	Name      string           `json:"name"`
	Contexts  int              `json:"contexts"`
	Chunks    int              `json:"chunks"`  // of all contexts
	Skipped   int              `json:"skipped"` // questions whose answers are too short
	Cut       int              `json:"cut"`     // questions whose answer no chunk holds whole
	HitRates  []HitRate        `json:"hitRates"`
	MRR       float64          `json:"mrr"` // the mean of 1/rank of the first hit among all chunks of the context, 0 without one
	Questions []QuestionResult `json:"questions"`
	Warnings  []string         `json:"warnings,omitempty"`
}

// HitRate is the share of the questions that have a hit among their first K chunks.
type HitRate struct {
	K     int     `json:"k"`
	Value float64 `json:"value"`
	// Given is the share of the questions that cannot but have one, whatever the order:
	// too few chunks of their context lack the answer to fill K.
	Given float64 `json:"given"`
}

// QuestionResult is what was found for one question.
type QuestionResult struct {
	ID      ragtest.QueryID  `json:"id"`
	Context spans.DocumentID `json:"context"`
	Chunks  int              `json:"chunks"`  // of its context
	Holding int              `json:"holding"` // of them, those that hold an answer
	Rank    int              `json:"rank"`    // of the first chunk that holds an answer; 0: none was retrieved
}

// saturated is a hit rate that leaves nothing to tell configurations apart by.
const saturated = 0.99

func (r *Result) summarise(ks []int) {
	n := float64(len(r.Questions))
	for _, q := range r.Questions {
		if q.Holding == 0 {
			r.Cut++
		}
		if q.Rank > 0 {
			r.MRR += 1 / float64(q.Rank)
		}
	}
	r.MRR /= n
	for _, k := range ks {
		h := HitRate{K: k}
		for _, q := range r.Questions {
			if q.Rank > 0 && q.Rank <= k {
				h.Value++
			}
			if q.Holding > 0 && q.Chunks-q.Holding < k {
				h.Given++
			}
		}
		h.Value /= n
		h.Given /= n
		r.HitRates = append(r.HitRates, h)
		switch {
		case h.Value >= saturated:
			r.Warnings = append(r.Warnings, fmt.Sprintf("hit_rate@%d is %.4f: it cannot tell this configuration from a better one", k, h.Value))
		case h.Given >= 0.5:
			r.Warnings = append(r.Warnings, fmt.Sprintf("hit_rate@%d: %.0f %% of the questions have a hit in whatever order their chunks are: it tells little", k, 100*h.Given))
		}
	}
	if r.Cut > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the chunker cut the answers of %d of %d questions, so that no chunk holds one whole", r.Cut, len(r.Questions)))
	}
}

// HitRate returns the hit rate at a cut-off, and whether there is one.
func (r *Result) HitRate(k int) (float64, bool) {
	for _, h := range r.HitRates {
		if h.K == k {
			return h.Value, true
		}
	}
	return 0, false
}

// Saturation says of each cut-off at which nearly all results, nine of ten, have a hit
// rate of 0.99 or more that it is unable to discriminate between them; nothing if there
// are fewer than two results.
func Saturation(results ...*Result) []string {
	if len(results) < 2 {
		return nil
	}
	var warnings []string
	for _, h := range results[0].HitRates {
		full := 0
		for _, r := range results {
			if v, _ := r.HitRate(h.K); v >= saturated {
				full++
			}
		}
		if 10*full >= 9*len(results) {
			warnings = append(warnings, fmt.Sprintf("hit_rate@%d is at least %v for %d of %d configurations: it is unable to discriminate between them", h.K, saturated, full, len(results)))
		}
	}
	return warnings
}

// String returns a table of the scores, and the warnings.
func (r *Result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "evaluation within contexts %s: %d questions (%d skipped), %d contexts, %d chunks\n\n", r.Name, len(r.Questions), r.Skipped, r.Contexts, r.Chunks)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  metric\tmean\tgiven")
	for _, h := range r.HitRates {
		fmt.Fprintf(w, "  hit_rate@%d\t%.4f\t%.4f\n", h.K, h.Value, h.Given)
	}
	fmt.Fprintf(w, "  mrr\t%.4f\t\n", r.MRR)
	w.Flush()
	for _, warning := range r.Warnings {
		fmt.Fprintf(&b, "  warning: %s\n", warning)
	}
	return b.String()
}

// Run evaluates e within a test, logs the table, and sets the attributes
// percontext.hit_rate@K and percontext.mrr. An evaluation that cannot be run fails the
// test.
func Run(tb testing.TB, e Evaluation) *Result {
	tb.Helper()
	if e.Name == "" {
		e.Name = tb.Name()
	}
	ctx, cancel := ragtest.TestContext(tb)
	defer cancel()
	r, err := e.Evaluate(ctx)
	if err != nil {
		tb.Fatalf("percontext: %v", err)
		return nil
	}
	tb.Logf("percontext: %s", r)
	for _, h := range r.HitRates {
		tb.Attr(fmt.Sprintf("percontext.hit_rate@%d", h.K), strconv.FormatFloat(h.Value, 'g', -1, 64))
	}
	tb.Attr("percontext.mrr", strconv.FormatFloat(r.MRR, 'g', -1, 64))
	return r
}
