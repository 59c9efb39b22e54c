package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rageval/rageval/ragtest"
)

func figureNames(plots []Plot) []string {
	var names []string
	for _, p := range plots {
		names = append(names, p.Name)
	}
	return names
}

func TestFigures(t *testing.T) {
	for name, want := range map[string][]string{
		"one":   {"metrics", "recall-lost", "recall-by-rank", "recall-by-budget", "scores"},
		"two":   {"metrics", "changes", "recall-by-rank", "recall-by-budget"},
		"four":  {"ranking", "size-and-overlap", "size", "cost"},
		"sweep": {"ranking", "size-and-overlap-1", "size-and-overlap-2", "size", "k", "recall-within-budget"},
		"chunk": {"metrics", "recall-lost", "recall-by-rank", "recall-by-budget", "scores"},
	} {
		p := pages(t)[name]
		plots, err := p.Plots()
		if err != nil {
			t.Fatal(err)
		}
		again, err := p.Plots()
		if err != nil {
			t.Fatal(err)
		}
		if got := figureNames(plots); !cmp.Equal(got, want) {
			t.Errorf("%s: got the figures %q, want %q", name, got, want)
		}
		for i, plot := range plots {
			for format, draw := range map[string][2]func() ([]byte, error){"svg": {plot.SVG, again[i].SVG}, "png": {plot.PNG, again[i].PNG}} {
				first, err := draw[0]()
				if err != nil {
					t.Fatal(err)
				}
				second, err := draw[1]()
				if err != nil || !bytes.Equal(first, second) {
					t.Errorf("%s: %s: the bytes of the %s differ, %v", name, plot.Name, format, err)
				}
			}
		}
	}
}

func TestFiguresAreFiles(t *testing.T) {
	plots, err := pages(t)["one"].Plots()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, file := range []string{"a/metrics.svg", "a/metrics.PNG"} {
		if err := plots[0].WriteFile(filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, "a/metrics.PNG"))
	if err != nil {
		t.Fatal(err)
	}
	if img, err := png.Decode(bytes.NewReader(data)); err != nil || img.Bounds().Dx() != 6*192 {
		t.Errorf("got the picture %v, %v, want 6 inches at 192 dots", img.Bounds(), err)
	}
	if data, err = os.ReadFile(filepath.Join(dir, "a/metrics.svg")); err != nil {
		t.Fatal(err)
	}
	decoder := xml.NewDecoder(bytes.NewReader(data))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(string(data), "0.8018") {
		t.Error("the figure does not hold the mean recall")
	}
	want := `extension ".gif", want .svg or .png`
	if err := plots[0].WriteFile(filepath.Join(dir, "metrics.gif")); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got the error %v, want %q", err, want)
	}
}

// What the first chunks hold is what the metrics of an evaluation say.
func TestDepthsAreTheMetricsAtThatDepth(t *testing.T) {
	for _, r := range []*ragtest.Result{evaluate(t, 40, 10), chunkLevel(t)} {
		got := depths(r)
		if len(got) != r.K {
			t.Fatalf("%s: got %d depths, want %d", r.Name, len(got), r.K)
		}
		recall := r.Metrics[0]
		if math.Abs(got[r.K-1].recall-recall.Value) > 1e-12 {
			t.Errorf("%s: got %v at K, want %s = %v", r.Name, got[r.K-1].recall, recall.Metric, recall.Value)
		}
		if first, ok := r.Score("span_recall@1"); ok && math.Abs(got[0].recall-first) > 1e-12 {
			t.Errorf("%s: got %v at 1, want %v", r.Name, got[0].recall, first)
		}
		if got[0].characters <= 0 || got[0].characters >= got[1].characters {
			t.Errorf("%s: got %v and %v characters, want more and more", r.Name, got[0].characters, got[1].characters)
		}
	}
	if got := depths(&ragtest.Result{Level: "token", Queries: []ragtest.QueryResult{{ID: "q"}}}); len(got) != 0 {
		t.Errorf("got %v of a result without hits, want nothing", got)
	}
}

func TestSettings(t *testing.T) {
	for name, want := range map[string]settings{
		"recursive/size=800/overlap=400":                 {"recursive", 800, 400},
		"fixedtoken/tokens=200/encoding=cl100k":          {"fixedtoken/encoding=cl100k", 200, 0},
		"sentence/maxsize=300":                           {"sentence", 300, 0},
		"recursive/size=20/separators=markdown/before=3": {"recursive/separators=markdown/before=3", 20, 0},
	} {
		if got, ok := parseSettings(name); !ok || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, ok, want)
		}
	}
	for _, name := range []string{"", "mychunker", "semantic/threshold=0.5", "fixed/size=x"} {
		if got, ok := parseSettings(name); ok {
			t.Errorf("%s: got %+v, want no sizes", name, got)
		}
	}
}

func TestPareto(t *testing.T) {
	for _, c := range []struct{ points, want plotter.XYs }{
		{nil, nil},
		{plotter.XYs{{X: 3, Y: 3}, {X: 1, Y: 1}, {X: 2, Y: 1}, {X: 3, Y: 2}, {X: 4, Y: 3}}, plotter.XYs{{X: 1, Y: 1}, {X: 3, Y: 3}}},
		{plotter.XYs{{X: 1, Y: 1}, {X: 1, Y: 2}, {X: 1, Y: 2}}, plotter.XYs{{X: 1, Y: 2}}},
	} {
		if got := pareto(c.points); !cmp.Equal(got, c.want) {
			t.Errorf("%v: got %v, want %v", c.points, got, c.want)
		}
	}
}

// Runs that the queries tell apart are worse, and those that they do not are tied.
func TestRankingSaysWhatTies(t *testing.T) {
	run := func(name string, score func(query int) float64) *ragtest.Result {
		r := &ragtest.Result{Name: name, Level: "token", K: 1}
		sum := 0.0
		for i := range 60 {
			s := score(i)
			sum += s
			r.Queries = append(r.Queries, ragtest.QueryResult{ID: ragtest.QueryID(rune('A' + i)), Scores: []ragtest.Score{{Metric: "span_recall", Value: s}}})
		}
		r.Metrics = []ragtest.Score{{Metric: "span_recall", Value: sum / 60}}
		return r
	}
	bad := run("bad", func(i int) float64 { return 0.1 })
	good := run("good", func(i int) float64 { return float64(i%2)/10 + 0.8 })
	near := run("near", func(i int) float64 { return float64((i+1)%2)/10 + 0.7999 })
	p := Page{Results: []*ragtest.Result{bad, near, good}}
	c, err := p.contents()
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"good", "near", "bad"}; !cmp.Equal(c.labels, want) {
		t.Errorf("got the ranking %q, want %q", c.labels, want)
	}
	if want := []tie{best, tied, worse}; !cmp.Equal(c.ties, want) {
		t.Errorf("got the verdicts %v, want %v", c.ties, want)
	}
	p.Ties = []bool{true, false, true} // bad ties, near does not
	known, err := p.contents()
	if err != nil {
		t.Fatal(err)
	}
	if want := []tie{best, worse, tied}; !cmp.Equal(known.ties, want) {
		t.Errorf("got the verdicts %v, want those that were given, %v", known.ties, want)
	}
	p.Ties = p.Ties[:1]
	if _, err := p.contents(); err == nil {
		t.Error("fewer ties than results are no error")
	}
	p.Ties = nil
	near.Queries = near.Queries[1:]
	if c, err = p.contents(); err != nil {
		t.Fatal(err)
	}
	if want := []tie{notJudged, notJudged, notJudged}; !cmp.Equal(c.ties, want) {
		t.Errorf("over other queries: got the verdicts %v, want %v", c.ties, want)
	}
	if page := string(pageOf(t, p)); !strings.Contains(page, "The runs are not over the same queries") {
		t.Error("the page does not say that the runs are not over the same queries")
	}
}

var infinite = regexp.MustCompile(` (d|x|y|width)="[^"]*(NaN|Inf)[^"]*"`)

// Results from files may hold next to nothing.
func TestSparseResults(t *testing.T) {
	bare := &ragtest.Result{Level: "token", Metrics: []ragtest.Score{{Metric: "x", Value: 3}}}
	one := &ragtest.Result{Level: "chunk", Metrics: []ragtest.Score{{Metric: "x", Value: -1}}, Queries: []ragtest.QueryResult{{ID: "q", Hits: []ragtest.Hit{{Rank: 1, ChunkID: "c"}}, Missed: []ragtest.Passage{{ChunkID: "d"}}}}}
	for _, results := range [][]*ragtest.Result{{bare}, {bare, bare}, {bare, bare, bare}, {one}, {one, one}, {one, one, one}} {
		p := Page{Results: results}
		page := pageOf(t, p)
		if _, err := p.Markdown(); err != nil {
			t.Error(err)
		}
		if found := infinite.Find(page); found != nil {
			t.Errorf("a figure holds %s", found)
		}
	}
}

// Overlaps are shown in percent where that makes fewer rows, and kinds that have no two
// sizes and overlaps have no map.
func TestHeatMaps(t *testing.T) {
	all := map[settings][]float64{
		{"a", 200, 20}: {0.5}, {"a", 200, 40}: {0.6}, {"a", 400, 40}: {0.7, 0.9}, {"a", 400, 80}: {0.4},
		{"b", 200, 20}: {0.5}, {"b", 200, 40}: {0.6}, {"b", 400, 20}: {0.7},
		{"c", 200, 20}: {0.5}, {"c", 400, 20}: {0.6},
	}
	got := map[string]heatMap{}
	for _, kind := range []string{"a", "b", "c"} {
		if m, ok := newHeatMap(all, kind); ok {
			got[kind] = m
		}
	}
	none := math.NaN()
	want := map[string]heatMap{
		"a": {"a", "overlap, % of the size", []int{200, 400}, []int{10, 20}, cells{[][]float64{{0.5, 0.8}, {0.6, 0.4}}, 0.4, 0.8}},
		"b": {"b", "overlap", []int{200, 400}, []int{20, 40}, cells{[][]float64{{0.5, 0.7}, {0.6, none}}, 0.5, 0.7}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(heatMap{}, cells{}), cmpopts.EquateNaNs(), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("maps (-want +got)\n%s", diff)
	}
}

func TestCurvesAreChecked(t *testing.T) {
	for name, c := range map[string]struct {
		curves []Curve
		want   string
	}{
		"not a number": {[]Curve{{"a", "tokens", []CurvePoint{{1, math.NaN()}}}}, "want finite numbers"},
		"units":        {[]Curve{{"a", "tokens", nil}, {"b", "characters", nil}}, `a is in "tokens", and b in "characters"`},
	} {
		p := pages(t)["four"]
		p.Curves = c.curves
		if _, err := p.HTML(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q", name, err, c.want)
		}
	}
}

// Where not all runs have hits, what all know of their length counts.
func TestCharacters(t *testing.T) {
	p := pages(t)["four"]
	full, err := p.contents()
	if err != nil {
		t.Fatal(err)
	}
	if of, what := full.characters(); len(of) != 4 || of[0] != depths(full.runs[0])[1].characters || what != "distinct text" {
		t.Errorf("got %v of %s, want the distinct text of each run", of, what)
	}
	p.Results = slices.Clone(p.Results)
	bare := *p.Results[3]
	bare.Queries = nil
	p.Results[3] = &bare
	some, err := p.contents()
	if err != nil {
		t.Fatal(err)
	}
	of, what := some.characters()
	for i, r := range some.runs {
		want := slices.IndexFunc(r.Budgets, func(s ragtest.Score) bool { return s.Metric == "retrieved_characters" })
		if of[i] != r.Budgets[want].Value || what != "the text of all chunks" {
			t.Errorf("run %d: got %v of %s, want %v", i, of[i], what, r.Budgets[want].Value)
		}
	}
	bare.Budgets = nil
	if of, _ := some.characters(); of != nil {
		t.Errorf("got %v, though one run does not tell", of)
	}
}
