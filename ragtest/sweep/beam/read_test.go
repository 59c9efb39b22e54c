package beam

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/spans"
)

// writeJSONL writes a corpus to n files, in order, and returns their pattern.
func writeJSONL(tb testing.TB, c *spans.Corpus, n int) string {
	tb.Helper()
	dir := tb.TempDir()
	i, files, size := 0, 0, (c.Len()+n-1)/n
	var lines bytes.Buffer
	for d := range c.All() {
		line, err := json.Marshal(map[string]any{"_id": d.ID(), "text": d.Text()})
		if err != nil {
			tb.Fatal(err)
		}
		lines.Write(append(line, '\n'))
		if i++; i%size == 0 || i == c.Len() {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("part-%03d.jsonl", files)), lines.Bytes(), 0o666); err != nil {
				tb.Fatal(err)
			}
			lines.Reset()
			files++
		}
	}
	return filepath.Join(dir, "*.jsonl")
}

func TestReadKeepsTheOrderOfFilesAndLines(t *testing.T) {
	c := corpus(t)
	loaded, err := Load(t.Context(), writeJSONL(t, c, 4))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c, loaded); diff != "" {
		t.Errorf("the corpus that was read differs (-want +got):\n%s", diff)
	}
}

// Wherever a file is split, each line is read once, by the part that it begins in.
func TestPartsOfAFileHoldEachLineOnce(t *testing.T) {
	var content strings.Builder
	var want []int
	for i := range 40 {
		if i%7 == 3 {
			content.WriteString(" \n")
		}
		want = append(want, content.Len())
		fmt.Fprintf(&content, "{\"id\":\"d%d\",\"text\":%q}\n", i, strings.Repeat("é", i%5))
	}
	text := strings.TrimSuffix(content.String(), "\n")
	path := filepath.Join(t.TempDir(), "corpus.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	f := corpusFile{Path: path, Size: len(text)}
	fn := &readFn{}
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		whole := fn.CreateInitialRestriction(f)
		var got []int
		for _, part := range whole.SizedSplits(1 + random.Int64N(300)) {
			tracker := fn.CreateTracker(part)
			if err := fn.ProcessElement(t.Context(), tracker, f, func(d Document) { got = append(got, d.Offset) }); err != nil {
				t.Fatal(err)
			}
			if !tracker.IsDone() || tracker.GetError() != nil {
				t.Fatalf("part %v: done is %t with the error %v, want true and none", part, tracker.IsDone(), tracker.GetError())
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("lines (-want +got):\n%s", diff)
		}
	}
}

func TestReadRefusesLines(t *testing.T) {
	for name, test := range map[string]struct{ content, want string }{
		"no JSON":    {"{\"id\":\"a\",\"text\":\"x\"}\nplain\n", "the line at byte 22: invalid character"},
		"no ID":      {`{"text":"x"}`, "field _id: missing or empty"},
		"no text":    {`{"id":"a"}`, "document a: field text: missing"},
		"bad UTF-8":  {"{\"id\":\"a\",\"text\":\"\xff\"}", "not valid UTF-8"},
		"two of one": {"{\"id\":\"a\",\"text\":\"x\"}\n{\"id\":\"a\",\"text\":\"y\"}\n", "two documents of the corpus have the ID a"},
		"far apart":  {"{\"id\":\"a\",\"text\":\"x\"}\n{\"id\":\"b\",\"text\":\"x\"}\n{\"id\":\"a\",\"text\":\"y\"}\n", "two documents of the corpus have the ID a"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "corpus.jsonl")
			if err := os.WriteFile(path, []byte(test.content), 0o666); err != nil {
				t.Fatal(err)
			}
			if _, err := Load(t.Context(), path); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Load: got the error %v, want %q", err, test.want)
			}
			files, err := list(t.Context(), []string{path})
			if err != nil {
				t.Fatal(err)
			}
			fn := &fingerprintFn{files}
			if _, err := fn.ProcessElement(t.Context(), nil); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("fingerprint: got the error %v, want %q", err, test.want)
			}
		})
	}
	if _, err := Load(t.Context(), filepath.Join(t.TempDir(), "*.jsonl")); err == nil || !strings.Contains(err.Error(), "no file matches") {
		t.Errorf("without a file: got the error %v", err)
	}
}

func TestParseJoinsTitleAndText(t *testing.T) {
	d, err := parse([]byte(`{"_id":"a","title":"Leave","text":"Twenty days.","metadata":{"lang":"en","year": 2026,"tags":[ "a" ]}}`))
	want := Document{ID: "a", Text: "Leave\nTwenty days.", Metadata: map[string]string{"lang": "en", "title": "Leave", "year": "2026", "tags": `["a"]`}}
	if diff := cmp.Diff(want, d); diff != "" || err != nil {
		t.Errorf("(-want +got):\n%s, %v", diff, err)
	}
}

// The fingerprint is that of the corpus, in whatever order the documents are.
func TestFingerprintIsThatOfTheCorpus(t *testing.T) {
	unsorted := corpus(t)
	docs := slices.SortedFunc(unsorted.All(), func(a, b *spans.Document) int { return strings.Compare(string(a.ID()), string(b.ID())) })
	sorted, err := spans.NewCorpus(docs...)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*spans.Corpus{unsorted, sorted} {
		for _, n := range []int{1, 5} {
			files, err := list(t.Context(), []string{writeJSONL(t, c, n)})
			if err != nil {
				t.Fatal(err)
			}
			got, err := (&fingerprintFn{files}).ProcessElement(t.Context(), nil)
			if err != nil || got != c.Fingerprint() {
				t.Errorf("%d files: got %s, %v, want %s", n, got, err, c.Fingerprint())
			}
			if _, err := inOrder(t.Context(), files); errors.Is(err, errOutOfOrder) != (c == unsorted) {
				t.Errorf("reading in order: got the error %v", err)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"_id":"a","title":"Leave","text":"Twenty days."}`))
	f.Add([]byte("{\"id\":\"a\",\"text\":\"\xff\"}"))
	f.Fuzz(func(t *testing.T, line []byte) {
		d, err := parse(line)
		if err == nil && d.ID == "" {
			t.Error("the document has no ID")
		}
	})
}

// reading returns what [Read] makes of files.
func reading(pattern string) func(context.Context, sdk.Scope) (Corpus, error) {
	return func(ctx context.Context, s sdk.Scope) (Corpus, error) { return Read(ctx, s, pattern) }
}
