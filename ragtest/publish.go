package ragtest

import (
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// publish logs the table, keeps the result as artifact and its means as
// attributes.
func publish(tb testing.TB, name string, r *Result) {
	tb.Helper()
	_, ok := tb.(bencher)
	if !ok || verbose() || !r.passed() {
		tb.Logf("ragtest: %s\n  took %s", r, timings(r))
	}
	key := "ragtest."
	if flag.Lookup("test.v") != nil { // else there are no artifacts: a benchmark outside of go test
		label, err := keep(tb, name, r)
		if err != nil {
			tb.Errorf("ragtest: %v", err)
		}
		if label != "" {
			key += label + "."
		}
	}
	for _, s := range r.Metrics {
		tb.Attr(key+s.Metric, strconv.FormatFloat(s.Value, 'g', -1, 64))
	}
}

// timings says how long the run took and its stages, which may overlap.
func timings(r *Result) string {
	text := []string{r.Elapsed.Round(time.Microsecond).String()}
	for _, stage := range stages {
		if d := r.Trace.Elapsed(stage); d > 0 {
			text = append(text, fmt.Sprintf("%s %v", stage, d.Round(time.Microsecond)))
		}
	}
	return strings.Join(text, ", ")
}

// verbose is testing.Verbose, also where there are no test flags.
func verbose() bool {
	return flag.Lookup("test.v") != nil && flag.Parsed() && testing.Verbose()
}

// progressEvery is the least time between two lines of progress: a short
// evaluation prints none.
const progressEvery = 2 * time.Second

// progress returns what tells -v how far the evaluation is; nil without -v.
func progress(tb testing.TB) func(stage string, done, total int) {
	if !verbose() {
		return nil
	}
	last := time.Now()
	return func(stage string, done, total int) {
		if time.Since(last) < progressEvery {
			return
		}
		last = time.Now()
		of := ""
		if total > 0 {
			of = fmt.Sprintf(" of %d", total)
		}
		fmt.Fprintf(tb.Output(), "ragtest: %s: %d%s\n", stage, done, of)
	}
}
