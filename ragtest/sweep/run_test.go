package sweep_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/ragtest/sweep"
	"github.com/rageval/rageval/spans"
)

func small(tb testing.TB) sweep.Grid {
	g := handbook(tb)
	g.Chunkers, g.ChunkerNames = nil, []string{"fixed/size=100", "fixed/size=200"}
	g.Embedders, g.Rerankers, g.FetchK, g.K = g.Embedders[:1], nil, nil, []int{1, 3}
	return g
}

func TestRunKeepsTheReport(t *testing.T) {
	g := small(t)
	g.Budget = sweep.AtCharacters(600)
	var dir string
	var reports []*sweep.Report
	t.Run("run", func(t *testing.T) {
		dir = t.ArtifactDir()
		reports = append(reports, sweep.Run(t, g), sweep.Run(t, g))
		for i, name := range []string{"sweep", "sweep-2"} {
			kept, err := sweep.Read(filepath.Join(dir, name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			if encode(t, kept) != encode(t, reports[i]) {
				t.Errorf("%s.json is another report", name)
			}
			if _, err := os.Stat(filepath.Join(dir, name+".csv")); err != nil {
				t.Error(err)
			}
			page, err := os.ReadFile(filepath.Join(dir, name+".html"))
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{g.Queries[0].Text, `id="figure-ranking"`, `id="figure-size"`, `id="figure-k"`, `id="figure-cost"`, `id="figure-recall-within-budget"`} {
				if !strings.Contains(string(page), want) {
					t.Errorf("%s.html does not hold %s", name, want)
				}
			}
		}
	})
	if len(reports[0].Cells) != 2*2*2 {
		t.Errorf("got %d cells, want 8", len(reports[0].Cells))
	}
}

// BenchmarkHandbook is what TestBenchmark runs.
func BenchmarkHandbook(b *testing.B) { sweep.Run(b, small(b)) }

func TestBenchmark(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$", "-test.bench=^BenchmarkHandbook$", "-test.benchtime=1x").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	g := small(t)
	g.Name = ""
	var want, got []string
	for _, c := range evaluate(t, g).Cells {
		want = append(want, "BenchmarkHandbook/"+c.Name)
	}
	for line := range strings.Lines(string(out)) {
		name, rest, _ := strings.Cut(line, " ")
		if name, _, ok := strings.Cut(name, "\t"); ok || strings.Contains(rest, "span_recall") && strings.HasPrefix(name, "Benchmark") {
			if i := strings.LastIndex(name, "-"); i > 0 {
				name = name[:i]
			}
			got = append(got, name)
		}
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("benchmarks (-got +want)\n%s\n%s", diff, out)
	}
	if !strings.Contains(string(out), "\nUnit span_recall better=higher assume=exact\n") {
		t.Errorf("no unit line:\n%s", out)
	}
}

func TestGridIsValidated(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*sweep.Grid)
		want   string
	}{
		"no corpus":    {func(g *sweep.Grid) { g.Corpus = nil }, "field Corpus"},
		"no queries":   {func(g *sweep.Grid) { g.Queries = nil }, "field Queries"},
		"no embedder":  {func(g *sweep.Grid) { g.Embedders, g.Retrievers = nil, nil }, "fields Embedders and Retrievers"},
		"no chunker":   {func(g *sweep.Grid) { g.Chunkers, g.ChunkerNames = nil, nil }, "fields Chunkers and ChunkerNames"},
		"nil chunker":  {func(g *sweep.Grid) { g.Chunkers = []chunkers.PositionAwareChunker{nil} }, "field Chunkers: element 0 is nil"},
		"nil embedder": {func(g *sweep.Grid) { g.Embedders = []ragtest.Embedder{nil} }, "field Embedders: element 0 is nil"},
		"bad name":     {func(g *sweep.Grid) { g.ChunkerNames = []string{"fixed/size=x"} }, "field ChunkerNames: name 0"},
		"bad chunker": {func(g *sweep.Grid) {
			g.ChunkerNames = nil
			g.Chunkers = []chunkers.PositionAwareChunker{chunkers.FixedSize{}}
		}, "field Chunker"},
		"chunker twice": {func(g *sweep.Grid) { g.ChunkerNames = []string{"fixed/size=9", "fixed/size=9"} }, "same name"},
		"k of 0":        {func(g *sweep.Grid) { g.K = []int{0} }, "field K: element 0"},
		"k twice":       {func(g *sweep.Grid) { g.K = []int{3, 3} }, "field K: element 1"},
		"fetchK of 0":   {func(g *sweep.Grid) { g.FetchK = []int{0} }, "field FetchK: element 0"},
		"fetchK below all": {func(g *sweep.Grid) {
			g.Rerankers, g.FetchK, g.K = []ragtest.Reranker[chunk]{shortest{}}, []int{2}, []int{3}
		}, "fields K and FetchK"},
		"cut-off beyond K": {func(g *sweep.Grid) { g.Metrics = []ragtest.TokenMetric{ragtest.SpanRecall.At(2)} }, "k=1: field Metrics"},
		"no metric":        {func(g *sweep.Grid) { g.Metrics = []ragtest.TokenMetric{} }, "field Metrics"},
		"useless reranker": {func(g *sweep.Grid) {
			g.Rerankers, g.FetchK, g.Metrics = []ragtest.Reranker[chunk]{shortest{}}, []int{3}, nil
		}, "can only reorder"},
		"budget of 0":       {func(g *sweep.Grid) { g.Budget = sweep.AtTokens(0) }, "field Budget"},
		"length of no name": {func(g *sweep.Grid) { g.Budget = sweep.AtLength(9, chunkers.Length{Of: func(string) int { return 1 }}) }, "field Budget"},
		"shard":             {func(g *sweep.Grid) { g.Shard = sweep.Shard{Index: 2, Count: 2} }, "field Shard"},
		"dense retriever": {func(g *sweep.Grid) {
			g.Retrievers = []ragtest.Retriever[chunk]{ragtest.Dense[chunk](lexical.Embedder{}, nil)}
		}, "indexed before"},
		"cost of no number": {func(g *sweep.Grid) { g.Cost = func(c sweep.Cell) float64 { return 1 / (float64(c.K) - 3) } }, "field Cost"},
		"store": {func(g *sweep.Grid) {
			g.NewStore = func() (ragtest.VectorStore[chunk], error) { return nil, errors.New("no such server") }
		}, "field NewStore: no such server"},
	} {
		t.Run(name, func(t *testing.T) {
			g := small(t)
			c.change(&g)
			r, err := g.Evaluate(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, error %v, want one that contains %q", r, err, c.want)
			}
		})
	}
}

// TestOwnIndex sweeps over retrievers that search what they hold.
func TestOwnIndex(t *testing.T) {
	g := small(t)
	first := func(_ context.Context, _ string, k int) (list []scored, _ error) {
		for doc := range g.Corpus.All() {
			if len(list) < k {
				list = append(list, scored{Chunk: chunk{Span: spans.Span{Doc: doc.ID(), End: doc.Len()}}})
			}
		}
		return list, nil
	}
	g.ChunkerNames, g.Embedders = nil, nil
	g.Retrievers = []ragtest.Retriever[chunk]{ragtest.RetrieverFunc[chunk](first)}
	g.Budget = sweep.AtCharacters(300)
	g.Visit = func(c sweep.Cell, got *ragtest.Result) error {
		want, err := ragtest.TokenLevel{Name: c.Name, Corpus: g.Corpus, Queries: g.Queries, Retriever: g.Retrievers[0], K: c.K, Metrics: g.Metrics}.Evaluate(t.Context())
		if err != nil {
			return err
		}
		if diff := cmp.Diff(encode(t, got), encode(t, want)); diff != "" {
			t.Error(diff)
		}
		return nil
	}
	r := evaluate(t, g)
	if len(r.Cells) != 2 || r.Cells[0].Chunks != 0 || r.Work.Chunked != (sweep.Saving{}) {
		t.Errorf("got %d cells, work %+v", len(r.Cells), r.Work)
	}
}

// TestStoresAreClosed checks that each store is closed once, whether it was used, not
// needed, or left by an error.
func TestStoresAreClosed(t *testing.T) {
	var made []*ownStore
	g := small(t)
	g.Dir = t.TempDir()
	g.NewStore = func() (ragtest.VectorStore[chunk], error) {
		made = append(made, &ownStore{})
		return made[len(made)-1], nil
	}
	stop := errors.New("stop")
	g.Visit = func(c sweep.Cell, _ *ragtest.Result) error {
		if c.K == 3 {
			return stop
		}
		return nil
	}
	if _, err := g.Evaluate(t.Context()); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	g.Visit = nil
	evaluate(t, g)
	evaluate(t, g)
	if len(made) != 1+2+1 { // the last only told its name
		t.Errorf("got %d stores, want 4", len(made))
	}
	for i, s := range made {
		if !s.closed {
			t.Errorf("store %d is open", i)
		}
	}
}

// hostile is a chunker whose name is markup.
type hostile struct{ chunkers.FixedSize }

func (h hostile) String() string {
	return h.FixedSize.String() + `/note=</script><img/src=x onerror=alert(1)>"'`
}

// A report that was read shows what it holds, and none of it as markup.
func TestPageOfAReport(t *testing.T) {
	g := small(t)
	g.Name, g.Budget = `<b onclick="x">`, sweep.AtCharacters(600)
	g.Chunkers = []chunkers.PositionAwareChunker{hostile{chunkers.FixedSize{Size: 150}}, hostile{chunkers.FixedSize{Size: 150, Overlap: 30}},
		hostile{chunkers.FixedSize{Size: 300}}, hostile{chunkers.FixedSize{Size: 300, Overlap: 60}}}
	path := filepath.Join(t.TempDir(), "sweep.json")
	if err := evaluate(t, g).Write(path); err != nil {
		t.Fatal(err)
	}
	r, err := sweep.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, result := range r.Results() {
		want := single(t, g, r.Cells[0])
		if i == 0 && (!cmp.Equal(result.Metrics, want.Metrics) || !cmp.Equal(result.Intervals, want.Intervals) || result.Queries[3].ID != want.Queries[3].ID || !cmp.Equal(result.Queries[3].Scores, want.Queries[3].Scores)) {
			t.Errorf("got %+v, want %+v", result, want)
		}
	}
	page, err := r.Page(nil).HTML()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`id="figure-size-and-overlap"`, `id="figure-recall-within-budget"`, "&lt;img/src=x_onerror=alert(1)&gt;", "&lt;b onclick="} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page does not hold %s", want)
		}
	}
	for _, markup := range []string{"<img/src", "<b onclick"} {
		if strings.Contains(string(page), markup) {
			t.Errorf("the page holds %s", markup)
		}
	}
	again, err := r.Page(nil).HTML()
	if err != nil || string(again) != string(page) {
		t.Errorf("the page differs the second time, error %v", err)
	}
}
