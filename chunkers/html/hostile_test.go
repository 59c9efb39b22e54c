package html_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rageval/rageval/chunkers/html"
)

// TestHostileStructure cuts half a megabyte of what makes parsers slow: nesting,
// wrong nesting, large tags and comments, many of everything.
func TestHostileStructure(t *testing.T) {
	const size = 1 << 19
	repeat := func(s string) string { return strings.Repeat(s, size/len(s)) }
	tests := []struct{ name, text string }{
		{"lists in lists", repeat("<ul><li>a")},
		{"tables in tables", repeat("<table><tr><td>a")},
		{"quotes", repeat("<blockquote>") + "a"},
		{"end tags", "a" + repeat("</ul></td>")},
		{"wrong nesting", repeat("<ul><table></ul><li>a</table>")},
		{"headings", repeat("<h1>a<h2>b")},
		{"headings under a long one", "<h1>" + strings.Repeat("long ", 2000) + repeat("<h2>a</h2>b")},
		{"templates in templates", "a" + repeat("<template>")},
		{"scripts", repeat("a<script>b</script>")},
		{"scripts deep in lists", strings.Repeat("<ul><li>", 100) + repeat("<script>b</script>a")},
		{"attributes", "<p " + repeat("a=b ") + ">c"},
		{"unfinished tag", "<p " + repeat("<a ")},
		{"large comment", "a<!-- " + repeat("b ") + "-->c"},
		{"comments", "a" + repeat("<!---->")},
		{"tags without text", repeat("<b></b>")},
		{"entities", repeat("&amp;")},
		{"ampersands", repeat("&")},
		{"angle brackets", repeat("<")},
		{"rows", "<table>" + repeat("<tr><th>a")},
		{"preformatted", "<pre>" + repeat("a\n")},
		{"white space", "a" + repeat("\u3000") + "b"},
		{"one word", repeat("é")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			doc := document(t, "hostile", test.text)
			for _, c := range []html.HTML{
				{Size: 300, MinSize: 100, Overlap: 150, PlainText: true},
				{Size: size / 2, MinSize: size / 2, Overlap: size / 3},
			} {
				start := time.Now()
				pieces := checkPieces(t, c, doc)
				t.Logf("%v: %d pieces in %v", c, len(pieces), time.Since(start))
			}
		})
	}
}
