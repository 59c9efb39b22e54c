package ragtest

import (
	"fmt"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/excerpt"
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

// abbreviate returns s on one line of at most n characters.
func abbreviate(s string, n int) string { return excerpt.Line(s, n) }
