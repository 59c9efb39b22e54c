package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rageval/rageval/ragtest"
)

// writeResult writes a result of 40 queries of which the first lost score 0 and the
// others 1, and returns its file.
func writeResult(t *testing.T, name string, lost int, change func(*ragtest.Result)) string {
	t.Helper()
	const queries = 40
	r := &ragtest.Result{Name: name, Level: "token", K: 5, CorpusFingerprint: "corpus"}
	for i := range queries {
		score := 1.0
		if i < lost {
			score = 0
		}
		r.Queries = append(r.Queries, ragtest.QueryResult{ID: ragtest.QueryID(fmt.Sprintf("q%02d", i)), Text: fmt.Sprintf("query %d", i),
			Scores: []ragtest.Score{{Metric: "span_recall", Value: score}, {Metric: "span_iou", Value: 0.5}}})
	}
	r.Metrics = []ragtest.Score{{Metric: "span_recall", Value: float64(queries-lost) / queries}, {Metric: "span_iou", Value: 0.5}}
	if change != nil {
		change(r)
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), strings.ReplaceAll(name, "/", "_")+".json")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCompareTellsRegressions(t *testing.T) {
	old := writeResult(t, "old", 0, nil)
	few, many := writeResult(t, "few", 2, nil), writeResult(t, "many", 10, nil)
	stale := writeResult(t, "stale", 0, func(r *ragtest.Result) { r.CorpusFingerprint = "another" })
	other := writeResult(t, "other", 0, func(r *ragtest.Result) { r.Queries[3].ID = "new" })
	namesake := writeResult(t, "old", 0, func(r *ragtest.Result) { r.CorpusFingerprint = "another" })
	damaged := writeResult(t, "damaged", 0, func(r *ragtest.Result) { r.Queries[3].Scores[1].Value = 7.5 })
	for _, test := range []struct {
		args string
		code int
		want string // of stdout or, for an error, of stderr
	}{
		{old + " " + old, exitOK, "no regression: no mean has lost more than 0 with p at most 0.05"},
		{old + " " + few, exitOK, "no regression"}, // p = 1/4
		{"-level 0.6 " + old + " " + few, exitFound, "regressed: few has lost 0.0500 of span_recall, more than 0, p = 0.5000"},
		{old + " " + many, exitFound, "regressed: many has lost 0.2500 of span_recall, more than 0, p = 0.00"},
		{"-margin 0.3 " + old + " " + many, exitOK, "no regression: no mean has lost more than 0.3"},
		{"-metric span_iou " + old + " " + many, exitOK, "no regression"},
		{"-metric span_iou -metric span_recall " + old + " " + many, exitFound, "regressed: many"},
		{many + " " + old, exitOK, "+0.2500"},
		{old + " " + few + " " + many, exitFound, "span_recall: old and many differ, p = "},
		{old + " " + few + " " + many, exitFound, "regressed: many"},
		{"-format markdown " + old + " " + many, exitFound, "| span\\_recall | many | 1.0000 | 0.7500 |"},
		{"-format markdown " + old + " " + many, exitFound, "regressed: many has lost 0.2500 of span\\_recall"},
		{"-format latex " + old + " " + many, exitFound, "\\begin{tabular}"},
		{"-json " + old + " " + many, exitFound, `"regressed":[{"run":"many","metric":"span_recall","loss":0.25,"p":`},
		{"-format json " + old + " " + old, exitOK, `"regressed":[]`},
		{"-other-corpus " + old + " " + stale, exitOK, "no regression"},
		{"-summaries 0.87,0.34,472 0.85,0.36,472", exitOK, "a tie: the interval holds 0"},
		{"-summaries 0.87,0.34,472 0.5,0.36,472", exitFound, "the runs differ"},
		{"-summaries 0.5,0.34,472 0.87,0.36,472", exitOK, "the runs differ"},
		{"-summaries -margin 0.4 0.87,0.34,472 0.5,0.36,472", exitOK, "the runs differ"},
		{"-summaries -json 0.87,0.34,472 0.5,0.36,472", exitFound, `{"difference":-0.37,"low":-0.41`},

		{old, exitError, "found 1 result, want at least two: OLD and NEW"},
		{old + " nowhere.json", exitError, "nowhere.json"},
		{old + " " + stale, exitError, "the documents of stale are not those of old"},
		{old + " " + namesake, exitError, "the documents of " + strings.TrimSuffix(filepath.ToSlash(namesake), ".json") + " are not those of " + strings.TrimSuffix(filepath.ToSlash(old), ".json")},
		{old + " " + damaged, exitError, damaged + ": query q03: span_iou is 7.5, want a score between 0 and 1"},
		{"- -", exitError, "standard input is there twice, as -: want it once"},
		{old + " - " + many + " -", exitError, "standard input is there twice"},
		{old + " " + other, exitError, "lacks the query q03"},
		{"-metric recall " + old + " " + many, exitError, `the runs have no metric "recall" in common: want one of span_recall, span_iou`},
		{"-margin 2 " + old + " " + many, exitError, "-margin is 2: want a mean loss from 0 to 1"},
		{"-margin NaN " + old + " " + many, exitError, "-margin is NaN"},
		{"-level 0 " + old + " " + many, exitError, "-level is 0: want more than 0"},
		{"-format html " + old + " " + many, exitError, `-format is "html"`},
		{"-summaries 0.87,0.34,472", exitError, "found 1 summary, want two"},
		{"-summaries 0.87,0.34 0.5,0.36,472", exitError, `found the summary "0.87,0.34", want MEAN,SD,N`},
		{"-summaries 0.87,x,472 0.5,0.36,472", exitError, `found the summary "0.87,x,472", want MEAN,SD,N in numbers`},
		{"-summaries 0.87,0.3,1 0.5,0.36,472", exitError, "has 1 queries, want at least 2"},
		{"-summaries -format latex 0.87,0.3,9 0.5,0.36,472", exitError, "want text or json with -summaries"},
	} {
		code, stdout, stderr := runInProcess(t.Context(), "", append([]string{"compare"}, strings.Fields(test.args)...)...)
		told := stdout
		if test.code == exitError {
			told = stderr
		}
		if code != test.code || !strings.Contains(told, test.want) || (test.code == exitError) != (stdout == "") {
			t.Errorf("ragtest compare %s: exit code %d, stdout\n%s\nstderr\n%s, want %d and %q", test.args, code, stdout, stderr, test.code, test.want)
		}
	}
}

func TestCompareReadsWhatIsCompressedAndStandardInput(t *testing.T) {
	old, many := writeResult(t, "", 0, nil), writeResult(t, "", 10, nil)
	data, err := os.ReadFile(many)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data)
	z.Close()
	packed := filepath.Join(t.TempDir(), "new.json.gz")
	if err := os.WriteFile(packed, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	code, stdout, _ := runInProcess(t.Context(), b.String(), "compare", old, packed, "-")
	// Runs without names are called as their files are.
	if want := "regressed: " + strings.TrimSuffix(filepath.ToSlash(packed), ".json.gz") + " has lost"; code != exitFound || !strings.Contains(stdout, want) || !strings.Contains(stdout, "regressed: - has lost") {
		t.Errorf("exit code %d, stdout\n%s, want %q", code, stdout, want)
	}
	for _, bad := range []string{"", "{", "[]", `{"a":1}`, `{"level":"token"}`, `{"schemaVersion":1,"name":"x"}`, `{"cells":[]}`, "\x1f\x8b123"} {
		code, stdout, stderr := runInProcess(t.Context(), bad, "compare", old, "-")
		if code != exitError || stdout != "" || !strings.Contains(stderr, "<stdin>: ") {
			t.Errorf("%q: exit code %d, stderr %q", bad, code, stderr)
		}
	}
}

func TestCompareNotesOtherDocuments(t *testing.T) {
	old := writeResult(t, "old", 0, nil)
	stale := writeResult(t, "stale", 0, func(r *ragtest.Result) { r.CorpusFingerprint = "another" })
	_, stderr := succeed(t, "compare", "-other-corpus", old, stale)
	if want := "ragtest compare: note: the documents of stale are not those of old: what is relevant may have moved\n"; stderr != want {
		t.Errorf("got on standard error %q, want %q", stderr, want)
	}
}

// TestSweptCellsCompare compares the results that a sweep writes.
func TestSweptCellsCompare(t *testing.T) {
	dir := t.TempDir()
	succeed(t, handbookArgs(dir, "-chunker", "fixed/size=100", "-k-values", "1,5")...)
	code, stdout, stderr := runInProcess(t.Context(), "", "compare", filepath.Join(dir, "sweep.json"))
	if code != exitFound && code != exitOK || !strings.Contains(stdout, "chunker=fixed/size=100/embedder=lexical/k=5  ") {
		t.Errorf("exit code %d, stdout\n%s\nstderr %s", code, stdout, stderr)
	}
	for name := range files(t, dir) {
		if strings.HasPrefix(name, "results/") {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	code, _, stderr = runInProcess(t.Context(), "", "compare", filepath.Join(dir, "sweep.json"))
	if code != exitError || !strings.Contains(stderr, "the results of 1 of its 2 cells are missing in "+filepath.Join(dir, "results")) {
		t.Errorf("exit code %d, stderr %s", code, stderr)
	}
	// The sweep and its report say so, too.
	_, stderr = succeed(t, "report", "-html", filepath.Join(dir, "page.html"), filepath.Join(dir, "sweep.json"))
	if !strings.Contains(stderr, "the results of 1 of its 2 cells are missing") || files(t, dir)["page.html"] == "" {
		t.Errorf("stderr %s", stderr)
	}
	_, stderr = succeed(t, handbookArgs(dir, "-chunker", "fixed/size=100", "-k-values", "1,5")...)
	if !strings.Contains(stderr, "the results of 1 cell are missing in "+filepath.Join(dir, "results")+", so that the page cannot open their queries") {
		t.Errorf("stderr %s", stderr)
	}
}
