package sweep_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/sweep"
)

// sweptDir is set in the process that TestKilledSweepGoesOn kills.
const sweptDir = "RAGTEST_TEST_SWEPT_DIR"

// TestSweepsToBeKilled is what TestKilledSweepGoesOn runs.
func TestSweepsToBeKilled(t *testing.T) {
	dir := os.Getenv(sweptDir)
	if dir == "" {
		t.Skip("skipped: TestKilledSweepGoesOn runs this")
	}
	g := killed(t, dir)
	g.Visit = func(sweep.Cell, *ragtest.Result) error { time.Sleep(20 * time.Millisecond); return nil }
	evaluate(t, g)
}

func killed(t *testing.T, dir string) sweep.Grid {
	g := handbook(t)
	g.Budget, g.Dir = sweep.AtCharacters(800), dir
	return g
}

// A sweep that is killed at any moment goes on where it was, to the same report.
func TestKilledSweepGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: it starts processes")
	}
	want := encode(t, evaluate(t, killed(t, "")))
	dir := filepath.Join(t.TempDir(), "cells")
	kept := func() int {
		files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
		return len(files)
	}
	for range 3 {
		before := kept()
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSweepsToBeKilled$")
		c.Env = append(os.Environ(), sweptDir+"="+dir)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		running := true
		for running && kept() < before+5 {
			select {
			case <-ended:
				running = false
			case <-time.After(time.Millisecond):
			}
		}
		c.Process.Kill()
		if running {
			<-ended
		}
		if kept() == before {
			t.Fatal("a process that swept kept nothing")
		}
	}
	r := evaluate(t, killed(t, dir))
	if got := encode(t, r); got != want || r.Work.Kept == 0 || r.Work.Kept == len(r.Cells) {
		t.Errorf("got %d of %d cells kept; the report is the same: %t", r.Work.Kept, len(r.Cells), got == want)
	}
}
