package sweep_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/sweep"
)

// report makes a report of cells with these scores by query, sizes and characters.
func report(scores [][]float64, chars []float64) *sweep.Report {
	r := &sweep.Report{Metrics: []string{"span_recall"}, GridCells: len(scores)}
	for i := range scores[0] {
		r.Queries = append(r.Queries, ragtest.QueryID(fmt.Sprint("q", i)))
	}
	for i, row := range scores {
		sum := 0.0
		for _, x := range row {
			sum += x
		}
		c := sweep.Cell{Index: i, Name: fmt.Sprint("cell", i), K: 5, Scores: [][]float64{row}, RetrievedChars: chars[i], Cost: -chars[i]}
		c.Chunker = fmt.Sprintf("fixed/size=%d", 100*(i%2+1))
		c.Metrics = []ragtest.Score{{Metric: "span_recall", Value: sum / float64(len(row))}}
		r.Cells = append(r.Cells, c)
	}
	return r
}

func TestStandings(t *testing.T) {
	good, same, bad := make([]float64, 40), make([]float64, 40), make([]float64, 40)
	for i := range good {
		good[i], same[i], bad[i] = 0.9, 0.9, 0.1
	}
	same[0], same[1] = 0.7, 1
	got := report([][]float64{bad, same, good, good}, []float64{1, 2, 3, 4}).Standings()
	order := []int{}
	for _, s := range got {
		order = append(order, s.Cell)
	}
	if diff := cmp.Diff(order, []int{2, 3, 1, 0}); diff != "" {
		t.Error(diff)
	}
	if got[0].Rank != 1 || got[1].Rank != 1 || got[2].Rank != 3 || got[3].Rank != 4 {
		t.Errorf("got ranks %+v, want 1, 1, 3, 4", got)
	}
	if !got[0].Tied || !got[1].Tied || !got[2].Tied || got[3].Tied || got[3].P > 0.01 {
		t.Errorf("got %+v, want all but the last tied", got)
	}
	if one := report([][]float64{good}, []float64{1}).Standings(); len(one) != 1 || one[0].P != 1 || !one[0].Tied {
		t.Errorf("got %+v for a single cell", one)
	}
}

func TestPareto(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		n := 1 + random.IntN(8)
		scores, chars := make([][]float64, n), make([]float64, n)
		for i := range scores {
			scores[i], chars[i] = []float64{float64(random.IntN(4)) / 4}, float64(random.IntN(4))
		}
		r := report(scores, chars)
		var want []int
		for i := range n {
			dominated := false
			for j := range n {
				better := scores[j][0] >= scores[i][0] && chars[j] <= chars[i]
				dominated = dominated || better && (scores[j][0] > scores[i][0] || chars[j] < chars[i])
			}
			if !dominated {
				want = append(want, i)
			}
		}
		got := r.Pareto(func(c sweep.Cell) float64 { return c.RetrievedChars })
		if !slices.IsSortedFunc(got, func(i, j int) int { return int(chars[i] - chars[j]) }) {
			t.Errorf("got %v, want the cheapest first: %v", got, chars)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("scores %v, characters %v: got %v, want %v", scores, chars, got, want)
		}
	}
}

func TestAxes(t *testing.T) {
	r := report([][]float64{{0.2}, {0.6}, {0.4}, {0.8}}, []float64{1, 1, 1, 1})
	got := r.Axes()
	want := []sweep.AxisValue{
		{Setting: sweep.Setting{Axis: "size", Value: "200"}, Cells: 2, Mean: 0.7, Best: 3},
		{Setting: sweep.Setting{Axis: "size", Value: "100"}, Cells: 2, Mean: 0.30000000000000004, Best: 2},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Error(diff)
	}
}

func TestSettings(t *testing.T) {
	c := sweep.Cell{K: 3, Configuration: sweep.Configuration{Chunker: `recursive/size=9/separators="/a","b=/"/keep=end`, Embedder: "lexical/dim=64", Reranker: "x", FetchK: 12}}
	got := c.Settings()
	want := []sweep.Setting{{Axis: "chunker", Value: "recursive"}, {Axis: "size", Value: "9"}, {Axis: "separators", Value: `"/a","b=/"`}, {Axis: "keep", Value: "end"},
		{Axis: "embedder", Value: "lexical/dim=64"}, {Axis: "reranker", Value: "x"}, {Axis: "fetchK", Value: "12"}, {Axis: "k", Value: "3"}}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Error(diff)
	}
}

func TestUnequalContextsAreToldOf(t *testing.T) {
	fair := report([][]float64{{1}, {1}}, []float64{1000, 1500})
	if w := fair.Warnings(); len(w) > 0 {
		t.Errorf("got warnings %q, want none", w)
	}
	unfair := report([][]float64{{1}, {1}}, []float64{1000, 1501})
	if w := unfair.Warnings(); len(w) != 1 || !strings.Contains(w[0], "at K = 5 a query is given from 1000 characters (chunker=fixed/size=100) to 1501 (chunker=fixed/size=200)") {
		t.Errorf("got warnings %q, want one", w)
	}
	none := report([][]float64{{1}, {1}}, []float64{0, 10})
	if w := none.Warnings(); len(w) != 1 {
		t.Errorf("got warnings %q, want one", w)
	}
}

func TestCSV(t *testing.T) {
	g := handbook(t)
	g.Embedders, g.Retrievers, g.K = g.Embedders[:1], nil, []int{2}
	r := evaluate(t, g)
	var b bytes.Buffer
	if err := r.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(r.Cells)+1 {
		t.Fatalf("got %d rows, want %d", len(rows), len(r.Cells)+1)
	}
	at := func(name string) int { return slices.Index(rows[0], name) }
	for i, c := range r.Cells {
		row := rows[i+1]
		if row[at("name")] != c.Name || row[at("span_recall")] != fmt.Sprint(c.Metrics[0].Value) || row[at("size")] == "" && c.Chunker[:5] == "fixed" {
			t.Errorf("cell %s: got row %q", c.Name, row)
		}
	}
	r.Cells[0].Chunker = "=cmd()"
	b.Reset()
	if err := r.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "'=cmd()") {
		t.Error("a formula is written as it is")
	}
}

func TestReadRefuses(t *testing.T) {
	r := report([][]float64{{1, 0}, {0, 1}}, []float64{1, 2})
	var good sweep.Report
	if err := json.Unmarshal([]byte(encode(t, r)), &good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*sweep.Report){
		"no metrics":      func(r *sweep.Report) { r.Metrics = nil },
		"fewer scores":    func(r *sweep.Report) { r.Cells[1].Scores[0] = r.Cells[1].Scores[0][:1] },
		"no scores":       func(r *sweep.Report) { r.Cells[1].Scores = nil },
		"other metric":    func(r *sweep.Report) { r.Cells[1].Metrics[0].Metric = "x" },
		"curve of no use": func(r *sweep.Report) { r.Curves = []sweep.Curve{{}} },
	} {
		r := report([][]float64{{1, 0}, {0, 1}}, []float64{1, 2})
		change(r)
		if err := json.Unmarshal([]byte(encode(t, r)), new(sweep.Report)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := json.Unmarshal([]byte(`{"schemaVersion":2}`), new(sweep.Report)); err == nil {
		t.Error("an unknown version is no error")
	}
	if _, err := sweep.Read(t.TempDir() + "/none.json"); err == nil {
		t.Error("a missing file is no error")
	}
}

func FuzzReport(f *testing.F) {
	f.Add([]byte(encode(f, report([][]float64{{1, 0}, {0, 1}}, []float64{1, 2}))))
	f.Add([]byte(`{"schemaVersion":1,"metrics":["a"],"cells":[{"metrics":[{"metric":"a"}],"scores":[null]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var r sweep.Report
		if json.Unmarshal(data, &r) != nil || len(r.Cells) > 20 || len(r.Queries) > 20 {
			return
		}
		_ = r.String()
		if err := r.WriteCSV(new(bytes.Buffer)); err != nil {
			t.Fatal(err)
		}
		if _, err := sweep.Merge(&r, &r); err != nil && len(r.Cells) == 1 {
			t.Fatal(err)
		}
	})
}
