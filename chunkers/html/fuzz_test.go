package html_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rageval/rageval/chunkers/html"
	"github.com/rageval/rageval/spans"
)

// FuzzHTML checks what the documentation promises of any text.
func FuzzHTML(f *testing.F) {
	text, _ := handbook()
	f.Add(text, 60, 30, 20)
	for _, seed := range []string{
		"<!doctype html><head><title>a<script>b</script><p title='>'>c&nbsp;d<h1><svg></svg>e</h1><pre>\n f\n</pre>",
		"<table><thead><tr><th>a<tbody><tr><td>b<table><tr><td>c</table><li>d</td></table><ul><li>e<li>f</ul></table>",
		"<!-- a --><![CDATA[b]]></><?c><textarea><p></textarea><plaintext></p>",
		"a <b <c &amp;&#x41;&notin; &bogus; <img alt='d' src=\"e",
	} {
		f.Add(seed, 12, 6, 5)
		f.Add(seed, 3, 0, 2)
	}
	f.Fuzz(func(t *testing.T, text string, size, minSize, overlap int) {
		c := html.HTML{Size: size, MinSize: minSize, Overlap: overlap}
		if c.Validate() != nil || len(text) > 1<<16 {
			t.Skip("not a chunker that works, or a text too long for a fuzz run")
		}
		if !utf8.ValidString(text) {
			if _, err := c.Chunk(t.Context(), text); err != nil {
				t.Errorf("%v of %q: %v", c, text, err)
			}
			return
		}
		doc, err := spans.NewDocument("fuzz", text, nil)
		if err != nil {
			t.Fatal(err)
		}
		end, places := 0, map[[2]int]bool{}
		for _, p := range checkPieces(t, c, doc) {
			if p.Text != text[p.Start:p.End] {
				t.Fatalf("%v of %q: text %q of bytes [%d:%d]", c, text, p.Text, p.Start, p.End)
			}
			if !strings.Contains(text, "<") && p.Start > end && strings.TrimFunc(text[end:p.Start], isSpace) != "" && !strings.Contains(text, "&") {
				t.Fatalf("%v of %q: %q at byte %d is in no piece", c, text, text[end:p.Start], end)
			}
			end = p.End
			places[[2]int{p.Start, p.End}] = true
		}
		c.PlainText, c.HeadingPrefix = true, true
		for _, p := range checkPieces(t, c, doc) {
			if !places[[2]int{p.Start, p.End}] {
				t.Fatalf("%v of %q: bytes [%d:%d] are no piece of the source", c, text, p.Start, p.End)
			}
			if p.Text == "" || !utf8.ValidString(p.Text) {
				t.Fatalf("%v of %q: text %q, want valid UTF-8 and not empty", c, text, p.Text)
			}
		}
	})
}

func isSpace(r rune) bool { return r == '\ufeff' || unicode.IsSpace(r) }
