package sentence

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

// Paragraph makes chunks of whole paragraphs. Paragraphs are separated by lines
// of nothing but white space, whatever ends a line (CR LF, LF, CR, U+0085,
// U+2028), and by Unicode's paragraph separator U+2029.
//
//  1. A paragraph shorter than MinSize takes in the next one, unless the two
//     are longer than MaxSize together, and so on until the chunk is at least
//     MinSize characters long. A heading thus stays with what follows it.
//  2. A paragraph longer than MaxSize, together with short ones before it that
//     wait for it, is cut into chunks of whole sentences up to MaxSize, and a
//     sentence longer than that by [chunkers.RecursiveCharacter], as [Sentence]
//     does without overlap. If the last of these chunks is shorter than MinSize,
//     it takes in the next paragraph by rule 1.
//
// So chunks shorter than MinSize remain where the next paragraph does not fit,
// inside long paragraphs, and at the end of the text. The zero value makes each
// paragraph a chunk, however long.
//
// White space between the paragraphs of a chunk belongs to it; white space
// between chunks, and at both ends of the text, is left out. Everything else is
// in exactly one chunk.
//
// It takes time linear in the text, and besides the result two ints for each
// chunk. Pieces share the text's memory. It is safe for concurrent use.
type Paragraph struct {
	MaxSize int // most characters of a chunk; 0: paragraphs are never cut
	MinSize int // characters; at most MaxSize, unless that is 0; 0: paragraphs are never merged
}

// Validate returns an error unless 0 <= MinSize <= MaxSize, or MaxSize is 0 and
// MinSize at least 0.
func (c Paragraph) Validate() error {
	if err := validateNotNegative("paragraph chunker", field{"MaxSize", c.MaxSize}, field{"MinSize", c.MinSize}); err != nil {
		return err
	}
	if c.MaxSize > 0 && c.MinSize > c.MaxSize {
		return fmt.Errorf("paragraph chunker: MinSize is %d: want at most MaxSize, which is %d", c.MinSize, c.MaxSize)
	}
	return nil
}

// String returns a name such as paragraph/maxsize=800/minsize=200.
func (c Paragraph) String() string {
	return nameOf("paragraph", field{"MaxSize", c.MaxSize}, field{"MinSize", c.MinSize})
}

// Chunk returns the texts of the chunks. Errors are those of
// [Paragraph.Validate] and the cause of ctx being done.
func (c Paragraph) Chunk(ctx context.Context, text string) ([]string, error) {
	chunks, err := c.cut(ctx, text, utf8.RuneCountInString(text))
	return textsOf(text, chunks), err
}

// ChunkWithPositions returns the chunks with their positions. Errors are as for
// [Paragraph.Chunk].
func (c Paragraph) ChunkWithPositions(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
	chunks, err := c.cut(ctx, doc.Text(), doc.Len())
	return piecesOf(doc.Text(), chunks), err
}

// cut cuts a text of n characters.
func (c Paragraph) cut(ctx context.Context, text string, n int) (chunks []byteRange, err error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	chars := charCounter{text: text, ascii: n == len(text)}
	fits := func(length int) bool { return c.MaxSize == 0 || length <= c.MaxSize }
	pending := false // the last chunk is short, and takes in more
	pendingChar := 0 // where it begins, in characters
	ticks := 0
	for start, end := range paragraphs(text) {
		if ticks++; ticks%256 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		startChar := chars.before(start)
		endChar := chars.before(end)
		switch {
		case !fits(endChar - startChar):
			if pending {
				start = chunks[len(chunks)-1].start
				chunks = chunks[:len(chunks)-1]
			}
			whole := Sentence{MaxSize: c.MaxSize}
			if chunks, err = whole.cutPart(ctx, chunks, text, start, end, chars.ascii); err != nil {
				return nil, err
			}
			last := chunks[len(chunks)-1]
			pendingChar = endChar - utf8.RuneCountInString(text[last.start:last.end])
		case pending && fits(endChar-pendingChar):
			chunks[len(chunks)-1].end = end
		default:
			chunks = append(chunks, byteRange{start, end})
			pendingChar = startChar
		}
		pending = endChar-pendingChar < c.MinSize
	}
	return chunks, nil
}
