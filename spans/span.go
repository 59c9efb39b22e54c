// Package spans holds documents, character spans of documents, and the algebra
// of span sets: union, intersection, difference, and the recall, precision and
// intersection over union that retrieval is judged by.
//
// The unit everywhere in this package is the character, by which is meant the
// Unicode code point: the unit of SQuAD, of Chroma's chunking evaluation and of
// every Python tool, so that ground truth can be exchanged with them. Go's own
// unit, the byte, appears only in the methods of [Document] that convert; for
// ASCII text the two are equal and the conversion costs nothing.
//
// All values of this package are immutable and safe for concurrent use.
package spans

import "fmt"

// DocumentID names a document: its slash-separated path relative to the root
// of the corpus.
type DocumentID string

// Span is the characters [Start, End) of a document, counted from 0 in Unicode
// code points. The zero value is an empty span of no document.
type Span struct {
	Doc   DocumentID `json:"doc"`
	Start int        `json:"start"`
	End   int        `json:"end"`
}

// New returns the span [start, end) of the document doc, in characters.
// It is an error unless 0 <= start <= end. Whether the span lies within the
// document is known only to the document: see [Document.Slice].
func New(doc DocumentID, start, end int) (Span, error) {
	s := Span{Doc: doc, Start: start, End: end}
	if start < 0 || end < start {
		return Span{}, fmt.Errorf("span %v: want 0 <= start <= end", s)
	}
	return s, nil
}

// Len returns the number of characters in s: 0 where End <= Start.
func (s Span) Len() int { return max(0, s.End-s.Start) }

// Overlaps reports whether s and t share at least one character.
func (s Span) Overlaps(t Span) bool { return s.OverlapLen(t) > 0 }

// OverlapLen returns the number of characters that s and t share.
// Spans of different documents share none.
func (s Span) OverlapLen(t Span) int {
	if s.Doc != t.Doc {
		return 0
	}
	return max(0, min(s.End, t.End)-max(s.Start, t.Start))
}

// String returns s in the form doc[start:end].
func (s Span) String() string { return fmt.Sprintf("%s[%d:%d]", s.Doc, s.Start, s.End) }
