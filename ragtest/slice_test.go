package ragtest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// sliced is [fruit] with a kind of query: the two that are found and the one that
// is not.
func sliced(t testing.TB) ragtest.TokenLevel {
	e := fruit(t)
	for i := range e.Queries {
		e.Queries[i].Metadata = map[string]string{"type": "easy", "lang": "en"}
	}
	e.Queries[1].Metadata = map[string]string{"type": "multi-hop", "lang": "de"}
	return e
}

func TestSlices(t *testing.T) {
	recall := ragtest.SpanRecall
	for _, tc := range []struct {
		name       string
		sliceBy    []string
		thresholds []ragtest.TokenThreshold
		want       []string // in what is said
	}{
		{"held", nil, []ragtest.TokenThreshold{recall.Where("type", "easy").AtLeast(1)},
			[]string{"slice      queries  span_recall  span_precision  span_iou  threshold", "type=easy  2        1.0000       0.5000          0.5000    span_recall >= 1 ok"}},
		{"failed", nil, []ragtest.TokenThreshold{recall.Where("type", "multi-hop").AtLeast(0.8), recall.AtLeast(0.8)},
			[]string{"error: ragtest: span_recall[type=multi-hop]: got 0.5000, want >= 0.8, over 1 query\nrecall lost by unlocatable 0.1000, budget 0.4000\nthe worst queries:\n  0.5000  "}},
		{"an upper bound", nil, []ragtest.TokenThreshold{recall.Where("type", "easy").AtMost(0.5)}, []string{"span_recall[type=easy]: got 1.0000, want <= 0.5, over 2 queries"}},
		{"confidence", nil, []ragtest.TokenThreshold{recall.Where("type", "easy").AtLeast(0.5).WithConfidence(0.9)}, []string{"span_recall[type=easy]: got 1.0000, want >= 0.5 with confidence 0.9, over 2 queries, which only show"}},
		{"two conditions, in any order", nil, []ragtest.TokenThreshold{recall.Where("type", "easy").Where("lang", "en").AtLeast(1)}, []string{"  lang=en,type=easy  2 "}},
		{"a cut-off", nil, []ragtest.TokenThreshold{ragtest.SpanMRR.At(1).Where("type", "easy").AtLeast(0.9)}, []string{"error: ragtest: span_mrr@1[type=easy]: got 0.5000"}},
		{"by key", []string{"lang", "type"}, nil, []string{"\n  lang=de         1 ", "\n  lang=en         2 ", "\n  type=easy       2 ", "\n  type=multi-hop  1 "}},
		{"unknown value", nil, []ragtest.TokenThreshold{recall.Where("type", "hard").AtLeast(0.8)},
			[]string{`fatal: ragtest: threshold 0: no query has the metadata type=hard; the values of type are "easy", "multi-hop"`}},
		{"unknown key", nil, []ragtest.TokenThreshold{recall.AtLeast(0), recall.Where("kind", "hard").AtLeast(0.8)}, []string{`fatal: ragtest: threshold 1: no query has the metadata key "kind"`}},
		{"empty combination", nil, []ragtest.TokenThreshold{recall.Where("type", "easy").Where("lang", "de").AtLeast(0.8)},
			[]string{"fatal: ragtest: threshold 0: no query has all of the metadata lang=de,type=easy"}},
		{"unknown key to slice by", []string{"kind"}, nil, []string{`fatal: ragtest: field SliceBy: no query has the metadata key "kind"`}},
		{"a key twice", []string{"type", "type"}, nil, []string{`fatal: ragtest: field SliceBy: the metadata key "type" is there twice`}},
		{"out of range", nil, []ragtest.TokenThreshold{recall.Where("type", "easy").AtLeast(1.5)}, []string{"fatal: ragtest: threshold 0: threshold span_recall[type=easy] >= 1.5: want a bound between 0 and 1"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := sliced(t)
			e.SliceBy = tc.sliceBy
			said := strings.Join(record(t, &recorder{}, func(tb testing.TB) { ragtest.RunTokenLevel(quoted{tb}, e, tc.thresholds...) }), "\n")
			wantAll(t, said, tc.want...)
		})
	}
}

func TestSlicesOfAResult(t *testing.T) {
	e := sliced(t)
	e.SliceBy = []string{"type"}
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []ragtest.Slice{
		{Name: "type=easy", Queries: 2, Metrics: []ragtest.Score{{Metric: "span_recall", Value: 1}, {Metric: "span_precision", Value: 0.5}, {Metric: "span_iou", Value: 0.5}},
			Intervals: []ragtest.ScoreInterval{{Metric: "span_recall", Low: 0, High: 1}, {Metric: "span_precision", Low: 0, High: 1}, {Metric: "span_iou", Low: 0, High: 1}}},
		{Name: "type=multi-hop", Queries: 1, Metrics: []ragtest.Score{{Metric: "span_recall", Value: 0.5}, {Metric: "span_precision", Value: 1}, {Metric: "span_iou", Value: 0.5}}},
	}
	if diff := cmp.Diff(want, r.Slices); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestChunkSlices(t *testing.T) {
	e := ragtest.ChunkLevel{Corpus: corpus(t, "a.md", "äpfel\nbananas\n", "b.md", "cherries\n  and dates\n"), Chunker: lines, Embedder: letters{}, K: 1}
	e.Queries = []ragtest.ChunkQuery{{Query: ragtest.Query{Text: "bananas", Metadata: map[string]string{"lang": "en"}}, Relevant: []chunkers.ChunkID{chunkers.NewChunkID("  and dates")}}}
	said := strings.Join(record(t, &recorder{}, func(tb testing.TB) {
		ragtest.RunChunkLevel(quoted{tb}, e, ragtest.ChunkRecall.Where("lang", "en").AtLeast(0.5))
	}), "\n")
	wantAll(t, said, "chunk_recall[lang=en]: got 0.0000, want >= 0.5, over 1 query", `missed b.md:2:1 "and dates", lost by retriever at rank `, `retrieved first a.md:2:1 "bananas"`)
}

func TestThresholdsOfSlicesAreEqual(t *testing.T) {
	a := ragtest.SpanRecall.Where("a", "1").Where("b", "2")
	if b := ragtest.SpanRecall.Where("b", "2").Where("a", "1").Where("a", "1"); !a.Equal(b) || a.Name() != "span_recall[a=1,b=2]" || !a.AtLeast(0.5).Equal(b.AtLeast(0.5)) {
		t.Errorf("%s and %s differ", a.Name(), b.Name())
	}
	if c := ragtest.SpanRecall.Where("a", "1"); a.Equal(c) || a.AtMost(1).Equal(c.AtMost(1)) || c.AtMost(1).Equal(ragtest.SpanRecall.AtMost(1)) {
		t.Error("different slices are equal")
	}
	// Narrowing one slice down leaves another alone.
	base := ragtest.ChunkRecall.Where("a", "1")
	x, y := base.Where("b", "1"), base.Where("c", "1")
	if got := base.Name() + x.Name() + y.Name(); got != "chunk_recall[a=1]chunk_recall[a=1,b=1]chunk_recall[a=1,c=1]" {
		t.Errorf("got %s", got)
	}
}

// Failures name files as an editor opens them from the folder of the test.
func TestFailuresNameFiles(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.MkdirAll(filepath.Join("testdata", "docs", "sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("testdata", "docs", "sub", "a.md"), []byte("äpfel\nund bananas\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	e := fruit(t)
	var err error
	if e.Corpus, err = fixtures.ReadDir(filepath.Join("testdata", "docs")); err != nil {
		t.Fatal(err)
	}
	e.Queries = []ragtest.TokenQuery{tokenQuery("pfel", spans.Span{Doc: "sub/a.md", Start: 10, End: 17})}
	said := strings.Join(record(t, &recorder{}, func(tb testing.TB) { ragtest.RunTokenLevel(quoted{tb}, e, ragtest.SpanRecall.AtLeast(0.5)) }), "\n")
	file := filepath.Join("testdata", "docs", "sub", "a.md")
	wantAll(t, said, "missed "+file+`:2:5 "bananas"`, "retrieved first "+file+`:1:1 "äpfel"`)
}
