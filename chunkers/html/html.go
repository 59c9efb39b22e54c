// Package html cuts HTML along its structure.
package html

import (
	"context"

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

	// TableHeader is the key of the text of the header rows of the table within
	// which a piece begins, if they fit Size: those in its thead, or its first
	// rows that have th cells only. Other pieces lack the key.
	TableHeader = blocks.TableHeaderKey
)

// HTML cuts HTML along its structure. Pieces point into the source: they begin
// and end at tags or in text, never within a tag, a comment or an entity unless
// one alone is longer than Size.
//
// Headings (h1 to h6), paragraphs and other runs of text between block elements,
// lists, tables, block quotes, figures and preformatted text are kept whole
// where they fit Size. A block begins with the start tags before it and ends
// with the end tags after it. To cut a text:
//
//  1. Headings that are not within a list, table, block quote or figure open
//     sections, however sections and divs are nested. A section's own text, from
//     its heading to the next, begins a new chunk, unless it or the chunk before
//     it is shorter than MinSize, together they fit Size, and all of both is
//     under the heading above the first of them.
//  2. Blocks join the chunk while it fits Size. A block that does not fit
//     begins the next chunk if it fits there.
//  3. A block longer than Size is cut into what it consists of: a list into its
//     items, a table into its rows (the header rows with the first), these into
//     their cells, all of them and block quotes into their blocks, preformatted
//     text into lines, other text into sentences. What is longer than Size even
//     so is cut between words, and words between characters (code points).
//  4. A heading stays with what follows it. If both do not fit Size, what
//     follows is cut, as if longer than Size. A piece of headings alone comes
//     only where nothing follows, where they fill Size, where the next tag or,
//     if they fill half of Size, the next word fits it but not beside them, or
//     before an element that is left out.
//  5. A piece that Size ended, not a heading, shares its end with the next one:
//     as many whole blocks, items, rows, lines or sentences as measure at most
//     Overlap together and leave room for what comes next; within a longer
//     sentence or line, as many whole words as leave room for the next one. If
//     the last one is longer than Overlap, nothing is shared. Sections share
//     nothing.
//
// A sentence ends with '.', '!', '?' or '…', closing marks and white space, with
// '。', '！' or '？' and closing marks, or before an empty line.
//
// Left out are head, script, style, template, noscript, iframe, noembed,
// noframes and title elements, each to its end tag, with markup without text
// beside it: no piece spans one of them. (The title of a drawing, within svg, is
// text.) So are a document type, comments and white space before the first start
// tag or text, white space at the ends of pieces but for the indentation of the
// first line, and pieces that would have neither text nor an image, of markup
// alone. Everything else in the text is in some piece. White space is Unicode's
// White_Space and the byte order mark.
//
// The source is read by a tokenizer after the HTML standard, not by a tree
// builder: an end tag closes the element it names, if one is open in the same
// list or table, and all within; items, rows and cells also end where the next
// begins. CDATA sections are comments that end at their first '>', as they are
// in HTML. Elements nested deeper than 64 lists, items, tables, rows, cells,
// quotes and figures are taken as text.
//
// Positions are known from the tokenizer. Pieces share the text's memory unless
// PlainText or HeadingPrefix is set. Time is linear in the text. Text that is
// not valid UTF-8 is cut too: a byte that is not is a character.
type HTML struct {
	Size    int // most characters of a chunk's source, tags included; at least 1
	MinSize int // sections shorter than that many characters join a neighbour; at most Size
	Overlap int // most characters that a chunk shares with the one before; less than Size

	// PlainText makes the text of a piece that of its content: without tags and
	// comments, with entities decoded, images replaced by their alternative
	// text, white space outside preformatted text made one space, a line end
	// between blocks and for br, a tab between the cells of a row, also where they
	// hold blocks. Positions stay those of the source, and Size counts the source. Pieces without such text
	// are left out.
	PlainText bool

	// HeadingPrefix writes what a piece is under at the beginning of its text:
	// the titles of the headings before it as in Headings, and the text of the
	// header rows of the table in which it begins, each followed by an empty line
	// or a line end. A heading within the piece is not repeated. Positions stay
	// those of the source, and Size does not count the prefix.
	HeadingPrefix bool
}

// Validate returns an error unless Size is at least 1, 0 <= MinSize <= Size and
// 0 <= Overlap < Size.
func (c HTML) Validate() error { return c.options().Validate("HTML chunker") }

func (c HTML) options() blocks.Options {
	return blocks.Options{Size: c.Size, MinSize: c.MinSize, Overlap: c.Overlap}
}

// String returns a name such as html/size=800/minsize=200/overlap=100, with
// every field that differs from its zero value.
func (c HTML) String() string {
	name := "html" + c.options().Name()
	if c.PlainText {
		name += "/plaintext=true"
	}
	if c.HeadingPrefix {
		name += "/headingprefix=true"
	}
	return name
}

// RewritesText reports whether texts differ from their place: PlainText or
// HeadingPrefix.
func (c HTML) RewritesText() bool { return c.PlainText || c.HeadingPrefix }

// Chunk returns the texts of the pieces. Errors are those of [HTML.Validate] and
// the cause of ctx being done.
func (c HTML) Chunk(ctx context.Context, text string) ([]string, error) {
	pieces, err := c.cut(ctx, text)
	if len(pieces) == 0 {
		return nil, err
	}
	texts := make([]string, len(pieces))
	for i, p := range pieces {
		texts[i] = p.Text
	}
	return texts, nil
}

// ChunkWithPositions returns the pieces, with the metadata [Headings] and
// [TableHeader]. Errors are as for [HTML.Chunk].
func (c HTML) ChunkWithPositions(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
	return c.cut(ctx, doc.Text())
}

func (c HTML) cut(ctx context.Context, text string) ([]chunkers.Piece, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	page, err := parse(ctx, text)
	if err != nil {
		return nil, err
	}
	chunks, err := blocks.Cut(ctx, text, page.Structure, c.options())
	if err != nil {
		return nil, err
	}
	var pieces []chunkers.Piece
	for _, chunk := range chunks {
		if !page.hasContent(chunk.Start, chunk.End) {
			continue
		}
		if pieces == nil {
			pieces = make([]chunkers.Piece, 0, len(chunks))
		}
		piece := chunkers.Piece{Text: text[chunk.Start:chunk.End], Start: chunk.Start, End: chunk.End}
		if c.PlainText {
			if piece.Text = page.plain(chunk.Start, chunk.End); piece.Text == "" {
				continue
			}
		}
		header := ""
		if chunk.HeaderEnd > chunk.HeaderStart {
			header = page.plain(chunk.HeaderStart, chunk.HeaderEnd)
		}
		if c.HeadingPrefix {
			piece.Text = chunk.Prefixed(header, piece.Text)
		}
		piece.Metadata = chunk.Metadata(header)
		pieces = append(pieces, piece)
	}
	return pieces, nil
}
