package ragtest_test

import (
	"flag"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"
)

// recorder is a test that records what is said to it.
type recorder struct {
	testing.TB
	dir      string
	deadline time.Time
	said     []string // "kind: text", in order
}

func (r *recorder) say(kind, format string, args ...any) {
	r.said = append(r.said, kind+": "+fmt.Sprintf(format, args...))
}
func (r *recorder) Helper()                           {}
func (r *recorder) Logf(format string, args ...any)   { r.say("log", format, args...) }
func (r *recorder) Errorf(format string, args ...any) { r.say("error", format, args...) }
func (r *recorder) Fatalf(format string, args ...any) {
	r.say("fatal", format, args...)
	runtime.Goexit()
}
func (r *recorder) Skipf(format string, args ...any) {
	r.say("skip", format, args...)
	runtime.Goexit()
}
func (r *recorder) Output() io.Writer           { return output{r} }
func (r *recorder) Attr(key, value string)      { r.say("attr", "%s=%s", key, value) }
func (r *recorder) ArtifactDir() string         { return r.dir }
func (r *recorder) Deadline() (time.Time, bool) { return r.deadline, !r.deadline.IsZero() }

// output is what a recorder returns of Output.
type output struct{ r *recorder }

func (o output) Write(p []byte) (int, error) {
	o.r.say("output", "%s", strings.TrimSuffix(string(p), "\n"))
	return len(p), nil
}

// record runs f as a test of its own.
func record(t *testing.T, r *recorder, f func(tb testing.TB)) []string {
	t.Helper()
	r.TB = t
	if r.dir == "" {
		r.dir = t.TempDir()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	return r.said
}

func sayings(said []string, kind string) []string {
	var of []string
	for _, s := range said {
		if text, ok := strings.CutPrefix(s, kind+": "); ok {
			of = append(of, text)
		}
	}
	return of
}

// setFlag sets a flag of the test binary for one test.
func setFlag(t *testing.T, name, value string) {
	t.Helper()
	f := flag.Lookup(name)
	before := f.Value.String()
	if err := f.Value.Set(value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Value.Set(before) })
}
