package ragtest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/rageval/rageval/ragtest"
)

func TestAttributesAndArtifacts(t *testing.T) {
	r := &recorder{}
	var results []*ragtest.Result
	said := record(t, r, func(tb testing.TB) {
		for _, name := range []string{"", "", "chunker=lines/k=1", "chunker=lines/k=1"} {
			e := fruit(t)
			e.Name = name
			results = append(results, ragtest.RunTokenLevel(tb, e))
		}
		results = append(results, ragtest.RunChunkLevel(tb, fruitChunks(t)))
	})
	recall, _ := results[0].Score("span_recall")
	exact := strconv.FormatFloat(recall, 'g', -1, 64)
	attrs := sayings(said, "attr")
	for _, want := range []string{"ragtest.span_recall=" + exact, "ragtest.2.span_recall=" + exact,
		"ragtest.chunker=lines_k=1.span_recall=" + exact, "ragtest.chunker=lines_k=1-4.span_recall=" + exact} {
		if n := strings.Count("\n"+strings.Join(attrs, "\n")+"\n", "\n"+want+"\n"); n != 1 {
			t.Errorf("got attribute %s %d times, want once, in\n%s", want, n, strings.Join(attrs, "\n"))
		}
	}
	files, err := os.ReadDir(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
	}
	if diff := cmp.Diff(names, []string{"ragtest-2.json", "ragtest-chunker=lines_k=1-4.json", "ragtest-chunker=lines_k=1.json", "ragtest-fruit.json", "ragtest.json"}); diff != "" {
		t.Errorf("artifacts (-got +want):\n%s", diff)
	}
	for name, want := range map[string]*ragtest.Result{"ragtest.json": results[0], "ragtest-fruit.json": results[4]} {
		data, err := os.ReadFile(filepath.Join(r.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		var header struct{ Test, Name string }
		if err := json.Unmarshal(data, &header); err != nil {
			t.Fatal(err)
		}
		if header.Test != t.Name() || header.Name != want.Name {
			t.Errorf("%s: got test %q, run %q, want %q, %q", name, header.Test, header.Name, t.Name(), want.Name)
		}
		var back ragtest.Result
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		if !back.Equal(*want) {
			t.Errorf("%s reads back to another result", name)
		}
	}
}

// A run finds its label whatever the others are named, and whoever wraps the
// test.
func TestArtifactNames(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("größe ", 100)
	for i, tc := range []struct{ name, file string }{
		{"x", "ragtest.json"},
		{"x-4", "ragtest-x-4.json"},
		{"x", "ragtest-x.json"},
		{"x", "ragtest-x-5.json"}, // not 4, which is taken
		{"", "ragtest-5.json"},
		{"../a b\n", "ragtest-.._a_b_.json"},
		{"größe=25", "ragtest-größe=25.json"},
		{long, "ragtest-" + strings.ReplaceAll(long, " ", "_")[:len("größe_")*8] + "g….json"},
		{long, ""},
	} {
		e := fruit(t)
		e.Name = tc.name
		// Each run has a recorder of its own, and one that cannot be a map's key.
		r := &recorder{dir: dir}
		said := record(t, r, func(tb testing.TB) { ragtest.RunTokenLevel(wrapped{tb, []any{i}}, e) })
		if failures := append(sayings(said, "error"), sayings(said, "fatal")...); len(failures) > 0 {
			t.Errorf("run %d: %q", i, failures)
		}
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(files) != i+1 {
			t.Fatalf("got %d artifacts after run %d named %q, want %d", len(files), i, tc.name, i+1)
		}
		if _, err := os.Stat(filepath.Join(dir, tc.file)); err != nil {
			t.Errorf("run %d named %q: %v, among %v", i, tc.name, err, files)
		}
		for _, attr := range sayings(said, "attr") {
			if key, _, _ := strings.Cut(attr, "="); strings.ContainsFunc(key, unicode.IsSpace) {
				t.Errorf("white space in attribute key %q", key)
			}
		}
	}
}

// wrapped is a test that is no valid key of a map.
type wrapped struct {
	testing.TB
	with any
}

// An artifact that cannot be kept fails the test, and hides nothing.
func TestArtifactThatCannotBeKept(t *testing.T) {
	r := &recorder{dir: filepath.Join(t.TempDir(), "missing")}
	said := record(t, r, func(tb testing.TB) { ragtest.RunTokenLevel(tb, fruit(t)) })
	if failures := sayings(said, "error"); len(failures) != 1 || !strings.Contains(failures[0], "keeping the result") {
		t.Errorf("got failures %q, want one", failures)
	}
	if attrs := sayings(said, "attr"); len(attrs) != 3 {
		t.Errorf("got attributes %q, want all three", attrs)
	}
}

// Subtests in parallel do not share artifacts, even if they share a name.
func TestParallelRuns(t *testing.T) {
	e := fruit(t)
	for range 4 {
		t.Run("same", func(t *testing.T) {
			t.Parallel()
			for _, name := range []string{"", "a", ""} {
				e := e
				e.Name = name
				ragtest.RunTokenLevel(t, e)
			}
			files, err := os.ReadDir(t.ArtifactDir())
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, f := range files {
				names = append(names, f.Name())
			}
			if diff := cmp.Diff(names, []string{"ragtest-3.json", "ragtest-a.json", "ragtest.json"}); diff != "" {
				t.Errorf("artifacts (-got +want):\n%s", diff)
			}
		})
	}
}
