package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/report"
)

func TestReportWritesWhatIsAskedFor(t *testing.T) {
	old, many := writeResult(t, "old <b>", 0, nil), writeResult(t, "many", 10, nil)
	results := func(paths ...string) []*ragtest.Result {
		var list []*ragtest.Result
		for _, path := range paths {
			r, err := readResult(path)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, r)
		}
		return list
	}
	dir := t.TempDir()
	step := filepath.Join(dir, "step.md")
	if err := os.WriteFile(step, []byte("before\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv(stepSummary, step)
	stdout, stderr := succeed(t, "report", "-html", filepath.Join(dir, "new", "page.html"), "-markdown", "-", "-step-summary",
		"-plots", filepath.Join(dir, "figures"), "-plot-forms", "png,svg", "-title", "Both", old, many)
	page := report.Page{Title: "Both", Results: results(old, many)}
	html, err := page.HTML()
	if err != nil {
		t.Fatal(err)
	}
	markdown, err := page.Markdown()
	if err != nil {
		t.Fatal(err)
	}
	plots, err := page.Plots()
	if err != nil || len(plots) == 0 {
		t.Fatalf("got %d plots, %v: this test checks nothing", len(plots), err)
	}
	got := files(t, dir)
	if got["new/page.html"] != string(html) {
		t.Error("the page is not that of the package report")
	}
	if stdout != markdown || got["step.md"] != "before\n"+markdown {
		t.Errorf("got the summary\n%s and\n%s, want\n%s", stdout, got["step.md"], markdown)
	}
	for _, p := range plots {
		svg, err := p.SVG()
		if err != nil {
			t.Fatal(err)
		}
		png, err := p.PNG()
		if err != nil {
			t.Fatal(err)
		}
		if got["figures/"+p.Name+".svg"] != string(svg) || got["figures/"+p.Name+".png"] != string(png) {
			t.Errorf("the figure %s is not that of the package report", p.Name)
		}
		if !strings.Contains(stderr, p.Caption) {
			t.Errorf("stderr does not name the figure %s: %s", p.Name, stderr)
		}
	}
	if n := len(got); n != 2+2*len(plots) {
		t.Errorf("got %d files, want %d", n, 2+2*len(plots))
	}
}

func TestReportWritesAPageUnlessToldOtherwise(t *testing.T) {
	result := writeResult(t, "one", 3, nil)
	t.Chdir(t.TempDir())
	_, stderr := succeed(t, "report", result)
	data, err := os.ReadFile("report.html")
	if err != nil || !strings.HasPrefix(string(data), "<!") || stderr != "ragtest report: wrote report.html\n" {
		t.Errorf("got %v, stderr %q", err, stderr)
	}
}

func TestReportOfASweep(t *testing.T) {
	dir := t.TempDir()
	succeed(t, handbookArgs(dir, "-chunker", "fixed/size=100", "-chunker", "fixed/size=300", "-k-values", "1,5", "-budget", "200 tokens")...)
	want := files(t, dir)
	page := filepath.Join(dir, "page.html")
	succeed(t, "report", "-html", page, "-corpus", filepath.Join(handbookData, "handbook"), filepath.Join(dir, "sweep.json"))
	if got := files(t, dir)["page.html"]; got != want["sweep.html"] {
		t.Error("ragtest report of a sweep does not write the page of ragtest sweep")
	}
	succeed(t, "report", "-plots", dir, filepath.Join(dir, "sweep.json"))
	all := files(t, dir)
	for _, name := range []string{"ranking", "size", "k", "cost", "recall-within-budget"} {
		if all[name+".svg"] == "" {
			t.Errorf("there is no figure %s", name)
		}
	}
	if all["ranking.png"] != "" {
		t.Error("a figure was written as PNG, though nobody asked for that")
	}
}

func TestReportErrors(t *testing.T) {
	result := writeResult(t, "one", 3, nil)
	chunkLevel := writeResult(t, "two", 3, func(r *ragtest.Result) { r.Level = "chunk" })
	damaged := writeResult(t, "three", 3, func(r *ragtest.Result) { r.Queries[0].Scores[0].Value = -1 })
	t.Setenv(stepSummary, "")
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "found no result, want at least one"},
		{[]string{"-plot-forms", "pdf", result}, `-plot-forms has "pdf"`},
		{[]string{"-html", "-", "-markdown", "-", result}, "are both -"},
		{[]string{"-html", "page.html", "-", "-"}, "standard input is there twice"},
		{[]string{"-html", "-", damaged}, "query q00: span_recall is -1, want a score between 0 and 1"},
		{[]string{"-step-summary", result}, "$GITHUB_STEP_SUMMARY is not set"},
		{[]string{"-corpus", filepath.Join(handbookData, "handbook"), result}, "its documents are not those of any of the results"},
		{[]string{"-corpus", "nowhere", result}, "nowhere"},
		{[]string{"-html", "-", result, chunkLevel}, "chunk-level"},
		{[]string{"-html", "-", "-rank-by", "ndcg", result, result, result}, "ndcg"},
		{[]string{"-html", filepath.Join(result, "below.html"), result}, "not a directory"},
	} {
		code, stdout, stderr := runInProcess(t.Context(), "", append([]string{"report"}, test.args...)...)
		if code != exitError || stdout != "" || !strings.Contains(stderr, test.want) {
			t.Errorf("ragtest report %q: exit code %d, stdout %.40q, stderr %s, want an error with %q", test.args, code, stdout, stderr, test.want)
		}
	}
}
