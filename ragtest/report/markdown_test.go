package report

import (
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"golang.org/x/net/html"

	"github.com/rageval/rageval/ragtest"
)

// rendered returns the elements and the text of the summary as HTML.
func rendered(t *testing.T, markdown string) (elements []string, text string) {
	t.Helper()
	var b strings.Builder
	if err := goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert([]byte(markdown), &b); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		switch n.Type {
		case html.ElementNode:
			elements = append(elements, n.Data)
		case html.TextNode:
			text += n.Data
		}
	}
	return elements, text
}

func TestNoContentBecomesMarkdown(t *testing.T) {
	for name, p := range pages(t) {
		harmless, err := p.Markdown()
		if err != nil {
			t.Fatal(err)
		}
		hostile, err := poisoned(p).Markdown()
		if err != nil {
			t.Fatal(err)
		}
		want, _ := rendered(t, harmless)
		got, text := rendered(t, hostile)
		same(t, name+": the elements", got, want)
		if !strings.Contains(text, "window.pwned=1") {
			t.Errorf("%s: the content is not shown", name)
		}
	}
}

func TestEscape(t *testing.T) {
	for _, s := range []string{"# no heading", "*a* _b_ `c` ~~d~~", "a|b", "[x](http://e.example)", "![x](y)", "<b>&amp;", `\*`, "$x$", "plain: 1,5 (ß) 🌬️ - + 1."} {
		_, text := rendered(t, "| a |\n| --- |\n| x"+escape(s)+" |\n")
		if got := strings.TrimSpace(text); !strings.HasSuffix(got, "x"+s) {
			t.Errorf("%q: got %q", s, got)
		}
	}
	if got, want := escape(" two\n\tlines "), "two lines"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMarkdownSaysWhatMatters(t *testing.T) {
	p := pages(t)
	for name, wants := range map[string][]string{
		"one":  {"### fixed/size=40\n", "❌ Failed: span\\_mrr \\>= 0.9, got 0.6000", "⚠️ Warning: the first warning", "| span\\_recall | 0.8018 |", "queries that score lowest by span_recall", "lost by"},
		"two":  {"**Change of the means**", "| metric | A | B | B − A |"},
		"four": {"### 4 runs by span\\_recall", "❌ Failed: 4 of 4 runs fail a threshold", "| 1 | ", "best, failed"},
	} {
		text, err := p[name].Markdown()
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the summary does not hold %q:\n%s", name, want, text)
			}
		}
		if !strings.HasSuffix(text, "\n\n") {
			t.Errorf("%s: the summary does not end in an empty line", name)
		}
	}
}

func TestMarkdownOfManyRunsListsTheBest(t *testing.T) {
	r := evaluate(t, 40, 0)
	var many []*ragtest.Result
	for range 23 {
		many = append(many, r)
	}
	text, err := Page{Results: many}.Markdown()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "3 more runs are not listed.") || strings.Contains(text, "| 21 |") || !strings.Contains(text, "| 20 |") {
		t.Errorf("got %s, want the best 20 of 23 runs", text)
	}
}
