package markdown_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/chunkers/markdown"
	"github.com/rageval/rageval/internal/blocks"
	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/spans"
)

var (
	_ chunkers.Chunker              = markdown.Markdown{}
	_ chunkers.PositionAwareChunker = markdown.Markdown{}
	_ chunkers.Validator            = markdown.Markdown{}
	_ chunkers.Rewriter             = markdown.Markdown{}
	_ fmt.Stringer                  = markdown.Markdown{}
)

func document(tb testing.TB, id, text string) *spans.Document {
	tb.Helper()
	doc, err := spans.NewDocument(spans.DocumentID(id), text, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return doc
}

func texts(tb testing.TB, c markdown.Markdown, text string) []string {
	tb.Helper()
	got, err := c.Chunk(tb.Context(), text)
	if err != nil {
		tb.Fatalf("%v of %.200q: %v", c, text, err)
	}
	return got
}

func TestMarkdown(t *testing.T) {
	tests := []struct {
		name    string
		chunker markdown.Markdown
		text    string
		want    []string
	}{
		{"empty", markdown.Markdown{Size: 10}, "", nil},
		{"white space", markdown.Markdown{Size: 10}, " \n\n\t\u00a0\ufeff\n", nil},
		{"fits", markdown.Markdown{Size: 30}, "one\n\ntwo *three*\n", []string{"one\n\ntwo *three*"}},
		{"paragraphs", markdown.Markdown{Size: 9}, "one\n\ntwo\n\nthree\n", []string{"one\n\ntwo", "three"}},
		{"characters", markdown.Markdown{Size: 5}, "żółw\n\n語\n\n語\n\n😀", []string{"żółw", "語\n\n語", "😀"}},
		{"sections", markdown.Markdown{Size: 40}, "# A\n\na\n\n## B\n\nb\n# C\nc", []string{"# A\n\na", "## B\n\nb", "# C\nc"}},
		{"text before the first heading", markdown.Markdown{Size: 40}, "intro\n# A\na", []string{"intro", "# A\na"}},
		{"setext headings", markdown.Markdown{Size: 40}, "A\n===\na\n\nB\nb\n---\nc", []string{"A\n===\na", "B\nb\n---\nc"}},
		{"a heading stays with what follows", markdown.Markdown{Size: 14}, "aaaaaaaa\n\n> # H\n>\n> bbbb\n", []string{"aaaaaaaa", "> # H\n>\n> bbbb"}},
		{"what follows a heading is cut for it", markdown.Markdown{Size: 14}, "# Heading\n\none two three", []string{"# Heading\n\none", "two three"}},
		{"headings without text", markdown.Markdown{Size: 40}, "# A\n## B\nb\n## C\n# D\nd\n## E", []string{"# A\n## B\nb", "## C\n# D\nd", "## E"}},
		{"a heading longer than Size", markdown.Markdown{Size: 8}, "# one two three\n\nfour", []string{"# one", "two", "three", "four"}},
		{"overlap leaves room for the next word", markdown.Markdown{Size: 20, Overlap: 15}, "aaa bbb ccc ddd eee fffffffffffff ggg", []string{"aaa bbb ccc ddd eee", "eee fffffffffffff", "fffffffffffff ggg"}},
		{"a heading beside which no word fits", markdown.Markdown{Size: 20}, "# Fourteen chars\n\nwords follow it here", []string{"# Fourteen chars", "words follow it here"}},
		{"a heading beside which words are cut", markdown.Markdown{Size: 12}, "# A\n\n一二三四五六七八九十", []string{"# A\n\n一二三四五六七", "八九十"}},
		{"MinSize joins siblings", markdown.Markdown{Size: 40, MinSize: 10}, "# A\n\n## B\nb\n## C\nc\n## D\nddddddddddddddddddd\n## E\ne", []string{"# A\n\n## B\nb\n## C\nc", "## D\nddddddddddddddddddd\n## E\ne"}},
		{"MinSize joins under one parent only", markdown.Markdown{Size: 30, MinSize: 10}, "# A\n\naaaaaaaaaaaa\n## B\nbbbbbbbbbbbbbbb\n### C\ncccccccccc\n## D\nd", []string{"# A\n\naaaaaaaaaaaa", "## B\nbbbbbbbbbbbbbbb", "### C\ncccccccccc", "## D\nd"}},
		{"MinSize joins where both fit", markdown.Markdown{Size: 12, MinSize: 6}, "# A\na\n# B\nbbbbbb\n# C\nc", []string{"# A\na", "# B\nbbbbbb", "# C\nc"}},
		{"list items", markdown.Markdown{Size: 12}, "* one\n* two\n* three\n  - four\n  - five", []string{"* one\n* two", "* three", "  - four", "  - five"}},
		{"lazy continuation", markdown.Markdown{Size: 12}, "> one\ntwo\n\n> three", []string{"> one\ntwo", "> three"}},
		{"loose list", markdown.Markdown{Size: 14}, "1. one\n\n   more\n2. two", []string{"1. one", "   more\n2. two"}},
		{"task list", markdown.Markdown{Size: 12}, "- [x] one\n- [ ] two", []string{"- [x] one", "- [ ] two"}},
		{"block quote", markdown.Markdown{Size: 10}, "> one\n>\n> two\n>\n> three", []string{"> one\n>", "> two\n>", "> three"}},
		{"code is kept whole", markdown.Markdown{Size: 22}, "text\n\n```go\na := 1\n\n# b\n```\nmore", []string{"text", "```go\na := 1\n\n# b\n```", "more"}},
		{"code is cut between lines", markdown.Markdown{Size: 12}, "```\none\ntwo\nthree\n```\n", []string{"```\none\ntwo", "three\n```"}},
		{"indented code", markdown.Markdown{Size: 16}, "text\n\n    # one\n    two\n\n    three\n", []string{"text\n\n    # one", "    two", "    three"}},
		{"unclosed code", markdown.Markdown{Size: 20}, "~~~\n# a\n\n# b\n", []string{"~~~\n# a\n\n# b"}},
		{"table rows", markdown.Markdown{Size: 26}, "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n| 5 | 6 |\n", []string{"| a | b |\n|---|---|", "| 1 | 2 |\n| 3 | 4 |", "| 5 | 6 |"}},
		{"HTML block", markdown.Markdown{Size: 18}, "<div>\n# a\n</div>\n\n# B\nb\n", []string{"<div>\n# a\n</div>", "# B\nb"}},
		{"link reference definitions", markdown.Markdown{Size: 30}, "# A\n\n[a]: http://a.example\n[b]: http://b.example\n", []string{"# A\n\n[a]: http://a.example", "[b]: http://b.example"}},
		{"thematic break", markdown.Markdown{Size: 9}, "one\n\n---\n\ntwo\n***\n", []string{"one\n\n---", "two\n***"}},
		{"footnotes", markdown.Markdown{Size: 16}, "a[^1] b\n\n[^1]: one\n    two\n\nafter", []string{"a[^1] b", "[^1]: one", "two\n\nafter"}},
		{"definition list", markdown.Markdown{Size: 14}, "Term\n: one\n\nOther\n: two\n: three", []string{"Term\n: one", "Other\n: two", ": three"}},
		{"YAML front matter", markdown.Markdown{Size: 40}, "---\ntitle: a\n# no heading\n---\n# A\na", []string{"---\ntitle: a\n# no heading\n---", "# A\na"}},
		{"YAML front matter that ends with dots", markdown.Markdown{Size: 40}, "\ufeff---\r\ntitle: a\r\n...\r\n# A\r\na", []string{"---\r\ntitle: a\r\n...", "# A\r\na"}},
		{"TOML front matter", markdown.Markdown{Size: 40}, "+++\na = 1\n+++\n# A\na", []string{"+++\na = 1\n+++", "# A\na"}},
		{"a thematic break at the start", markdown.Markdown{Size: 40}, "---\n\na\n\n---\n# A\na", []string{"---\n\na\n\n---", "# A\na"}},
		{"unclosed front matter", markdown.Markdown{Size: 40}, "---\n# A\na", []string{"---", "# A\na"}},
		{"sentences", markdown.Markdown{Size: 20}, "One two. \"Three?\" Four five. Six", []string{"One two. \"Three?\"", "Four five. Six"}},
		{"sentences without spaces", markdown.Markdown{Size: 9}, "吾輩は猫である。名前はまだ無い。", []string{"吾輩は猫である。", "名前はまだ無い。"}},
		{"characters of a word", markdown.Markdown{Size: 3}, "żółwie", []string{"żół", "wie"}},
		{"CRLF", markdown.Markdown{Size: 14}, "# A\r\n\r\na\r\n\r\n- b\r\n- c\r\n# D\r\nd\r\n", []string{"# A\r\n\r\na", "- b\r\n- c", "# D\r\nd"}},
		{"tabs", markdown.Markdown{Size: 9}, "-\ta\n\n\tb\n-\tc\n\n\t\td\n", []string{"-\ta\n\n\tb", "-\tc\n\n\t\td"}},
		{"overlap of blocks", markdown.Markdown{Size: 9, Overlap: 5}, "aaa\n\nbb\n\nccc\n\ndd", []string{"aaa\n\nbb", "bb\n\nccc", "ccc\n\ndd"}},
		{"overlap of items", markdown.Markdown{Size: 8, Overlap: 4}, "- a\n- b\n- c", []string{"- a\n- b", "- b\n- c"}},
		{"overlap of words", markdown.Markdown{Size: 11, Overlap: 5}, "one two three four five", []string{"one two", "two three", "four five"}},
		{"no overlap across headings", markdown.Markdown{Size: 9, Overlap: 8}, "# A\na\n# B\nb", []string{"# A\na", "# B\nb"}},
		{"overlap leaves room", markdown.Markdown{Size: 9, Overlap: 8}, "aa\n\nbb\n\ncccccccc", []string{"aa\n\nbb", "cccccccc"}},
		{"huge size", markdown.Markdown{Size: 1<<63 - 1, MinSize: 1<<63 - 1, Overlap: 1<<63 - 2}, "# A\na\n# B\nb", []string{"# A\na\n# B\nb"}},
		{"invalid UTF-8", markdown.Markdown{Size: 3}, "\xff\x80 \xe6\x97 本", []string{"\xff\x80", "\xe6\x97", "本"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, texts(t, test.chunker, test.text)); diff != "" {
				t.Errorf("%v of %q (-want, +got):\n%s", test.chunker, test.text, diff)
			}
		})
	}
}

func TestMetadata(t *testing.T) {
	const text = "introduction\n\n# Setup *now* & `x > y`\n\nall\n\n## [Linux](http://linux.example) &amp; \\*BSD\\*\n\none\n\ntwo two two\n\n" +
		"### A\na\n### B\nb\n\n## ![mac](m.png) ##\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\n# \nend\n"
	type piece struct{ Text, Headings, TableHeader string }
	want := []piece{
		{"introduction", "", ""},
		{"# Setup *now* & `x > y`\n\nall", "Setup now & x > y", ""},
		{"Setup now & x > y\n\n## [Linux](http://linux.example) &amp; \\*BSD\\*\n\none", "Setup now & x > y > Linux & *BSD*", ""},
		{"Setup now & x > y > Linux & *BSD*\n\ntwo two two\n\n### A\na\n### B\nb", "Setup now & x > y > Linux & *BSD*", ""},
		{"Setup now & x > y\n\n## ![mac](m.png) ##\n\n| a | b |\n|---|---|\n| 1 | 2 |", "Setup now & x > y > mac", ""},
		{"Setup now & x > y > mac\n\n| a | b |\n|---|---|\n| 3 | 4 |", "Setup now & x > y > mac", "| a | b |\n|---|---|"},
		{"# \nend", "", ""},
	}
	c := markdown.Markdown{Size: 51, MinSize: 8, HeadingPrefix: true}
	doc := document(t, "a.md", text)
	pieces, err := c.ChunkWithPositions(t.Context(), doc)
	if err != nil {
		t.Fatal(err)
	}
	var got []piece
	for _, p := range pieces {
		got = append(got, piece{p.Text, p.Metadata[markdown.Headings], p.Metadata[markdown.TableHeader]})
		if !strings.HasSuffix(p.Text, text[p.Start:p.End]) {
			t.Errorf("bytes [%d:%d] are %q: want the end of text %q", p.Start, p.End, text[p.Start:p.End], p.Text)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pieces (-want, +got):\n%s", diff)
	}
}

func TestValidate(t *testing.T) {
	tests := []struct {
		chunker markdown.Markdown
		want    string
	}{
		{markdown.Markdown{Size: 1}, ""},
		{markdown.Markdown{Size: 9, MinSize: 9, Overlap: 8}, ""},
		{markdown.Markdown{}, "markdown chunker: Size is 0: want at least 1"},
		{markdown.Markdown{Size: 9, MinSize: 10}, "markdown chunker: MinSize is 10: want at least 0 and at most Size, which is 9"},
		{markdown.Markdown{Size: 9, MinSize: -1}, "markdown chunker: MinSize is -1: want at least 0 and at most Size, which is 9"},
		{markdown.Markdown{Size: 9, Overlap: 9}, "markdown chunker: Overlap is 9: want at least 0 and less than Size, which is 9"},
		{markdown.Markdown{Size: 9, Overlap: -1}, "markdown chunker: Overlap is -1: want at least 0 and less than Size, which is 9"},
	}
	for _, test := range tests {
		for _, err := range []error{test.chunker.Validate(), chunkError(test.chunker)} {
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

func chunkError(c markdown.Markdown) error {
	_, err := c.Chunk(context.Background(), "# A")
	return err
}

func TestString(t *testing.T) {
	tests := []struct {
		chunker markdown.Markdown
		want    string
	}{
		{markdown.Markdown{}, "markdown"},
		{markdown.Markdown{Size: 800, MinSize: 200, Overlap: 100}, "markdown/size=800/minsize=200/overlap=100"},
		{markdown.Markdown{Size: 800, HeadingPrefix: true}, "markdown/size=800/headingprefix=true"},
	}
	for _, test := range tests {
		if got := test.chunker.String(); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

// checkPieces verifies what the documentation promises of any text: pieces fit
// Size and stand in order, every character that is not white space is in one,
// and without a prefix no piece but the last is a heading alone.
func checkPieces(tb testing.TB, c markdown.Markdown, doc *spans.Document) []chunkers.Piece {
	tb.Helper()
	pieces, err := c.ChunkWithPositions(tb.Context(), doc)
	if err != nil {
		tb.Fatalf("%v of %s: %v", c, doc.ID(), err)
	}
	text := doc.Text()
	end := 0
	for i, p := range pieces {
		if i > 0 && (p.Start <= pieces[i-1].Start || p.End <= pieces[i-1].End) {
			tb.Fatalf("%v of %s: piece %d is [%d:%d] after [%d:%d]: want greater starts and ends", c, doc.ID(), i, p.Start, p.End, pieces[i-1].Start, pieces[i-1].End)
		}
		if n := utf8.RuneCountInString(text[p.Start:p.End]); n > c.Size {
			tb.Fatalf("%v of %s: piece %d has %d characters, want at most %d", c, doc.ID(), i, n, c.Size)
		}
		if p.Start > end && strings.TrimFunc(text[end:p.Start], blocks.IsSpace) != "" {
			tb.Fatalf("%v of %s: %.100q at byte %d is in no piece", c, doc.ID(), text[end:p.Start], end)
		}
		if overlap := end - p.Start; overlap > 0 && utf8.RuneCountInString(text[p.Start:end]) > c.Overlap {
			tb.Fatalf("%v of %s: piece %d shares %q, want at most %d characters", c, doc.ID(), i, text[p.Start:end], c.Overlap)
		}
		end = p.End
	}
	if strings.TrimFunc(text[end:], blocks.IsSpace) != "" {
		tb.Fatalf("%v of %s: %.100q at the end is in no piece", c, doc.ID(), text[end:])
	}
	return pieces
}

var settings = []markdown.Markdown{
	{Size: 1},
	{Size: 7, MinSize: 7, Overlap: 6},
	{Size: 60, MinSize: 30},
	{Size: 200, MinSize: 50, Overlap: 100},
	{Size: 800, MinSize: 200, Overlap: 100},
	{Size: 4000},
}

func chromaDocuments(tb testing.TB) []*spans.Document {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(realdata.Dir(tb, "data", "chroma", "corpora"), "*.md"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("listing Chroma's corpora: %d files, error %v", len(files), err)
	}
	var docs []*spans.Document
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		docs = append(docs, document(tb, filepath.Base(name), string(text)))
	}
	return docs
}

// handbook returns the documents of the example, which have real structure.
func handbook(tb testing.TB) []*spans.Document {
	tb.Helper()
	var docs []*spans.Document
	root := filepath.Join("..", "..", "examples")
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil {
			docs = append(docs, document(tb, filepath.ToSlash(path), string(text)))
		}
		return err
	})
	if err != nil || len(docs) == 0 {
		tb.Fatalf("reading the documents in %s: %d, error %v", root, len(docs), err)
	}
	return docs
}

func TestCheck(t *testing.T) {
	for _, c := range []markdown.Markdown{settings[1], settings[4]} {
		for _, prefix := range []bool{false, true} {
			c.HeadingPrefix = prefix
			t.Run(c.String(), func(t *testing.T) {
				if err := chunkers.Check(t.Context(), c, handbook(t)...); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestPiecesOfHandbook(t *testing.T) {
	for _, doc := range handbook(t) {
		for _, c := range settings {
			pieces := checkPieces(t, c, doc)
			if c.Size < 200 {
				continue
			}
			for i, p := range pieces {
				if i < len(pieces)-1 && onlyHeadings(p.Text) {
					t.Errorf("%v of %s: piece %d is %q: want a heading with what follows it", c, doc.ID(), i, p.Text)
				}
				if unsafe.StringData(p.Text) != unsafe.StringData(doc.Text()[p.Start:]) {
					t.Errorf("%v of %s: piece %d is a copy of the text", c, doc.ID(), i)
				}
			}
		}
	}
}

func onlyHeadings(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return false
		}
	}
	return true
}

func TestStopsWhenCancelled(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := (markdown.Markdown{Size: 9}).Chunk(ctx, "# A"); !errors.Is(err, cause) {
		t.Errorf("got error %v, want %v", err, cause)
	}
}

func TestCheckOnChroma(t *testing.T) {
	docs := chromaDocuments(t)
	for _, doc := range docs {
		for _, c := range settings {
			checkPieces(t, c, doc)
		}
	}
	for _, c := range settings[3:5] {
		if err := chunkers.Check(t.Context(), c, docs...); err != nil {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// countdown is a context that is done when its Err is called for the n-th time.
type countdown struct {
	context.Context
	n int
}

func (c *countdown) Err() error {
	if c.n--; c.n <= 0 {
		return context.Canceled
	}
	return nil
}

func TestStopsWhileParsing(t *testing.T) {
	text := "```\n" + strings.Repeat("x\n", 100_000)
	whole := &countdown{t.Context(), math.MaxInt}
	c := markdown.Markdown{Size: len(text)}
	if _, err := c.Chunk(whole, text); err != nil {
		t.Fatal(err)
	}
	n := (math.MaxInt - whole.n) / 2
	half := &countdown{t.Context(), n}
	if _, err := c.Chunk(half, text); !errors.Is(err, context.Canceled) || half.n < -5 || n < 100 {
		t.Errorf("got error %v after asking %d times whether to stop, want context.Canceled after about %d, at least 100", err, n-half.n, n)
	}
}

func TestLargestSize(t *testing.T) {
	const text = "# a\n\nb\n\n## c\n\nd\n\n# e\n\nf"
	for _, c := range []markdown.Markdown{{Size: math.MaxInt}, {Size: math.MaxInt, MinSize: 7}, {Size: math.MaxInt, MinSize: math.MaxInt, Overlap: math.MaxInt - 1}} {
		got, err := c.Chunk(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		c.Size, c.MinSize, c.Overlap = 1000, min(c.MinSize, 1000), min(c.Overlap, 999)
		want, err := c.Chunk(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the largest size instead of %v (-want, +got):\n%s", c, diff)
		}
	}
}
