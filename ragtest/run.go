package ragtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rageval/rageval/chunkers"
)

// RunTokenLevel evaluates e as [TokenLevel.Evaluate] does, within a test or a
// benchmark:
//
//  1. The context is the test's, with a deadline a little before the one that
//     -timeout gives the test binary: a service that hangs fails this test, not
//     the binary, if the component that waits for it heeds its context.
//  2. In a test the evaluation runs once. In a benchmark chunking, embedding
//     and indexing are set-up, and what is timed is retrieving and scoring all
//     queries; each metric is then reported, with the number of chunks, the
//     budgets and ns/query. Since the loop is RunTokenLevel's own, a benchmark calls it
//     once, outside any loop. The Unit lines by which benchstat compares
//     exactly are printed once.
//  3. An evaluation whose fields are wrong fails the test at once, and so does one
//     that could not measure, unless Severities says otherwise.
//  4. The thresholds are judged, then those of Budgets. Their metrics are computed
//     even if Metrics does not list them. Then the run is compared with its
//     Baseline.
//  5. The reporters are called.
//  6. The table is logged; in a benchmark only with -v, or if a threshold does
//     not hold. Each mean goes, with all its digits, to the test's attributes
//     as ragtest.<metric>, and the whole result, as JSON with the name of the
//     test, to ragtest.json in the test's artifact directory (kept by go test
//     -artifacts). Further runs in one test are named ragtest.<name>.<metric>
//     and ragtest-<name>.json, after Name or, without one, their number.
//  7. Each threshold that does not hold fails the test with the queries that
//     are furthest from it and what they missed. So does a run that is worse than
//     its baseline, with the queries that lost most, or whose baseline is of
//     another corpus.
//
// It returns the result whether the thresholds hold or not.
func RunTokenLevel(tb testing.TB, e TokenLevel, thresholds ...TokenThreshold) *Result {
	tb.Helper()
	name := e.Name
	e.Name = cmp.Or(e.Name, tb.Name())
	g := gate{e.Baseline, e.Margin, e.Budgets, e.Tokens, e.Severities, e.Corpus, ""}
	return run(tb, name, g, e.Reporters, thresholds, func() (*engine[chunkers.PositionAwareChunk], error) { return e.engine(thresholds) })
}

// RunChunkLevel evaluates e within a test or a benchmark, as [RunTokenLevel]
// does.
func RunChunkLevel(tb testing.TB, e ChunkLevel, thresholds ...ChunkThreshold) *Result {
	tb.Helper()
	name := e.Name
	e.Name = cmp.Or(e.Name, tb.Name())
	g := gate{e.Baseline, e.Margin, e.Budgets, e.Tokens, e.Severities, e.Corpus, ""}
	return run(tb, name, g, e.Reporters, thresholds, func() (*engine[chunkers.Chunk], error) { return e.engine(thresholds) })
}

func run[C chunkers.Indexed, M metric[M], T threshold[M]](tb testing.TB, name string, g gate, reporters []Reporter, thresholds []T, newEngine func() (*engine[C], error)) *Result {
	tb.Helper()
	ctx, cancel := withDeadline(tb)
	defer cancel()
	ctx = context.WithValue(ctx, testNameKey{}, tb.Name())
	e, err := newChecked(g, reporters, newEngine)
	if err != nil {
		if r, ok := g.staleTruth(tb, name, err); ok {
			return r
		}
		if errors.As(err, new(unreadError)) {
			return g.notMeasured(tb, cmp.Or(name, tb.Name()), err)
		}
		tb.Fatalf("ragtest: %v", err)
		return nil
	}
	r, err := evaluate(ctx, tb, e)
	if err != nil {
		if r, ok := g.staleTruth(tb, e.name, err); ok {
			return r
		}
		return g.notMeasured(tb, e.name, err)
	}
	for _, t := range thresholds {
		r.Thresholds = append(r.Thresholds, t.want().judge(t.name(), scoresBy(r.where(t.slice()), t.metric().Name())))
	}
	if err := r.judgeBudgets(tb, g.budgets); err != nil {
		g.severities.CouldNotMeasure.do(tb, "ragtest: could not measure: %v", err)
	}
	verdict, err := g.settle(tb, r)
	if err != nil {
		g.severities.CouldNotMeasure.do(tb, "ragtest: could not measure: %v", err)
	}
	report(ctx, tb, reporters, r)
	publish(tb, name, r)
	for i, t := range r.Thresholds {
		switch {
		case t.Pass:
		case i >= len(thresholds):
			tb.Errorf("ragtest: %s: got %.6g, want %s\nreproduce: %s", t.Metric, t.Got, t.Want, reproduce(tb))
		default:
			of := thresholds[i]
			tb.Errorf("ragtest: %s\nreproduce: %s", r.failure(t, of.metric().Name(), of.want(), r.where(of.slice()), newAtlas(g.corpus)), reproduce(tb))
		}
	}
	if verdict != nil {
		verdict()
	}
	return r
}

// notMeasured says that a run came to no result, and returns one without scores
// for a test that goes on.
func (g gate) notMeasured(tb testing.TB, name string, err error) *Result {
	tb.Helper()
	if _, ok := err.(misuseError); ok {
		tb.Fatalf("ragtest: %v", err)
		return nil
	}
	const text = "ragtest: could not measure: %v"
	if g.severities.CouldNotMeasure == Fail {
		tb.Fatalf(text, err)
		return nil
	}
	g.severities.CouldNotMeasure.do(tb, text, err)
	return &Result{Name: name}
}

// newChecked returns the engine of an evaluation that could be run by its fields.
func newChecked[C chunkers.Indexed](g gate, reporters []Reporter, newEngine func() (*engine[C], error)) (*engine[C], error) {
	for i, reporter := range reporters {
		if reporter == nil || holdsNil(reporter) {
			return nil, fmt.Errorf("field Reporters: reporter %d is nil", i)
		}
	}
	if err := g.validate(); err != nil {
		return nil, err
	}
	return newEngine()
}

func evaluate[C chunkers.Indexed](ctx context.Context, tb testing.TB, e *engine[C]) (*Result, error) {
	e.trace.progress = progress(tb)
	if b, ok := tb.(bencher); ok {
		return benchmark(ctx, b, e)
	}
	return e.evaluate(ctx)
}

func report(ctx context.Context, tb testing.TB, reporters []Reporter, r *Result) {
	tb.Helper()
	for i, reporter := range reporters {
		err := reporter.Report(ctx, r)
		if err == nil {
			continue
		}
		if isRequired(reporter, err) {
			tb.Errorf("ragtest: reporter %d (%s): %v", i, nameOf(reporter), err)
		} else {
			tb.Logf("ragtest: reporter %d (%s), which is not required: %v", i, nameOf(reporter), err)
		}
	}
	if r.ExperimentURL != "" {
		tb.Logf("ragtest: experiment %s", r.ExperimentURL)
	}
}

// isRequired reports whether an error of a reporter fails the test.
func isRequired(reporter Reporter, err error) bool {
	if r, ok := reporter.(RequiredReporter); ok && r.Required() {
		return true
	}
	var r RequiredReporter
	return errors.As(err, &r) && r.Required()
}

type testNameKey struct{}

// TestName returns the name of the test or benchmark that ctx comes from, such as the
// context of [Reporter.Report]; "" if it comes from none.
func TestName(ctx context.Context) string {
	name, _ := ctx.Value(testNameKey{}).(string)
	return name
}

// withDeadline returns the test's context with a deadline that leaves a
// twentieth of the test's remaining time, at most ten seconds, to report why
// it ended.
func withDeadline(tb testing.TB) (context.Context, context.CancelFunc) {
	ctx := tb.Context()
	t, ok := tb.(interface{ Deadline() (time.Time, bool) })
	if !ok {
		return context.WithCancel(ctx)
	}
	deadline, ok := t.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	grace := min(time.Until(deadline)/20, 10*time.Second)
	return context.WithDeadlineCause(ctx, deadline.Add(-grace),
		fmt.Errorf("%w: go test -timeout would end the test binary in %v", context.DeadlineExceeded, grace.Round(time.Millisecond)))
}

// reproduce returns the command that runs this test or benchmark alone.
func reproduce(tb testing.TB) string {
	var pattern []string
	for _, name := range strings.Split(tb.Name(), "/") {
		// A quote would end the shell's.
		pattern = append(pattern, "^"+strings.ReplaceAll(regexp.QuoteMeta(name), "'", ".")+"$")
	}
	flags := "-run"
	if _, ok := tb.(bencher); ok {
		flags = "-run '^$' -bench"
	}
	return fmt.Sprintf("go test -v %s '%s'", flags, strings.Join(pattern, "/"))
}
