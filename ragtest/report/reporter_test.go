package report

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
)

// recorder is a test with an artifact directory of its own.
type recorder struct {
	testing.TB
	dir  string
	logs []string
}

func (r *recorder) ArtifactDir() string { return r.dir }
func (r *recorder) Helper()             {}
func (r *recorder) Logf(format string, args ...any) {
	r.logs = append(r.logs, format)
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestHTMLKeepsAReportOfEachRun(t *testing.T) {
	tb := &recorder{TB: t, dir: t.TempDir()}
	r := evaluate(t, 40, 0)
	for range 3 {
		if err := (HTML{TB: tb, Corpus: handbook(t)}).Report(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := files(t, tb.dir), []string{"report-3.html", "report-fixed_size=40.html", "report.html"}; !cmp.Equal(got, want) {
		t.Errorf("got the files %q, want %q", got, want)
	}
	if len(tb.logs) != 3 {
		t.Errorf("got the log %q, want a line for each report", tb.logs)
	}
}

func TestHTMLWritesToAPath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "report.html")
	old, r := evaluate(t, 60, 0), evaluate(t, 40, 0)
	for _, h := range []HTML{{Path: path}, {Path: path, Old: old, RankBy: "span_mrr"}} {
		if err := h.Report(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := pageOf(t, Page{Results: []*ragtest.Result{old, r}, RankBy: "span_mrr"}); !cmp.Equal(got, want) {
		t.Error("the file is not the page of the earlier run and this one")
	}
	if got := files(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("got the files %q, want the report alone", got)
	}
}

func TestHTMLFaults(t *testing.T) {
	r := evaluate(t, 40, 0)
	cancelled, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	if err := (HTML{Path: "unused"}).Report(cancelled, r); !errors.Is(err, cause) {
		t.Errorf("got the error %v, want %v", err, cause)
	}
	if err := (Markdown{Path: "unused"}).Report(cancelled, r); !errors.Is(err, cause) {
		t.Errorf("got the error %v, want %v", err, cause)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for want, h := range map[string]HTML{
		"field Path is empty and field TB nil": {},
		"not a directory":                      {Path: filepath.Join(file, "report.html")},
		"want a regular file":                  {Path: filepath.Dir(file)},
	} {
		if err := h.Report(t.Context(), r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got the error %v, want %q", err, want)
		}
	}
}

func TestReportersRunInATest(t *testing.T) {
	dir := t.TempDir()
	r := evaluate(t, 40, 0)
	queries := []ragtest.TokenQuery{{Query: ragtest.Query{ID: "q", Text: "Where are backups copied to?"}}}
	corpus := handbook(t)
	ragtest.RunTokenLevel(t, ragtest.TokenLevel{
		Corpus: corpus, Queries: queries, K: r.K,
		Retriever: ragtest.RetrieverFunc[chunkers.PositionAwareChunk](func(context.Context, string, int) ([]ragtest.ScoredChunk[chunkers.PositionAwareChunk], error) {
			return nil, nil
		}),
		Reporters: []ragtest.Reporter{HTML{Path: filepath.Join(dir, "r.html"), Corpus: corpus}, Markdown{Path: filepath.Join(dir, "r.md")}},
	})
	if got, want := files(t, dir), []string{"r.html", "r.md"}; !cmp.Equal(got, want) {
		t.Errorf("got the files %q, want %q", got, want)
	}
}

func TestMarkdownAppendsToTheSummaryOfAWorkflow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "summary.md")
	r := evaluate(t, 40, 0)
	t.Setenv("GITHUB_STEP_SUMMARY", "")
	if err := (Markdown{}).Report(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GITHUB_STEP_SUMMARY", path)
	if err := os.WriteFile(path, []byte("before\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	old := evaluate(t, 60, 0)
	for _, m := range []Markdown{{}, {Old: old}} {
		if err := m.Report(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	one, err := Page{Results: []*ragtest.Result{r}}.Markdown()
	if err != nil {
		t.Fatal(err)
	}
	two, err := Page{Results: []*ragtest.Result{old, r}}.Markdown()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("before\n"+one+two, string(got)); diff != "" {
		t.Errorf("the summary (-want +got):\n%s", diff)
	}
}
