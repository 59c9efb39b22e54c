package progress

import (
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// clock is a time that a test sets.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func TestLines(t *testing.T) {
	var b strings.Builder
	c := &clock{time.Unix(1000, 0)}
	m := New(&b, "sweep", "cells", false)
	m.now, m.shown = c.now, c.at
	for i := range 10 {
		c.at = c.at.Add(500 * time.Millisecond)
		m.Tell(i+1, 10, "x")
	}
	m.Stop()
	if want := "sweep: 4 of 10 cells, the last of x\nsweep: 8 of 10 cells, the last of x\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestBar(t *testing.T) {
	var b strings.Builder
	c := &clock{time.Unix(1000, 0)}
	m := New(&b, "sweep", "cells", true)
	m.now = c.now
	m.Tell(0, 4, "first")
	m.Tell(1, 4, "too soon")
	c.at = c.at.Add(time.Second)
	m.Tell(2, 4, strings.Repeat("long\n", 40))
	m.Tell(4, 4, "last")
	m.Stop()
	m.Stop()
	draws := strings.Split(b.String(), "\r")[1:]
	if len(draws) != 3 {
		t.Fatalf("got %d drawings, want 3: %q", len(draws), b.String())
	}
	for i, want := range []string{
		"sweep [" + strings.Repeat(".", 30) + "] 0 of 4 cells  first",
		"sweep [" + strings.Repeat("#", 15) + strings.Repeat(".", 15) + "] 2 of 4 cells  long long",
		"sweep [" + strings.Repeat("#", 30) + "] 4 of 4 cells  last",
	} {
		if !strings.HasPrefix(draws[i], want) || utf8.RuneCountInString(strings.TrimSuffix(draws[i], "\x1b[K")) > lineWidth {
			t.Errorf("drawing %d: got %q, want %q and at most %d characters", i, draws[i], want, lineWidth)
		}
	}
	if !strings.HasSuffix(b.String(), "\x1b[K\n") || strings.Count(b.String(), "\n") != 1 {
		t.Errorf("got %q, want one line end, at the end", b.String())
	}
}

func TestNothingButATerminalIsOne(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for _, f := range []*os.File{null, r, w} {
		if Terminal(f) {
			t.Errorf("%s counts as a terminal", f.Name())
		}
	}
	// Where there is one, it does.
	if f, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0); err == nil {
		defer f.Close()
		t.Setenv("TERM", "xterm")
		if !Terminal(f) {
			t.Error("a pseudo-terminal does not count as a terminal")
		}
		t.Setenv("TERM", "dumb")
		if Terminal(f) {
			t.Error("a dumb terminal counts as one that can move its cursor")
		}
	}
}
