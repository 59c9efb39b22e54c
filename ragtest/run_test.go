package ragtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// recorder is a test that records what is said to it.
type recorder struct {
	testing.TB
	dir      string
	deadline time.Time
	said     []string // "kind: text", in order
	cleanups []func()
}

func (r *recorder) say(kind, format string, args ...any) {
	r.said = append(r.said, kind+": "+fmt.Sprintf(format, args...))
}
func (r *recorder) Helper()                           {}
func (r *recorder) Logf(format string, args ...any)   { r.say("log", format, args...) }
func (r *recorder) Errorf(format string, args ...any) { r.say("error", format, args...) }
func (r *recorder) Fatalf(format string, args ...any) {
	r.say("fatal", format, args...)
	runtime.Goexit()
}
func (r *recorder) Output() io.Writer           { return output{r} }
func (r *recorder) Attr(key, value string)      { r.say("attr", "%s=%s", key, value) }
func (r *recorder) ArtifactDir() string         { return r.dir }
func (r *recorder) Cleanup(f func())            { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Deadline() (time.Time, bool) { return r.deadline, !r.deadline.IsZero() }

// output is what a recorder returns of Output.
type output struct{ r *recorder }

func (o output) Write(p []byte) (int, error) {
	o.r.say("output", "%s", strings.TrimSuffix(string(p), "\n"))
	return len(p), nil
}

// record runs f as a test of its own.
func record(t *testing.T, r *recorder, f func(tb testing.TB)) []string {
	t.Helper()
	r.TB = t
	if r.dir == "" {
		r.dir = t.TempDir()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for _, cleanup := range r.cleanups {
				cleanup()
			}
			r.cleanups = nil
		}()
		f(r)
	}()
	<-done
	return r.said
}

func sayings(said []string, kind string) []string {
	var of []string
	for _, s := range said {
		if text, ok := strings.CutPrefix(s, kind+": "); ok {
			of = append(of, text)
		}
	}
	return of
}

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
		`missed a.md[5:10] "bana"`,
		`retrieved first a.md[0:5] "äpfel"`,
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

func TestAttributesAndArtifacts(t *testing.T) {
	r := &recorder{}
	var results []*ragtest.Result
	said := record(t, r, func(tb testing.TB) {
		for _, name := range []string{"", "", "chunker=lines/k=1", "chunker=lines/k=1"} {
			e := fruit(t)
			e.Name = name
			results = append(results, ragtest.RunTokenLevel(tb, e))
		}
		results = append(results, ragtest.RunChunkLevel(tb, fruitChunks(t)))
	})
	recall, _ := results[0].Score("span_recall")
	exact := strconv.FormatFloat(recall, 'g', -1, 64)
	attrs := sayings(said, "attr")
	for _, want := range []string{"ragtest.span_recall=" + exact, "ragtest.2.span_recall=" + exact,
		"ragtest.chunker=lines_k=1.span_recall=" + exact, "ragtest.chunker=lines_k=1-4.span_recall=" + exact} {
		if n := strings.Count("\n"+strings.Join(attrs, "\n")+"\n", "\n"+want+"\n"); n != 1 {
			t.Errorf("got attribute %s %d times, want once, in\n%s", want, n, strings.Join(attrs, "\n"))
		}
	}
	files, err := os.ReadDir(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
	}
	if diff := cmp.Diff(names, []string{"ragtest-2.json", "ragtest-chunker=lines_k=1-4.json", "ragtest-chunker=lines_k=1.json", "ragtest-fruit.json", "ragtest.json"}); diff != "" {
		t.Errorf("artifacts (-got +want):\n%s", diff)
	}
	for name, want := range map[string]*ragtest.Result{"ragtest.json": results[0], "ragtest-fruit.json": results[4]} {
		data, err := os.ReadFile(filepath.Join(r.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		var header struct{ Test, Name string }
		if err := json.Unmarshal(data, &header); err != nil {
			t.Fatal(err)
		}
		if header.Test != t.Name() || header.Name != want.Name {
			t.Errorf("%s: got test %q, run %q, want %q, %q", name, header.Test, header.Name, t.Name(), want.Name)
		}
		var back ragtest.Result
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		if !back.Equal(*want) {
			t.Errorf("%s reads back to another result", name)
		}
	}
}

// A run finds its label whatever the others are named, and whoever wraps the
// test.
func TestArtifactNames(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("größe ", 100)
	for i, tc := range []struct{ name, file string }{
		{"x", "ragtest.json"},
		{"x-4", "ragtest-x-4.json"},
		{"x", "ragtest-x.json"},
		{"x", "ragtest-x-5.json"}, // not 4, which is taken
		{"", "ragtest-5.json"},
		{"../a b\n", "ragtest-.._a_b_.json"},
		{"größe=25", "ragtest-größe=25.json"},
		{long, "ragtest-" + strings.ReplaceAll(long, " ", "_")[:len("größe_")*8] + "g….json"},
		{long, ""},
	} {
		e := fruit(t)
		e.Name = tc.name
		// Each run has a recorder of its own, and one that cannot be a map's key.
		r := &recorder{dir: dir}
		said := record(t, r, func(tb testing.TB) { ragtest.RunTokenLevel(wrapped{tb, []any{i}}, e) })
		if failures := append(sayings(said, "error"), sayings(said, "fatal")...); len(failures) > 0 {
			t.Errorf("run %d: %q", i, failures)
		}
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(files) != i+1 {
			t.Fatalf("got %d artifacts after run %d named %q, want %d", len(files), i, tc.name, i+1)
		}
		if _, err := os.Stat(filepath.Join(dir, tc.file)); err != nil {
			t.Errorf("run %d named %q: %v, among %v", i, tc.name, err, files)
		}
		for _, attr := range sayings(said, "attr") {
			if key, _, _ := strings.Cut(attr, "="); strings.ContainsFunc(key, unicode.IsSpace) {
				t.Errorf("white space in attribute key %q", key)
			}
		}
	}
}

// wrapped is a test that is no valid key of a map.
type wrapped struct {
	testing.TB
	with any
}

// An artifact that cannot be kept fails the test, and hides nothing.
func TestArtifactThatCannotBeKept(t *testing.T) {
	r := &recorder{dir: filepath.Join(t.TempDir(), "missing")}
	said := record(t, r, func(tb testing.TB) { ragtest.RunTokenLevel(tb, fruit(t)) })
	if failures := sayings(said, "error"); len(failures) != 1 || !strings.Contains(failures[0], "keeping the result") {
		t.Errorf("got failures %q, want one", failures)
	}
	if attrs := sayings(said, "attr"); len(attrs) != 3 {
		t.Errorf("got attributes %q, want all three", attrs)
	}
}

// Subtests in parallel do not share artifacts, even if they share a name.
func TestParallelRuns(t *testing.T) {
	e := fruit(t)
	for range 4 {
		t.Run("same", func(t *testing.T) {
			t.Parallel()
			for _, name := range []string{"", "a", ""} {
				e := e
				e.Name = name
				ragtest.RunTokenLevel(t, e)
			}
			files, err := os.ReadDir(t.ArtifactDir())
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, f := range files {
				names = append(names, f.Name())
			}
			if diff := cmp.Diff(names, []string{"ragtest-3.json", "ragtest-a.json", "ragtest.json"}); diff != "" {
				t.Errorf("artifacts (-got +want):\n%s", diff)
			}
		})
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

// setFlag sets a flag of the test binary for one test.
func setFlag(t *testing.T, name, value string) {
	t.Helper()
	f := flag.Lookup(name)
	before := f.Value.String()
	if err := f.Value.Set(value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Value.Set(before) })
}

func TestBenchmark(t *testing.T) {
	setFlag(t, "test.benchtime", "20x")
	chunked, embedded, retrieved := 0, 0, 0
	var last *ragtest.Result
	got := testing.Benchmark(func(b *testing.B) {
		e := fruit(b)
		e.Chunker = chunkFunc(func(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
			if doc.ID() == "a.md" {
				chunked++
			}
			return placedLines{}.ChunkWithPositions(ctx, doc)
		})
		e.Embedder = asymmetric{letters{}.Embed, func(ctx context.Context, texts []string) ([][]float32, error) {
			embedded++
			return letters{}.Embed(ctx, texts)
		}}
		e.Store = &countingStore{ragtest.NewMemoryStore[chunkers.PositionAwareChunk](), func() error {
			retrieved++
			return nil
		}}
		last = ragtest.RunTokenLevel(b, e)
	})
	if chunked > 2 || embedded != chunked {
		t.Errorf("chunked %d times and embedded the queries %d times, want once in each run of the benchmark", chunked, embedded)
	}
	if retrieved != got.N || got.N != 20 {
		t.Errorf("retrieved %d times in %d iterations, want 20", retrieved, got.N)
	}
	for _, s := range last.Metrics {
		if value, ok := got.Extra[s.Metric]; !ok || value != s.Value {
			t.Errorf("%s: got %v, %v, want %v", s.Metric, value, ok, s.Value)
		}
	}
	if got.Extra["chunks"] != 5 {
		t.Errorf("got chunks %v, want 5", got.Extra["chunks"])
	}
	perQuery := float64(got.T.Nanoseconds()) / float64(got.N) / 3
	if r := got.Extra["ns/query"] / perQuery; r < 0.5 || r > 1.5 {
		t.Errorf("got %v ns/query, want about %v", got.Extra["ns/query"], perQuery)
	}
}

type countingStore struct {
	*ragtest.MemoryStore[chunkers.PositionAwareChunk]
	search func() error // called before each search
}

func (s *countingStore) SearchBatch(ctx context.Context, queries [][]float32, k int) ([][]scored, error) {
	if err := s.search(); err != nil {
		return nil, err
	}
	return s.MemoryStore.SearchBatch(ctx, queries, k)
}
