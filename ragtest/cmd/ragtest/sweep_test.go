package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/cmd/ragtest/internal/sweepfile"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/ragtest/sweep"
)

// handbookData is the collection of the quickstart, with the documents that belong to it.
const handbookData = "../../../examples/quickstart/testdata"

// handbookArgs are arguments that sweep over it, written to dir.
func handbookArgs(dir string, more ...string) []string {
	return append([]string{"sweep", "-data-path", filepath.Join(handbookData, "handbook.golden.jsonl"), "-corpus", filepath.Join(handbookData, "handbook"),
		"-output-dir", dir}, more...)
}

// handbookConfig returns the text of a file of settings for it, with more lines.
func handbookConfig(t *testing.T, dir, more string) string {
	t.Helper()
	root, err := filepath.Abs(handbookData)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "sweep.yaml")
	text := fmt.Sprintf("data_path: %q\ncorpus: %q\noutput_dir: %q\n%s", filepath.Join(root, "handbook.golden.jsonl"), filepath.Join(root, "handbook"), dir, more)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// succeed runs a command in this process, and fails the test if it does not exit with 0.
func succeed(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	code, stdout, stderr := runInProcess(t.Context(), "", args...)
	if code != exitOK {
		t.Fatalf("ragtest %q: exit code %d\n%s", args, code, stderr)
	}
	return stdout, stderr
}

// files returns the content of all files below a folder, by their paths in it.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, path))
		all[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

const twoConfigurations = `k_values: [1, 3]
embedders: [lexical, bm25]
budget: 100 tokens
configurations:
  small: fixed/size=100
  grown:
    chunker: recursive
    size: [100, 300]
    embedders: bm25
`

func TestSweepWritesWhatTheLibraryReports(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	stdout, stderr := succeed(t, "sweep", "-config", handbookConfig(t, dir, twoConfigurations))
	got, err := sweep.Read(filepath.Join(dir, "sweep.json"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range got.Cells {
		names = append(names, c.Name)
	}
	if want := []string{
		"chunker=fixed/size=100/config=small/embedder=lexical/k=1", "chunker=fixed/size=100/config=small/embedder=lexical/k=3",
		"chunker=fixed/size=100/config=small/retriever=bm25/k1=1.2/b=0.75/k=1", "chunker=fixed/size=100/config=small/retriever=bm25/k1=1.2/b=0.75/k=3",
		"chunker=recursive/size=100/config=grown/retriever=bm25/k1=1.2/b=0.75/k=1", "chunker=recursive/size=100/config=grown/retriever=bm25/k1=1.2/b=0.75/k=3",
		"chunker=recursive/size=300/config=grown/retriever=bm25/k1=1.2/b=0.75/k=1", "chunker=recursive/size=300/config=grown/retriever=bm25/k1=1.2/b=0.75/k=3",
	}; !slices.Equal(names, want) {
		t.Errorf("got the cells\n%q, want\n%q", names, want)
	}

	// The scores are those of the library.
	in := &inputs{ctx: t.Context()}
	c, err := reader{corpus: filepath.Join(handbookData, "handbook")}.read(in, formGolden, filepath.Join(handbookData, "handbook.golden.jsonl"), &ledger{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := sweep.Grid{Corpus: c.corpus, Queries: c.tokens, ChunkerNames: []string{"fixed/size=100"}, Embedders: []ragtest.Embedder{lexical.Embedder{}}, K: []int{1, 3}}.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, cell := range want.Cells {
		if !slices.Equal(got.Cells[i].Metrics, cell.Metrics) {
			t.Errorf("%s: got %v, want %v", cell.Name, got.Cells[i].Metrics, cell.Metrics)
		}
	}

	shown := *got
	if stdout != shown.String() {
		t.Errorf("got on standard output\n%s, want\n%s", stdout, &shown)
	}
	if !strings.Contains(stderr, "ragtest sweep: 8 cells; chunked") || !strings.Contains(stderr, "wrote sweep.json, sweep.csv, sweep.html to "+dir) {
		t.Errorf("got on standard error %q", stderr)
	}
	all := files(t, dir)
	var table bytes.Buffer
	if err := got.WriteCSV(&table); err != nil || all["sweep.csv"] != table.String() {
		t.Errorf("sweep.csv is not that of the report: %v", err)
	}
	if !strings.Contains(all["sweep.html"], "sweep handbook.golden.jsonl") {
		t.Error("sweep.html has not the title of the sweep")
	}
	results := 0
	for name := range all {
		if strings.HasPrefix(name, "results/") {
			results++
			r, err := readResult(filepath.Join(dir, name))
			if err != nil || strings.Contains(r.Components.Chunker, "config=") || len(r.Queries) != len(c.tokens) {
				t.Errorf("%s: got %v, %v", name, r, err)
			}
		}
	}
	if results != len(got.Cells) {
		t.Errorf("there are %d results, want %d", results, len(got.Cells))
	}

	// Once more, everything is kept and nothing changes.
	again, stderr := succeed(t, "sweep", "-config", handbookConfig(t, dir, twoConfigurations))
	if again != stdout || !strings.Contains(stderr, "8 of them kept from before") {
		t.Errorf("a second sweep printed %q and %q", again, stderr)
	}
	for name, data := range files(t, dir) {
		if all[name] != data {
			t.Errorf("a second sweep changed %s", name)
		}
	}
	inJSON, _ := succeed(t, "sweep", "-json", "-config", handbookConfig(t, dir, twoConfigurations))
	if inJSON != all["sweep.json"] {
		t.Error("-json does not print sweep.json")
	}
}

func TestShardsOfTheCommandMerge(t *testing.T) {
	whole, parts := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "parts")
	printed, _ := succeed(t, "sweep", "-config", handbookConfig(t, whole, twoConfigurations))
	config := handbookConfig(t, parts, twoConfigurations)
	for i := range 3 {
		t.Setenv(jobIndex, fmt.Sprint(i))
		_, stderr := succeed(t, "sweep", "-config", config, "-shard", "job/3")
		if want := fmt.Sprintf("wrote %s", filepath.Join(parts, fmt.Sprintf("sweep-%d-of-3.json", i))); !strings.Contains(stderr, want) {
			t.Errorf("got on standard error %q, want %q", stderr, want)
		}
	}
	merged, _ := succeed(t, "sweep", "-config", config, "-merge")
	if merged != printed {
		t.Errorf("the merged report is printed as\n%s, want\n%s", merged, printed)
	}
	want, got := files(t, whole), files(t, parts)
	for name, data := range want {
		if got[name] != data {
			t.Errorf("%s differs", name)
		}
	}
	// With names, in another order, without settings: the documents are not known then.
	other := t.TempDir()
	named := []string{"sweep", "-merge", "-output-dir", other}
	for _, i := range []int{2, 0, 1} {
		named = append(named, filepath.Join(parts, fmt.Sprintf("sweep-%d-of-3.json", i)))
	}
	if printed, _ := succeed(t, named...); printed != merged {
		t.Error("naming the shards in another order changes the report")
	}
	if elsewhere := files(t, other); elsewhere["sweep.json"] != want["sweep.json"] || elsewhere["sweep.csv"] != want["sweep.csv"] || elsewhere["sweep.html"] == "" {
		t.Error("naming the shards writes other files")
	}
	named = named[:len(named)-1]
	code, _, stderr := runInProcess(t.Context(), "", named...)
	if code != exitError || !strings.Contains(stderr, "of the 8 cells of the grid are missing") {
		t.Errorf("a shard is missing: exit code %d, %s", code, stderr)
	}
	if stdout, _ := succeed(t, append(named, "-partial")...); !strings.Contains(stdout, "this is a part of it") {
		t.Errorf("got %s", stdout)
	}
	code, _, stderr = runInProcess(t.Context(), "", "sweep", "-config", config, "-merge", "-chunker", "fixed/size=100", "-data-path", filepath.Join(handbookData, "handbook.golden.jsonl"), "-corpus", t.TempDir())
	if code != exitError || stderr == "" {
		t.Errorf("the corpus cannot be read: exit code %d, %s", code, stderr)
	}
}

func TestFlagsOverrideTheFile(t *testing.T) {
	config := handbookConfig(t, t.TempDir(), "seed: 1\nsample: 5\n"+twoConfigurations)
	var report sweep.Report
	read := func(args ...string) sweep.Report {
		t.Helper()
		stdout, _ := succeed(t, append([]string{"sweep", "-json", "-config", config, "-output-dir", ""}, args...)...)
		if err := json.Unmarshal([]byte(stdout), &report); err != nil {
			t.Fatal(err)
		}
		return report
	}
	first := read()
	if len(first.Queries) != 5 || len(first.Cells) != 8 {
		t.Errorf("got %d queries, %d cells, want 5, 8", len(first.Queries), len(first.Cells))
	}
	if r := read("-seed", "2"); slices.Equal(r.Queries, first.Queries) || len(r.Queries) != 5 {
		t.Errorf("another seed chose %q after %q", r.Queries, first.Queries)
	}
	if r := read("-sample", "7", "-k-values", "2", "-embedders", "lexical"); len(r.Queries) != 7 || len(r.Cells) != 3 || r.Cells[0].K != 2 {
		t.Errorf("got %d queries, %d cells, K %d, want 7, 3, 2", len(r.Queries), len(r.Cells), r.Cells[0].K)
	}
	if r := read("-chunker", "fixed/size=100", "-chunker", "fixed/size=300", "-k-values", "3", "-embedders", "hybrid,bm25/k1=0.9/b=0.4"); len(r.Cells) != 4 ||
		r.Cells[0].Retriever != "hybrid" || r.Cells[1].Retriever != "bm25/k1=0.9/b=0.4" {
		t.Errorf("got %d cells of %s, %s", len(r.Cells), r.Cells[0].Retriever, r.Cells[1].Retriever)
	}
	if r := read("-chunker", "sentence/maxsize=200", "-metrics", "span_ndcg,span_mrr", "-budget", "300 characters"); len(r.Cells) != 4 || r.Cells[0].Chunker != "sentence/maxsize=200" ||
		!slices.Equal(r.Metrics, []string{"span_ndcg", "span_mrr"}) || r.Budget != "300 characters" {
		t.Errorf("got %d cells of %s, metrics %q, budget %q", len(r.Cells), r.Cells[0].Chunker, r.Metrics, r.Budget)
	}
}

// A hybrid retriever is given the chunks of one chunker after the other.
func TestHybridBeginsAnew(t *testing.T) {
	read := func(chunkers ...string) sweep.Report {
		args := handbookArgs("", "-json", "-embedders", "hybrid", "-k-values", "3")
		for _, c := range chunkers {
			args = append(args, "-chunker", c)
		}
		stdout, _ := succeed(t, args...)
		var r sweep.Report
		if err := json.Unmarshal([]byte(stdout), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	both, alone := read("fixed/size=100", "fixed/size=300"), read("fixed/size=300")
	if !slices.Equal(both.Cells[1].Metrics, alone.Cells[0].Metrics) || slices.Equal(both.Cells[0].Metrics, alone.Cells[0].Metrics) {
		t.Errorf("got %v after another chunker, want %v", both.Cells[1].Metrics, alone.Cells[0].Metrics)
	}
}

func TestEveryKeyHasAFlag(t *testing.T) {
	for _, key := range sweepfile.Keys() {
		if keyUsages[key] == "" {
			t.Errorf("-%s is not explained", key)
		}
	}
	if len(keyUsages) != len(sweepfile.Keys()) {
		t.Errorf("%d keys are explained, and there are %d", len(keyUsages), len(sweepfile.Keys()))
	}
}

func TestSweepErrors(t *testing.T) {
	t.Setenv(jobIndex, "8")
	t.Setenv("OPENAI_API_KEY", "")
	dir := t.TempDir()
	taken := t.TempDir()
	if err := os.WriteFile(filepath.Join(taken, "cells"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join(handbookData, "handbook.golden.jsonl")
	fixed := func(more ...string) []string { return handbookArgs(dir, append(more, "-chunker", "fixed/size=100")...) }
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"sweep"}, "there is no collection: want DATA"},
		{[]string{"sweep", "a", "b"}, "found 2 arguments, want one"},
		{handbookArgs(dir), "there is no chunker: want -chunker"},
		{fixed("-shard", "3/3"), `-shard says "3": want an index from 0 to 2`},
		{fixed("-shard", "job/3"), `$JOB_COMPLETION_INDEX says "8": want an index from 0 to 2`},
		{fixed("-shard", "1"), `-shard is "1": want i/n or job/n`},
		{fixed("-shard", "0/0"), `-shard is "0/0": want i/n or job/n`},
		{fixed("-k-values", "0"), "-k-values: found the number 0, want a whole number from 1"},
		{fixed("-fetch-k", "9"), "there are none"},
		{fixed("-metrics", "recall"), `metric "recall" is unknown: want one of span_recall,`},
		{fixed("-embedders", "word2vec"), `embedder "word2vec" is unknown: want lexical`},
		{fixed("-embedders", "model2vec:"+dir), "model"},
		{fixed("-embedders", "lexical/dim=0"), `embedder "lexical/dim=0" is unknown`},
		{fixed("-embedders", "openai"), "OPENAI_API_KEY"},
		{fixed("-embedders", "bm25,bm25/k1=1.20"), `embedders "bm25" and "bm25/k1=1.20" are the same, or two that are both called bm25/k1=1.2/b=0.75`},
		{fixed("-embedders", "bm25/k1=1.2.3"), `retriever bm25/k1=1.2.3: found "1.2.3", want a number`},
		{fixed("-embedders", "bm25/b=2"), "retriever bm25/b=2: "},
		{fixed("-rerankers", "best"), `reranker "best" is unknown: want none`},
		{fixed("-rerankers", "tei"), "tei"},
		{fixed("-data-form", "chroma"), "-corpus means nothing for the form chroma"},
		{fixed("-output-dir", golden), "making the output directory: mkdir " + golden},
		{fixed("-output-dir", taken), "making the output directory: mkdir " + filepath.Join(taken, "cells")},
		{fixed("-mode", "context", "-output-dir", golden), "making the output directory: mkdir " + golden},
		{fixed("-partial"), "-partial means nothing without -merge"},
		{fixed("-mode", "context", "-budget", "10 tokens"), "budget means nothing in mode context"},
		{fixed("-min-answer-length", "100000"), "no query is left"},
		{append(fixed(), "-chunker", "fixed/size=x"), "-chunker: chunker \"fixed/size=x\": field size"},
		{[]string{"sweep", "-config", filepath.Join(dir, "none.yaml")}, "none.yaml"},
		{[]string{"sweep", "-merge", "-output-dir", dir}, "there is no report of a shard in " + dir},
		{[]string{"sweep", "-merge", "-shard", "0/2"}, "-shard and -merge are both there"},
		{[]string{"sweep", "-merge", golden}, "handbook.golden.jsonl: "},
		{[]string{"sweep", "-chunker", "fixed/size=9", "nowhere.json"}, "nowhere.json"},
	} {
		code, stdout, stderr := runInProcess(t.Context(), "", test.args...)
		if code != exitError || stdout != "" || !strings.Contains(stderr, test.want) || !strings.HasPrefix(stderr, "ragtest sweep: ") {
			t.Errorf("ragtest %q: exit code %d, stdout %q, stderr\n%s, want %d and an error with %q", test.args, code, stdout, stderr, exitError, test.want)
		}
	}
}

func TestErrorsOfTheFileHaveItsPlace(t *testing.T) {
	config := handbookConfig(t, t.TempDir(), "k_values: [0]\nsede: 3\n")
	code, _, stderr := runInProcess(t.Context(), "", "sweep", "-config", config)
	want := regexp.MustCompile(`^ragtest sweep: ` + regexp.QuoteMeta(config) + `:4:12: .*\nragtest sweep: ` + regexp.QuoteMeta(config) + `:5:1: .*\n$`)
	if code != exitError || !want.MatchString(stderr) {
		t.Errorf("exit code %d, stderr\n%s", code, stderr)
	}
}

// Names in the file of what the command cannot make have their places, too.
func TestUnknownNamesHaveTheirPlace(t *testing.T) {
	for extra, want := range map[string]string{
		"embedders: [bm25, nope]\n": `4:19: key "embedders": embedder "nope" is unknown`,
		"rerankers: best\n":         `4:12: key "rerankers": reranker "best" is unknown`,
		"metrics:\n- recall\n":      `5:3: key "metrics": metric "recall" is unknown`,
	} {
		config := handbookConfig(t, t.TempDir(), extra+"configurations:\n  a: paragraph\n")
		code, _, stderr := runInProcess(t.Context(), "", "sweep", "-config", config)
		if code != exitError || !strings.HasPrefix(stderr, "ragtest sweep: "+config+":"+want) {
			t.Errorf("%q: exit code %d, stderr\n%s, want %s", extra, code, stderr, want)
		}
	}
}

func TestProgressIsABarOnATerminal(t *testing.T) {
	var out, errs bytes.Buffer
	e := &env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, terminal: true}
	if code := run(t.Context(), e, handbookArgs("", "-chunker", "fixed/size=100")); code != exitOK {
		t.Fatalf("exit code %d\n%s", code, &errs)
	}
	if !strings.Contains(errs.String(), "\rragtest sweep [####################] 3 of 3 cells") || strings.Contains(out.String(), "\r") {
		t.Errorf("got on standard error %q", &errs)
	}
}

func TestCancelledSweep(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code, stdout, stderr := runInProcess(ctx, "", handbookArgs(t.TempDir(), "-chunker", "fixed/size=100")...)
	if code != exitInterrupted || stdout != "" || !strings.Contains(stderr, "interrupted") {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func TestSweepReadsStandardInput(t *testing.T) {
	data := `{"examples":[{"question":"How long is the notice?","context":"The notice period is three months. It is given in writing.","answer":"three months"},
		{"question":"What is unknown?","context":"The notice period is three months. It is given in writing.","answer":""}]}`
	code, stdout, stderr := runInProcess(t.Context(), data, "sweep", "-chunker", "sentence/maxsize=40", "-output-dir", "", "-k-values", "1", "-")
	if code != exitOK || !strings.HasPrefix(stdout, "sweep: 1 cells, 1 queries\n") || !strings.Contains(stderr, "note: 1 query left out, for no passage is relevant") {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func TestContexts(t *testing.T) {
	dir := t.TempDir()
	data := `{"examples":[{"question":"How long is the notice?","context":"The notice period is three months. It is given in writing. It begins with the month.","answer":"three months"},
		{"question":"How is notice given?","context":"The notice period is three months. It is given in writing. It begins with the month.","answer":"in writing"},
		{"question":"How short?","context":"The notice period is three months. It is given in writing. It begins with the month.","answer":"three"}]}`
	args := []string{"sweep", "-mode", "context", "-chunker", "sentence/maxsize=40", "-chunker", "fixed/size=20", "-k-values", "1,3", "-embedders", "lexical,bm25,hybrid", "-output-dir", dir, "-"}
	code, stdout, stderr := runInProcess(t.Context(), data, args...)
	if code != exitOK {
		t.Fatalf("exit code %d, stderr %q", code, stderr)
	}
	if !strings.HasPrefix(stdout, "sweep within contexts: 6 configurations, 2 questions, 1 context\n") {
		t.Errorf("got %s", stdout)
	}
	if !strings.Contains(stdout, "sentence/maxsize=40/lexical") || !strings.Contains(stdout, "hit_rate@3") || !regexp.MustCompile(`1 answer left out, for .*fewer than 8 characters`).MatchString(stderr) {
		t.Errorf("got %s and %s", stdout, stderr)
	}
	all := files(t, dir)
	var report contextsReport
	if err := json.Unmarshal([]byte(all["contexts.json"]), &report); err != nil || len(report.Results) != 6 || len(report.Results[0].Questions) != 2 {
		t.Errorf("got %s, %v", all["contexts.json"], err)
	}
	if rows := strings.Count(all["contexts.csv"], "\n"); rows != 7 {
		t.Errorf("contexts.csv has %d rows, want 7:\n%s", rows, all["contexts.csv"])
	}
	_, inJSON, _ := runInProcess(t.Context(), data, append(args, "-json")...)
	if inJSON != all["contexts.json"] {
		t.Error("-json does not print contexts.json")
	}
}

// TestContextsOnRealData computes the scores over SQuAD 2.0 from the ranks again.
func TestContextsOnRealData(t *testing.T) {
	path := filepath.Join(realdata.Dir(t, "data", "squad"), "dev-v2.0.json")
	stdout, _ := succeed(t, "sweep", "-mode", "context", "-chunker", "sentence/maxsize=300", "-embedders", "bm25", "-sample", "400", "-json", "-output-dir", "", path)
	var got contextsReport
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	r := got.Results[0]
	hits := map[int]int{}
	var reciprocal float64
	for _, q := range r.Questions {
		if q.Rank > 0 {
			reciprocal += 1 / float64(q.Rank)
		}
		for _, k := range []int{1, 3, 5} {
			if q.Rank > 0 && q.Rank <= k {
				hits[k]++
			}
		}
	}
	for _, h := range r.HitRates {
		if want := float64(hits[h.K]) / 400; h.Value != want {
			t.Errorf("hit rate at %d: got %v, want %v", h.K, h.Value, want)
		}
	}
	if len(r.Questions) != 400 || math.Abs(r.MRR-reciprocal/400) > 1e-12 || r.MRR < 0.8 {
		t.Errorf("got %d questions, MRR %v, want 400, %v", len(r.Questions), r.MRR, reciprocal/400)
	}
}

// TestSweepOnRealData sweeps over Chroma's corpora as a file of settings asks for, and
// compares with the library.
func TestSweepOnRealData(t *testing.T) {
	data := realdata.Dir(t, "data", "chroma")
	dir := t.TempDir()
	config := filepath.Join(dir, "sweep.yaml")
	text := fmt.Sprintf("data_path: %q\noutput_dir: out\nk_values: [1, 5]\nembedders: [lexical, bm25]\nconfigurations:\n  recursive:\n    chunker: recursive\n    size: [200, 400]\n  plain: {chunker: fixed, size: 800, overlap: 400, embedders: bm25}\n", data)
	if err := os.WriteFile(config, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	succeed(t, "sweep", "-config", config)
	got, err := sweep.Read(filepath.Join(dir, "out", "sweep.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Cells) != 10 || len(got.Queries) != 472 {
		t.Fatalf("got %d cells, %d queries, want 10, 472", len(got.Cells), len(got.Queries))
	}
	c, err := reader{}.read(&inputs{ctx: t.Context()}, formChroma, data, &ledger{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := sweep.Grid{Corpus: c.corpus, Queries: c.tokens, ChunkerNames: []string{"recursive/size=200", "recursive/size=400"},
		Embedders: []ragtest.Embedder{lexical.Embedder{}}, Retrievers: []ragtest.Retriever[chunk]{lexical.NewBM25[chunk]()}, K: []int{1, 5}}.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, cell := range want.Cells {
		if g := got.Cells[i]; !slices.Equal(g.Metrics, cell.Metrics) || g.Chunks != cell.Chunks {
			t.Errorf("%s: got %v of %d chunks, want %v of %d", g.Name, g.Metrics, g.Chunks, cell.Metrics, cell.Chunks)
		}
	}
	// bm25 over chunks of 800 characters that overlap by half, at 5: better than 0.8.
	if recall, _ := got.Cells[9].Score("span_recall"); recall < 0.8 || got.Cells[9].K != 5 || got.Cells[9].Chunker != "fixed/size=800/overlap=400/config=plain" {
		t.Errorf("%s has the recall %v, want at least 0.8", got.Cells[9].Name, recall)
	}
}
