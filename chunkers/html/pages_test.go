package html_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	xhtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/rageval/rageval/chunkers/html"
)

// pages returns whole pages in the manner of kinds of real sites, by their
// paths: an encyclopedia, generated documentation, an old forum, a news site
// rendered by a framework.
func pages(tb testing.TB) map[string]string {
	tb.Helper()
	paths, err := filepath.Glob("testdata/pages/*.html")
	if err != nil || len(paths) == 0 {
		tb.Fatalf("listing pages: got %d, error %v", len(paths), err)
	}
	texts := map[string]string{}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		texts[path] = string(content)
	}
	return texts
}

// TestPages compares the plain texts of all pieces of each page with a golden
// file, which RAGTEST_UPDATE=1 rewrites.
func TestPages(t *testing.T) {
	c := html.HTML{Size: 900, MinSize: 300, PlainText: true, HeadingPrefix: true}
	for path, text := range pages(t) {
		var got strings.Builder
		for _, p := range checkPieces(t, c, document(t, path, text)) {
			fmt.Fprintf(&got, "---- [%d:%d] %q %q\n%s\n", p.Start, p.End, p.Metadata[html.Headings], p.Metadata[html.TableHeader], p.Text)
		}
		golden := strings.TrimSuffix(path, ".html") + ".golden"
		if os.Getenv("RAGTEST_UPDATE") == "1" {
			if err := os.WriteFile(golden, []byte(got.String()), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s (-want, +got):\n%s", path, diff)
		}
	}
}

// TestPagesKeepTheirText compares the plain texts of all pieces with the text of
// the tree that a parser builds.
func TestPagesKeepTheirText(t *testing.T) {
	texts := pages(t)
	texts["all"] = strings.Repeat(strings.Join(slices.Sorted(maps.Values(texts)), "\n"), 20)
	if n := len(texts["all"]); n < 300_000 {
		t.Fatalf("the large page has %d bytes, want 300 kB", n)
	}
	for path, text := range texts {
		doc := document(t, path, text)
		for _, c := range settings {
			c.Overlap, c.PlainText = 0, true
			if len(text) > 100_000 && c.Size < 60 {
				continue
			}
			var got strings.Builder
			for _, p := range checkPieces(t, c, doc) {
				got.WriteString(withoutSpace(p.Text))
			}
			want := textOf(t, text)
			if c.Size < 60 { // tags and entities longer than Size are cut, and are text then
				if got.Len() < len(want) {
					t.Errorf("%v of %s: got %d bytes of text, want at least %d", c, path, got.Len(), len(want))
				}
				continue
			}
			if diff := cmp.Diff(want, got.String()); diff != "" {
				t.Errorf("%v of %s: text (-want, +got):\n%s", c, path, diff)
			}
		}
	}
}

func withoutSpace(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// textOf returns the text of a page and of its images, without white space.
func textOf(tb testing.TB, page string) string {
	tb.Helper()
	root, err := xhtml.Parse(strings.NewReader(page))
	if err != nil {
		tb.Fatal(err)
	}
	var b strings.Builder
	var walk func(n *xhtml.Node)
	walk = func(n *xhtml.Node) {
		switch n.DataAtom {
		case atom.Script, atom.Style, atom.Noscript, atom.Iframe:
			return
		case atom.Title:
			if n.Namespace != "svg" {
				return
			}
		case atom.Img:
			for _, a := range n.Attr {
				if a.Key == "alt" {
					b.WriteString(withoutSpace(a.Val))
				}
			}
		}
		if n.Type == xhtml.TextNode {
			b.WriteString(withoutSpace(n.Data))
		}
		for child := n.FirstChild; child != nil; child = child.NextSibling {
			walk(child)
		}
	}
	walk(root)
	return b.String()
}

func TestTitlesOfDrawings(t *testing.T) {
	const text = "<p>Press <svg width=16><style>a{}</style><title>the &amp; arrow</title><path d='M0'/></svg> twice.<p><svg/><title>left out</title>End."
	got, err := html.HTML{Size: 200, PlainText: true}.Chunk(context.Background(), text)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Press", "the & arrow twice.", "End."}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pieces (-want, +got):\n%s", diff)
	}
}

// TestTagSoup cuts random sequences of tags, comments and words.
func TestTagSoup(t *testing.T) {
	tags := strings.Fields("a article b blockquote body br caption code dd div dl dt figure form h1 h2 h3 hr li main ol option p pre section select span svg table tbody td th thead tr ul")
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var b strings.Builder
		words := 0
		for range r.IntN(60) {
			tag := tags[r.IntN(len(tags))]
			switch r.IntN(8) {
			case 0, 1:
				fmt.Fprintf(&b, "<%s>", tag)
			case 2, 3:
				fmt.Fprintf(&b, "</%s>", tag)
			case 4:
				b.WriteString("<script>s</script><!-- c -->&amp;")
			default:
				words++
				fmt.Fprintf(&b, "w%dw%s", words, []string{"", " ", "\n", ". "}[r.IntN(4)])
			}
		}
		doc := document(t, "soup", b.String())
		for _, c := range []html.HTML{{Size: 20 + r.IntN(30), MinSize: r.IntN(20), Overlap: r.IntN(20)}, {Size: 100, MinSize: r.IntN(100), Overlap: r.IntN(100)}} {
			var all strings.Builder
			for _, p := range checkPieces(t, c, doc) {
				all.WriteString(p.Text + "\n")
				if strings.Count(p.Text, "<") != strings.Count(p.Text, ">") {
					t.Fatalf("%v of %q: piece %q cuts a tag", c, doc.Text(), p.Text)
				}
			}
			for n := 1; n <= words; n++ {
				if word := fmt.Sprintf("w%dw", n); !strings.Contains(all.String(), word) {
					t.Fatalf("%v of %q: %s is in no piece", c, doc.Text(), word)
				}
			}
			if strings.Contains(all.String(), "<script>") {
				t.Fatalf("%v of %q: a script is in a piece", c, doc.Text())
			}
		}
	}
}
