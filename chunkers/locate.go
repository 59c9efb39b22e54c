package chunkers

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rageval/rageval/internal/align"
	"github.com/rageval/rageval/internal/excerpt"
	"github.com/rageval/rageval/spans"
)

// Locate returns the only place of a text in a document, as a span in
// characters: where it occurs exactly, or, if nowhere, where it occurs up to
// white space. There a run of Unicode white space in either matches any run in
// the other, and at the ends of the text none at all; the span then neither
// begins nor ends with white space.
//
// It is an error if the text occurs more than once, overlapping occurrences
// included (the error gives their number and the first places), if it does not
// occur (the error gives its longest prefix that does, and what follows there),
// or if it is blank or not valid UTF-8.
//
// It serves to write ground truth by hand, and to give a place to what a search
// in production returned. The chunks of one document are placed more surely
// together, by [WithPositions]. It takes time and memory proportional to the
// document and the text, and is safe for concurrent use.
func Locate(doc *spans.Document, text string) (spans.Span, error) {
	if doc == nil {
		return spans.Span{}, errors.New("locating a text: document is nil")
	}
	wrap := func(err error) error {
		return fmt.Errorf("locating %s in document %s: %w", abbreviate(text), doc.ID(), err)
	}
	if strings.TrimSpace(text) == "" {
		return spans.Span{}, wrap(errors.New("text is blank: want at least one character that is not white space"))
	}
	if !utf8.ValidString(text) {
		return spans.Span{}, wrap(errors.New("text is not valid UTF-8"))
	}
	// The common case, found by the fastest means.
	if first := strings.Index(doc.Text(), text); first >= 0 && !strings.Contains(doc.Text()[first+1:], text) {
		return doc.CharSpan(first, first+len(text))
	}
	found, err := occurrencesOf(doc, doc.Text(), text, func(start, end int) (int, int) { return start, end })
	if err != nil {
		return spans.Span{}, wrap(err)
	}
	if found.count > 0 {
		return spans.Span{}, wrap(found.ambiguous("exactly"))
	}
	folded, pattern := align.Fold(doc.Text()), align.FoldPattern(text)
	found, err = occurrencesOf(doc, folded.Text, pattern, folded.Original)
	switch {
	case err != nil:
		return spans.Span{}, wrap(err)
	case found.count == 0:
		return spans.Span{}, wrap(absent(doc, folded, pattern))
	case found.count > 1:
		return spans.Span{}, wrap(found.ambiguous("up to white space"))
	}
	return found.first[0], nil
}

// occurrences are the places of a text in a document.
type occurrences struct {
	count int
	first []spans.Span // at most maxListed
}

const maxListed = 5

func occurrencesOf(doc *spans.Document, text, pattern string, original func(start, end int) (int, int)) (occurrences, error) {
	var found occurrences
	for at := range align.Occurrences(text, pattern) {
		if found.count++; found.count <= maxListed {
			span, err := doc.CharSpan(original(at, at+len(pattern)))
			if err != nil {
				return occurrences{}, err
			}
			found.first = append(found.first, span)
		}
	}
	return found, nil
}

func (o occurrences) ambiguous(how string) error {
	var places []string
	for _, s := range o.first {
		places = append(places, fmt.Sprintf("[%d:%d]", s.Start, s.End))
	}
	if o.count > len(places) {
		places = append(places, "…")
	}
	return fmt.Errorf("it occurs %s at %d places, want one: characters %s", how, o.count, strings.Join(places, ", "))
}

// absent returns the error for a pattern that does not occur.
func absent(doc *spans.Document, folded *align.Folded, pattern string) error {
	length, at := align.LongestPrefix(folded.Text, pattern)
	for !utf8.ValidString(pattern[:length]) {
		length--
	}
	prefix := strings.TrimRight(pattern[:length], " ")
	if prefix == "" {
		return errors.New("it does not occur, nor does its first character")
	}
	span, err := doc.CharSpan(folded.Original(at, at+len(prefix)))
	if err != nil {
		return err
	}
	return fmt.Errorf("it does not occur: its first %d characters, up to white space, do at [%d:%d], but then the document has %s, not %s",
		utf8.RuneCountInString(prefix), span.Start, span.End,
		abbreviate(folded.Text[at+len(prefix):]), abbreviate(pattern[len(prefix):]))
}

// abbreviate quotes a text, or its beginning and a mark if it is long.
func abbreviate(text string) string { return excerpt.Quote(text, 40) }
