package report

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/rageval/rageval/spans"
)

// library collects the documents that a page shows.
type library struct {
	corpus *spans.Corpus
	docs   []*document
	at     map[documentKey]int
	texts  []string // that are not in a document, such as those of chunks that rewrite it
	textAt map[string]int
}

// documentKey names a document: those of two corpora may differ in text.
type documentKey struct {
	corpus string // fingerprint
	id     spans.DocumentID
}

// document is a document of which parts are shown.
type document struct {
	id     spans.DocumentID
	source *spans.Document // nil: known by its pieces only
	wanted []spans.Span
	pieces []segment
}

// segment is part of a document.
type segment struct {
	Start int    `json:"s"` // in characters
	Text  string `json:"t"`
	End   int    `json:"e"` // set in what is kept
}

func newLibrary(corpus *spans.Corpus) *library {
	return &library{corpus: corpus, at: map[documentKey]int{}, textAt: map[string]int{}}
}

// document returns the index of a document of the corpus with the given
// fingerprint.
func (l *library) document(fingerprint string, id spans.DocumentID) int {
	key := documentKey{fingerprint, id}
	i, ok := l.at[key]
	if !ok {
		d := &document{id: id}
		if l.corpus != nil && (fingerprint == "" || fingerprint == l.corpus.Fingerprint()) {
			d.source, _ = l.corpus.Document(id)
		}
		i = len(l.docs)
		l.at[key] = i
		l.docs = append(l.docs, d)
	}
	return i
}

// want asks for a span of a document to be shown. It reports whether text is
// what the document has there.
func (l *library) want(doc int, s spans.Span, text string) (same bool, err error) {
	d := l.docs[doc]
	if d.source == nil {
		if s.Start < 0 || utf8.RuneCountInString(text) != s.Len() {
			return false, nil
		}
		d.pieces = append(d.pieces, segment{Start: s.Start, Text: text})
		return true, nil
	}
	original, err := d.source.Slice(s)
	if err != nil {
		return false, fmt.Errorf("%w; is it the corpus of this run?", err)
	}
	d.wanted = append(d.wanted, s)
	return original == text, nil
}

// text returns the index of a text of its own.
func (l *library) text(text string) int {
	i, ok := l.textAt[text]
	if !ok {
		i = len(l.texts)
		l.textAt[text] = i
		l.texts = append(l.texts, text)
	}
	return i
}

// contexts are how many characters around what was retrieved or relevant are
// kept, the best choice first; a negative number keeps the whole document.
var contexts = []int{-1, 400, 100, 0}

// segments returns the parts of each document that are kept, in at most budget
// bytes of JSON, and how many characters that were asked for are not. Whole
// documents are kept where that is little enough, else their parts with less and
// less context, and at last only what comes first.
func (l *library) segments(budget int) (kept [][]segment, texts []string, left int) {
	size := 0
	for _, t := range l.texts {
		size += jsonLen(t)
	}
	for _, context := range contexts {
		kept, size := l.keep(context), size
		for _, segments := range kept {
			for _, s := range segments {
				size += jsonLen(s.Text)
			}
		}
		if size <= budget {
			return kept, l.texts, 0
		}
	}
	kept = l.keep(0)
	for i, segments := range kept {
		kept[i] = slices.DeleteFunc(segments, func(s segment) bool {
			budget -= jsonLen(s.Text)
			if budget < 0 {
				left += utf8.RuneCountInString(s.Text)
			}
			return budget < 0
		})
	}
	texts = slices.Clone(l.texts)
	for i, t := range texts {
		if budget -= jsonLen(t); budget < 0 {
			left += utf8.RuneCountInString(t)
			texts[i] = ""
		}
	}
	return kept, texts, left
}

func (l *library) keep(context int) [][]segment {
	kept := make([][]segment, len(l.docs))
	for i, d := range l.docs {
		kept[i] = d.keep(context)
		for j, s := range kept[i] {
			kept[i][j].End = s.Start + utf8.RuneCountInString(s.Text)
		}
	}
	return kept
}

func (d *document) keep(context int) []segment {
	if d.source == nil {
		return merge(d.pieces)
	}
	if context < 0 && len(d.wanted) > 0 {
		return []segment{{Text: d.source.Text()}}
	}
	wide := make([]spans.Span, len(d.wanted))
	for i, s := range d.wanted {
		wide[i] = spans.Span{Doc: s.Doc, Start: max(0, s.Start-context), End: min(d.source.Len(), s.End+context)}
	}
	var segments []segment
	for s := range spans.Union(wide...).All() {
		text, err := d.source.Slice(s)
		if err != nil { // want saw to it that there is none
			continue
		}
		segments = append(segments, segment{Start: s.Start, Text: text})
	}
	return segments
}

// merge joins pieces of a document that overlap or touch.
func merge(pieces []segment) []segment {
	pieces = slices.Clone(pieces)
	slices.SortStableFunc(pieces, func(a, b segment) int { return cmp.Compare(a.Start, b.Start) })
	var merged []segment
	end := -1
	for _, p := range pieces {
		n := utf8.RuneCountInString(p.Text)
		switch {
		case p.Start > end:
			merged = append(merged, p)
			end = p.Start + n
		case p.Start+n > end:
			last := &merged[len(merged)-1]
			last.Text += string([]rune(p.Text)[end-p.Start:])
			end = p.Start + n
		}
	}
	return merged
}

// jsonLen returns the length of s as [encode] writes it.
func jsonLen(s string) int {
	n := len(s) + 2
	for _, b := range []byte(s) {
		switch {
		case b == '"' || b == '\\' || b == '\n' || b == '\r' || b == '\t':
			n++
		case b < ' ' || b == '<':
			n += 5
		}
	}
	return n
}
