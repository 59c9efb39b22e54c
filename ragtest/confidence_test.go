package ragtest_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/rageval/rageval/ragtest"
)

// manyFruits has n queries, of which every tenth finds half of what it should.
func manyFruits(t testing.TB, n int) ragtest.TokenLevel {
	e := fruit(t)
	full, half := e.Queries[0], e.Queries[1]
	e.Queries = nil
	for i := range n {
		q := full
		if i%10 == 9 {
			q = half
		}
		q.ID = ragtest.QueryID(fmt.Sprint("q", i))
		e.Queries = append(e.Queries, q)
	}
	return e
}

func TestThresholdWithConfidence(t *testing.T) {
	for _, test := range []struct {
		name      string
		queries   int
		threshold ragtest.TokenThreshold
		want      []string // parts of the failure; none: it holds
	}{
		{"enough queries", 400, ragtest.SpanRecall.AtLeast(0.9).WithConfidence(0.95), nil},
		{"too few", 30, ragtest.SpanRecall.AtLeast(0.9).WithConfidence(0.95), []string{
			"span_recall: got 0.9500, want >= 0.9 with confidence 0.95, over 30 queries, which only show >= 0.8", "; about ", " queries with such scores would do"}},
		{"the mean itself is too low", 30, ragtest.SpanRecall.AtLeast(0.96).WithConfidence(0.95), []string{"; no number of queries with such scores would do"}},
		{"an upper bound, enough", 400, ragtest.SpanRecall.AtMost(0.99).WithConfidence(0.9), nil},
		{"an upper bound, too few", 10, ragtest.SpanRecall.AtMost(0.96).WithConfidence(0.99), []string{"want <= 0.96 with confidence 0.99, over 10 queries, which only show <= "}},
		{"all queries score 1", 20, ragtest.SpanPrecision.AtLeast(0.99).WithConfidence(0.95), []string{"got 1.0000, want >= 0.99 with confidence 0.95"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var r *ragtest.Result
			said := record(t, &recorder{}, func(tb testing.TB) {
				r = ragtest.RunTokenLevel(quoted{tb}, manyFruits(t, test.queries), test.threshold)
			})
			failures := sayings(said, "error")
			if got := r.Thresholds[0].Pass; got != (test.want == nil) || len(failures) != min(len(test.want), 1) {
				t.Fatalf("got pass %v and failures %q, want %q", got, failures, test.want)
			}
			for _, want := range test.want {
				if !strings.Contains(failures[0], want) {
					t.Errorf("got failure %q, want %q in it", failures[0], want)
				}
			}
			mean, _ := r.Score(r.Thresholds[0].Metric)
			if b := r.Thresholds[0].Bound; math.Abs(b-mean) < 0.001 || b < 0 || b > 1 {
				t.Errorf("got the bound %v for a mean of %v", b, mean)
			}
		})
	}
}

func TestConfidenceIsValidated(t *testing.T) {
	for _, confidence := range []float64{0, 1, -0.1, 1.5, 95, math.NaN(), math.Inf(1)} {
		said := record(t, &recorder{}, func(tb testing.TB) {
			ragtest.RunTokenLevel(tb, fruit(t), ragtest.SpanRecall.AtLeast(0.5).WithConfidence(confidence))
		})
		want := fmt.Sprintf("threshold span_recall >= 0.5 with confidence %v: want a confidence between 0 and 1", confidence)
		if !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("got %q, want %q", said, want)
		}
	}
	a := ragtest.ChunkRecall.At(3).AtLeast(0.8)
	b := a.WithConfidence(0.95)
	if got := b.String(); got != "chunk_recall@3 >= 0.8 with confidence 0.95" {
		t.Errorf("got %q", got)
	}
	if a.Equal(b) || !b.Equal(a.WithConfidence(0.95)) || b.Equal(a.WithConfidence(0.9)) {
		t.Error("Equal does not compare confidences")
	}
}
