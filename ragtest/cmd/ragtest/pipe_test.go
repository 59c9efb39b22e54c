package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rageval/rageval/internal/realdata"
)

// program returns this test's binary under the name ragtest, by which it is the command.
func program(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ragtest")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if err := os.Symlink(self, path); err != nil {
		t.Skipf("making a link: %v", err)
	}
	return path
}

// manyFindings returns a file, about which lint has much to say.
func manyFindings(t *testing.T) string {
	var b strings.Builder
	b.WriteString(`{"examples":[`)
	for i := range 3000 {
		if i > 0 {
			b.WriteString(",\n")
		}
		b.WriteString(`{"question":"the same question?","context":"context ` + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + ` text","answer":"gone"}`)
	}
	b.WriteString("]}")
	path := filepath.Join(t.TempDir(), "many.json")
	write(t, path, b.String())
	return path
}

// A reader that has enough is no error, and nothing is said about it.
func TestClosedPipe(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), program(t), "lint", manyFindings(t))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 10)
	if _, err := io.ReadFull(out, first); err != nil {
		t.Fatal(err)
	}
	out.Close()
	err = cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if stderr.Len() > 0 {
		t.Errorf("stderr %q, want nothing", stderr.String())
	}
	if exit != nil {
		if status, ok := exit.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.Signal() != syscall.SIGPIPE {
			t.Errorf("%v, want the end that other programs have", err)
		}
	}
}

// closedWriter is a pipe without a reader.
type closedWriter struct{}

func (closedWriter) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Err: syscall.EPIPE}
}

func TestClosedPipeWithoutSignal(t *testing.T) {
	var stderr bytes.Buffer
	e := &env{stdin: strings.NewReader(""), stdout: closedWriter{}, stderr: &stderr}
	for _, args := range [][]string{{"lint", manyFindings(t)}, {"help"}, {"help", "lint"}, {"version"}, {"lint", "-h"}} {
		if code := run(t.Context(), e, args); code != exitOK || stderr.Len() > 0 {
			t.Errorf("ragtest %q: exit code %d, stderr %q", args, code, stderr.String())
		}
	}
}

// An interrupt ends the command, also one that waits for its standard input, and what it
// was to write is not there.
func TestInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no signal to send")
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), program(t), "convert", "-to", "squad", "-from", "squad", "-", filepath.Join(dir, "out.json"))
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// Once it has taken more than a pipe holds, it is reading.
	if _, err := io.WriteString(stdin, strings.Repeat(" ", 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted || stderr.String() != "ragtest convert: interrupted\n" {
		t.Errorf("%v, stderr %q, want exit code %d", err, stderr.String(), exitInterrupted)
	}
	if files := tree(t, dir); len(files) != 1 {
		t.Errorf("found the files %q, want none", files[1:])
	}
}

// What is no regular file is read once, as the shell's <(…) wants it, and written in place.
func TestNamedPipes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no named pipes in folders")
	}
	dir := t.TempDir()
	docs, in, out := filepath.Join(dir, "docs"), filepath.Join(dir, "in"), filepath.Join(dir, "out")
	write(t, filepath.Join(docs, "a.md"), "some text")
	for _, path := range []string{in, out} {
		if err := exec.CommandContext(t.Context(), "mkfifo", path).Run(); err != nil {
			t.Skipf("making a named pipe: %v", err)
		}
	}
	const record = `{"inputs":{"query":"q"},"outputs":{"relevantSpans":[{"docId":"a.md","text":"text"}]}}` + "\n"
	fed := make(chan error, 1)
	go func() { fed <- os.WriteFile(in, []byte(record), 0) }()
	type output struct {
		data []byte
		err  error
	}
	drained := make(chan output, 1)
	go func() {
		data, err := os.ReadFile(out)
		drained <- output{data, err}
	}()
	code, _, stderr := runInProcess(t.Context(), "", "convert", "-to", "golden", "-corpus", docs, in, out)
	if code != exitError || !strings.Contains(stderr, "writing "+out) {
		// A golden collection is a folder unless the name says otherwise.
		t.Errorf("exit code %d, stderr %q", code, stderr)
	}
	if err := <-fed; err != nil {
		t.Error(err)
	}
	go func() { fed <- os.WriteFile(in, []byte(record), 0) }()
	code, _, stderr = runInProcess(t.Context(), "", "convert", "-to", "langsmith", "-corpus", docs, in, out)
	if code != exitOK {
		t.Fatalf("exit code %d, stderr %q", code, stderr)
	}
	if err := <-fed; err != nil {
		t.Error(err)
	}
	if got := <-drained; got.err != nil || !strings.Contains(string(got.data), `"start":5`) {
		t.Errorf("got %s (%v)", got.data, got.err)
	}
}

// A context that is done ends reading of every form.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	docs := filepath.Join(dir, "docs")
	write(t, filepath.Join(docs, "a.md"), "text")
	write(t, filepath.Join(dir, "g.jsonl"), `{"inputs":{"query":"q"},"outputs":{"relevantSpans":[]}}`)
	for _, args := range [][]string{
		{"convert", "-to", "squad", manyFindings(t), filepath.Join(dir, "out")},
		{"convert", "-to", "squad", "-corpus", docs, filepath.Join(dir, "g.jsonl"), filepath.Join(dir, "out")},
		{"lint", manyFindings(t)},
		{"init", "-out", dir, docs},
	} {
		before := tree(t, dir)
		code, stdout, stderr := runInProcess(ctx, "", args...)
		if code != exitInterrupted || stdout != "" || stderr != "ragtest "+args[0]+": interrupted\n" {
			t.Errorf("ragtest %q: exit code %d, stdout %q, stderr %q", args, code, stdout, stderr)
		}
		if len(tree(t, dir)) != len(before) {
			t.Errorf("ragtest %q wrote something", args)
		}
	}
}

// Cancelling while a large collection is read or linted ends it soon.
func TestCancelledOnTheWay(t *testing.T) {
	source := realdata.Dir(t, "data", "squad", "dev-v2.0.json")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	code, _, stderr := runInProcess(ctx, "", "lint", source)
	if code != exitInterrupted {
		t.Errorf("exit code %d, stderr %q", code, stderr)
	}
}

// Nothing but text goes to the outputs: there is no colour, whatever the terminal.
func TestNoColour(t *testing.T) {
	e := &env{stdin: strings.NewReader(""), terminal: true}
	var out, errs bytes.Buffer
	e.stdout, e.stderr = &out, &errs
	run(t.Context(), e, []string{"lint", manyFindings(t)})
	if strings.Contains(out.String()+errs.String(), "\x1b") {
		t.Error("found an escape sequence")
	}
}
