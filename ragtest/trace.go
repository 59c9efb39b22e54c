package ragtest

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"
)

// Trace says when each stage of a run worked, one interval for each batch. It
// is the one part of a [Result] that differs between equal runs, so it is part
// neither of equality nor of the JSON form.
type Trace struct {
	Intervals []Interval // by stage, in the order of the stages, then by First
}

// Interval is the time that one batch of one stage took.
type Interval struct {
	Stage string // "chunk", "embed", "index", "embed queries", "retrieve", "rerank", "score"
	First int    // the first document, text, chunk or query of the batch, from 0
	Count int    // how many of them
	Start time.Time
	End   time.Time
}

// Equal returns true: traces never make results differ.
func (t Trace) Equal(Trace) bool { return true }

// Elapsed returns the time from the first start to the last end of a stage's
// intervals: 0 for a stage that did not run.
func (t Trace) Elapsed(stage string) time.Duration {
	var start, end time.Time
	for _, i := range t.Intervals {
		if i.Stage != stage {
			continue
		}
		if start.IsZero() || i.Start.Before(start) {
			start = i.Start
		}
		if i.End.After(end) {
			end = i.End
		}
	}
	return end.Sub(start)
}

var stages = []string{"chunk", "embed", "index", "embed queries", "retrieve", "rerank", "score"}

// tracer collects intervals, and tells progress. A nil tracer does neither.
type tracer struct {
	progress func(stage string, done, total int) // nil: nobody asks; called from one goroutine at a time

	mu        sync.Mutex
	current   string
	done      map[string]int
	total     map[string]int // items of a stage, where known
	intervals []Interval

	marked     int // intervals
	markedDone map[string]int
}

func newTracer(total map[string]int) *tracer {
	return &tracer{done: map[string]int{}, total: total}
}

// expect says how many items a stage has.
func (t *tracer) expect(stage string, total int) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total[stage] = total
}

// start begins an interval, which the function it returns ends.
func (t *tracer) start(stage string, first, count int) func() {
	if t == nil {
		return func() {}
	}
	t.mu.Lock()
	t.current = stage
	t.mu.Unlock()
	begin := time.Now()
	return func() {
		end := time.Now()
		t.mu.Lock()
		defer t.mu.Unlock()
		t.intervals = append(t.intervals, Interval{stage, first, count, begin, end})
		t.done[stage] += count
		if t.progress != nil {
			t.progress(stage, t.done[stage], t.total[stage])
		}
	}
}

func (t *tracer) trace() Trace { return joined(Trace{t.intervals}) }

// joined returns all intervals of several traces.
func joined(traces ...Trace) Trace {
	var intervals []Interval
	for _, t := range traces {
		intervals = append(intervals, t.Intervals...)
	}
	slices.SortStableFunc(intervals, func(a, b Interval) int {
		return cmp.Or(
			cmp.Compare(slices.Index(stages, a.Stage), slices.Index(stages, b.Stage)),
			cmp.Compare(a.First, b.First))
	})
	return Trace{intervals}
}

// mark remembers what was traced so far: it is what rewind goes back to.
func (t *tracer) mark() { t.marked, t.markedDone = len(t.intervals), maps.Clone(t.done) }

func (t *tracer) rewind() { t.intervals, t.done = t.intervals[:t.marked], maps.Clone(t.markedDone) }

// stage returns the stage that began last.
func (t *tracer) stage() string {
	if t == nil {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current
}
