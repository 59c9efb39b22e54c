package ragtest

import (
	"context"
	"flag"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/rageval/rageval/chunkers"
)

// bencher is what is used of [testing.B].
type bencher interface {
	testing.TB
	Loop() bool
	StartTimer()
	Elapsed() time.Duration
	ReportMetric(n float64, unit string)
}

// chunksUnit is the unit of the number of indexed chunks.
const chunksUnit = "chunks"

// misuseError is an error of the test, not of what it measures.
type misuseError string

func (e misuseError) Error() string { return string(e) }

// benchmark prepares once, times rounds of retrieving and scoring, and reports
// the metrics.
func benchmark[C chunkers.Indexed](ctx context.Context, b bencher, e *engine[C]) (*Result, error) {
	// Loop sets N to 0 on its first call, and again when it is done.
	if b, ok := b.(*testing.B); ok && b.N == 0 {
		return nil, misuseError("the evaluation is within this benchmark's own b.Loop: it brings its own loop, so call it once, outside")
	}
	if err := e.prepare(ctx); err != nil {
		return nil, err
	}
	e.looping = true
	b.StartTimer() // Loop dies without
	rounds := 0
	for b.Loop() {
		rounds++
		if err := e.round(ctx); err != nil {
			return nil, err
		}
	}
	if rounds == 0 {
		return nil, misuseError("this benchmark ran a loop or an evaluation before: the evaluation is the benchmark's loop, so it runs once; put each into a sub-benchmark with b.Run, outside any loop")
	}
	perQuery := float64(b.Elapsed().Nanoseconds()) / float64(rounds) / float64(len(e.queries))
	r, err := e.finish(ctx)
	if err != nil {
		return nil, err
	}
	b.ReportMetric(perQuery, "ns/query")
	if r.Chunks > 0 {
		b.ReportMetric(float64(r.Chunks), chunksUnit)
		printUnit(chunksUnit, "assume=exact")
	}
	for _, s := range r.Budgets {
		b.ReportMetric(s.Value, s.Metric)
		printUnit(s.Metric, "better=lower assume=exact")
	}
	for _, s := range r.Metrics {
		b.ReportMetric(s.Value, s.Metric)
		printUnit(s.Metric, "better=higher assume=exact")
	}
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
