package markdown_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rageval/rageval/chunkers/markdown"
	"github.com/rageval/rageval/spans"
)

// FuzzMarkdown checks what the documentation promises of any text.
func FuzzMarkdown(f *testing.F) {
	for _, doc := range handbook(f) {
		f.Add(doc.Text(), 60, 30, 20)
	}
	for _, seed := range []string{
		"---\na: 1\n---\n# A\n\n- a\n\n  b\n1. c\n\n> d\ne\n\n| a | b |\n|--|:-:|\n| \\| | `|` |\n\n```go\nx\n",
		"+++\r\n+++\r\nA\r\n=\r\n\r\n\tcode\r\n\r\n[a]: <b> 'c'\r\n[^1]: d\r\n    e\r\n",
		"T\n: d\n: e\n\n    f\n\n***\n<div>\n\n</div>\n- [ ] g\n-\th\n\n\t\ti",
		"\ufeff# A #\n## \n0\n-:\n-\n\u00a0\n",
	} {
		f.Add(seed, 12, 6, 5)
		f.Add(seed, 3, 0, 2)
	}
	f.Fuzz(func(t *testing.T, text string, size, minSize, overlap int) {
		c := markdown.Markdown{Size: size, MinSize: minSize, Overlap: overlap}
		if c.Validate() != nil || len(text) > 1<<16 {
			t.Skip("not a chunker that works, or a text too long for a fuzz run")
		}
		if !utf8.ValidString(text) {
			if got := texts(t, c, text); len(got) == 0 && strings.TrimSpace(text) != "" {
				t.Errorf("%v of %q: no pieces", c, text)
			}
			return
		}
		doc, err := spans.NewDocument("fuzz", text, nil)
		if err != nil {
			t.Fatal(err)
		}
		pieces := checkPieces(t, c, doc)
		for _, p := range pieces {
			if p.Text != text[p.Start:p.End] {
				t.Fatalf("%v of %q: text %q of bytes [%d:%d]", c, text, p.Text, p.Start, p.End)
			}
		}
		c.HeadingPrefix = true
		prefixed := texts(t, c, text)
		if len(prefixed) != len(pieces) {
			t.Fatalf("%v of %q: %d texts, want %d", c, text, len(prefixed), len(pieces))
		}
		for i, p := range pieces {
			if !strings.HasSuffix(prefixed[i], p.Text) || !utf8.ValidString(prefixed[i]) {
				t.Fatalf("%v of %q: text %q, want valid UTF-8 that ends with %q", c, text, prefixed[i], p.Text)
			}
		}
	})
}
