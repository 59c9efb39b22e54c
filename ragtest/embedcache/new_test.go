package embedcache

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// recorder is a testing.TB that records what it is told.
type recorder struct {
	testing.TB
	cleanups []func()
	log      []string
	failures []string
}

func (r *recorder) Helper()                    {}
func (r *recorder) Name() string               { return "TestX/a_b" }
func (r *recorder) Cleanup(f func())           { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Logf(f string, args ...any) { r.log = append(r.log, fmt.Sprintf(f, args...)) }
func (r *recorder) Errorf(f string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(f, args...))
}
func (r *recorder) Fatalf(f string, args ...any) {
	r.Errorf(f, args...)
	runtime.Goexit()
}

// runAs runs f as a test, with its cleanups.
func runAs(t *testing.T, f func(testing.TB)) *recorder {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	for _, cleanup := range slices.Backward(r.cleanups) {
		cleanup()
	}
	return r
}

func TestNew(t *testing.T) {
	path := newPath(t)
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	command := "record it with\n\tRAGTEST_UPDATE=1 go test -run '^TestX$/^a_b$' " + dir
	replay := Options{Model: "m", Replay: true}
	r := runAs(t, func(tb testing.TB) { New(tb, path, nil, replay) })
	if want := "ragtest: opening the embedding cache " + path + ": it does not exist, and a replay embeds nothing; " + command; len(r.failures) != 1 || r.failures[0] != want {
		t.Errorf("got failures %q, want %q", r.failures, want)
	}

	var c *Cache
	r = runAs(t, func(tb testing.TB) {
		c = New(tb, path, &fake{dim: 3}, model)
		mustEmbed(t, c, "b")
		mustEmbed(t, c, "a", "b")
	})
	if want := "ragtest: embedding cache " + path + ": embedded 2 of 3 texts"; len(r.failures) > 0 || len(r.log) != 1 || r.log[0] != want {
		t.Errorf("got failures %q and log %q, want log %q", r.failures, r.log, want)
	}
	if readFile(t, path) != sortedFile(t, 3, "a", "b") || !c.closed {
		t.Errorf("got a file that is not sorted, or a cache that is not closed:\n%s", readFile(t, path))
	}

	var miss error
	r = runAs(t, func(tb testing.TB) {
		c := New(tb, path, nil, replay)
		mustEmbed(t, c, "a")
		_, miss = c.Embed(t.Context(), []string{"c"})
	})
	wantError(t, miss, command)
	if len(r.failures)+len(r.log) > 0 {
		t.Errorf("a replay: got failures %q and log %q", r.failures, r.log)
	}

	// What a test leaves behind it says.
	r = runAs(t, func(tb testing.TB) {
		mustEmbed(t, New(tb, path, &fake{dim: 3}, model), "c")
		lines := strings.SplitAfter(readFile(t, path), "\n")
		writeFile(t, path, strings.Join(lines[:2], "")+"rubbish\n"+lines[2])
	})
	if len(r.failures) != 1 || !strings.Contains(r.failures[0], "ragtest: rewriting the embedding cache: reading "+path+": line 3") {
		t.Errorf("got failures %q, want one for the file that cannot be sorted", r.failures)
	}
	// A cache that the test closed itself is left alone.
	path = newPath(t)
	r = runAs(t, func(tb testing.TB) {
		c := New(tb, path, &fake{dim: 3}, model)
		mustEmbed(t, c, "a")
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	if len(r.failures) > 0 {
		t.Errorf("got failures %q", r.failures)
	}
}
