package sweep_test

import (
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/fixtures"
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

// sizes adds chunkers of n sizes from 200 to 1600 characters, with these overlaps in
// percent.
func sizes(g *sweep.Grid, n int, overlaps ...int) {
	for i := range n {
		size := 200 + 1400*i/max(n-1, 1)
		for _, percent := range overlaps {
			g.Chunkers = append(g.Chunkers, chunkers.RecursiveCharacter{Size: size, Overlap: size * percent / 100})
		}
	}
}

// cpu returns the processor time of this process, which a busy machine hardly
// changes.
func cpu(tb testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// bareWork chunks, embeds each distinct text, and searches at the largest K.
func bareWork(b *testing.B, g sweep.Grid) {
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
		if _, err := store.SearchBatch(ctx, vectors, slices.Max(g.K)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkGrid compares a sweep of 150 cells over Chroma's collection with 150 single
// evaluations, which are extrapolated: one in ten is run, in turns with the sweep. It
// also compares its processor time with that of chunking, embedding distinct texts and
// searching alone.
func BenchmarkGrid(b *testing.B) {
	for _, grid := range []struct {
		name     string
		sizes    int
		overlaps []int
		ks       []int
	}{
		{"chunkers=15/k=10", 5, []int{0, 10, 25}, []int{1, 2, 3, 4, 5, 6, 8, 10, 15, 20}},
		{"chunkers=30/k=5", 10, []int{0, 10, 25}, []int{1, 3, 5, 10, 20}},
		{"chunkers=150/k=1", 30, []int{0, 5, 10, 20, 25}, []int{5}},
	} {
		b.Run(grid.name, func(b *testing.B) {
			g := chroma(b)
			sizes(&g, grid.sizes, grid.overlaps...)
			g.K = grid.ks
			var swept, alone, sweptCPU, aloneCPU, bareCPU time.Duration
			for b.Loop() {
				start, startCPU := time.Now(), cpu(b)
				r, err := g.Evaluate(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				swept += time.Since(start)
				sweptCPU += cpu(b) - startCPU
				start, startCPU = time.Now(), cpu(b)
				n := 0
				for i := 0; i < len(r.Cells); i += 10 {
					j := i + i/10%10 // every K
					chunker := g.Chunkers[j/len(g.K)]
					e := ragtest.TokenLevel{Corpus: g.Corpus, Queries: g.Queries, Chunker: chunker, Embedder: g.Embedders[0], K: g.K[j%len(g.K)]}
					if _, err := e.Evaluate(b.Context()); err != nil {
						b.Fatal(err)
					}
					n++
				}
				alone += time.Since(start) * time.Duration(len(r.Cells)) / time.Duration(n)
				aloneCPU += (cpu(b) - startCPU) * time.Duration(len(r.Cells)) / time.Duration(n)
				startCPU = cpu(b)
				bareWork(b, g)
				bareCPU += cpu(b) - startCPU
				b.Log(r.Work)
			}
			b.ReportMetric(swept.Seconds()/float64(b.N), "s/sweep")
			b.ReportMetric(alone.Seconds()/swept.Seconds(), "times-faster")
			b.ReportMetric(sweptCPU.Seconds()/float64(b.N), "cpu-s/sweep")
			b.ReportMetric(aloneCPU.Seconds()/sweptCPU.Seconds(), "times-less-cpu")
			b.ReportMetric(sweptCPU.Seconds()/bareCPU.Seconds(), "cpu/bare-work")
		})
	}
}
