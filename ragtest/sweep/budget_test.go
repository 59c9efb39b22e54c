package sweep_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/chunkers/tokens"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/ragtest/sweep"
	"github.com/rageval/rageval/spans"
)

// TestCurves compares with what a single evaluation of all chunks retrieves.
func TestCurves(t *testing.T) {
	g := handbook(t)
	g.Embedders, g.Retrievers, g.FetchK = g.Embedders[:1], nil, []int{10}
	length := tokens.Length(tokens.CL100K)
	for _, budget := range []struct {
		sweep.Budget
		limit int
		of    func(string) int
	}{
		{sweep.AtCharacters(900), 900, utf8.RuneCountInString}, {sweep.AtTokens(150), 150, length.Of}, {sweep.AtCharacters(1), 1, utf8.RuneCountInString},
		{sweep.AtCharacters(math.MaxInt), math.MaxInt, utf8.RuneCountInString},
	} {
		g.Budget = budget.Budget
		r := evaluate(t, g)
		if len(r.Curves) != 3*2 {
			t.Fatalf("got %d curves, want 6", len(r.Curves))
		}
		for _, curve := range r.Curves {
			if curve.Chunker == "chunkers.Func/positions=aligned" {
				continue
			}
			e := ragtest.TokenLevel{Corpus: g.Corpus, Queries: g.Queries, Chunker: parse(t, curve.Chunker), Embedder: lexical.Embedder{}, K: 1000}
			if curve.Reranker != "" {
				e.Reranker, e.K, e.FetchK, e.Metrics = shortest{}, 10, 10, []ragtest.TokenMetric{ragtest.SpanMRR}
			}
			all, err := e.Evaluate(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for p, point := range curve.Points {
				limit := float64(budget.limit) * float64(p+1) / 20
				recall, used := 0.0, 0
				for i, q := range all.Queries {
					var fits []spans.Span
					n := 0
					for _, h := range q.Hits {
						if float64(n+budget.of(h.Text)) > limit {
							break
						}
						n += budget.of(h.Text)
						fits = append(fits, h.Span)
					}
					used += n
					one := spans.Recall(spans.Union(fits...), spans.Union(g.Queries[i].Relevant...))
					recall += one
					if p == 19 && one != curve.Recalls[i] {
						t.Errorf("%v, %s, %s: got recall %v, want %v", budget.Budget, curve.Chunker, q.ID, curve.Recalls[i], one)
					}
				}
				n := float64(len(all.Queries))
				if math.Abs(point.Recall-recall/n) > 1e-12 || point.Used != float64(used)/n || point.Budget != limit {
					t.Errorf("%v, %s, point %d: got %+v, want recall %v, used %v within %v", budget.Budget, curve.Chunker, p, point, recall/n, float64(used)/n, limit)
				}
				if point.Used > limit {
					t.Errorf("%v of %v used", point.Used, limit)
				}
			}
			if curve.Recall != curve.Points[19].Recall || curve.Low > curve.Recall || curve.High < curve.Recall {
				t.Errorf("got recall %v in [%v, %v], want %v within", curve.Recall, curve.Low, curve.High, curve.Points[19].Recall)
			}
			if curve.Reranker == "" && curve.Short != 0 {
				t.Errorf("%s: %d rankings were too short", curve.Chunker, curve.Short)
			}
		}
	}
}

func parse(tb testing.TB, name string) chunkers.PositionAwareChunker {
	tb.Helper()
	if size := "fixed/size=100"; name == size {
		return chunkers.FixedSize{Size: 100}
	}
	if name != "recursive/size=300/overlap=50" {
		tb.Fatalf("chunker %s is not expected", name)
	}
	return chunkers.RecursiveCharacter{Size: 300, Overlap: 50}
}

func TestShortRankingsAreToldOf(t *testing.T) {
	g := handbook(t)
	g.Embedders, g.Retrievers, g.Rerankers, g.FetchK = g.Embedders[:1], nil, []ragtest.Reranker[chunk]{shortest{}}, []int{5}
	g.Budget = sweep.AtCharacters(5000)
	r := evaluate(t, g)
	found := false
	for _, w := range r.Warnings() {
		found = found || strings.Contains(w, "ended within the budget of 5000 characters")
	}
	if !found {
		t.Errorf("got warnings %q, want one of short rankings", r.Warnings())
	}
}

// A query with alternatives counts as its best answer does, as in the scores of cells.
func TestAlternativesOfCurves(t *testing.T) {
	var docs []*spans.Document
	for id, text := range map[spans.DocumentID]string{"a": "Notice is given in writing.", "b": "The notice period is three months."} {
		d, err := spans.NewDocument(id, text, nil)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, d)
	}
	corpus, err := spans.NewCorpus(docs...)
	if err != nil {
		t.Fatal(err)
	}
	q := ragtest.TokenQuery{Query: ragtest.Query{ID: "q", Text: "notice period in months"}, Relevant: []spans.Span{{Doc: "a", Start: 0, End: 27}}}
	g := sweep.Grid{Corpus: corpus, Queries: []ragtest.TokenQuery{q}, ChunkerNames: []string{"fixed/size=100"}, Embedders: []ragtest.Embedder{lexical.Embedder{}},
		K: []int{1}, Budget: sweep.AtCharacters(40), Dir: t.TempDir()}
	one := evaluate(t, g)
	q.Alternatives = [][]spans.Span{{{Doc: "b", Start: 0, End: 34}}}
	g.Queries = []ragtest.TokenQuery{q}
	several := evaluate(t, g)
	if got, want := [2]float64{one.Curves[0].Recall, several.Curves[0].Recall}, [2]float64{0, 1}; got != want {
		t.Errorf("got the recalls %v of the curves, want %v", got, want)
	}
	if got, want := [2]float64{one.Cells[0].Scores[0][0], several.Cells[0].Scores[0][0]}, [2]float64{0, 1}; got != want {
		t.Errorf("got the recalls %v of the cells, want %v", got, want)
	}
	if several.Work.Kept != 0 || one.QueriesFingerprint == several.QueriesFingerprint {
		t.Error("queries with and without alternatives count as the same")
	}
}

// Within a budget of exactly five chunks a curve has the recall that the metric has at
// K = 5, alternatives and equivalent text included.
func TestCurveIsRecall(t *testing.T) {
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, "%-49s\n", fmt.Sprintf("rule %d says word%d and word%d", i%13, i%7, i%5))
	}
	doc, err := spans.NewDocument("0", text.String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	corpus, err := spans.NewCorpus(doc)
	if err != nil {
		t.Fatal(err)
	}
	line := func(i int) []spans.Span { return []spans.Span{{Doc: "0", Start: 50 * i, End: 50*i + 20}} }
	g := sweep.Grid{Corpus: corpus, ChunkerNames: []string{"fixed/size=50"}, Embedders: []ragtest.Embedder{lexical.Embedder{}},
		K: []int{5}, Budget: sweep.AtCharacters(250)}
	for i := range 20 {
		q := ragtest.TokenQuery{Query: ragtest.Query{Text: fmt.Sprintf("what says rule %d of word%d", i, i%5)}, Relevant: append(line(i), line(39-i)...)}
		if i%2 == 0 {
			q.Alternatives = [][]spans.Span{line((i + 13) % 40), line((i + 3) % 40)}
		}
		g.Queries = append(g.Queries, q)
	}
	for _, equivalent := range []bool{false, true} {
		g.EquivalentText = equivalent
		r := evaluate(t, g)
		if diff := cmp.Diff(r.Curves[0].Recalls, r.Cells[0].Scores[0]); diff != "" {
			t.Errorf("equivalent text %t: (-curve +metric)\n%s", equivalent, diff)
		}
	}
}
