package langsmith

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"github.com/rageval/rageval/ragtest"
)

const (
	spoolVersion = 1
	spoolFiles   = 100 // more are not kept: nobody sends them
)

// A spool file has a header in its first line, then the queries of the result, one a
// line, repetition after repetition.
type spoolHeader struct {
	Version    int             `json:"version"`
	Endpoint   string          `json:"endpoint"`
	Workspace  string          `json:"workspace"`
	Experiment *experiment     `json:"experiment"`
	Result     *ragtest.Result `json:"result"`      // without its queries
	Queries    int             `json:"queries"`     // how many
	Repeated   int             `json:"repetitions"` // how many, 0 for a result without
}

// spoolDir returns the directory of what could not be sent.
func (r Reporter) spoolDir() (string, error) {
	if dir := cmp.Or(r.Spool, environment("RAGTEST_LANGSMITH_SPOOL")); dir != "" {
		return dir, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding a directory: %w", err)
	}
	return filepath.Join(cache, "rageval", "langsmith"), nil
}

// spool writes the experiment to a file of its own, and returns its path. It holds
// what was measured and the texts that were retrieved, and no key.
func (r Reporter) spool(c *client, x *experiment, result *ragtest.Result) (path string, err error) {
	dir, err := r.spoolDir()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if kept, err := filepath.Glob(filepath.Join(dir, "*.jsonl")); err != nil || len(kept) >= spoolFiles {
		return "", fmt.Errorf("%s holds %d results already: send them with langsmith.Flush, or remove them", dir, len(kept))
	}
	// Sorted by name, files are in order of time. A half-written one has another name.
	path = filepath.Join(dir, x.End.UTC().Format("20060102T150405")+"-"+x.ID+".jsonl")
	f, err := os.CreateTemp(dir, ".writing-*")
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	w := bufio.NewWriter(f)
	e := json.NewEncoder(w)
	head := *result
	head.Queries, head.Repetitions = nil, nil
	err = e.Encode(spoolHeader{spoolVersion, c.endpoint, c.workspace, x, &head, len(result.Queries), len(result.Repetitions)})
	if err != nil {
		return "", err
	}
	for _, queries := range repetitions(result) {
		for _, q := range queries {
			if err := e.Encode(q); err != nil {
				return "", err
			}
		}
	}
	if err := w.Flush(); err != nil {
		return "", err
	}
	if err := f.Close(); err != nil {
		return "", err
	}
	return path, os.Rename(f.Name(), path)
}

// Flush sends what earlier tests could not send, as the environment says where it is
// kept and where LangSmith is.
func Flush(ctx context.Context) error { return Reporter{}.Flush(ctx) }

// Flush sends what reporters with the same Spool could not send, oldest first, and
// removes it. It stops at the first experiment that cannot be sent for a reason that
// may pass. One that LangSmith refuses is kept under a name that ends with ".refused",
// and one that was kept for another Endpoint or Workspace stays where it is; both are
// errors that name the file.
func (r Reporter) Flush(ctx context.Context) error {
	c, err := r.Connection.client()
	if err == nil {
		err = r.flush(ctx, c)
	}
	if err != nil {
		return fmt.Errorf("flushing LangSmith's spool: %w", err)
	}
	return nil
}

func (r Reporter) flush(ctx context.Context, c *client) error {
	dir, err := r.spoolDir()
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var bad []error
	for _, entry := range entries { // in order of name
		if !strings.HasSuffix(entry.Name(), ".jsonl") {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		x, result, err := c.readSpool(path)
		if errors.Is(err, os.ErrNotExist) {
			continue // Another process was faster.
		}
		if err != nil {
			bad = append(bad, fmt.Errorf("%s: %w", path, err))
			continue
		}
		_, err = c.send(ctx, x, result)
		var incomplete incompleteError
		if err != nil {
			bad = append(bad, fmt.Errorf("%s: %w", path, err))
		}
		switch {
		case err == nil, errors.As(err, &incomplete):
			err = os.Remove(path)
		case ctx.Err() != nil || passes(err):
			return errors.Join(bad...)
		default:
			err = os.Rename(path, path+".refused")
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			bad = append(bad, err)
		}
	}
	return errors.Join(bad...)
}

func (c *client) readSpool(path string) (*experiment, *ragtest.Result, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	head, err := parseSpool(f)
	if err != nil {
		return nil, nil, err
	}
	if head.Endpoint != c.endpoint || head.Workspace != c.workspace {
		return nil, nil, fmt.Errorf("it is for the endpoint %s and the workspace %q, the connection is to %s and %q", head.Endpoint, head.Workspace, c.endpoint, c.workspace)
	}
	return head.Experiment, head.Result, nil
}

// parseSpool parses a spool file. The result has its queries again.
func parseSpool(r io.Reader) (*spoolHeader, error) {
	d := json.NewDecoder(bufio.NewReader(r))
	head := &spoolHeader{}
	if err := d.Decode(head); err != nil {
		return nil, fmt.Errorf("reading line 1: %w", err)
	}
	if head.Version != spoolVersion {
		return nil, fmt.Errorf("version is %d: this version of the library reads %d", head.Version, spoolVersion)
	}
	if head.Experiment == nil || head.Result == nil {
		return nil, errors.New("reading line 1: want an experiment and a result")
	}
	if _, err := uuid.Parse(head.Experiment.ID); err != nil {
		return nil, fmt.Errorf("reading line 1: the ID of the experiment is %q, want a UUID", head.Experiment.ID)
	}
	var queries []ragtest.QueryResult
	for {
		var q ragtest.QueryResult
		err := d.Decode(&q)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("reading line %d: %w", len(queries)+2, err)
		}
		queries = append(queries, q)
	}
	n, times := head.Queries, max(head.Repeated, 1)
	if traces := len(head.Experiment.Traces); traces != times || n < 0 || len(queries)%times != 0 || len(queries)/times != n {
		return nil, fmt.Errorf("found %d queries and %d traces, want %d queries %d times", len(queries), traces, n, times)
	}
	head.Result.Queries = queries[:n:n]
	for i := range head.Repeated {
		head.Result.Repetitions = append(head.Result.Repetitions, ragtest.Repetition{Queries: queries[i*n : (i+1)*n]})
	}
	return head, nil
}
