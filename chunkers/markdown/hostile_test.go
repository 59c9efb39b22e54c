package markdown_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rageval/rageval/chunkers/markdown"
)

// TestHostileStructure cuts half a megabyte of what makes parsers slow: nesting,
// link reference definitions, wide tables, headings of brackets, long lines.
func TestHostileStructure(t *testing.T) {
	const size = 1 << 19
	repeat := func(s string) string { return strings.Repeat(s, size/len(s)) }
	columns := strings.Repeat("|a", 2000)
	nested := func(item string, depth int) string {
		var b strings.Builder
		for n := 0; b.Len() < size; n++ {
			b.WriteString(strings.Repeat("  ", n%depth) + item)
		}
		return b.String()
	}
	tests := []struct{ name, text string }{
		{"quotes in quotes", repeat("> ") + "a"},
		{"quotes in quotes without spaces", repeat(">")},
		{"lists in lists on one line", repeat("- ") + "a"},
		{"quotes and lists on one line", repeat("> - ") + "a"},
		{"lists in lists", nested("- a\n", 500)},
		{"lists in lists, numbered", nested("1. a\n", 30)},
		{"definition lists", repeat("a\n: b\n\n")},
		{"footnotes", repeat("[^a]: b\n")},
		{"link reference definitions", repeat("[a]: b\n")},
		{"unclosed labels", repeat("[a\n")},
		{"a heading of brackets", "# " + repeat("[")},
		{"headings of brackets", repeat("# " + strings.Repeat("[", 490) + "\n")},
		{"headings of emphasis", repeat("# " + strings.Repeat("*a_ ", 120) + "\n")},
		{"headings", repeat("# a\n## b\n### c\n")},
		{"headings under a long one", "# " + strings.Repeat("long ", 2000) + "\n" + repeat("## a\n\nb\n")},
		{"a setext heading of many lines", repeat("a\n") + "---\n"},
		{"wide table", columns + "|\n" + strings.Repeat("|-", 2000) + "|\n" + repeat("|b\n")},
		{"delimiter rows", repeat("|-|\n")},
		{"thematic breaks", repeat("* * *\n")},
		{"fences", repeat("```\n")},
		{"HTML blocks", repeat("<!--\n")},
		{"HTML tags", repeat("<div>\n")},
		{"empty lines", "a" + repeat("\n") + "b"},
		{"white space", repeat("                a\u3000")},
		{"tabs", repeat("-\t\t>\t")},
		{"punctuation", repeat("a.) ")},
		{"one line", repeat("word ")},
		{"one word", repeat("é")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			doc := document(t, "hostile", test.text)
			for _, c := range []markdown.Markdown{{Size: 300, MinSize: 100, Overlap: 150}, {Size: size / 2, MinSize: size / 2, Overlap: size / 3}} {
				start := time.Now()
				pieces := checkPieces(t, c, doc)
				t.Logf("%v: %d pieces in %v", c, len(pieces), time.Since(start))
			}
		})
	}
}
