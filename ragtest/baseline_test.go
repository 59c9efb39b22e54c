package ragtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// gated is an evaluation of n queries that all score 1, those of lost but 0.
func gated(t testing.TB, n, lost int) ragtest.TokenLevel {
	e := manyFruits(t, n)
	for i := range e.Queries {
		e.Queries[i].Relevant = []spans.Span{{Doc: "a.md", Start: 6, End: 13}}
		e.Queries[i].Text = fmt.Sprint("bananas ", strings.Repeat("z", i*40/n)) // near bananas
	}
	e.Name = ""
	e.Reranker = rerankFunc[chunk](func(_ context.Context, query string, chunks []scored) ([]scored, error) {
		if len(query) < len("bananas ")+lost*40/n {
			return chunks[1:], nil // the second line that says bananas is not the relevant one
		}
		return chunks, nil
	})
	e.FetchK = 2
	return e
}

// runGated runs e and returns what it says, but for the table and attributes.
func runGated(t *testing.T, e ragtest.TokenLevel) (r *ragtest.Result, said string) {
	t.Helper()
	all := record(t, &recorder{}, func(tb testing.TB) { r = ragtest.RunTokenLevel(testGate{tb}, e) })
	var kept []string
	for _, s := range all {
		if !strings.HasPrefix(s, "attr") && !strings.Contains(s, "-level evaluation") {
			kept = append(kept, s)
		}
	}
	return r, strings.Join(kept, "\n")
}

type testGate struct{ testing.TB }

func (testGate) Name() string { return "TestGate" }

func wantAll(t *testing.T, said string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(said, part) {
			t.Errorf("got %q, want %q in it", said, part)
		}
	}
}

func TestBaseline(t *testing.T) {
	path := filepath.Join(t.TempDir(), "testdata", "gate.json")
	with := func(e ragtest.TokenLevel) ragtest.TokenLevel { e.Baseline = path; return e }
	t.Setenv("RAGTEST_UPDATE", "")

	_, said := runGated(t, with(gated(t, 40, 0)))
	wantAll(t, said, "error: ragtest: could not measure: baseline "+path+" does not exist; create it with\n\tRAGTEST_UPDATE=1 go test -run '^TestGate$' ")

	t.Setenv("RAGTEST_UPDATE", "1")
	_, said = runGated(t, with(gated(t, 40, 0)))
	wantAll(t, said, "log: ragtest: baseline "+path+": wrote the scores of 40 queries")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(data), "\n"); lines != 42 || strings.Contains(string(data), "hits") {
		t.Errorf("the baseline has %d lines, want one a query without its hits:\n%s", lines, data)
	}
	runGated(t, with(gated(t, 40, 0)))
	if again, err := os.ReadFile(path); err != nil || string(again) != string(data) {
		t.Errorf("writing the baseline again changes it: %v", err)
	}
	t.Setenv("RAGTEST_UPDATE", "")

	r, said := runGated(t, with(gated(t, 40, 0)))
	wantAll(t, said, "log: ragtest: baseline "+path+": held", "span_recall")
	if r.Baseline.Outcome != ragtest.OutcomeHeld || r.Baseline.Comparison.Metrics[0].Changes[0].P != 1 || strings.Contains(said, "error") {
		t.Errorf("got %+v and %q, want that it held", r.Baseline, said)
	}

	// Two losses of 40 may be chance: the sign-flip test has p = 1/4.
	if r, said = runGated(t, with(gated(t, 40, 2))); r.Baseline.Outcome != ragtest.OutcomeHeld {
		t.Errorf("two losses: got %s: %s", r.Baseline.Outcome, said)
	}
	// Eight are not: p = 1/256, times 3 metrics.
	r, said = runGated(t, with(gated(t, 40, 8)))
	wantAll(t, said, "error: ragtest: regressed against the baseline "+path,
		"span_recall: got 0.8000, was 1.0000: a loss of 0.2000 (95 % interval 0.", "p = 0.012 after Holm); 8 queries got worse, 0 better:",
		"\n  0.0000, was 1.0000  q0: \"bananas\"", "missed a.md:2:1 \"bananas\", lost by reranker", "and 3 more",
		"accept this run as the baseline with\n\tRAGTEST_UPDATE=1 go test")
	if diff := cmp.Diff([]string{"span_recall", "span_precision", "span_iou"}, r.Baseline.Regressed); diff != "" {
		t.Errorf("regressed (-want +got):\n%s", diff)
	}
	if got := r.Baseline.Comparison.Metrics[0].Changes[0]; got.P != 1.0/256 || len(got.Worse) != 8 || !(got.Low < -0.2 && got.High > -0.2 && got.High < 0) {
		t.Errorf("got %+v", got)
	}
	var read ragtest.Result
	if data, err := json.Marshal(r); err != nil {
		t.Error(err)
	} else if err := json.Unmarshal(data, &read); err != nil || !read.Equal(*r) {
		t.Errorf("the JSON of a result with a baseline reads back as another: %v", err)
	}

	within := with(gated(t, 40, 8))
	within.Margin = 0.25
	if r, _ = runGated(t, within); r.Baseline.Outcome != ragtest.OutcomeHeld {
		t.Errorf("within the margin: got %s", r.Baseline.Outcome)
	}
	changed := with(gated(t, 40, 8))
	changed.Severities.Regressed = ragtest.Warn
	changed.Reranker, changed.FetchK, changed.K = nil, 0, 2
	changed.Embedder = embedFunc(func(_ context.Context, texts []string) ([][]float32, error) {
		return make([][]float32, len(texts)), errors.New("the service is down")
	})
	_, said = runGated(t, changed)
	wantAll(t, said, "fatal: ragtest: could not measure: embedding ", "the service is down")
	changed.Severities.CouldNotMeasure = ragtest.Skip
	_, said = runGated(t, changed)
	wantAll(t, said, "skip: ragtest: could not measure: embedding ")
	changed.Severities.CouldNotMeasure = ragtest.Warn
	r, said = runGated(t, changed)
	wantAll(t, said, "log: ragtest: could not measure: embedding ")
	if r == nil || len(r.Metrics) != 0 {
		t.Errorf("got %+v, want a result without scores", r)
	}

	warned := with(gated(t, 40, 8))
	warned.Severities.Regressed = ragtest.Warn
	_, said = runGated(t, warned)
	wantAll(t, said, "log: ragtest: regressed against the baseline ")

	stale := with(gated(t, 40, 8))
	stale.Corpus = corpus(t, "a.md", "äpfel\nbananas\n", "b.md", "plums\n")
	_, said = runGated(t, stale)
	wantAll(t, said, "error: ragtest: labels stale: the corpus is not that of the baseline ", ": of its 40 relevant passages, 40 (100.0 %) are still in their documents")
	stale.Corpus = corpus(t, "a.md", "äpfel\nberries\n", "b.md", "bananas\n")
	stale.Severities.LabelsStale = ragtest.Skip
	_, said = runGated(t, stale)
	wantAll(t, said, "skip: ragtest: labels stale: ", ": of its 40 relevant passages, 0 (0.0 %)")

	fewer := with(gated(t, 40, 0))
	fewer.Queries = fewer.Queries[:39]
	_, said = runGated(t, fewer)
	wantAll(t, said, "error: ragtest: could not measure: baseline "+path+": comparing runs: run 1 (TestGate): it lacks the query q39 of the first run")

	damaged := strings.Replace(string(data), `"scores":[{"metric":"span_recall","value":1}`, `"scores":[{"metric":"span_recall","value":10}`, 1)
	if err := os.WriteFile(path, []byte(damaged), 0o666); err != nil {
		t.Fatal(err)
	}
	_, said = runGated(t, with(gated(t, 40, 0)))
	wantAll(t, said, "error: ragtest: could not measure: baseline "+path+": query q0: span_recall is 10, want a score between 0 and 1")
	if err := os.WriteFile(path, data[:len(data)/2], 0o666); err != nil {
		t.Fatal(err)
	}
	_, said = runGated(t, with(gated(t, 40, 0)))
	wantAll(t, said, "error: ragtest: could not measure: baseline "+path+": ")
	t.Setenv("RAGTEST_UPDATE", "yes")
	_, said = runGated(t, with(gated(t, 40, 0)))
	wantAll(t, said, `error: ragtest: could not measure: RAGTEST_UPDATE="yes": want 1`)
}

// Ground truth that does not fit is stale where the corpus is not that of the baseline,
// and else a fault.
func TestStaleGroundTruth(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gate.json")
	update := func(value string) { t.Setenv("RAGTEST_UPDATE", value) }
	said := func(f func(tb testing.TB)) string { return strings.Join(record(t, &recorder{}, f), "\n") }
	for name, run := range map[string]func(changed bool, s ragtest.Severities) func(tb testing.TB){
		"token": func(changed bool, s ragtest.Severities) func(tb testing.TB) {
			e := fruit(t)
			e.Baseline, e.Severities = path, s
			if changed {
				e.Corpus = corpus(t, "a.md", "äpfel\nban", "b.md", "cherries\n") // the spans end at 10 and 13
			}
			return func(tb testing.TB) { ragtest.RunTokenLevel(testGate{tb}, e) }
		},
		"stream": func(changed bool, s ragtest.Severities) func(tb testing.TB) {
			e := fruit(t)
			docs := streamOf(e.Corpus)
			e.Baseline, e.Severities, e.Corpus = path, s, nil
			if changed {
				docs = streamOf(corpus(t, "a.md", "äpfel\nban", "b.md", "cherries\n"))
			}
			return func(tb testing.TB) { ragtest.RunTokenLevelStream(testGate{tb}, e, docs) }
		},
		"chunk": func(changed bool, s ragtest.Severities) func(tb testing.TB) {
			e := fruitChunks(t)
			e.Baseline, e.Severities = path, s
			if changed {
				e.Corpus = corpus(t, "a.md", "äpfel\nbananas\n", "b.md", "cherries\n") // no dates
			}
			return func(tb testing.TB) { ragtest.RunChunkLevel(testGate{tb}, e) }
		},
		"document": func(changed bool, s ragtest.Severities) func(tb testing.TB) {
			long := strings.Repeat("so\nlong ", 100)
			e := ragtest.DocumentLevel{Corpus: corpus(t, "a.md", long, "b.md", "short"), Embedder: letters{}, Baseline: path, Severities: s,
				Queries: []ragtest.DocumentQuery{{Query: ragtest.Query{Text: "long"}, Relevant: map[spans.DocumentID]int{"a.md": 1, "b.md": 1}}}}
			if changed {
				e.Corpus = corpus(t, "a.md", long) // no b.md
			}
			return func(tb testing.TB) { ragtest.RunDocumentLevel(testGate{tb}, e) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			update("1")
			wantAll(t, said(run(false, ragtest.Severities{})), "wrote the scores of ")
			update("")
			got := said(run(true, ragtest.Severities{}))
			survival := map[string]string{"token": "of its 2 relevant passages, 0 (0.0 %)", "stream": "of its 2 relevant passages, 0 (0.0 %)", "chunk": "of its 3 relevant passages, 2 (66.7 %)", "document": "of its 2 relevant passages, 1 (50.0 %)"}[name]
			wantAll(t, got, "fatal: ragtest: labels stale: the corpus is not that of the baseline ", survival, "the ground truth does not fit the corpus: ")
			if strings.Count(got, "fatal: ") != 1 {
				t.Errorf("got %s, want one failure", got)
			}
			wantAll(t, said(run(true, ragtest.Severities{LabelsStale: ragtest.Skip})), "skip: ragtest: labels stale: ")
			wantAll(t, said(run(true, ragtest.Severities{LabelsStale: ragtest.Warn})), "log: ragtest: labels stale: ")
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if got := said(run(true, ragtest.Severities{})); !strings.Contains(got, "fatal: ") || strings.Contains(got, "stale") {
				t.Errorf("without a baseline: got %s", got)
			}
		})
	}
}

// Of a stream only some documents are kept: they must do for a baseline.
func TestStreamWithBaseline(t *testing.T) {
	list := []string{"a.md", "apples\n", "b.md", "bananas\n", "c.md", "cherries\n"}
	e := ragtest.TokenLevel{Chunker: placedLines{}, Embedder: letters{}, Baseline: filepath.Join(t.TempDir(), "gate.json"),
		Queries: []ragtest.TokenQuery{{Query: ragtest.Query{ID: "q", Text: "bananas"}, Relevant: []spans.Span{{Doc: "b.md", Start: 0, End: 7}}}}}
	said := func(e ragtest.TokenLevel, list ...string) string {
		docs := streamOf(corpus(t, list...))
		return strings.Join(record(t, &recorder{}, func(tb testing.TB) { ragtest.RunTokenLevelStream(testGate{tb}, e, docs) }), "\n")
	}
	t.Setenv("RAGTEST_UPDATE", "1")
	wantAll(t, said(e, list...), "wrote the scores of 1 query")
	t.Setenv("RAGTEST_UPDATE", "")
	bad := e
	bad.Queries = []ragtest.TokenQuery{{Query: e.Queries[0].Query, Relevant: []spans.Span{{Doc: "b.md", Start: 0, End: 99}}}}
	if got := said(bad, list...); strings.Contains(got, "stale") || !strings.Contains(got, "fatal: ragtest: query q") {
		t.Errorf("ground truth that never fitted: got %s", got)
	}
	moved := e
	moved.Queries = []ragtest.TokenQuery{{Query: e.Queries[0].Query, Relevant: []spans.Span{{Doc: "c.md", Start: 0, End: 8}}}}
	wantAll(t, said(moved, append(list, "d.md", "dates\n")...), "labels stale: ", "of its 1 relevant passage, 1 (100.0 %)")
}

func TestStreamThatCannotBeReadIsNotMeasured(t *testing.T) {
	e := fruit(t)
	all := streamOf(e.Corpus)
	e.Corpus = nil
	for failing := range 3 { // the stream is read three times
		times := 0
		docs := func(yield func(*spans.Document, error) bool) {
			if times++; times > failing {
				yield(nil, errors.New("no network"))
				return
			}
			all(yield)
		}
		e.Severities.CouldNotMeasure = ragtest.Skip
		said := strings.Join(record(t, &recorder{}, func(tb testing.TB) { ragtest.RunTokenLevelStream(testGate{tb}, e, docs) }), "\n")
		wantAll(t, said, "skip: ragtest: could not measure: reading document number 0: no network")
	}
}

func TestDetectableLossIsThatOfTheRule(t *testing.T) {
	t.Setenv("RAGTEST_UPDATE", "1")
	e := gated(t, 40, 8)
	e.Baseline = filepath.Join(t.TempDir(), "gate.json")
	runGated(t, e)
	t.Setenv("RAGTEST_UPDATE", "")
	detectable := func(lost int, margin float64, metrics ...ragtest.TokenMetric) ragtest.MetricChange {
		t.Helper()
		changed := gated(t, 40, lost)
		changed.Baseline, changed.Margin, changed.Metrics = e.Baseline, margin, metrics
		r, said := runGated(t, changed)
		if r.Baseline == nil {
			t.Fatal(said)
		}
		return r.Baseline.Comparison.Metrics[0].Changes[0]
	}
	// 16 of 40 lose 1: normal quantiles of 0.95 and 0.8, with n-1.
	deviation := math.Sqrt(8 * (1 - 8.0/40) / 39)
	se := deviation / math.Sqrt(40)
	one := detectable(16, 0, ragtest.SpanRecall)
	if want := (1.6448536269514722 + 0.8416212335729143) * se; math.Abs(one.DetectableLoss-want) > 1e-9 || one.DetectableBound {
		t.Errorf("got %v, want %v", one.DetectableLoss, want)
	}
	if got, want := detectable(16, 0.5, ragtest.SpanRecall).DetectableLoss, 0.5+0.8416212335729143*se; math.Abs(got-want) > 1e-9 {
		t.Errorf("with a margin: got %v, want %v", got, want)
	}
	// Of three metrics a loss by one alone is judged at a third of the level.
	if got, want := detectable(16, 0, ragtest.SpanRecall, ragtest.SpanPrecision, ragtest.SpanIoU).DetectableLoss, (2.1280452341849+0.8416212335729143)*se; math.Abs(got-want) > 1e-6 {
		t.Errorf("of three metrics: got %v, want %v", got, want)
	}
	if same := detectable(8, 0, ragtest.SpanRecall); !same.DetectableBound || same.DetectableLoss <= one.DetectableLoss {
		t.Errorf("where nothing differs: got %+v, want a bound", same)
	}
}

func TestBaselineFields(t *testing.T) {
	for _, test := range []struct {
		change func(e *ragtest.TokenLevel)
		want   string
	}{
		{func(e *ragtest.TokenLevel) { e.Baseline, e.Margin = "x", -0.1 }, "fatal: ragtest: field Margin: got -0.1, want a mean loss between 0 and 1"},
		{func(e *ragtest.TokenLevel) { e.Baseline, e.Margin = "x", math.NaN() }, "fatal: ragtest: field Margin: got NaN"},
		{func(e *ragtest.TokenLevel) { e.Margin = 0.1 }, "fatal: ragtest: field Margin: set without a Baseline"},
		{func(e *ragtest.TokenLevel) { e.Severities.LabelsStale = 3 }, "fatal: ragtest: field Severities.LabelsStale: got 3, want Fail, Warn or Skip"},
	} {
		e := fruit(t)
		test.change(&e)
		if _, said := runGated(t, e); !strings.HasPrefix(said, test.want) {
			t.Errorf("got %q, want %q", said, test.want)
		}
	}
}

// result is one with the given scores by one metric.
func result(name string, scores ...float64) *ragtest.Result {
	r := &ragtest.Result{Name: name, Level: "token", Metrics: []ragtest.Score{{Metric: "span_recall"}}}
	for i, s := range scores {
		r.Queries = append(r.Queries, ragtest.QueryResult{ID: ragtest.QueryID(fmt.Sprint("q", i)), Text: fmt.Sprint("query|", i), Scores: []ragtest.Score{{Metric: "span_recall", Value: s}}})
	}
	return r
}

func TestCompare(t *testing.T) {
	a, b := result("small_chunks", 1, 1, 0.5, 0, 1, 0.2), result("large|chunks", 0.5, 1, 1, 0, 0.9, 0.2)
	b.Queries[0], b.Queries[5] = b.Queries[5], b.Queries[0] // the order does not matter
	c, err := ragtest.Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	d := c.Metrics[0].Changes[0]
	if math.Abs(d.Difference+0.1/6) > 1e-12 || d.P != d.Adjusted || d.P <= 0.4 || d.P > 0.7 {
		t.Errorf("got %+v", d)
	}
	if diff := cmp.Diff([]ragtest.QueryChange{{ID: "q0", Text: "query|0", Old: 1, New: 0.5}, {ID: "q4", Text: "query|4", Old: 1, New: 0.9}}, d.Worse); diff != "" {
		t.Errorf("worse (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]ragtest.QueryChange{{ID: "q2", Text: "query|2", Old: 0.5, New: 1}}, d.Better); diff != "" {
		t.Errorf("better (-want +got):\n%s", diff)
	}
	wantAll(t, c.String(), "token-level comparison of large|chunks with small_chunks, over 6 queries", "span_recall  large|chunks  0.6167  0.6000  -0.0167 ")
	wantAll(t, c.Markdown(), "| metric | run | old | new |", "\n| --- | --- | ---: |", `| span\_recall | large\|chunks | 0.6167 |`)
	wantAll(t, c.LaTeX(), `\begin{tabular}{llrrrrrrrr}`, `span\_recall & large|chunks & 0.6167 & 0.6000 & -0.0167 & `, `95 \% interval`)
	if len(c.Metrics[0].Pairs) != 0 {
		t.Errorf("two runs have pairs: %+v", c.Metrics[0].Pairs)
	}
}

func TestCompareSeveral(t *testing.T) {
	var low, middle, high []float64
	for i := range 40 {
		x := float64(i%10) / 20
		low, middle, high = append(low, x), append(middle, x+0.01*float64(i%3-1)), append(high, x+0.4+0.01*float64(i%2))
	}
	c, err := ragtest.Compare(result("low", low...), result("middle", middle...), result("high", high...))
	if err != nil {
		t.Fatal(err)
	}
	pairs := c.Metrics[0].Pairs
	if len(pairs) != 3 || pairs[0].P < 0.05 || pairs[1].P > 0.001 || pairs[2].P > 0.001 {
		t.Errorf("got %+v, want that only high differs", pairs)
	}
	wantAll(t, c.String(), "span_recall: low and high differ, p = 0.0001", "span_recall: middle and high differ, p = 0.0001")
	if strings.Contains(c.String(), "low and middle differ") {
		t.Errorf("low and middle do not differ:\n%s", c)
	}
	again, err := ragtest.Compare(result("low", low...), result("middle", middle...), result("high", high...))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c, again); diff != "" {
		t.Errorf("the same runs compare otherwise:\n%s", diff)
	}
}

func TestCompareIncomparable(t *testing.T) {
	a := result("a", 1, 0)
	chunkLevel, twice, nan, other := result("b", 1, 0), result("b", 1, 0), result("b", 1, math.NaN()), result("b", 1, 0)
	chunkLevel.Level = "chunk"
	twice.Queries[1].ID = "q0"
	other.Metrics[0].Metric = "span_iou"
	for _, test := range []struct {
		a, b *ragtest.Result
		want string
	}{
		{nil, a, "run 0 is nil"},
		{a, nil, "run 1 is nil"},
		{a, chunkLevel, "run 1 (b) is chunk-level, and the first token-level"},
		{a, twice, "run 1 (b): it has the query q0 twice"},
		{a, result("b", 1), "run 1 (b): it lacks the query q1 of the first run"},
		{a, result("b", 1, 0, 1), "run 1 (b): it has the query q2"},
		{a, nan, "run 1 (b): query q1 has no finite score by span_recall"},
		{a, other, "they have no metric in common"},
		{result("a"), result("b"), "they have no queries"},
	} {
		if _, err := ragtest.Compare(test.a, test.b); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, want %q", err, test.want)
		}
	}
}

func TestCompareSummaries(t *testing.T) {
	tie, err := ragtest.CompareSummaries(ragtest.ScoreSummary{Mean: 0.87, StandardDeviation: 0.3, Queries: 472}, ragtest.ScoreSummary{Mean: 0.88, StandardDeviation: 0.3, Queries: 472})
	if err != nil || !(tie.Low < 0 && tie.High > 0) || !strings.Contains(tie.String(), "a tie") {
		t.Errorf("got %v, %v, want a tie", tie, err)
	}
	differ, err := ragtest.CompareSummaries(ragtest.ScoreSummary{Mean: 0.6, StandardDeviation: 0.3, Queries: 472}, ragtest.ScoreSummary{Mean: 0.88, StandardDeviation: 0.3, Queries: 472})
	if err != nil || differ.Low <= 0 || !strings.Contains(differ.String(), "the runs differ") {
		t.Errorf("got %v, %v, want a difference", differ, err)
	}
	sound := ragtest.ScoreSummary{Mean: 0.5, Queries: 2}
	for _, s := range []ragtest.ScoreSummary{{Mean: 0.5, Queries: 1}, {Mean: math.NaN(), Queries: 2}, {StandardDeviation: -1, Queries: 2}, {StandardDeviation: math.Inf(1), Queries: 2}} {
		if _, err := ragtest.CompareSummaries(sound, s); err == nil {
			t.Errorf("%+v: got no error", s)
		}
	}
}

// The recalls of Chroma's published table (Smith & Troynikov, "Evaluating Chunking
// Strategies for Retrieval", 2024; all-MiniLM-L6-v2, 472 questions): of its 28
// pairs, only those of the best row with the five lowest can be told apart.
func TestCompareSummariesOfChromasTable(t *testing.T) {
	rows := []struct {
		chunking        string
		mean, deviation float64
	}{
		{"TokenText 250/125", 0.824, 0.362},
		{"Recursive 250/125", 0.787, 0.392},
		{"Recursive 250/0", 0.785, 0.395},
		{"Cluster semantic 250", 0.773, 0.386},
		{"TokenText 250/0", 0.771, 0.393},
		{"TokenText 200/0", 0.766, 0.388},
		{"Recursive 200/0", 0.757, 0.407},
		{"Cluster semantic 200", 0.752, 0.399},
	}
	for i, a := range rows {
		for j, b := range rows[:i] {
			c, err := ragtest.CompareSummaries(ragtest.ScoreSummary{Mean: a.mean, StandardDeviation: a.deviation, Queries: 472},
				ragtest.ScoreSummary{Mean: b.mean, StandardDeviation: b.deviation, Queries: 472})
			if err != nil {
				t.Fatal(err)
			}
			differ := j == 0 && i >= 3
			if got := strings.Contains(c.String(), "the runs differ"); got != differ {
				t.Errorf("%s and %s: got %s, want them to differ: %v", a.chunking, b.chunking, c, differ)
			}
		}
	}
}
