package sweep

import (
	"cmp"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rageval/rageval/internal/progress"
	"github.com/rageval/rageval/ragtest"
)

// Run evaluates the grid as [Grid.Evaluate] does, within a test:
//
//  1. The context is that of [ragtest.RunTokenLevel]: it ends a little before -timeout
//     would end the test binary. With a Dir, the next run goes on from there.
//  2. With -v, progress is printed: a bar where standard error is a terminal, as where
//     a test binary is run by itself; under go test, which reads both outputs, at most
//     a line every two seconds.
//  3. The report is logged, and kept as sweep.json and sweep.csv in the artifact
//     directory of the test (go test -artifacts); a second sweep of one test has its
//     number in the names. The mean of the first cell goes to the attribute sweep.best,
//     its name to sweep.best.cell.
//  4. An error fails the test at once.
//
// In a benchmark, each cell is a sub-benchmark with the name of the cell, and Run
// returns nil:
//
//	go test -run='^$' -bench=Chunkers > cells.txt
//	go tool benchstat -col /chunker -row /size,/k cells.txt
//
// Each is [ragtest.RunTokenLevel], which times retrieving and scoring all queries.
// Cells of one chunker and embedder share the vectors, all of them those of the
// queries; Shard counts, while Budget, Cost, Dir, Visit and Progress do not matter.
func Run(tb testing.TB, g Grid) *Report {
	tb.Helper()
	g.Name = cmp.Or(g.Name, tb.Name())
	if b, ok := tb.(*testing.B); ok {
		benchmark(b, g)
		return nil
	}
	ctx, cancel := ragtest.TestContext(tb)
	defer cancel()
	if g.Progress == nil && testing.Verbose() {
		meter := newMeter(tb)
		g.Progress = meter.Tell
		defer meter.Stop()
	}
	r, err := g.Evaluate(ctx)
	if err != nil {
		tb.Fatalf("sweep: %v", err)
		return nil
	}
	a := r.analyse()
	tb.Logf("%s", r.text(a))
	if err := keep(tb, r, a); err != nil {
		tb.Errorf("sweep: %v", err)
	}
	return r
}

// newMeter returns what prints progress.
func newMeter(tb testing.TB) *progress.Meter {
	if progress.Terminal(os.Stderr) {
		return progress.New(os.Stderr, "sweep", "cells", true)
	}
	return progress.New(tb.Output(), "sweep", "cells", false)
}

// keep writes the report to the artifact directory, and the best cell to the
// attributes.
func keep(tb testing.TB, r *Report, a analysis) error {
	if len(r.Cells) > 0 { // a shard may be empty
		best := r.Cells[a.cells[0].Cell]
		tb.Attr("sweep.best", number(best.Metrics[0].Value))
		tb.Attr("sweep.best.cell", best.Name)
	}
	dir := tb.ArtifactDir()
	label := "sweep"
	for i := 2; ; i++ {
		if _, err := os.Lstat(filepath.Join(dir, label+".json")); err != nil {
			break
		}
		label = "sweep-" + strconv.Itoa(i)
	}
	if err := r.Write(filepath.Join(dir, label+".json")); err != nil {
		return err
	}
	table, err := os.Create(filepath.Join(dir, label+".csv"))
	if err != nil {
		return err
	}
	if err := r.writeCSV(table, a.cells); err != nil {
		table.Close()
		return err
	}
	return table.Close()
}

// benchmark runs each cell as a sub-benchmark.
func benchmark(b *testing.B, g Grid) {
	b.Helper()
	p, err := g.plan()
	if err != nil {
		b.Fatalf("sweep: %v", err)
	}
	var shared []*sharedEmbedder
	for _, e := range p.Embedders {
		shared = append(shared, newSharedEmbedder(e, nil))
	}
	for _, group := range p.groups {
		if !p.Shard.has(group.number) {
			continue
		}
		for _, e := range shared {
			e.keepAll()
		}
		for _, r := range group.rankings {
			for _, c := range r.cells {
				b.Run(c.Name, func(b *testing.B) {
					e := p.evaluation(group, r, c)
					if group.embedder != nil {
						e.Embedder = shared[group.source]
						if p.NewStore != nil {
							store, err := p.NewStore()
							if err != nil {
								b.Fatalf("sweep: field NewStore: %v", err)
							}
							b.Cleanup(func() {
								if err := closeStore(store); err != nil {
									b.Errorf("sweep: %v", err)
								}
							})
							e.Store = store
						}
					}
					ragtest.RunTokenLevel(b, e)
				})
			}
		}
	}
}
