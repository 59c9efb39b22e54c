// Package blocks cuts a text along a block structure that somebody else parsed:
// the engine of the chunkers for Markdown and HTML.
//
// The blocks tile the text. A block begins at its Start and ends where the next
// one begins that is not within it, so that every byte from the first Start on
// is in some block, whatever a parser made of it. To cut them:
//
//  1. Headings outside other blocks open sections. A group is what belongs to
//     one section before the next heading, and begins with its heading;
//     headings with nothing between them begin one group together.
//  2. A group begins a new chunk, unless it or the chunk before it is shorter
//     than MinSize, both are under the same parent heading, and together they
//     fit Size.
//  3. Blocks join the chunk while it fits Size. One that does not begins the
//     next chunk. One that is longer than Size is replaced by its inner blocks;
//     without such, by its lines or sentences; and those by runs of whole words,
//     a word longer than Size by runs of characters.
//  4. A heading at the end of a chunk moves to the next one. If that leaves no
//     room for what follows it, what follows is cut as if longer than Size; but
//     not within a solid, nor, where the headings fill half of Size, within its
//     first word, if that alone would fit: the headings are a chunk then.
//  5. A chunk that was ended by Size, not by a heading, shares its last blocks
//     (or inner blocks, lines, sentences) with the next chunk: as many whole ones
//     as measure at most Overlap and leave room for what comes next. If even the
//     last is longer than Overlap, nothing is shared. Runs of words share as many
//     whole words, and leave room for the next one.
//
// White space at the ends of a chunk is left out, but for the indentation of
// its first line, and so is a chunk of nothing else.
package blocks

import (
	"fmt"
	"strings"
	"unicode"
)

// Kind says how a block without inner blocks is cut.
type Kind uint8

const (
	Prose Kind = iota // between sentences
	Lines             // between lines
	Drop              // not at all: it is left out, and no chunk spans it
)

// Structure is what a parser found in a text.
type Structure struct {
	Blocks []Block  // a forest in pre-order
	Titles []string // of headings: their texts without markup
	Solids []Solid  // in order and disjoint
}

// Block is a block of a text. It holds no pointer, for there are many of them.
type Block struct {
	Start  int   // byte where it begins; that of its first inner block if less is not known
	Inner  int   // number of blocks within it: those that follow it in the slice
	Header int   // byte where the header rows of a table end; 0 for other blocks
	Title  int32 // of a heading: its index in the titles
	Kind   Kind
	Level  uint8 // 1 to 6 for a heading, otherwise 0
	Broken bool  // there is a Drop within it
}

// Solid is a part of the text that is cut only if it is longer than Size, such
// as a tag.
type Solid struct{ Start, End int }

// Options are those that the chunkers have in common, in characters.
type Options struct{ Size, MinSize, Overlap int }

// Validate returns an error that begins with the name of the chunker unless
// Size is at least 1, MinSize at most Size and Overlap less than Size.
func (o Options) Validate(chunker string) error {
	if o.Size <= 0 {
		return fmt.Errorf("%s: Size is %d: want at least 1", chunker, o.Size)
	}
	if o.MinSize < 0 || o.MinSize > o.Size {
		return fmt.Errorf("%s: MinSize is %d: want at least 0 and at most Size, which is %d", chunker, o.MinSize, o.Size)
	}
	if o.Overlap < 0 || o.Overlap >= o.Size {
		return fmt.Errorf("%s: Overlap is %d: want at least 0 and less than Size, which is %d", chunker, o.Overlap, o.Size)
	}
	return nil
}

// Name returns the part of a chunker's name that prints o: every field that is
// not zero.
func (o Options) Name() string {
	var name strings.Builder
	for _, field := range []struct {
		name  string
		value int
	}{{"size", o.Size}, {"minsize", o.MinSize}, {"overlap", o.Overlap}} {
		if field.value != 0 {
			fmt.Fprintf(&name, "/%s=%d", field.name, field.value)
		}
	}
	return name.String()
}

// Chunk is a part of the text, in bytes, with what is known of its place.
type Chunk struct {
	Start, End int
	Headings   string // titles of the headings that all of it is under, or that it consists of
	Above      string // titles of the headings that its start is under and that are before it

	// The bytes of the header rows of the table in which it begins, if it begins
	// after them and they fit Size: otherwise 0.
	HeaderStart, HeaderEnd int
}

// Keys of the metadata of a piece.
const (
	HeadingsKey    = "headings"
	TableHeaderKey = "table_header"
)

// Metadata returns the metadata of the chunk's piece, nil if there is none.
func (c Chunk) Metadata(tableHeader string) map[string]string {
	if c.Headings == "" && tableHeader == "" {
		return nil
	}
	m := make(map[string]string, 2)
	if c.Headings != "" {
		m[HeadingsKey] = c.Headings
	}
	if tableHeader != "" {
		m[TableHeaderKey] = tableHeader
	}
	return m
}

// Prefixed returns text after what its chunk is under.
func (c Chunk) Prefixed(tableHeader, text string) string {
	var b strings.Builder
	if c.Above != "" {
		b.WriteString(c.Above)
		b.WriteString("\n\n")
	}
	if tableHeader != "" {
		b.WriteString(tableHeader)
		b.WriteByte('\n')
	}
	b.WriteString(text)
	return b.String()
}

const (
	separator = " > " // joins the titles of headings, outermost first
	maxTitle  = 200   // characters; each chunk repeats the titles it is under
)

// section is what one heading heads. The first stands for the whole text.
type section struct {
	parent int
	level  uint8
	path   string
}

// IsSpace reports whether r is white space: Unicode's White_Space or the byte
// order mark.
func IsSpace(r rune) bool { return r == '\ufeff' || unicode.IsSpace(r) }
