package ragtest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rageval/rageval/ragtest"
)

func TestThresholds(t *testing.T) {
	r := &recorder{}
	var result *ragtest.Result
	said := record(t, r, func(tb testing.TB) {
		result = ragtest.RunTokenLevel(tb, fruit(t),
			ragtest.SpanRecall.AtLeast(0.9), ragtest.SpanPrecision.AtMost(0.5), ragtest.SpanIoU.AtLeast(0.5), ragtest.SpanHitRate.AtLeast(1))
	})
	want := []ragtest.ThresholdResult{
		{Metric: "span_recall", Want: ">= 0.9", Got: 2.5 / 3},
		{Metric: "span_precision", Want: "<= 0.5", Got: 2.0 / 3},
		{Metric: "span_iou", Want: ">= 0.5", Got: 0.5, Pass: true},
		{Metric: "span_hit_rate", Want: ">= 1", Got: 2.0 / 3},
	}
	if diff := cmp.Diff(result.Thresholds, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
	failures := sayings(said, "error")
	if len(failures) != 3 {
		t.Fatalf("got %d failures, want 3: every threshold that does not hold\n%s", len(failures), strings.Join(failures, "\n"))
	}
	for _, want := range []string{
		"ragtest: span_recall: got 0.8333, want >= 0.9, over 3 queries",
		`0.5000  ` + string(ragtest.NewQueryID("pfel")) + `: "pfel"`,
		`missed a.md:1:6 "bana"`,
		`retrieved first a.md:1:1 "äpfel"`,
		"reproduce: go test -v -run '^TestThresholds$'",
	} {
		if !strings.Contains(failures[0], want) {
			t.Errorf("got failure\n%s\nwant one that contains %q", failures[0], want)
		}
	}
	if n := strings.Count(failures[0], "query_"); n != 1 {
		t.Errorf("got %d queries, want only the one that falls short:\n%s", n, failures[0])
	}
	// For AtMost, those with the highest score.
	if !strings.Contains(failures[1], `: "bananas"`) || strings.Contains(failures[1], `: "xyz"`) {
		t.Errorf("want the queries whose precision is too high:\n%s", failures[1])
	}
	table, first := -1, -1
	for i, s := range said {
		if strings.HasPrefix(s, "log: ragtest: token-level evaluation fruit") {
			table = i
		}
		if first < 0 && strings.HasPrefix(s, "error: ") {
			first = i
		}
	}
	if table < 0 || first < table {
		t.Errorf("want the table before the failures, got\n%s", strings.Join(said, "\n"))
	}
}

func TestMetricsOfThresholdsAlone(t *testing.T) {
	e := fruit(t)
	e.Metrics = []ragtest.TokenMetric{}
	var r *ragtest.Result
	record(t, &recorder{}, func(tb testing.TB) { r = ragtest.RunTokenLevel(tb, e, ragtest.SpanMRR.At(1).AtLeast(0.5)) })
	if len(r.Metrics) != 1 || r.Metrics[0].Metric != "span_mrr@1" {
		t.Errorf("got %v, want span_mrr@1 alone", r.Metrics)
	}
}

func TestSetupFaultIsFatal(t *testing.T) {
	e := fruit(t)
	e.Corpus = nil
	said := record(t, &recorder{}, func(tb testing.TB) { ragtest.RunTokenLevel(tb, e) })
	if len(said) != 1 || !strings.HasPrefix(said[0], "fatal: ragtest: field Corpus") {
		t.Errorf("got %q, want one fatal error that names the field", said)
	}
}

func TestNilReporter(t *testing.T) {
	for _, none := range []ragtest.Reporter{nil, (*reporter)(nil)} {
		e := fruit(t)
		e.Embedder = failing{t}
		e.Reporters = []ragtest.Reporter{&reporter{}, none}
		said := record(t, &recorder{}, func(tb testing.TB) { ragtest.RunTokenLevel(tb, e) })
		if len(said) != 1 || said[0] != "fatal: ragtest: field Reporters: reporter 1 is nil" {
			t.Errorf("got %q, want one fatal error that names the field", said)
		}
	}
}

func TestThresholdErrors(t *testing.T) {
	for _, tc := range []struct {
		threshold ragtest.TokenThreshold
		want      []string
	}{
		{ragtest.SpanRecall.AtLeast(1.5), []string{"threshold 0", "span_recall", "1.5"}},
		{ragtest.SpanRecall.AtMost(-0.1), []string{"threshold 0", "span_recall", "-0.1"}},
		{ragtest.SpanRecall.At(2).AtLeast(0.5), []string{"threshold 0", "span_recall", "2", "K = 1"}},
		{ragtest.TokenThreshold{}, []string{"threshold 0"}},
		{ragtest.NewTokenMetric("span_recall", func(ragtest.TokenOutcome) float64 { return 1 }).AtLeast(0.5), []string{"two metrics", "span_recall"}},
	} {
		said := record(t, &recorder{}, func(tb testing.TB) { ragtest.RunTokenLevel(tb, fruit(t), tc.threshold) })
		if fatal := sayings(said, "fatal"); len(fatal) != 1 {
			t.Errorf("%v: got %q, want one fatal error", tc.threshold, said)
		} else {
			expectError(t, errors.New(fatal[0]), tc.want...)
		}
	}
}

// polite is a test whose Fatalf returns.
type polite struct{ *recorder }

func (p polite) Fatalf(format string, args ...any) { p.say("fatal", format, args...) }

func TestFatalfThatReturns(t *testing.T) {
	r := &recorder{}
	said := record(t, r, func(testing.TB) {
		e := fruit(t)
		e.Embedder = embedFunc(func(context.Context, []string) ([][]float32, error) { return nil, errors.New("boom") })
		if got := ragtest.RunTokenLevel(polite{r}, e, ragtest.SpanRecall.AtLeast(1)); got != nil {
			t.Errorf("got %v, want nil", got)
		}
	})
	if len(said) != 1 || !strings.HasPrefix(said[0], "fatal: ") {
		t.Errorf("got %q, want one fatal error", said)
	}
}

// Outside of go test there are no test flags, and testing.Benchmark knows no
// artifacts.
func TestOutsideGoTest(t *testing.T) {
	setFlag(t, "test.benchtime", "2x")
	flags := flag.CommandLine
	flag.CommandLine = flag.NewFlagSet("program", flag.ContinueOnError)
	defer func() { flag.CommandLine = flags }()
	dir := ""
	got := testing.Benchmark(func(b *testing.B) {
		ragtest.RunTokenLevel(b, fruit(b))
		dir = b.ArtifactDir()
		if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
			t.Errorf("got artifacts %v, %v, want none", files, err)
		}
	})
	if got.N != 2 || got.Extra["span_recall"] == 0 || dir == "" {
		t.Errorf("got %v with %v, want 2 iterations with metrics", got, got.Extra)
	}
}

type reporter struct {
	required bool
	err      error
	got      []*ragtest.Result
}

func (r *reporter) Required() bool { return r.required }

func (r *reporter) Report(_ context.Context, result *ragtest.Result) error {
	copied := *result
	r.got = append(r.got, &copied)
	result.ExperimentURL = "https://example.com/experiment"
	return r.err
}

func TestReporters(t *testing.T) {
	boom := errors.New("boom")
	ok, optional, required := &reporter{}, &reporter{err: boom}, &reporter{err: boom, required: true}
	e := fruit(t)
	e.Reporters = []ragtest.Reporter{ok, optional, required}
	var result *ragtest.Result
	said := record(t, &recorder{}, func(tb testing.TB) {
		result = ragtest.RunTokenLevel(tb, e, ragtest.SpanRecall.AtLeast(1))
	})
	for i, r := range []*reporter{ok, optional, required} {
		if len(r.got) != 1 || len(r.got[0].Thresholds) != 1 || r.got[0].Thresholds[0].Pass {
			t.Errorf("reporter %d: got %d calls, want one, after the threshold failed", i, len(r.got))
		}
	}
	failures := sayings(said, "error")
	if len(failures) != 2 || !strings.Contains(failures[0], "reporter 2") || !strings.Contains(failures[0], "boom") {
		t.Errorf("got failures %q, want the required reporter and the threshold", failures)
	}
	if logs := strings.Join(sayings(said, "log"), "\n"); !strings.Contains(logs, "reporter 1") || strings.Contains(logs, "reporter 2") || !strings.Contains(logs, "https://example.com/experiment") {
		t.Errorf("got logs\n%s\nwant the reporter that is not required, and the URL", logs)
	}
	if result.ExperimentURL != "https://example.com/experiment" {
		t.Errorf("got ExperimentURL %q", result.ExperimentURL)
	}
	// Evaluate alone does not report.
	if _, err := e.Evaluate(t.Context()); err != nil || len(ok.got) != 1 {
		t.Errorf("got error %v and %d reports after Evaluate, want none and 1", err, len(ok.got))
	}
}

// A component that hangs ends with the test's deadline, before the binary does.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := fruit(t)
		e.Embedder = embedFunc(func(ctx context.Context, _ []string) ([][]float32, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		for remaining, grace := range map[time.Duration]time.Duration{time.Minute: 3 * time.Second, 10 * time.Minute: 10 * time.Second} {
			deadline := time.Now().Add(remaining)
			said := record(t, &recorder{deadline: deadline}, func(tb testing.TB) { ragtest.RunTokenLevel(tb, e) })
			if len(said) != 1 || !strings.HasPrefix(said[0], "fatal: ") {
				t.Fatalf("got %q, want one fatal error", said)
			}
			expectError(t, errors.New(said[0]), `stage "embed"`, "deadline exceeded", "-timeout", grace.String())
			if left := time.Until(deadline); left != grace {
				t.Errorf("%v before the deadline: the evaluation ended %v before it, want %v", remaining, left, grace)
			}
		}
	})
}

// needed is an error that fails the test.
type needed struct{ error }

func (needed) Required() bool { return true }

// namer is a reporter that notes the name of the test, and returns an error.
type namer struct {
	name *string
	err  error
}

func (n namer) Report(ctx context.Context, _ *ragtest.Result) error {
	*n.name = ragtest.TestName(ctx)
	return n.err
}

// A reporter learns the name of the test, and its error may say itself that it fails
// the test.
func TestErrorsOfReportersMayFailTheTest(t *testing.T) {
	name := ""
	e := fruit(t)
	e.Name = "another name"
	e.Reporters = []ragtest.Reporter{namer{&name, errors.New("boom")}, namer{&name, fmt.Errorf("wrapped: %w", needed{errors.New("boom")})}}
	failures := sayings(record(t, &recorder{TB: t}, func(tb testing.TB) { ragtest.RunTokenLevel(tb, e) }), "error")
	if len(failures) != 1 || !strings.Contains(failures[0], "reporter 1") {
		t.Errorf("got failures %q, want the second reporter's", failures)
	}
	if name != t.Name() {
		t.Errorf("got test name %q, want %q", name, t.Name())
	}
	if got := ragtest.TestName(t.Context()); got != "" {
		t.Errorf("got test name %q of a context that no evaluation made", got)
	}
}
