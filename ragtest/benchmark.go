package ragtest

import (
	"context"
	"flag"
	"fmt"
	"sync"
	"testing"
	"time"
)

// bencher is what is used of [testing.B].
type bencher interface {
	testing.TB
	Loop() bool
	ReportMetric(n float64, unit string)
	Elapsed() time.Duration
}

// checkLoop fails a benchmark that runs the evaluation within its own loop.
// There b.N is 0: Loop sets it on its first call, and again when it is done.
func checkLoop(tb testing.TB) {
	tb.Helper()
	if b, ok := tb.(*testing.B); ok && b.N == 0 {
		b.Fatalf("ragtest: the evaluation is within this benchmark's own b.Loop: it brings its own loop, so call it once, outside")
	}
}

// benchmark prepares once, and times rounds of retrieving and scoring.
func (e *engine[C]) benchmark(ctx context.Context, b bencher) (*Result, error) {
	b.Helper()
	if err := e.prepare(ctx); err != nil {
		return nil, e.stopped(ctx, err)
	}
	rounds := 0
	for b.Loop() {
		rounds++
		if err := e.round(ctx); err != nil {
			return nil, e.stopped(ctx, err)
		}
	}
	perRound := float64(b.Elapsed().Nanoseconds()) / float64(rounds)
	r, err := e.finish()
	if err != nil {
		return nil, err
	}
	for _, s := range r.Metrics {
		b.ReportMetric(s.Value, s.Metric)
		printUnit(s.Metric, "better=higher assume=exact")
	}
	if r.Chunks > 0 {
		b.ReportMetric(float64(r.Chunks), "chunks")
		printUnit("chunks", "assume=exact")
	}
	b.ReportMetric(perRound/float64(len(r.Queries)), "ns/query")
	return r, nil
}

var printedUnits sync.Map

// printUnit prints unit metadata in the Go benchmark format, once in a process,
// under go test -bench only. It must begin a line of standard output, which it
// does: a benchmark first runs before the line with its name is begun.
func printUnit(unit, properties string) {
	f := flag.Lookup("test.bench")
	if f == nil || f.Value.String() == "" {
		return
	}
	if _, printed := printedUnits.LoadOrStore(unit, true); !printed {
		fmt.Printf("Unit %s %s\n", unit, properties)
	}
}
