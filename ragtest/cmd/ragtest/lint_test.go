package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/ragtest"
)

// The published sets are well-formed; what the linter says about them is pinned by kind.
func TestLintData(t *testing.T) {
	for _, test := range []struct {
		path string
		want map[string]int
	}{
		{"chroma", map[string]int{"leakage": 49, "refers-to-text": 15, "repeated-text": 97}},
		{"squad/dev-v2.0.json", map[string]int{"elsewhere": 1083, "leakage": 2, "nothing-to-find": 1, "repeated-text": 405, "same-query": 10, "short-span": 716, "similar-query": 669}},
		{"beir/scifact", map[string]int{}},
		{"trec/qrels.txt", map[string]int{}},
	} {
		path := realdata.Dir(t, "data", filepath.FromSlash(test.path))
		if code, out, errs := runInProcess(t.Context(), "", "lint", "-form-only", path); code != exitOK || out+errs != "" {
			t.Errorf("%s -form-only: exit code %d, %s%s", test.path, code, out, errs)
		}
		code, out, errs := runInProcess(t.Context(), "", "lint", "-json", path)
		got := make(map[string]int)
		withPlace := 0
		for line := range strings.Lines(out) {
			var f finding
			if err := json.Unmarshal([]byte(line), &f); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			got[f.Kind]++
			if f.Line > 0 && f.Column > 0 || f.Query == "" {
				withPlace++
			}
			if f.Query != "" && test.path == "squad/dev-v2.0.json" {
				checkPlace(t, path, f)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: findings (-want +got)\n%s", test.path, diff)
		}
		if wantCode := min(1, len(test.want)); code != wantCode || withPlace != strings.Count(out, "\n") {
			t.Errorf("%s: exit code %d, stderr %s; %d findings of %d have a place", test.path, code, errs, withPlace, strings.Count(out, "\n"))
		}
	}
}

var fileOnce = make(map[string][]string)

// checkPlace checks that the ID of the query is where the finding says.
func checkPlace(t *testing.T, path string, f finding) {
	t.Helper()
	if fileOnce[path] == nil {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		fileOnce[path] = strings.Split(string(data), "\n")
	}
	line := fileOnce[path][f.Line-1]
	if want := fmt.Sprintf("%q", string(f.Query)); !strings.HasPrefix(line[f.Column-1:], want) {
		t.Errorf("%v: there is %.40s, want %s", f, line[f.Column-1:], want)
	}
}

func TestLeaves(t *testing.T) {
	joined := errors.Join(errors.New("a:1: x"), fmt.Errorf("a:2: %w", errors.New("y")))
	for _, test := range []struct {
		err  error
		want []string
	}{
		{errors.New("x"), []string{"x"}},
		{fmt.Errorf("reading: %w", errors.New("x")), []string{"reading: x"}},
		{joined, []string{"a:1: x", "a:2: y"}},
		{fmt.Errorf("reading: %w", joined), []string{"reading: a:1: x", "reading: a:2: y"}},
		{errors.Join(fmt.Errorf("in b: %w", joined), errors.New("z")), []string{"in b: a:1: x", "in b: a:2: y", "z"}},
	} {
		if diff := cmp.Diff(test.want, leaves(test.err)); diff != "" {
			t.Errorf("%v (-want +got)\n%s", test.err, diff)
		}
	}
}

func TestSquadLines(t *testing.T) {
	text := "{\"version\":\"2\",\"id\":[1,{\"id\":\"x\"}],\"data\":[\n{\"title\":\"id\",\"paragraphs\":[{\"qas\":[{\"question\":\"one?\",\n  \"id\" : \"a\",\"answers\":[{\"text\":\"id\"}]},\n{\"id\":7,\"question\":\"t\\u00e9wo?\"},{\"id\":null,\"question\":\"three?\"}]}]}]}"
	want := map[ragtest.QueryID]position{
		"x": {1, 30}, "a": {3, 10}, "7": {4, 7},
		ragtest.NewQueryID("one?"): {2, 49}, ragtest.NewQueryID("téwo?"): {4, 20}, ragtest.NewQueryID("three?"): {4, 56},
	}
	if diff := cmp.Diff(want, squadLines([]byte(text)), cmp.AllowUnexported(position{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// FuzzPlaces: finding the places of queries never fails.
func FuzzPlaces(f *testing.F) {
	f.Add(`{"data":[{"paragraphs":[{"qas":[{"id":"a","question":"?"}]}]}]}`)
	f.Add("question,references,corpus_id\nq,\"[]\",a\n")
	f.Add(`{"id":"a","inputs":{"query":"q"},"metadata":{"queryId":7}}` + "\n")
	f.Add(`{"example_id":-1,"question_text":"q"}`)
	f.Add("]}")
	f.Fuzz(func(t *testing.T, text string) {
		lines := 1 + strings.Count(text, "\n")
		for _, found := range []map[ragtest.QueryID]position{
			squadLines([]byte(text)), chromaLines([]byte(text)), recordLines([]byte(text), goldenID), recordLines([]byte(text), nqID),
		} {
			for id, p := range found {
				if p.line < 1 || p.line > lines || p.column < 0 || p.column > len(text) {
					t.Errorf("query %q: place %v in %d lines", id, p, lines)
				}
			}
		}
		formOf([]byte(text))
	})
}

// The help of lint names every kind that it may find.
func TestLintHelpNamesEveryKind(t *testing.T) {
	code, out, _ := runInProcess(t.Context(), "", "lint", "-ignore", "no such kind", "x")
	_, errs, _ := runInProcess(t.Context(), "", "help", "lint")
	if code != exitError || out != "" {
		t.Errorf("exit code %d, stdout %q", code, out)
	}
	_, _, message := runInProcess(t.Context(), "", "lint", "-ignore", "no such kind", "x")
	kinds := regexp.MustCompile(`"([a-z-]+)"`).FindAllStringSubmatch(message, -1)
	if len(kinds) < 14 {
		t.Fatalf("found the kinds %q in %q", kinds, message)
	}
	for _, kind := range append(kinds, []string{"", malformed}, []string{"", moved}, []string{"", unlocated}, []string{"", rejected}) {
		if !regexp.MustCompile(`(?m)^\t` + kind[1] + ` +[A-Za-z]`).MatchString(errs) {
			t.Errorf("ragtest lint -h does not explain %s", kind[1])
		}
	}
}

// Mistakes in the flags of lint are told by the names of the flags.
func TestLintNamesItsFlags(t *testing.T) {
	for args, want := range map[string]string{
		"-min-chars -1":                `-min-chars is -1: want 0`,
		"-max-per-doc -1":              `-max-per-doc is -1: want 0`,
		"-max-shared 2":                `-max-shared is 2: want 0 to 1`,
		"-max-unanswerable NaN":        `-max-unanswerable is NaN: want 0 to 1`,
		"-ignore moved,nothing":        `-ignore names "nothing": want one of ["unlocated" "moved" "rejected" "outside-corpus"`,
		"-ignore short-span,malformed": `-ignore names "malformed", which is never passed over`,
	} {
		code, out, errs := runInProcess(t.Context(), "", append(append([]string{"lint"}, strings.Fields(args)...), "x")...)
		if code != exitError || out != "" || !strings.HasPrefix(errs, "ragtest lint: "+want) {
			t.Errorf("ragtest lint %s: exit code %d, stdout %q, stderr %q, want %q", args, code, out, errs, want)
		}
	}
}
