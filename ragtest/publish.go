package ragtest

import (
	"encoding/json"
	"flag"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rageval/rageval/internal/wholefile"
)

// labels remembers, for each test that is under way, the labels of its runs.
var labels struct {
	sync.Mutex
	of map[testing.TB][]string
}

// labelRun returns the label of this run among those of the test: "" for the
// first, else the given name or, where that is empty or taken, its number.
func labelRun(tb testing.TB, name string) string {
	tb.Helper()
	checkLoop(tb)
	if !reflect.TypeOf(tb).Comparable() {
		return ""
	}
	labels.Lock()
	defer labels.Unlock()
	before, again := labels.of[tb]
	if !again {
		tb.Cleanup(func() {
			labels.Lock()
			defer labels.Unlock()
			delete(labels.of, tb)
		})
	}
	if labels.of == nil {
		labels.of = map[testing.TB][]string{}
	}
	label := ""
	if again {
		if b, ok := tb.(bencher); ok {
			b.Fatalf("ragtest: this benchmark ran an evaluation before: the evaluation is the benchmark's loop, so it runs once; put each into a sub-benchmark with b.Run, outside any loop")
		}
		label = pathSafe(name)
		if label == "" || slices.Contains(before, label) {
			label = strings.TrimPrefix(label+"-"+strconv.Itoa(len(before)+1), "-")
		}
	}
	labels.of[tb] = append(before, label)
	return label
}

// pathSafe makes name fit for a file name and an attribute key.
func pathSafe(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.=", r) {
			return r
		}
		return '_'
	}, name)
}

// publish logs the table, and records the result as attributes and artifact.
func publish(tb testing.TB, label string, r *Result) {
	tb.Helper()
	if b, ok := tb.(bencher); !ok || verbose() || b.Failed() {
		tb.Logf("ragtest: %s\n  took %s", r, timings(r))
	}
	key, file := "ragtest.", "ragtest.json"
	if label != "" {
		key, file = "ragtest."+label+".", "ragtest-"+label+".json"
	}
	for _, s := range r.Metrics {
		tb.Attr(key+s.Metric, strconv.FormatFloat(s.Value, 'g', -1, 64))
	}
	data, err := json.Marshal(struct {
		Test string `json:"test"`
		versionedResult
	}{tb.Name(), versionedResult{resultSchemaVersion, resultFields(*r)}})
	if err != nil {
		tb.Errorf("ragtest: encoding the result: %v", err)
		return
	}
	if err := wholefile.Write(filepath.Join(tb.ArtifactDir(), file), append(data, '\n')); err != nil {
		tb.Errorf("ragtest: keeping the result: %v", err)
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
		tb.Logf("ragtest: %s: %d%s", stage, done, of)
	}
}
