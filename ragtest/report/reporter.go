package report

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// HTML is a [ragtest.Reporter] that writes a [Page] of a run. It is not required:
// a report that cannot be written does not fail the test.
type HTML struct {
	// Path is the file that is written, relative to the folder of the test; "": one
	// in TB's artifact directory, report.html or, for further runs of the test,
	// report-<name>.html. go test -artifacts keeps it.
	Path string
	TB   testing.TB // the test, which logs where the report is; nil only with a Path

	Corpus *spans.Corpus   // as for Page
	Old    *ragtest.Result // an earlier run to show beside this one; nil: none
	RankBy string          // as for Page
}

var _ ragtest.Reporter = HTML{}

// Report writes the page.
func (h HTML) Report(ctx context.Context, r *ragtest.Result) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	path := h.Path
	if path == "" {
		if h.TB == nil {
			return errors.New("reporting: field Path is empty and field TB nil: want a file or a test that has an artifact directory")
		}
		path = freePath(h.TB.ArtifactDir(), r.Name)
	}
	page := Page{Corpus: h.Corpus, Results: []*ragtest.Result{r}, RankBy: h.RankBy}
	if h.Old != nil {
		page.Results = []*ragtest.Result{h.Old, r}
	}
	if err := page.WriteFile(path); err != nil {
		return err
	}
	if h.TB != nil {
		h.TB.Helper()
		h.TB.Logf("ragtest: report %s", path)
	}
	return nil
}

// freePath returns the first name for a report that dir has no file of.
func freePath(dir, run string) string {
	for n := 1; ; n++ {
		name := "report.html"
		switch {
		case n == 2 && run != "":
			name = "report-" + pathSafe(run) + ".html"
		case n > 1:
			name = fmt.Sprintf("report-%d.html", n)
		}
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); err != nil {
			return path // there is none, or writing says what is wrong
		}
	}
}

// pathSafe makes a name fit for a file name.
func pathSafe(name string) string {
	return shorten(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.=", r) {
			return r
		}
		return '_'
	}, name), 50)
}

// Markdown is a [ragtest.Reporter] that appends a summary of a run to a file. It is
// not required.
type Markdown struct {
	// Path is the file, relative to the folder of the test; "": the one that
	// $GITHUB_STEP_SUMMARY names, which GitHub shows with the run of a workflow, or
	// none where that is not set.
	Path string

	Old *ragtest.Result // an earlier run to compare with; nil: none
}

var _ ragtest.Reporter = Markdown{}

// Report appends the summary.
func (m Markdown) Report(ctx context.Context, r *ragtest.Result) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	path := m.Path
	if path == "" {
		path = os.Getenv("GITHUB_STEP_SUMMARY")
	}
	if path == "" {
		return nil
	}
	page := Page{Results: []*ragtest.Result{r}}
	if m.Old != nil {
		page.Results = []*ragtest.Result{m.Old, r}
	}
	text, err := page.Markdown()
	if err != nil {
		return err
	}
	return appendTo(path, text)
}

// appendTo appends in one write, so that the summaries of tests that run at once
// do not mix.
func appendTo(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("reporting: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return fmt.Errorf("reporting: %w", err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("reporting: %w", err)
	}
	return nil
}
