package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/spans"
)

// temporaryModule makes a module that takes the library from this repository, and a
// folder of documents in it.
func temporaryModule(t *testing.T, documents map[string]string) (dir string, goCommand func(want bool, args ...string) string) {
	t.Helper()
	if testing.Short() {
		t.Skip("compiling tests takes seconds")
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "go.sum"), string(sums))
	write(t, filepath.Join(dir, "go.mod"), fmt.Sprintf("module example.com/own\n\ngo 1.26\n\nrequire %s v0.0.0\n\nreplace %s => %s\n", libraryModule, libraryModule, root))
	for name, text := range documents {
		write(t, filepath.Join(dir, "docs", name), text)
	}
	return dir, func(want bool, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod -p=2", "GOPROXY=off", "GOWORK=off", "RAGTEST_UPDATE=")
		out, err := cmd.CombinedOutput()
		if (err == nil) != want {
			t.Fatalf("go %s: %v, want success: %v\n%s", strings.Join(args, " "), err, want, out)
		}
		return string(out)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// appendLine appends a line to a file.
func appendLine(t *testing.T, path, line string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(data)+line+"\n")
}

// exampleIn returns the line that the comment of a test shows.
func exampleIn(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^//\t(\{"id".*\})$`).FindSubmatch(data)
	if found == nil || !json.Valid(found[1]) {
		t.Fatalf("no example in\n%s", data)
	}
	return string(found[1])
}

var handbook = map[string]string{
	"leave.md":         "# Leave\n\nEveryone has 28 days of leave a year.\n\nUnused leave is lost in March.\n",
	"notice/period.md": "# Notice\n\nThe notice period is three months for both sides.\n",
	"office.txt":       "The coffee machine on the second floor is descaled on Fridays.\n",
	"logo.png":         "\x89PNG\xff",
	".hidden/x.rtf":    "x",
}

func TestInitToken(t *testing.T) {
	dir, goCommand := temporaryModule(t, handbook)
	code, out, errs := runInProcess(t.Context(), "", "init", "-out", dir, filepath.Join(dir, "docs"))
	if code != exitOK || errs != "ragtest init: note: 1 file not read, for what ends in \".png\" is not known to be text: convert it, or use -pattern\n" {
		t.Fatalf("exit code %d, stderr %q", code, errs)
	}
	for _, want := range []string{"for 3 documents", "docs_retrieval_test.go", "docs_corpus_test.go", "testdata/docs.golden.jsonl", "go test -v -run TestDocsRetrieval", `{"id":"q1"`} {
		if !strings.Contains(out, want) {
			t.Errorf("stdout does not say %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "go get") {
		t.Errorf("the module requires the library, but stdout says to get it:\n%s", out)
	}
	goCommand(true, "vet", "./...")
	if got := goCommand(true, "test", "-v", "./..."); !strings.Contains(got, "--- SKIP: TestDocsRetrieval") || !strings.Contains(got, "holds no query yet") {
		t.Errorf("without queries: got\n%s", got)
	}

	// The example, as it is: it names a passage of a document.
	golden := filepath.Join(dir, "testdata", "docs.golden.jsonl")
	example := exampleIn(t, filepath.Join(dir, "docs_retrieval_test.go"))
	if !strings.Contains(example, `"docId":"leave.md","text":"Everyone has 28 days of leave a year."`) {
		t.Errorf("got the example %s", example)
	}
	appendLine(t, golden, strings.Replace(example, "What would a user ask?", "How many days of leave are there?", 1))
	if got := goCommand(true, "test", "-v", "./..."); !strings.Contains(got, "--- PASS: TestDocsRetrieval") || !strings.Contains(got, "span_recall") {
		t.Errorf("with a query: got\n%s", got)
	}

	// A query that nothing in its answer's words helps to find is below the threshold.
	var padding []string
	for i := range 40 {
		padding = append(padding, fmt.Sprintf("Section %d says how the quarterly reimbursement of beverages works.\n\n%s", i, strings.Repeat("Words that matter to nobody. ", 40)))
	}
	write(t, filepath.Join(dir, "docs", "padding.md"), strings.Join(padding, "\n\n"))
	appendLine(t, golden, `{"id":"q2","inputs":{"query":"quarterly reimbursement of beverages"},"outputs":{"relevantSpans":[{"docId":"office.txt","text":"descaled on Fridays"}]}}`)
	got := goCommand(false, "test", "./...")
	for _, want := range []string{"--- FAIL: TestDocsRetrieval", "span_recall", "got 0.5000, want >= 0.8, over 2 queries", "q2", "missed docs/office.txt"} {
		if !strings.Contains(got, want) {
			t.Errorf("below the threshold: the message does not say %q:\n%s", want, got)
		}
	}

	// A quotation that is not in the document is an error that says where.
	appendLine(t, golden, `{"id":"q3","inputs":{"query":"When?"},"outputs":{"relevantSpans":[{"docId":"office.txt","text":"on Mondays"}]}}`)
	if got := goCommand(false, "test", "./..."); !strings.Contains(got, "docs.golden.jsonl:4: query q3: relevant span 1: ") {
		t.Errorf("got\n%s", got)
	}

	// Again: nothing is written, and all that exists is named.
	if err := os.Remove(filepath.Join(dir, "docs_corpus_test.go")); err != nil {
		t.Fatal(err)
	}
	before := tree(t, dir)
	code, _, errs = runInProcess(t.Context(), "", "init", "-out", dir, filepath.Join(dir, "docs"))
	if code != exitError || !strings.Contains(errs, "docs_retrieval_test.go declares TestDocsRetrieval already: choose another -name") {
		t.Errorf("exit code %d, stderr %q", code, errs)
	}
	write(t, filepath.Join(dir, "docs_retrieval_test.go"), "package own_test\n")
	code, _, errs = runInProcess(t.Context(), "", "init", "-out", dir, filepath.Join(dir, "docs"))
	if code != exitError || !strings.Contains(errs, "docs_retrieval_test.go exists already: nothing is written\n") || !strings.Contains(errs, "docs.golden.jsonl exists already") || strings.Contains(errs, "corpus_test.go") {
		t.Errorf("exit code %d, stderr %q", code, errs)
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("files (-before +after)\n%s", diff)
	}
}

func TestInitChunk(t *testing.T) {
	dir, goCommand := temporaryModule(t, map[string]string{"faq.html": "<h1>FAQ</h1><p>Leave is <b>28</b> days.</p>", "terms.HTM": "<p>The notice period is three months.</p>"})
	write(t, filepath.Join(dir, "search", "search.go"), "// Package find finds.\npackage find\n")
	write(t, filepath.Join(dir, "search", "generate.go"), "//go:build ignore\n\npackage another\n\nfunc main() {}\n")
	code, _, errs := runInProcess(t.Context(), "", "init", "-level", "chunk", "-name", "web_faq", "-out", filepath.Join(dir, "search"), filepath.Join(dir, "docs"))
	if code != exitOK || errs != "" {
		t.Fatalf("exit code %d, stderr %q", code, errs)
	}
	goCommand(true, "vet", "./...")
	if got := goCommand(true, "test", "-v", "-run", "Retrieval", "./search"); !strings.Contains(got, "--- SKIP: TestWebFaqRetrieval") {
		t.Errorf("without queries: got\n%s", got)
	}
	listed := goCommand(true, "test", "-v", "-run", "Chunks", "./search")
	id := regexp.MustCompile(`(chunk_[0-9a-f]{12}) terms\.HTM: "The notice period`).FindStringSubmatch(listed)
	if id == nil {
		t.Fatalf("the chunks are not listed:\n%s", listed)
	}
	golden := filepath.Join(dir, "search", "testdata", "web_faq.golden.jsonl")
	appendLine(t, golden, strings.Replace(exampleIn(t, filepath.Join(dir, "search", "web_faq_retrieval_test.go")), "What would a user ask?", "leave days", 1))
	appendLine(t, golden, `{"id":"q2","inputs":{"query":"notice period"},"outputs":{"relevantChunkIds":["`+id[1]+`"]}}`)
	if got := goCommand(true, "test", "-v", "./search"); !strings.Contains(got, "--- PASS: TestWebFaqRetrieval") || !strings.Contains(got, "chunk_recall") {
		t.Errorf("with queries: got\n%s", got)
	}
}

// TestInitEveryVariant: what is generated compiles at either level, for HTML and others.
func TestInitEveryVariant(t *testing.T) {
	dir, goCommand := temporaryModule(t, map[string]string{"a/x.md": "One \"two\" {{three}} four `five`.\n", "b/y.html": "<p>text of a page</p>"})
	for i, args := range [][]string{{"-level", "token", "-pattern", "a/*.md"}, {"-level", "chunk", "-pattern", "**/*.md"}, {"-level", "token", "-pattern", "**/*.html"}, {"-level", "chunk"}} {
		name := fmt.Sprintf("n%d", i)
		code, _, errs := runInProcess(t.Context(), "", append(append([]string{"init", "-out", dir, "-name", name}, args...), filepath.Join(dir, "docs"))...)
		if code != exitOK {
			t.Fatalf("%v: exit code %d: %s", args, code, errs)
		}
		exampleIn(t, filepath.Join(dir, name+"_retrieval_test.go"))
	}
	goCommand(true, "vet", "./...")
}

// tree returns the paths below a folder.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func TestInitWithoutModule(t *testing.T) {
	dir := t.TempDir()
	docs := filepath.Join(dir, "My Docs (2024)")
	write(t, filepath.Join(docs, "a.md"), "Some text.\n")
	out := filepath.Join(dir, "new", "package")
	code, stdout, errs := runInProcess(t.Context(), "", "init", "-out", out, docs)
	if code != exitOK || !strings.Contains(stdout, "go mod init example.com/my_docs_2024\n\tgo get github.com/rageval/rageval@latest\n\tgo mod tidy\n") {
		t.Fatalf("exit code %d, stdout %s, stderr %s", code, stdout, errs)
	}
	source, err := os.ReadFile(filepath.Join(out, "my_docs_2024_corpus_test.go"))
	if err != nil || !strings.Contains(string(source), `fixtures.ReadDir("../../My Docs (2024)", "**/*.md")`) || !strings.HasPrefix(string(source), "package packagedocs_test\n") {
		t.Errorf("got %s (%v)", source, err)
	}

	write(t, filepath.Join(dir, "module", "go.mod"), "module example.com/m\n")
	code, stdout, _ = runInProcess(t.Context(), "", "init", "-out", filepath.Join(dir, "module"), docs)
	if code != exitOK || !strings.Contains(stdout, "The module example.com/m does not require the library yet:\n\n\tgo get github.com/rageval/rageval@latest\n\tgo mod tidy\n") || !strings.Contains(stdout, "The documents are outside of the module, in ../My Docs (2024)") {
		t.Errorf("exit code %d, stdout %s", code, stdout)
	}
}

func TestInitErrors(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "docs", "a.md"), "Some text.\n")
	write(t, filepath.Join(dir, "empty", "a.md"), "")
	write(t, filepath.Join(dir, "binary", "a.txt"), "\xff")
	write(t, filepath.Join(dir, "pictures", "a.png"), "x")
	write(t, filepath.Join(dir, "bad", "go.mod"), "modul x\n")
	write(t, filepath.Join(dir, "broken", "x.go"), "not Go\n")
	in := func(name string) string { return filepath.Join(dir, name) }
	for want, args := range map[string][]string{
		"found 0 arguments, want one": {},
		"found 2 arguments":           {in("docs"), in("docs")},
		"-level is \"document\"":      {"-level", "document", in("docs")},
		"-name is \"Hand book\"":      {"-name", "Hand book", in("docs")},
		"missing: want a folder of documents: no such file or directory": {in("missing")},
		"a.md: want a folder of documents: it is a file":                 {in("docs/a.md")},
		"a.md: the file is empty":                                        {in("empty")},
		"a.txt":                                                          {in("binary")},
		"holds no file that ends in .adoc":                               {in("pictures")},
		"go.mod: it has no module line":                                  {"-out", in("bad"), in("docs")},
		"reading the package in":                                         {"-out", in("broken"), in("docs")},
		"which is not a folder":                                          {"-out", in("docs/a.md"), in("docs")},
		`pattern "**/*.txt" matches no file`:                             {"-pattern", "**/*.txt", in("docs")},
	} {
		before := tree(t, dir)
		if !slices.Contains(args, "-out") {
			args = append([]string{"-out", in("out")}, args...)
		}
		code, stdout, errs := runInProcess(t.Context(), "", append([]string{"init"}, args...)...)
		if code != exitError || stdout != "" || !strings.Contains(errs, want) || !strings.HasPrefix(errs, "ragtest init: ") {
			t.Errorf("ragtest init %q: exit code %d, stderr %q, want %q", args, code, errs, want)
		}
		if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
			t.Errorf("ragtest init %q: files (-before +after)\n%s", args, diff)
		}
	}
}

// What cannot be written is undone.
func TestWriteNewUndoes(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "b"), "a file where a folder should be")
	err := writeNew(dir, []newFile{{"new/a", []byte("1")}, {"c/d/e", []byte("1")}, {"b/x", []byte("2")}})
	if err == nil {
		t.Fatal("got no error")
	}
	if diff := cmp.Diff([]string{dir, filepath.Join(dir, "b")}, tree(t, dir)); diff != "" {
		t.Errorf("%v: files (-want +got)\n%s", err, diff)
	}
}

func TestExamplePassage(t *testing.T) {
	for want, texts := range map[string][]string{
		"This is a long sentence.":    {"# Head line\n\n- item\n\nThis is a long sentence. And another.\n"},
		"# Heading":                   {"# Heading\n"},
		"one":                         {"one\n# x\n"},
		"second of the texts":         {"# x", "second of the texts"},
		"After the mark, it goes on.": {"\ufeffAfter the mark, it goes on."},
		"It ends as sentences do.":    {"title: something about it\n\nIt ends as sentences do.\n"},
		"only this one counts":        {"twice the same line\ntwice the same line\nonly this one counts"},
	} {
		var docs []*spans.Document
		for i, text := range texts {
			doc, err := spans.NewDocument(spans.DocumentID(fmt.Sprint(i)), text, nil)
			if err != nil {
				t.Fatal(err)
			}
			docs = append(docs, doc)
		}
		corpus, err := spans.NewCorpus(docs...)
		if err != nil {
			t.Fatal(err)
		}
		if _, got := examplePassage(corpus); got != want {
			t.Errorf("%q: got %q, want %q", texts, got, want)
		}
	}
}
