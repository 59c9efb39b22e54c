package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// process returns the command of this test binary that is ragtest: see TestMain.
func process(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Args = append([]string{"ragtest"}, args...)
	return cmd
}

// embeddings is a server with OpenAI's protocol that answers requests for the vectors of
// queries, and of chunks only while it is not held.
type embeddings struct {
	queries map[string]bool
	arrived chan struct{} // closed by the first request that is held
	once    sync.Once

	mu   sync.Mutex
	held bool
	keys []string
}

func (s *embeddings) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.keys = append(s.keys, r.Header.Get("Authorization"))
	held := s.held
	s.mu.Unlock()
	type vector struct {
		Object    string    `json:"object"`
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	var data []vector
	chunks := false
	for i, text := range request.Input {
		chunks = chunks || !s.queries[text]
		v := make([]float32, 8)
		for j := range v {
			h := fnv.New32a()
			fmt.Fprintf(h, "%d %s", j, text)
			v[j] = float32(h.Sum32()%1000)/1000 - 0.5
		}
		data = append(data, vector{"embedding", i, v})
	}
	if chunks && held {
		s.once.Do(func() { close(s.arrived) })
		<-r.Context().Done()
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data, "model": "m"})
}

func (s *embeddings) hold(held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = held
}

func newEmbeddings(t *testing.T) (*embeddings, string) {
	t.Helper()
	c, err := reader{corpus: filepath.Join(handbookData, "handbook")}.read(&inputs{ctx: t.Context()}, formGolden, filepath.Join(handbookData, "handbook.golden.jsonl"), &ledger{})
	if err != nil {
		t.Fatal(err)
	}
	s := &embeddings{queries: map[string]bool{}, arrived: make(chan struct{})}
	for _, q := range c.tokens {
		s.queries[q.Text] = true
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, server.URL
}

// TestInterruptedSweepGoesOn interrupts a sweep that waits for a service, and lets it go
// on. The report is that of a sweep that was not interrupted, and the key is in none of
// what was written.
func TestInterruptedSweepGoesOn(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted on Windows")
	}
	const canary = "canary-7f3a9b-key"
	service, url := newEmbeddings(t)
	service.hold(true)
	dir := t.TempDir()
	args := handbookArgs(dir, "-chunker", "fixed/size=100", "-chunker", "fixed/size=200", "-embedders", "lexical,openai:m@"+url, "-k-values", "1,3")
	cmd := process(t, args...)
	cmd.Env = append(os.Environ(), "OPENAI_API_KEY="+canary)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	select {
	case <-service.arrived:
	case err := <-exited:
		t.Fatalf("ragtest ended before it asked for chunks: %v\n%s", err, &stderr)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	select {
	case <-exited:
	case <-time.After(time.Minute):
		t.Fatal("ragtest has not ended a minute after it was interrupted")
	}
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted || stdout.Len() > 0 {
		t.Errorf("exit code %d, stdout %q, want %d and nothing", code, &stdout, exitInterrupted)
	}
	want := fmt.Sprintf("ragtest sweep: 2 of 8 cells are finished and kept in %s: the same command goes on from there\nragtest sweep: interrupted\n", filepath.Join(dir, "cells"))
	if stderr.String() != want {
		t.Errorf("got on standard error\n%s, want\n%s", &stderr, want)
	}
	written := stderr.String()

	service.hold(false)
	t.Setenv("OPENAI_API_KEY", canary)
	printed, errs := succeed(t, args...)
	if !strings.Contains(errs, "8 cells, 2 of them kept from before") {
		t.Errorf("got on standard error %s", errs)
	}
	other := t.TempDir()
	args[5+1] = other // what follows -output-dir
	whole, moreErrs := succeed(t, args...)
	if printed != whole {
		t.Errorf("a sweep that was interrupted prints\n%s, want\n%s", printed, whole)
	}
	got := files(t, dir)
	for name, data := range files(t, other) {
		if got[name] != data {
			t.Errorf("%s differs in a sweep that was interrupted", name)
		}
	}
	written += printed + errs + moreErrs
	for name, data := range got {
		written += name + data
	}
	if strings.Contains(written, canary) {
		t.Error("the key is in what was written")
	}
	if service.keys[0] != "Bearer "+canary {
		t.Errorf("the service was given %q: this test checks nothing", service.keys[0])
	}
}

// TestKeysAreNotTold lets a service repeat the key in its error.
func TestKeysAreNotTold(t *testing.T) {
	const canary = "canary-7f3a9b-key"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no such key: "+r.Header.Get("Authorization"), http.StatusUnauthorized)
	}))
	t.Cleanup(server.Close)
	t.Setenv("OPENAI_API_KEY", canary)
	t.Setenv("CO_API_KEY", canary)
	for _, more := range [][]string{{"-embedders", "openai:m@" + server.URL}, {"-embedders", "cohere:m@" + server.URL}, {"-rerankers", "cohere:m@" + server.URL}} {
		dir := t.TempDir()
		code, stdout, stderr := runInProcess(t.Context(), "", handbookArgs(dir, append(more, "-chunker", "fixed/size=100")...)...)
		if code != exitError || !strings.Contains(stderr, "401") {
			t.Errorf("%q: exit code %d, %s", more, code, stderr)
		}
		for _, data := range files(t, dir) {
			stdout += data
		}
		if strings.Contains(stdout+stderr, canary) {
			t.Errorf("%q: the key is in what was written: %s", more, stderr)
		}
	}
}

// TestSweepInAPipe closes the end of a pipe that is read after the first line, as head
// does.
func TestSweepInAPipe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no broken pipe on Windows")
	}
	cmd := process(t, handbookArgs("", "-chunker", "fixed/size=100", "-json")...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	head := make([]byte, 10)
	if _, err := io.ReadFull(bufio.NewReaderSize(out, 16), head); err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	out.Close()
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 {
		t.Errorf("exit code %d\n%s", exit.ExitCode(), &stderr)
	}
	if string(head) != `{"schemaVe` || strings.Contains(stderr.String(), "pipe") {
		t.Errorf("got %q and %s", head, &stderr)
	}
}
