package ragtest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

func TestResultTable(t *testing.T) {
	r, err := fruit(t).Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.Components.Store = "memory"
	r.Thresholds = []ragtest.ThresholdResult{{Metric: "span_recall", Want: ">= 0.9", Got: 0.8333}, {Metric: "span_recall", Want: "<= 1", Pass: true}}
	r.Diagnostics.Warnings = []string{"mind the gap"}
	want := `token-level evaluation fruit: 2 documents, 3 queries, K = 1, 5 chunks
  chunker lines  embedder letters  store memory

  metric          mean    95 % interval     at most  min     queries at 1  threshold
  span_recall     0.8333  0.1250 to 1.0000  0.8333   0.5000  2             >= 0.9 FAILED, <= 1 ok
  span_precision  0.6667  0.0000 to 1.0000  0.6667   0.0000  2
  span_iou        0.5000  0.0000 to 1.0000  0.5000   0.0000  1

  recall lost by  unlocatable  budget  retriever  index   reranker  left
                  0.0333       0.1333  0.0000     0.0000  0.0000    0.8333

  precision lost by  chunk granularity  wrong chunks  left
                     0.0000             0.3333        0.6667
  precision omega of the chunks 0.5641, by Chroma's code 0.5641
  warning: mind the gap
`
	if diff := cmp.Diff(r.String(), want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

// A result made by hand or read from a file may lack what a run has.
func TestTableOfAPartialResult(t *testing.T) {
	for _, r := range []ragtest.Result{
		{},
		{Metrics: []ragtest.Score{{Metric: "span_recall", Value: 0.5}}, Queries: make([]ragtest.QueryResult, 2)},
		{Queries: []ragtest.QueryResult{{Scores: []ragtest.Score{{Metric: "span_recall", Value: 1}}}}},
	} {
		if got := r.String(); !strings.Contains(got, "evaluation") {
			t.Errorf("got table %q", got)
		}
	}
}

// Columns line up by what is seen, not by bytes.
func TestTableWithNonASCII(t *testing.T) {
	e := fruit(t)
	e.Name = "Früchte 果物"
	e.Metrics = []ragtest.TokenMetric{ragtest.SpanRecall, ragtest.SpanMRR.At(1)}
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.Components = ragtest.Components{Chunker: "zeilen/größe=3", Retriever: "Ähnlichkeit"}
	r.Diagnostics.Warnings = []string{"„ä“ was skipped"}
	want := `token-level evaluation Früchte 果物: 2 documents, 3 queries, K = 1, 5 chunks
  chunker zeilen/größe=3  retriever Ähnlichkeit

  metric       mean    95 % interval     at most  min     queries at 1  threshold
  span_recall  0.8333  0.1250 to 1.0000  0.8333   0.5000  2
  span_mrr@1   0.6667  0.0000 to 1.0000           0.0000  2

  recall lost by  unlocatable  budget  retriever  index   reranker  left
                  0.0333       0.1333  0.0000     0.0000  0.0000    0.8333
  warning: „ä“ was skipped
`
	if diff := cmp.Diff(r.String(), want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

func TestFailureText(t *testing.T) {
	fails := func(e ragtest.TokenLevel, threshold ragtest.TokenThreshold) string {
		t.Helper()
		said := record(t, &recorder{}, func(tb testing.TB) { ragtest.RunTokenLevel(quoted{tb}, e, threshold) })
		failures := sayings(said, "error")
		if len(failures) != 1 {
			t.Fatalf("got failures %q, want one", failures)
		}
		return failures[0]
	}
	constant := func(score float64) ragtest.TokenMetric {
		return ragtest.NewTokenMetric("constant", func(ragtest.TokenOutcome) float64 { return score })
	}
	// Where four digits would look as if the threshold held, there are more.
	for _, tc := range []struct {
		threshold ragtest.TokenThreshold
		want      string
	}{
		{constant(0.99999).AtLeast(1), "got 0.99999, want >= 1, over"},
		{constant(0.79996).AtLeast(0.8), "got 0.79996, want >= 0.8, over"},
		{constant(0.12336).AtLeast(0.12338), "got 0.12336, want >= 0.12338, over"},
		{constant(0.00001).AtMost(0), "got 1e-05, want <= 0, over"},
		{constant(0.7).AtLeast(0.8), "got 0.7000, want >= 0.8, over"},
	} {
		if got := fails(fruit(t), tc.threshold); !strings.Contains(got, tc.want) {
			t.Errorf("got %s, want %q", got, tc.want)
		}
	}

	// However long texts and lists are, a failure stays readable.
	text := strings.Repeat("quite long\n", 4000)
	e := fruit(t)
	e.Corpus = corpus(t, "a.md", text)
	e.Queries = nil
	for i := range 8 {
		q := tokenQuery(fmt.Sprintf("%d %s", i, text[i:]))
		for j := range 40 {
			q.Relevant = append(q.Relevant, spans.Span{Doc: "a.md", Start: 1100 * j, End: 1100*j + 550})
		}
		e.Queries = append(e.Queries, q)
	}
	e.Chunker = chunkFunc(func(_ context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
		return []chunkers.Piece{{Text: text, Start: 0, End: len(text)}}, nil
	})
	e.Metrics = []ragtest.TokenMetric{ragtest.SpanPrecision}
	got := fails(e, ragtest.SpanPrecision.AtLeast(0.9))
	if len(got) > 3000 || strings.Count(got, "query_") != 5 {
		t.Errorf("got a failure of %d bytes with %d queries, want 5 in at most 3000", len(got), strings.Count(got, "query_"))
	}
	if want := "reproduce: go test -v -run '^Test.s$/^k=\\(1\\)$'"; !strings.Contains(got, want) {
		t.Errorf("got %s, want %q: no quote within the quotes", got, want)
	}
}

// quoted is a test whose name a shell and a regular expression read otherwise.
type quoted struct{ testing.TB }

func (quoted) Name() string { return "Test's/k=(1)" }
