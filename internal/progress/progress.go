// Package progress tells how far work has come: as a bar on a terminal, in lines
// elsewhere.
package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Meter tells how many of a number of things are done. It may be used concurrently.
// What cannot be written is lost: progress is no result.
type Meter struct {
	what  string // what comes before the numbers
	unit  string // of the things
	w     io.Writer
	bar   bool
	every time.Duration // between two lines, or two drawings of the bar but for the last
	now   func() time.Time

	mu      sync.Mutex
	shown   time.Time
	pending bool // the bar has no line end yet
}

const (
	barWidth  = 30
	lineWidth = 78 // of the bar with all that is beside it
)

// New returns a meter that writes to w such as "sweep: 3 of 12 cells" where what is
// "sweep" and unit is "cells". On a terminal it draws a bar; elsewhere it writes a line
// at most every two seconds, the first after as long.
func New(w io.Writer, what, unit string, terminal bool) *Meter {
	m := &Meter{what: what, unit: unit, w: w, bar: terminal, every: 2 * time.Second, now: time.Now}
	if terminal {
		m.every = 100 * time.Millisecond
	} else {
		m.shown = m.now()
	}
	return m
}

// Tell tells that done of total things are done, the last of which was last.
func (m *Meter) Tell(done, total int, last string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if now.Sub(m.shown) < m.every && !(m.bar && done == total) {
		return
	}
	m.shown = now
	if !m.bar {
		fmt.Fprintf(m.w, "%s: %d of %d %s, the last of %s\n", m.what, done, total, m.unit, last)
		return
	}
	filled := 0
	if total > 0 {
		filled = barWidth * min(done, total) / total
	}
	line := fmt.Sprintf("%s [%s%s] %d of %d %s  %s", m.what, strings.Repeat("#", filled), strings.Repeat(".", barWidth-filled), done, total, m.unit, printable(last))
	if n := utf8.RuneCountInString(line); n > lineWidth {
		line = string([]rune(line)[:lineWidth-1]) + "…"
	}
	fmt.Fprintf(m.w, "\r%s\x1b[K", line)
	m.pending = true
}

// printable returns s with spaces for what would move the cursor.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, s)
}

// Stop ends the line of a bar, so that what follows begins on one of its own.
func (m *Meter) Stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pending {
		fmt.Fprintln(m.w)
		m.pending = false
	}
}

// Terminal reports whether f is a terminal that can move its cursor. The null device
// is a character device, too, and none.
func Terminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 || os.Getenv("TERM") == "dumb" {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
