// Package readme checks that README.md shows what its commands print.
package readme

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// run runs a command in the repository's root and returns its output, each run
// of white space as one space.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = "../.."
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return fold(string(out))
}

func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

func readREADME(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// block returns the indented block of the README that holds the given text.
func block(t *testing.T, text, holding string) string {
	t.Helper()
	for _, b := range regexp.MustCompile(`(?m)(^(    .*)?\n)+`).FindAllString(text, -1) {
		if strings.Contains(b, holding) {
			return fold(b)
		}
	}
	t.Fatalf("README.md: no indented block holds %q", holding)
	return ""
}

func TestFirstResult(t *testing.T) {
	text := readREADME(t)
	const command = "go test -v -run TestHandbook ./examples/quickstart"
	if !strings.Contains(text, "\n    "+command+"\n") {
		t.Fatalf("README.md does not say %q", command)
	}
	fields := strings.Fields(command)
	got := run(t, fields[0], append(fields[1:], "-count=1")...)
	if want := block(t, text, "token-level evaluation TestHandbook"); !strings.Contains(got, want) {
		t.Errorf("README.md shows\n%s\nbut %s prints\n%s", want, command, got)
	}
}

func TestBenchstatTable(t *testing.T) {
	golden, err := os.ReadFile("../../examples/chunkerbench/testdata/benchstat.golden")
	if err != nil {
		t.Fatal(err)
	}
	if want := block(t, readREADME(t), "│ span_recall │"); !strings.Contains(fold(string(golden)), want) {
		t.Errorf("README.md shows\n%s\nwhich is not in benchstat.golden", want)
	}
}

// TestOwnTest compiles the README's example of a test.
func TestOwnTest(t *testing.T) {
	code := regexp.MustCompile("(?s)```go\n(.*?)```").FindStringSubmatch(readREADME(t))
	if code == nil {
		t.Fatal("README.md has no Go code")
	}
	if lines := strings.Count(strings.TrimSpace(code[1]), "\n") + 1; lines > 20 {
		t.Errorf("the README's own test has %d lines, want it short", lines)
	}
	source := `package quickstart
import (
	"os"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
)
` + strings.Replace(code[1], "func TestHandbook(", "func TestREADME(", 1)
	overlay := overlay(t, "readme_test.go", source)
	got := run(t, "go", "test", "-v", "-overlay="+overlay, "-run=^TestREADME$", "./examples/quickstart")
	if !strings.Contains(got, "--- PASS: TestREADME") {
		t.Errorf("the README's own test did not run:\n%s", got)
	}
}

// TestFailure runs the quickstart with a threshold that does not hold.
func TestFailure(t *testing.T) {
	text := readREADME(t)
	source, err := os.ReadFile("../../examples/quickstart/quickstart_test.go")
	if err != nil {
		t.Fatal(err)
	}
	const holds, fails = "SpanRecall.AtLeast(0.7)", "SpanRecall.AtLeast(0.8)"
	if strings.Count(string(source), holds) != 1 {
		t.Fatalf("the quickstart does not demand %s once", holds)
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-overlay="+overlay(t, "quickstart_test.go", strings.Replace(string(source), holds, fails, 1)),
		"-run=^TestHandbook$", "./examples/quickstart")
	cmd.Dir = "../.."
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("%s does not fail:\n%s", fails, out)
	}
	sample := block(t, text, "want >= 0.8, over 116 queries")
	if want := strings.TrimSuffix(sample, " …"); !strings.Contains(fold(string(out)), want) {
		t.Errorf("README.md shows\n%s\nbut the test prints\n%s", want, out)
	}
}

// overlay returns an overlay that puts a file into the quickstart's package, not its
// folder.
func overlay(t *testing.T, name, source string) string {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	file, overlay := filepath.Join(dir, name), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{
		"Replace": {filepath.Join(root, "examples/quickstart", name): file}})
	if err != nil {
		t.Fatal(err)
	}
	for path, data := range map[string][]byte{file: []byte(source), overlay: replace} {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return overlay
}
