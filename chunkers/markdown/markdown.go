// Package markdown cuts Markdown along its structure.
package markdown

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/blocks"
	"github.com/rageval/rageval/spans"
)

// Keys of the metadata of pieces.
const (
	// Headings is the key of the titles of the headings that all of a piece is
	// under, outermost first, joined by " > ": "Setup > Linux". A title is the
	// heading's text without markup, cut after 200 characters. Pieces under no
	// heading lack the key.
	Headings = blocks.HeadingsKey

	// TableHeader is the key of the header row and the delimiter row of the
	// table within which a piece begins, if they fit Size. Other pieces lack the
	// key.
	TableHeader = blocks.TableHeaderKey
)

// Markdown cuts Markdown along its structure, as goldmark parses it: CommonMark
// with GitHub's tables and task lists, footnotes, definition lists, and front
// matter in YAML (between --- and --- or ...) or TOML (between +++ and +++) at
// the very start.
//
// Headings, paragraphs, lists, tables, code, block quotes, thematic breaks,
// HTML blocks, footnotes, link reference definitions and front matter are kept
// whole where they fit Size. To cut a text:
//
//  1. Headings that are not within another block open sections. A section's
//     own text, from its heading to the next, begins a new chunk, unless it or
//     the chunk before it is shorter than MinSize, together they fit Size, and
//     all of both is under the heading above the first of them.
//  2. Blocks join the chunk while it fits Size. A block that does not fit
//     begins the next chunk if it fits there.
//  3. A block longer than Size is cut into what it consists of: a list into its
//     items, these and block quotes into their blocks, code, HTML, front matter
//     and tables into lines (the header rows of a table with its first row), paragraphs and headings into sentences. What is
//     longer than Size even so is cut between words, and words between
//     characters (code points).
//  4. A heading stays with what follows it. If both do not fit Size, what
//     follows is cut, as if longer than Size. A piece of headings alone comes
//     only where nothing follows, where they fill Size, or where they fill half
//     of it and the next word fits Size but not beside them.
//  5. A piece that Size ended, not a heading, shares its end with the next one:
//     as many whole blocks, items, lines or sentences as measure at most
//     Overlap together and leave room for what comes next; within a longer
//     sentence or line, as many whole words as leave room for the next one. If
//     the last one is longer than Overlap, nothing is shared. Sections share
//     nothing.
//
// A sentence ends with '.', '!', '?' or '…', closing marks and white space, with
// '。', '！' or '？' and closing marks, or before an empty line; abbreviations are
// not known. White space at the ends of a piece is left out, but for the
// indentation of its first line; white space is Unicode's White_Space and the
// byte order mark. Everything else in the text is in some piece.
//
// Positions are in the source, marks included, and known from the parser.
// Pieces share the text's memory unless HeadingPrefix is set. Time is linear in
// the text. Blocks nested deeper than 64 levels are taken as text; so are link
// reference definitions after the 500th line of a paragraph. Lines end with a
// line feed, also after a carriage return; one alone is white space. Text that
// is not valid UTF-8 is cut too: a byte that is not is a character.
type Markdown struct {
	Size    int // most characters of a chunk; at least 1
	MinSize int // sections shorter than that many characters join a neighbour; at most Size
	Overlap int // most characters that a chunk shares with the one before; less than Size

	// HeadingPrefix writes what a piece is under at the beginning of its text:
	// the titles of the headings before it as in Headings, and the header rows
	// of the table in which it begins, each followed by an empty line or a line
	// end. A heading within the piece is not repeated. Positions stay those of
	// the source, and Size does not count the prefix.
	HeadingPrefix bool
}

// Validate returns an error unless Size is at least 1, 0 <= MinSize <= Size and
// 0 <= Overlap < Size.
func (c Markdown) Validate() error { return c.options().Validate("markdown chunker") }

func (c Markdown) options() blocks.Options {
	return blocks.Options{Size: c.Size, MinSize: c.MinSize, Overlap: c.Overlap}
}

// String returns a name such as markdown/size=800/minsize=200/overlap=100, with
// every field that differs from its zero value.
func (c Markdown) String() string {
	name := "markdown" + c.options().Name()
	if c.HeadingPrefix {
		name += "/headingprefix=true"
	}
	return name
}

// RewritesText reports whether texts differ from their place: HeadingPrefix.
func (c Markdown) RewritesText() bool { return c.HeadingPrefix }

// Chunk returns the texts of the pieces. Errors are those of
// [Markdown.Validate] and the cause of ctx being done.
func (c Markdown) Chunk(ctx context.Context, text string) ([]string, error) {
	chunks, err := c.cut(ctx, text)
	if len(chunks) == 0 {
		return nil, err
	}
	texts := make([]string, len(chunks))
	for i, chunk := range chunks {
		texts[i] = c.indexed(text, chunk)
	}
	return texts, nil
}

// ChunkWithPositions returns the pieces, with the metadata [Headings] and
// [TableHeader]. Errors are as for [Markdown.Chunk].
func (c Markdown) ChunkWithPositions(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
	chunks, err := c.cut(ctx, doc.Text())
	if len(chunks) == 0 {
		return nil, err
	}
	pieces := make([]chunkers.Piece, len(chunks))
	for i, chunk := range chunks {
		pieces[i] = chunkers.Piece{
			Text:     c.indexed(doc.Text(), chunk),
			Start:    chunk.Start,
			End:      chunk.End,
			Metadata: chunk.Metadata(doc.Text()[chunk.HeaderStart:chunk.HeaderEnd]),
		}
	}
	return pieces, nil
}

// indexed returns the text of a chunk as it is indexed.
func (c Markdown) indexed(text string, chunk blocks.Chunk) string {
	part := text[chunk.Start:chunk.End]
	if !c.HeadingPrefix {
		return part
	}
	return chunk.Prefixed(text[chunk.HeaderStart:chunk.HeaderEnd], part)
}

func (c Markdown) cut(ctx context.Context, text string) ([]blocks.Chunk, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	structure, err := parse(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("markdown chunker: %w", err)
	}
	return blocks.Cut(ctx, text, structure, c.options())
}

// frontMatterEnd returns where the front matter of text ends, start if it does
// not begin with any. Start is where the text begins after a byte order mark. As
// in Pandoc, an empty line after the first makes it a thematic break.
func frontMatterEnd(text string, start int) int {
	var closers []string
	switch line, _ := cutLine(text[start:]); line {
	case "---":
		closers = []string{"---", "..."}
	case "+++":
		closers = []string{"+++"}
	default:
		return start
	}
	_, at := cutLine(text[start:])
	for first := true; start+at < len(text); first = false {
		line, n := cutLine(text[start+at:])
		at += n
		if first && line == "" {
			return start
		}
		for _, closer := range closers {
			if line == closer {
				return start + at
			}
		}
	}
	return start
}

// cutLine returns the first line of text without the white space at its end,
// and its length with it.
func cutLine(text string) (line string, length int) {
	length = strings.IndexByte(text, '\n') + 1
	if length == 0 {
		length = len(text)
	}
	return strings.TrimRight(text[:length], " \t\r\n"), length
}

// byteOrderMark returns the length of the mark at the start of text.
func byteOrderMark(text string) int {
	if strings.HasPrefix(text, "\ufeff") {
		return utf8.RuneLen('\ufeff')
	}
	return 0
}
