package ragtest

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

// nameOf returns what a component calls itself, or its type; "" for nil.
func nameOf(component any) string {
	switch c := component.(type) {
	case nil:
		return ""
	case fmt.Stringer:
		return c.String()
	}
	return fmt.Sprintf("%T", component)
}

// describeChunk names chunk i by its document and its number within it.
func describeChunk[C chunkers.Indexed](chunks []C, i int) string {
	doc := docOf(chunks[i])
	n := 0
	for n < i && docOf(chunks[i-n-1]) == doc {
		n++
	}
	return fmt.Sprintf("chunk %d of %s", n, doc)
}

func docOf[C chunkers.Indexed](c C) spans.DocumentID {
	switch c := any(c).(type) {
	case chunkers.PositionAwareChunk:
		return c.Span.Doc
	case chunkers.Chunk:
		return c.Doc
	}
	panic("unreachable: Indexed has two members")
}

// abbreviate returns the first n characters of s on one line, each run of white
// space as one space and none at the ends.
func abbreviate(s string, n int) string {
	short := make([]rune, 0, n+1)
	for _, r := range s {
		space := unicode.IsSpace(r)
		if space && (len(short) == 0 || short[len(short)-1] == ' ') {
			continue
		}
		if len(short) == n {
			if space {
				continue
			}
			return string(short[:n-1]) + "…"
		}
		if space {
			r = ' '
		}
		short = append(short, r)
	}
	return strings.TrimSuffix(string(short), " ")
}
