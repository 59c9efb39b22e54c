package html_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/chunkers/html"
	"github.com/rageval/rageval/spans"
)

var (
	_ chunkers.Chunker              = html.HTML{}
	_ chunkers.PositionAwareChunker = html.HTML{}
	_ chunkers.Validator            = html.HTML{}
	_ chunkers.Rewriter             = html.HTML{}
	_ fmt.Stringer                  = html.HTML{}
)

func document(tb testing.TB, id, text string) *spans.Document {
	tb.Helper()
	doc, err := spans.NewDocument(spans.DocumentID(id), text, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return doc
}

func TestHTML(t *testing.T) {
	tests := []struct {
		name  string
		size  html.HTML
		text  string
		want  []string // of the source
		plain []string // plain texts
	}{
		{"empty", html.HTML{Size: 10}, "", nil, nil},
		{"white space", html.HTML{Size: 10}, " \n&nbsp;<p>\u00a0</p><!-- a -->", nil, nil},
		{"text", html.HTML{Size: 10}, " one two\n", []string{" one two"}, []string{"one two"}},
		{"paragraphs", html.HTML{Size: 22}, "<p>one</p>\n<p>two</p>\n<p>three</p>", []string{"<p>one</p>\n<p>two</p>", "<p>three</p>"}, []string{"one\ntwo", "three"}},
		{"paragraphs without end tags", html.HTML{Size: 12}, "<p>one<p>two<p>three", []string{"<p>one<p>two", "<p>three"}, []string{"one\ntwo", "three"}},
		{"wrappers go with what they begin and end with", html.HTML{Size: 26}, "<div><div><p>one</p></div><div>two</div></div>", []string{"<div><div><p>one</p></div>", "<div>two</div></div>"}, []string{"one", "two"}},
		{"sections", html.HTML{Size: 40}, "<section><h1>A</h1>a<div><h2>B</h2><p>b</div></section><h1>C</h1>c", []string{"<section><h1>A</h1>a", "<div><h2>B</h2><p>b</div></section>", "<h1>C</h1>c"}, []string{"A\na", "B\nb", "C\nc"}},
		{"MinSize", html.HTML{Size: 50, MinSize: 30}, "<h1>A</h1><p>a</p><h2>B</h2><p>b</p><h1>C</h1>", []string{"<h1>A</h1><p>a</p><h2>B</h2><p>b</p><h1>C</h1>"}, []string{"A\na\nB\nb\nC"}},
		{"heading stays with what follows", html.HTML{Size: 23}, "<p>aaaaaaaa</p><blockquote><h2>H</h2>b", []string{"<p>aaaaaaaa</p>", "<blockquote><h2>H</h2>b"}, []string{"aaaaaaaa", "H\nb"}},
		{"attributes", html.HTML{Size: 39}, "<p title='a > b' data-x=\"</p>\">one</p><p>two</p>", []string{"<p title='a > b' data-x=\"</p>\">one</p>", "<p>two</p>"}, []string{"one", "two"}},
		{"left out", html.HTML{Size: 99}, "<!DOCTYPE html><html><head><title>T</title><meta x></head><body><p>a<script>if (a</b>c) '<p>'</script>b</p><style>p{}</style><p>c</p></body></html>", []string{"<body><p>a", "b</p>", "<p>c</p></body></html>"}, []string{"a", "b", "c"}},
		{"left out within a list", html.HTML{Size: 99}, "<ul><li>a<template><template></template>x</template></li><li>b</li></ul>", []string{"<ul><li>a", "<li>b</li></ul>"}, []string{"a", "b"}},
		{"unclosed script", html.HTML{Size: 99}, "<p>a</p><script>x", []string{"<p>a</p>"}, []string{"a"}},
		{"comments and CDATA", html.HTML{Size: 99}, "a<!-- <p>b --> <![CDATA[c > d]]>e", []string{"a<!-- <p>b --> <![CDATA[c > d]]>e"}, []string{"a d]]>e"}},
		{"entities are not cut", html.HTML{Size: 6}, "aaaa&amp;b", []string{"aaaa", "&amp;b"}, []string{"aaaa", "&b"}},
		{"tags are not cut", html.HTML{Size: 12}, "one <b a=1>two</b> three", []string{"one", "<b a=1>two", "</b> three"}, nil},
		{"list items", html.HTML{Size: 30}, "<ul><li>one</li><li>two</li><li>three<ul><li>four</ul></ul>", []string{"<ul><li>one</li><li>two</li>", "<li>three<ul><li>four</ul></ul>"[:9], "<ul><li>four</ul></ul>"}, []string{"one\ntwo", "three", "four"}},
		{"items without end tags", html.HTML{Size: 14}, "<ol><li>one<li>two<li>three</ol>", []string{"<ol><li>one", "<li>two", "<li>three</ol>"}, []string{"one", "two", "three"}},
		{"definition list", html.HTML{Size: 18}, "<dl><dt>a<dd>one<dt>b<dd>two</dl>", []string{"<dl><dt>a<dd>one", "<dt>b<dd>two</dl>"}, []string{"a\none", "b\ntwo"}},
		{"preformatted", html.HTML{Size: 22}, "<p>a</p><pre>\n one\n  two\n three\n</pre>b", []string{"<p>a</p><pre>\n one", "  two\n three\n</pre>b"}, nil},
		{"preformatted is kept whole", html.HTML{Size: 40}, "<p>a</p><pre>\n one\n  two\n\n</pre>b  c", []string{"<p>a</p><pre>\n one\n  two\n\n</pre>b  c"}, []string{"a\n one\n  two\n\n\nb c"}},
		{"images", html.HTML{Size: 99}, "<h1>A</h1><img src=x alt='a &lt; b'><br>c", []string{"<h1>A</h1><img src=x alt='a &lt; b'><br>c"}, []string{"A\na < b\nc"}},
		{"sentences", html.HTML{Size: 24}, "<p>One <b>two.</b> Three four. Five", []string{"<p>One <b>two.</b>", "Three four. Five"}, []string{"One two.", "Three four. Five"}},
		{"overlap", html.HTML{Size: 22, Overlap: 11}, "<p>one</p>\n<p>two</p>\n<p>six</p>", []string{"<p>one</p>\n<p>two</p>", "<p>two</p>\n<p>six</p>"}, []string{"one\ntwo", "two\nsix"}},
		{"a heading beside which no word fits", html.HTML{Size: 40}, "<html><body><h1>Google Inc.</h1><p>Google was founded in 1998 by:", []string{"<html><body><h1>Google Inc.</h1>", "<p>Google was founded in 1998 by:"}, []string{"Google Inc.", "Google was founded in 1998 by:"}},
		{"a tag beside which no word fits", html.HTML{Size: 18}, "<p class='aaaa'>word and more", []string{"word and more"}, []string{"word and more"}},
		{"a tag is not cut beside a heading", html.HTML{Size: 30}, "<h1>aaaa</h1><a href=0123456789abcdef>b", []string{"<h1>aaaa</h1>", "<a href=0123456789abcdef>b"}, []string{"aaaa", "b"}},
		{"a comment is not cut after an overlap", html.HTML{Size: 20, Overlap: 15}, "aaa bbb ccc ddd eee <!-- ffffff --> ggg", []string{"aaa bbb ccc ddd eee", "eee <!-- ffffff -->", "ggg"}, []string{"aaa bbb ccc ddd eee", "eee", "ggg"}},
		{"cells that hold blocks", html.HTML{Size: 200}, "<table><tr><td><p>a</p></td><td><p>b</p><p>c</p></td></tr><tr><td><div>d</div><td>e</table><p>f", []string{"<table><tr><td><p>a</p></td><td><p>b</p><p>c</p></td></tr><tr><td><div>d</div><td>e</table><p>f"}, []string{"a\tb\nc\nd\te\nf"}},
		{"the first alt counts", html.HTML{Size: 99}, "<IMG ALT=a alt=b>", []string{"<IMG ALT=a alt=b>"}, []string{"a"}},
		{"unfinished tag", html.HTML{Size: 99}, "a <b", []string{"a <b"}, []string{"a <b"}},
		{"not a tag", html.HTML{Size: 99}, "a < b <3", []string{"a < b <3"}, []string{"a < b <3"}},
		{"heading with a block in it", html.HTML{Size: 99}, "a<h1><div>B</div></h1>b", []string{"a", "<h1><div>B</div></h1>b"}, []string{"a", "B\nb"}},
		{"plaintext", html.HTML{Size: 99}, "a<plaintext>b<p>c", []string{"a<plaintext>b<p>c"}, []string{"a\nb<p>c"}},
		{"invalid UTF-8", html.HTML{Size: 3}, "\xff\x80 \xe6\x97 本", []string{"\xff\x80", "\xe6\x97", "本"}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.size.Chunk(t.Context(), test.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%v of %q (-want, +got):\n%s", test.size, test.text, diff)
			}
			if test.plain == nil && test.want != nil {
				return
			}
			c := test.size
			c.PlainText = true
			if got, err = c.Chunk(t.Context(), test.text); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.plain, got); diff != "" {
				t.Errorf("%v of %q (-want, +got):\n%s", c, test.text, diff)
			}
		})
	}
}

func TestMetadata(t *testing.T) {
	const text = "<h1>Set<b>up</b> &amp;\n go</h1><p>all of it, at length</p><h2>Linux</h2>" +
		"<table><thead><tr><th>a<th>b</thead><tbody><tr><td>1<td>2<tr><td>3<td>4</table>" +
		"<table><tr><th>c</th></tr><tr><th>d</th></tr><tr><td>5</td></tr><tr><td>6</td></tr></table>"
	type piece struct{ Text, Headings, TableHeader string }
	want := []piece{
		{"Setup & go\nall of it, at length", "Setup & go", ""},
		{"Setup & go\n\nLinux\na\tb", "Setup & go > Linux", ""},
		{"Setup & go > Linux\n\na\tb\n1\t2\n3\t4", "Setup & go > Linux", "a\tb"},
		{"Setup & go > Linux\n\nc\nd\n5", "Setup & go > Linux", ""},
		{"Setup & go > Linux\n\nc\nd\n6", "Setup & go > Linux", "c\nd"},
	}
	doc := document(t, "a.html", text)
	pieces, err := html.HTML{Size: 66, PlainText: true, HeadingPrefix: true}.ChunkWithPositions(t.Context(), doc)
	if err != nil {
		t.Fatal(err)
	}
	var got []piece
	for _, p := range pieces {
		got = append(got, piece{p.Text, p.Metadata[html.Headings], p.Metadata[html.TableHeader]})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pieces (-want, +got):\n%s", diff)
	}
}

func TestValidate(t *testing.T) {
	tests := []struct {
		chunker html.HTML
		want    string
	}{
		{html.HTML{Size: 9, MinSize: 9, Overlap: 8}, ""},
		{html.HTML{}, "HTML chunker: Size is 0: want at least 1"},
		{html.HTML{Size: 9, MinSize: 10}, "HTML chunker: MinSize is 10: want at least 0 and at most Size, which is 9"},
		{html.HTML{Size: 9, Overlap: 9}, "HTML chunker: Overlap is 9: want at least 0 and less than Size, which is 9"},
	}
	for _, test := range tests {
		_, err := test.chunker.Chunk(context.Background(), "a")
		for _, err := range []error{test.chunker.Validate(), err} {
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("%#v: got error %q, want %q", test.chunker, got, test.want)
			}
		}
	}
}

func TestString(t *testing.T) {
	tests := []struct {
		chunker html.HTML
		want    string
	}{
		{html.HTML{}, "html"},
		{html.HTML{Size: 800, MinSize: 200, Overlap: 100, PlainText: true, HeadingPrefix: true}, "html/size=800/minsize=200/overlap=100/plaintext=true/headingprefix=true"},
	}
	for _, test := range tests {
		if got := test.chunker.String(); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

var settings = []html.HTML{
	{Size: 1},
	{Size: 7, MinSize: 7, Overlap: 6},
	{Size: 60, MinSize: 30},
	{Size: 200, MinSize: 50, Overlap: 100},
	{Size: 800, MinSize: 200, Overlap: 100},
}

// checkPieces verifies what the documentation promises of any text: pieces fit
// Size and stand in order, and share at most Overlap.
func checkPieces(tb testing.TB, c html.HTML, doc *spans.Document) []chunkers.Piece {
	tb.Helper()
	pieces, err := c.ChunkWithPositions(tb.Context(), doc)
	if err != nil {
		tb.Fatalf("%v of %s: %v", c, doc.ID(), err)
	}
	text := doc.Text()
	for i, p := range pieces {
		if n := utf8.RuneCountInString(text[p.Start:p.End]); n > c.Size {
			tb.Fatalf("%v of %s: piece %d has %d characters, want at most %d", c, doc.ID(), i, n, c.Size)
		}
		if i == 0 {
			continue
		}
		last := pieces[i-1]
		if p.Start <= last.Start || p.End <= last.End {
			tb.Fatalf("%v of %s: piece %d is [%d:%d] after [%d:%d]: want greater starts and ends", c, doc.ID(), i, p.Start, p.End, last.Start, last.End)
		}
		if p.Start < last.End && utf8.RuneCountInString(text[p.Start:last.End]) > c.Overlap {
			tb.Fatalf("%v of %s: piece %d shares %q, want at most %d characters", c, doc.ID(), i, text[p.Start:last.End], c.Overlap)
		}
	}
	return pieces
}

// handbook is a page with nested sections, lists, tables, code and scripts, and
// a mark in every text of it.
func handbook() (text string, words int) {
	var b strings.Builder
	word := func() string { words++; return fmt.Sprintf("w%dw", words) }
	b.WriteString("<!DOCTYPE html>\n<html><head><title>x</title><style>a{}</style></head><body>\n")
	for i := range 20 {
		fmt.Fprintf(&b, "<section class='s'>\n<h2 id=\"a>b\">%s <em>%s</em></h2>\n<p>%s %s. %s; %s\n<p>%s</p>", word(), word(), word(), word(), word(), word(), word())
		b.WriteString("<table><thead><tr><th>" + word() + "</th><th>" + word() + "</th></tr></thead>")
		for range i {
			fmt.Fprintf(&b, "<tr><td>%s<td>%s &amp; %s", word(), word(), word())
		}
		fmt.Fprintf(&b, "</table><script>if (a < b) { '</p>' }</script><ul><li>%s<ol><li>%s</ol><li>%s</ul>", word(), word(), word())
		fmt.Fprintf(&b, "<pre>%s\n  %s\n</pre><blockquote>%s<h3>%s</h3>%s</blockquote></section>\n", word(), word(), word(), word(), word())
	}
	b.WriteString("</body></html>\n")
	return b.String(), words
}

func TestNoTextIsLost(t *testing.T) {
	text, words := handbook()
	doc := document(t, "handbook.html", text)
	for _, c := range settings {
		for _, c.PlainText = range []bool{false, true} {
			var all strings.Builder
			end := 0
			for _, p := range checkPieces(t, c, doc) {
				if !c.PlainText {
					all.WriteString(text[max(end, p.Start):p.End])
				} else if c.Size >= 60 {
					all.WriteString(p.Text)
				}
				end = p.End
			}
			if c.Size < 60 && c.PlainText {
				continue // words are cut
			}
			for n := 1; n <= words; n++ {
				if word := fmt.Sprintf("w%dw", n); !strings.Contains(all.String(), word) {
					t.Fatalf("%v: %s is in no piece", c, word)
				}
			}
			if s := all.String(); strings.Contains(s, "script") || strings.Contains(s, "a{}") {
				t.Errorf("%v: what is to be left out is in a piece", c)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	text, _ := handbook()
	for _, c := range []html.HTML{settings[1], settings[4]} {
		for _, rewrites := range []bool{false, true} {
			c.PlainText, c.HeadingPrefix = rewrites, rewrites
			if err := chunkers.Check(t.Context(), c, document(t, "handbook.html", text)); err != nil {
				t.Errorf("%v: %v", c, err)
			}
		}
	}
}
