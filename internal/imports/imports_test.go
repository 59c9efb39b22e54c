// Package imports checks what importing rageval's packages pulls in.
package imports

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/rageval/rageval"

// list runs go list and returns its lines without repetitions.
func list(t *testing.T, args ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	lines := strings.Fields(string(out))
	slices.Sort(lines)
	return slices.Compact(lines)
}

// modules returns the modules that importing the packages needs, but for ours.
func modules(t *testing.T, packages ...string) []string {
	t.Helper()
	format := "{{with .Module}}{{.Path}}{{end}}"
	all := list(t, append([]string{"-deps", "-f", format}, packages...)...)
	return slices.DeleteFunc(all, func(m string) bool { return m == module })
}

func TestCoreNeedsTheStandardLibraryOnly(t *testing.T) {
	for _, pkg := range []string{"./spans", "./chunkers", "./ragtest", "./ragtest/llm", "./chunkers/llm"} {
		if got := modules(t, pkg); len(got) > 0 {
			t.Errorf("%s needs the modules %q, want none", pkg, got)
		}
	}
}

// What a first test imports stays small: no SDK, no network, and at most five
// modules in the user's go.mod.
func TestFirstTestStaysSmall(t *testing.T) {
	first := []string{"./spans", "./chunkers", "./ragtest", "./fixtures", "./ragtest/lexical"}
	if got := modules(t, first...); len(got) > 4 {
		t.Errorf("a first test needs, beside ours, the modules %q, want at most 4", got)
	}
	for _, pkg := range list(t, append([]string{"-deps"}, first...)...) {
		if pkg == "net" || strings.HasPrefix(pkg, "net/") {
			t.Errorf("a first test imports %s, want no network", pkg)
		}
	}
}

// What runs when go test builds a first test links no network either: that would be most
// of its time.
func TestQuickstartLinksNoNetwork(t *testing.T) {
	deps := list(t, "-deps", "-test", "./examples/quickstart")
	for _, needed := range []string{module + "/ragtest", module + "/fixtures", module + "/ragtest/lexical", "testing"} {
		if !slices.Contains(deps, needed) {
			t.Errorf("the quickstart does not link %s: this test checks nothing", needed)
		}
	}
	for _, pkg := range deps {
		if pkg == "net" || strings.HasPrefix(pkg, "net/") || strings.HasPrefix(pkg, "crypto/tls") {
			t.Errorf("the quickstart links %s, want no network", pkg)
		}
	}
}

func TestImportsRunOneWay(t *testing.T) {
	allowed := map[string][]string{
		"spans":          {},
		"chunkers":       {"spans"},
		"ragtest":        {"spans", "chunkers"},
		"fixtures":       {"spans", "chunkers", "ragtest", "ragtest/trec"},
		"fixtures/synth": {"spans", "chunkers", "ragtest", "ragtest/llm", "ragtest/lexical", "fixtures"},
		"ragtest/...":    {"spans", "chunkers", "chunkers/tokens", "ragtest", "ragtest/llm"},
	}
	more := map[string]string{ // beyond what the family may
		"ragtest/langsmith": "fixtures",         // a dataset is a golden file elsewhere
		"ragtest/sweep":     "chunkers/catalog", // sweeps are given chunkers by name
	}
	for family, may := range allowed {
		for _, line := range list(t, "-f", `{{$p := .ImportPath}}{{range .Imports}}{{$p}}:{{.}} {{end}}`, "./"+family) {
			pkg, imported, _ := strings.Cut(line, ":")
			pkg = strings.TrimPrefix(pkg, module+"/")
			if strings.HasPrefix(pkg, "ragtest/cmd/") {
				continue // a command, which nothing imports
			}
			ours, ok := strings.CutPrefix(imported, module+"/")
			if ok && !strings.HasPrefix(ours, "internal/") && !slices.Contains(may, ours) && more[pkg] != ours {
				t.Errorf("%s imports %s, want only %q and internal packages", pkg, ours, may)
			}
		}
	}
}

// Each SDK has one importer, or those that are named.
func TestOneAdapterImportsEachSDK(t *testing.T) {
	importers := map[string]string{
		"github.com/JohannesKaufmann/html-to-markdown/v2/converter": "fixtures/webpage",
		"github.com/cenkalti/backoff/v5":                            "internal/retryhttp",
		"github.com/clipperhouse/uax29/v2/graphemes":                "chunkers/tokens",
		"github.com/clipperhouse/uax29/v2/sentences":                "chunkers/sentence",
		"github.com/gofrs/flock":                                    "ragtest/embedcache",
		"github.com/gomlx/gomlx/backends/simplego":                  "ragtest/onnx",
		"github.com/gomlx/onnx-gomlx/onnx":                          "ragtest/onnx",
		"github.com/jackc/pgx/v5":                                   "ragtest/pgvector",
		"github.com/langchain-ai/langsmith-go":                      "ragtest/langsmith",
		"github.com/philippgille/chromem-go":                        "ragtest/chromem",
		"github.com/sashabaranov/go-openai":                         "ragtest/openai",
		"github.com/shota3506/onnxruntime-purego/onnxruntime":       "ragtest/onnx",
		"github.com/tiktoken-go/tokenizer":                          "chunkers/tokens",
		"github.com/yuin/goldmark/parser":                           "chunkers/markdown",
		"go.yaml.in/yaml/v4":                                        "ragtest/cmd/ragtest/internal/sweepfile",
		"golang.org/x/net/html":                                     "chunkers/html fixtures/webpage",
		"gonum.org/v1/plot":                                         "ragtest/report",
	}
	for _, line := range list(t, "-f", `{{$p := .ImportPath}}{{range .Imports}}{{$p}}:{{.}} {{end}}`, "./...") {
		pkg, imported, _ := strings.Cut(line, ":")
		if want, ok := importers[imported]; ok && !slices.Contains(strings.Fields(want), strings.TrimPrefix(pkg, module+"/")) {
			t.Errorf("%s imports %s, want only %s to", pkg, imported, want)
		}
	}
}

// A program that uses only the tokenizer of a model links none of OpenAI's
// vocabularies, 13 MB, though chunkers/tokens knows them.
func TestUnusedVocabulariesAreNotLinked(t *testing.T) {
	program := filepath.Join(t.TempDir(), "model2vec")
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", args...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", cmd, err, out)
		}
		return string(out)
	}
	run("build", "-o", program, "./testdata/model2vec")
	symbols := run("tool", "nm", program)
	if !strings.Contains(symbols, module+"/ragtest/model2vec.Open") {
		t.Fatal("the program does not hold model2vec.Open: this test checks nothing")
	}
	for _, unwanted := range []string{module + "/chunkers/tokens.loadVocabulary", "github.com/tiktoken-go/tokenizer.Get"} {
		if strings.Contains(symbols, unwanted) {
			t.Errorf("the program holds %s, want no vocabulary", unwanted)
		}
	}
}
