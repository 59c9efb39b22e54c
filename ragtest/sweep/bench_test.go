package sweep_test

import (
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/chunkers/catalog"
	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/internal/cputime"
	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/ragtest/sweep"
)

// chroma is the five corpora and 472 queries with the lexical embedder.
func chroma(tb testing.TB) sweep.Grid {
	tb.Helper()
	c, err := fixtures.ReadChroma(os.DirFS(realdata.Dir(tb, "data", "chroma")))
	if err != nil {
		tb.Fatal(err)
	}
	return sweep.Grid{Corpus: c.Corpus, Queries: c.Queries, Embedders: []ragtest.Embedder{lexical.Embedder{}}}
}

// overlaps are those of the grids, in percent of the size.
var overlaps = []int{0, 5, 10, 20, 30}

// add adds chunkers by a format of their names, which is given size and overlap.
func add(tb testing.TB, g *sweep.Grid, format string, sizes, overlaps []int) {
	tb.Helper()
	for _, size := range sizes {
		for _, percent := range overlaps {
			c, err := catalog.Parse(fmt.Sprintf(format, size, size*percent/100))
			if err != nil {
				tb.Fatal(err)
			}
			g.Chunkers = append(g.Chunkers, c)
		}
	}
}

// sizes returns n sizes from 200 to 1600 characters.
func sizes(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = 200 + 1400*i/max(n-1, 1)
	}
	return list
}

// grids have 150 cells each. How many texts the chunkers have in common differs.
var grids = []struct {
	name string
	add  func(tb testing.TB, g *sweep.Grid)
}{
	{"recursive,sizes=30,overlaps=5", func(tb testing.TB, g *sweep.Grid) {
		add(tb, g, "recursive/size=%d/overlap=%d", sizes(30), overlaps)
	}},
	{"kinds=3,sizes=10,overlaps=5", func(tb testing.TB, g *sweep.Grid) {
		for _, format := range []string{"fixed/size=%d/overlap=%d", "recursive/size=%d/overlap=%d", "markdown/size=%d/overlap=%d"} {
			add(tb, g, format, sizes(10), overlaps)
		}
	}},
	{"kinds=6,sizes=5,overlaps=5", func(tb testing.TB, g *sweep.Grid) {
		for _, format := range []string{"fixed/size=%d/overlap=%d", "recursive/size=%d/overlap=%d",
			"recursive/size=%d/overlap=%d/separators=markdown", "markdown/size=%d/overlap=%d", "html/size=%d/overlap=%d"} {
			add(tb, g, format, sizes(5), overlaps)
		}
		add(tb, g, "fixedtoken/tokens=%d/overlap=%d", []int{50, 100, 200, 300, 400}, overlaps)
	}},
	{"recursive,sizes=5,overlaps=3,k=10", func(tb testing.TB, g *sweep.Grid) {
		add(tb, g, "recursive/size=%d/overlap=%d", sizes(5), []int{0, 10, 25})
		g.K = []int{1, 2, 3, 4, 5, 6, 8, 10, 15, 20}
	}},
}

// bareWork chunks, embeds each distinct text, and searches for k chunks.
func bareWork(b *testing.B, g sweep.Grid, k int) {
	ctx := b.Context()
	var queries []string
	for _, q := range g.Queries {
		queries = append(queries, q.Text)
	}
	vectors, err := g.Embedders[0].Embed(ctx, queries)
	if err != nil {
		b.Fatal(err)
	}
	known := map[string][]float32{}
	for _, chunker := range g.Chunkers {
		var chunks []chunk
		var texts []string
		for doc := range g.Corpus.All() {
			pieces, err := chunker.ChunkWithPositions(ctx, doc)
			if err != nil {
				b.Fatal(err)
			}
			for _, p := range pieces {
				chunks = append(chunks, chunk{Text: p.Text})
				if known[p.Text] == nil {
					known[p.Text] = []float32{}
					texts = append(texts, p.Text)
				}
			}
		}
		embedded, err := g.Embedders[0].Embed(ctx, texts)
		if err != nil {
			b.Fatal(err)
		}
		for i, text := range texts {
			known[text] = embedded[i]
		}
		added := make([][]float32, len(chunks))
		for i, c := range chunks {
			added[i] = known[c.Text]
		}
		store := ragtest.NewMemoryStore[chunk]()
		if err := store.Add(ctx, chunks, added); err != nil {
			b.Fatal(err)
		}
		if _, err := store.SearchBatch(ctx, vectors, k); err != nil {
			b.Fatal(err)
		}
	}
}

// peak returns the most memory, in MB, that the process had since the last call of
// reset; 0 where the system does not tell.
func peak() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kilobytes float64
	fmt.Sscan(rest, &kilobytes)
	return kilobytes / 1024
}

func resetPeak() {
	debug.FreeOSMemory()
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // where it is not possible, the peak is that of all
}

// BenchmarkGrid compares a sweep of 150 cells over Chroma's collection with 150 single
// evaluations, which are extrapolated: one in ten is run. It also compares its
// processor time with that of chunking, embedding distinct texts and searching alone,
// and its memory with that of the largest single evaluation.
func BenchmarkGrid(b *testing.B) {
	for _, grid := range grids {
		b.Run(grid.name, func(b *testing.B) {
			g := chroma(b)
			grid.add(b, &g)
			ks := g.K
			if ks == nil {
				ks = []int{5}
			}
			var swept, alone, sweptCPU, aloneCPU, bareCPU time.Duration
			var sweptPeak, alonePeak float64
			for b.Loop() {
				resetPeak()
				start, startCPU := time.Now(), cputime.Used(b)
				r, err := g.Evaluate(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				swept += time.Since(start)
				sweptCPU += cputime.Used(b) - startCPU
				sweptPeak = max(sweptPeak, peak())
				resetPeak()
				start, startCPU = time.Now(), cputime.Used(b)
				n := 0
				for i := 0; i < len(r.Cells); i += 10 {
					j := i + i/10%10 // every K
					e := ragtest.TokenLevel{Corpus: g.Corpus, Queries: g.Queries, Chunker: g.Chunkers[j/len(ks)], Embedder: g.Embedders[0], K: ks[j%len(ks)]}
					if _, err := e.Evaluate(b.Context()); err != nil {
						b.Fatal(err)
					}
					n++
				}
				alone += time.Since(start) * time.Duration(len(r.Cells)) / time.Duration(n)
				aloneCPU += (cputime.Used(b) - startCPU) * time.Duration(len(r.Cells)) / time.Duration(n)
				alonePeak = max(alonePeak, peak())
				startCPU = cputime.Used(b)
				bareWork(b, g, slices.Max(ks))
				bareCPU += cputime.Used(b) - startCPU
				b.Log(r.Work)
			}
			b.ReportMetric(swept.Seconds()/float64(b.N), "s/sweep")
			b.ReportMetric(alone.Seconds()/swept.Seconds(), "times-faster")
			b.ReportMetric(sweptCPU.Seconds()/float64(b.N), "cpu-s/sweep")
			b.ReportMetric(aloneCPU.Seconds()/sweptCPU.Seconds(), "times-less-cpu")
			b.ReportMetric(sweptCPU.Seconds()/bareCPU.Seconds(), "cpu/bare-work")
			b.ReportMetric(sweptPeak, "peak-MB")
			b.ReportMetric(alonePeak, "single-peak-MB")
		})
	}
}

// Every cell of a large grid is the evaluation of its configuration alone, to the
// byte.
func TestGridIsSingleEvaluations(t *testing.T) {
	for i, grid := range grids {
		g := chroma(t)
		grid.add(t, &g)
		// Few of the chunkers, others of each grid: all would take minutes.
		some := g.Chunkers[:0]
		for j, c := range g.Chunkers {
			if j%29 == i {
				some = append(some, c)
			}
		}
		g.Chunkers = some
		g.K = []int{1, 5, 20}
		cells := 0
		g.Visit = func(c sweep.Cell, got *ragtest.Result) error {
			at := slices.IndexFunc(some, func(chunker chunkers.PositionAwareChunker) bool { return fmt.Sprint(chunker) == c.Chunker })
			e := ragtest.TokenLevel{Name: c.Name, Corpus: g.Corpus, Queries: g.Queries, Chunker: some[at], Embedder: g.Embedders[0], K: c.K}
			want, err := e.Evaluate(t.Context())
			if err != nil {
				return err
			}
			cells++
			if encode(t, got) != encode(t, want) {
				return fmt.Errorf("%s: another result than alone", c.Name)
			}
			return nil
		}
		r := evaluate(t, g)
		if cells != 3*len(some) || r.Work.Embedded.Done == 0 {
			t.Errorf("%s: got %d cells, want %d", grid.name, cells, 3*len(some))
		}
	}
}
