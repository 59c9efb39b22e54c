package trec_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/trec"
	"github.com/rageval/rageval/spans"
)

// TestAgainstTrecEval compares with what NIST's trec_eval printed, line by line and
// digit by digit, for each query and overall.
func TestAgainstTrecEval(t *testing.T) {
	dir := realdata.Dir(t, "data", "trec")
	run, err := fixtures.ReadRun(os.DirFS(dir), "run.txt")
	if err != nil {
		t.Fatal(err)
	}
	judgments, err := fixtures.ReadQrels(os.DirFS(dir), "qrels.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		file    string
		scorer  trec.Scorer
		queries int
	}{
		{"expected.txt", trec.Scorer{}, 70},
		{"expected_c.txt", trec.Scorer{Complete: true}, 80},
	} {
		t.Run(test.file, func(t *testing.T) {
			test.scorer.Measures = append(trec.DefaultMeasures(), "map_cut")
			scores, err := test.scorer.Score(run, judgments)
			if err != nil {
				t.Fatal(err)
			}
			var printed bytes.Buffer
			if err := scores.Write(&printed, true); err != nil {
				t.Fatal(err)
			}
			got := lines(printed.String())
			data, err := os.ReadFile(filepath.Join(dir, test.file))
			if err != nil {
				t.Fatal(err)
			}
			compared := 0
			for key, want := range lines(string(data)) {
				if g, ok := got[key]; ok {
					compared++
					if g != want {
						t.Errorf("%s: got %s, want %s", key, g, want)
					}
				}
			}
			// Every line of ours was compared: no measure or query is ours alone.
			if compared != len(got) || len(scores.Queries) != test.queries {
				t.Errorf("compared %d of %d lines, of %d queries, want %d", compared, len(got), len(scores.Queries), test.queries)
			}
			// 58 measures of each query; overall num_q, gm_map and runid besides.
			if want := 58*test.queries + 61; compared != want {
				t.Errorf("compared %d lines, want %d", compared, want)
			}
			t.Logf("%d lines are equal", compared)
		})
	}
}

// lines returns what trec_eval printed by measure and query.
func lines(text string) map[string]string {
	of := make(map[string]string)
	for line := range strings.Lines(text) {
		if at := strings.LastIndexByte(line, '\t'); at >= 0 {
			of[line[:at]] = strings.TrimSpace(line[at:])
		}
	}
	return of
}

func run(docs ...trec.Document) trec.Run {
	return trec.Run{Tag: "t", Queries: []trec.QueryRun{{ID: "q", Documents: docs}}}
}

func judged(grades ...int) trec.Judgments {
	j := trec.QueryJudgments{ID: "q"}
	for i, g := range grades {
		j.Judged = append(j.Judged, trec.Judgment{Doc: doc(i), Grade: g})
	}
	return trec.Judgments{j}
}

func doc(i int) spans.DocumentID { return spans.DocumentID(fmt.Sprintf("d%d", i)) }

// ranked is a run of documents in that order.
func ranked(docs ...int) trec.Run {
	r := run()
	for i, d := range docs {
		r.Queries[0].Documents = append(r.Queries[0].Documents, trec.Document{ID: doc(d), Score: -float64(i)})
	}
	return r
}

func TestScoreWorked(t *testing.T) {
	log2 := math.Log2
	for _, test := range []struct {
		name    string
		scorer  trec.Scorer
		run     trec.Run
		judged  trec.Judgments
		measure string
		want    float64
	}{
		{"ties are by ID, descending", trec.Scorer{}, run(trec.Document{ID: "d0", Score: 1}, trec.Document{ID: "d1", Score: 1}, trec.Document{ID: "d2", Score: 1}), judged(1, 0, 0), "recip_rank", 1. / 3},
		{"ties of all digits only", trec.Scorer{}, run(trec.Document{ID: "d0", Score: 1 + 1e-12}, trec.Document{ID: "d1", Score: 1}), judged(1, 0), "recip_rank", 1},
		{"precision divides by k", trec.Scorer{}, ranked(0), judged(1), "P_5", 0.2},
		{"map divides by all relevant", trec.Scorer{}, ranked(0, 9, 1), judged(1, 1, 1, 1), "map", (1 + 2./3) / 4},
		{"map_cut", trec.Scorer{}, ranked(0, 9, 1), judged(1, 1, 1, 1), "map_cut_2", 1. / 4},
		{"gains are grades", trec.Scorer{}, ranked(0, 1), judged(1, 3), "ndcg", (1 + 3/log2(3)) / (3 + 1/log2(3))},
		{"ideal is cut too", trec.Scorer{}, ranked(0, 1), judged(1, 3), "ndcg_cut_1", 1. / 3},
		{"level", trec.Scorer{Level: 2}, ranked(0, 1), judged(1, 3), "recip_rank", 0.5},
		{"level does not change nDCG", trec.Scorer{Level: 2}, ranked(0, 1), judged(1, 3), "ndcg_cut_1", 1. / 3},
		{"most retrieved", trec.Scorer{MaxRetrieved: 1}, ranked(9, 0), judged(1), "recall_5", 0},
		{"judged only", trec.Scorer{JudgedOnly: true}, ranked(9, 8, 1, 0), judged(1, 0), "recip_rank", 0.5},
		{"a negative grade is not judged", trec.Scorer{JudgedOnly: true}, ranked(2, 1, 0), judged(1, 0, -1), "recip_rank", 0.5},
		{"bpref leaves out what is not judged", trec.Scorer{}, ranked(9, 8, 7, 0), judged(1, 0), "bpref", 1},
		{"bpref of three", trec.Scorer{}, ranked(2, 0, 3, 1), judged(1, 1, 0, 0, 0), "bpref", (1 - 1./2) / 2},
		{"Rprec", trec.Scorer{}, ranked(0, 9, 1), judged(1, 1), "Rprec", 0.5},
		{"success", trec.Scorer{}, ranked(9, 0), judged(1), "success_1", 0},
		{"interpolated", trec.Scorer{}, ranked(9, 0, 1), judged(1, 1), "iprec_at_recall_0.50", 2. / 3},
		{"interpolated, never reached", trec.Scorer{}, ranked(0), judged(1, 1), "iprec_at_recall_1.00", 0},
		{"nothing relevant", trec.Scorer{}, ranked(0), judged(0), "ndcg", 0},
		{"geometric mean of nothing", trec.Scorer{}, ranked(9), judged(1), "gm_map", 0.00001},
		{"complete", trec.Scorer{Complete: true}, ranked(0), append(judged(1), trec.QueryJudgments{ID: "r", Judged: []trec.Judgment{{Doc: "d", Grade: 1}}}), "map", 0.5},
		{"not complete", trec.Scorer{}, ranked(0), append(judged(1), trec.QueryJudgments{ID: "r", Judged: []trec.Judgment{{Doc: "d", Grade: 1}}}), "map", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.scorer.Measures = []string{test.measure}
			scores, err := test.scorer.Score(test.run, test.judged)
			if err != nil {
				t.Fatal(err)
			}
			if got, ok := scores.Score(test.measure); !ok || math.Abs(got-test.want) > 1e-15 {
				t.Errorf("%s: got %v (%v), want %v", test.measure, got, ok, test.want)
			}
		})
	}
}

func TestScoreErrors(t *testing.T) {
	d := func(id spans.DocumentID, score float64) trec.Document { return trec.Document{ID: id, Score: score} }
	twice := ranked(0)
	twice.Queries = append(twice.Queries, twice.Queries[0])
	for _, test := range []struct {
		name   string
		scorer trec.Scorer
		run    trec.Run
		judged trec.Judgments
		want   string
	}{
		{"unknown measure", trec.Scorer{Measures: []string{"map", "mrr"}}, ranked(0), judged(1), `field Measures: measure 1: "mrr": want one of P, P_10, `},
		{"cut-off 0", trec.Scorer{Measures: []string{"P_0"}}, ranked(0), judged(1), `"P_0": want a cut-off of at least 1 after P_`},
		{"odd cut-off", trec.Scorer{Measures: []string{"P_+5"}}, ranked(0), judged(1), `"P_+5": want a cut-off`},
		{"recall of 2", trec.Scorer{Measures: []string{"iprec_at_recall_2"}}, ranked(0), judged(1), `want a recall between 0 and 1`},
		{"NaN recall", trec.Scorer{Measures: []string{"iprec_at_recall_nan"}}, ranked(0), judged(1), `want a recall between 0 and 1`},
		{"measure twice", trec.Scorer{Measures: []string{"P_5", "P"}}, ranked(0), judged(1), "measure 1: P_5 is there twice"},
		{"negative level", trec.Scorer{Level: -1}, ranked(0), judged(1), "field Level: got -1, want at least 1, or 0 for 1"},
		{"negative most", trec.Scorer{MaxRetrieved: -1}, ranked(0), judged(1), "field MaxRetrieved: got -1"},
		{"no common query", trec.Scorer{}, run(), trec.Judgments{{ID: "r", Judged: []trec.Judgment{{Doc: "d"}}}}, `scoring run "t": none of its 1 queries has judgments`},
		{"query twice", trec.Scorer{}, twice, judged(1), `scoring run "t": query q is there twice`},
		{"document twice", trec.Scorer{}, run(d("a", 1), d("a", 2)), judged(1), `query q: document a is there twice`},
		{"NaN", trec.Scorer{}, run(d("a", math.NaN())), judged(1), `document a: the score is NaN, want a finite number`},
		{"judged twice", trec.Scorer{}, ranked(0), append(judged(1), judged(1)...), "judgments: query q is there twice"},
		{"document judged twice", trec.Scorer{}, ranked(0), trec.Judgments{{ID: "q", Judged: []trec.Judgment{{Doc: "a"}, {Doc: "a"}}}}, "judgments: query q: document a is there twice"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := test.scorer.Score(test.run, test.judged)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want %q in it", err, test.want)
			}
		})
	}
}

func TestRunOf(t *testing.T) {
	r := &ragtest.Result{Name: "Test BM25/x", Queries: []ragtest.QueryResult{
		{ID: "q1", Hits: []ragtest.Hit{{Doc: "a", Score: 2}, {Doc: "b", Score: 2}, {Doc: "a", Score: 1}}},
		{ID: "q2"},
	}}
	want := trec.Run{Tag: "Test_BM25/x", Queries: []trec.QueryRun{
		{ID: "q1", Documents: []trec.Document{{ID: "a", Score: 2}, {ID: "b", Score: 2}}}, {ID: "q2"},
	}}
	if diff := cmp.Diff(want, trec.RunOf(r, false)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	want.Queries[0].Documents = []trec.Document{{ID: "a", Score: 1}, {ID: "b", Score: 0.5}}
	if diff := cmp.Diff(want, trec.RunOf(r, true)); diff != "" {
		t.Errorf("by rank (-want +got)\n%s", diff)
	}
	r.Name = ""
	if got := trec.RunOf(r, false).Tag; got != "ragtest" {
		t.Errorf("got tag %q, want ragtest", got)
	}
}

func TestJudgmentsOf(t *testing.T) {
	got := trec.JudgmentsOf([]ragtest.DocumentQuery{
		{Query: ragtest.Query{ID: "q", Text: "?"}, Relevant: map[spans.DocumentID]int{"b": 1, "c": 0, "a": 2}},
		{Query: ragtest.Query{ID: "none", Text: "none"}},
		{Query: ragtest.Query{Text: "!"}, Relevant: map[spans.DocumentID]int{"a": 1}},
	})
	want := trec.Judgments{{ID: "q", Judged: []trec.Judgment{{Doc: "a", Grade: 2}, {Doc: "b", Grade: 1}, {Doc: "c"}}}, {ID: ragtest.NewQueryID("!"), Judged: []trec.Judgment{{Doc: "a", Grade: 1}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestScoreModifiesNothing(t *testing.T) {
	r, j := ranked(2, 1, 0), append(judged(1), trec.QueryJudgments{ID: "a", Judged: []trec.Judgment{{Doc: "d"}}})
	r.Queries[0].Documents[0].Score = -9
	before := fmt.Sprint(r, j)
	if _, err := (trec.Scorer{Complete: true}).Score(r, j); err != nil {
		t.Fatal(err)
	}
	if after := fmt.Sprint(r, j); after != before {
		t.Errorf("got %s, want %s", after, before)
	}
}

// BenchmarkScore scores a run of 1,000 queries of 1,000 documents each.
func BenchmarkScore(b *testing.B) {
	r := trec.Run{Tag: "t", Queries: make([]trec.QueryRun, 1000)}
	j := make(trec.Judgments, len(r.Queries))
	for i := range r.Queries {
		id := ragtest.QueryID(fmt.Sprintf("q%04d", i))
		r.Queries[i].ID, j[i].ID = id, id
		for d := range 1000 {
			r.Queries[i].Documents = append(r.Queries[i].Documents, trec.Document{ID: doc(d), Score: float64(d * 7919 % 1009)})
			if d%25 == 0 {
				j[i].Judged = append(j[i].Judged, trec.Judgment{Doc: doc(d), Grade: d / 25 % 4})
			}
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (trec.Scorer{}).Score(r, j); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleScorer() {
	run := trec.Run{Tag: "bm25", Queries: []trec.QueryRun{{ID: "q1", Documents: []trec.Document{
		{ID: "notice.md", Score: 7.1}, {ID: "leave.md", Score: 3.2},
	}}}}
	judgments := trec.Judgments{{ID: "q1", Judged: []trec.Judgment{{Doc: "leave.md", Grade: 2}, {Doc: "pay.md", Grade: 1}}}}
	scores, err := trec.Scorer{Measures: []string{"recip_rank", "ndcg_cut_10", "recall_10"}}.Score(run, judgments)
	if err != nil {
		fmt.Println(err)
		return
	}
	scores.Write(os.Stdout, false)
	// Output:
	// runid                 	all	bm25
	// recip_rank            	all	0.5000
	// ndcg_cut_10           	all	0.4796
	// recall_10             	all	0.5000
}
