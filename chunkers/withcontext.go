package chunkers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rageval/rageval/spans"
)

// WithContext decorates a chunker so that a larger window is indexed than the
// piece stands for: the text of each piece gets the before characters in front
// of it and the after characters behind it, as far as the document has them.
// Start, End and Metadata stay those of the piece, so that a window that is
// retrieved counts for the piece alone. Small pieces are found by what surrounds
// them, without the large ones' cost in precision.
//
// The window is document text around the piece's own text, which may be one that
// c rewrote. A piece without a place (Start is -1) stays as it is. Windows of
// pieces that c did not rewrite share the document's memory.
//
// The decorated chunker implements [Chunker], which returns the windows and
// wants a text that is valid UTF-8, [Rewriter], [Validator], which fails if
// before or after is negative, c is nil, or c does not validate, and
// fmt.Stringer: c's own name, or its type, with /before= and /after= for each
// that is not 0. It is safe for concurrent use if c is. It takes time in
// proportion to before and after for each piece, unless the document is ASCII.
func WithContext(c PositionAwareChunker, before, after int) PositionAwareChunker {
	return inContext{c, before, after}
}

type inContext struct {
	chunker       PositionAwareChunker
	before, after int
}

// Equal reports whether both decorate the same chunker in the same way.
func (c inContext) Equal(d inContext) bool {
	return c.before == d.before && c.after == d.after && same(c.chunker, d.chunker)
}

func (c inContext) RewritesText() bool { return true }

func (c inContext) Validate() error {
	if c.chunker == nil {
		return errors.New("chunker given to WithContext is nil: want a PositionAwareChunker")
	}
	if c.before < 0 {
		return fmt.Errorf("chunker WithContext: before is %d: want at least 0", c.before)
	}
	if c.after < 0 {
		return fmt.Errorf("chunker WithContext: after is %d: want at least 0", c.after)
	}
	if v, ok := c.chunker.(Validator); ok {
		return v.Validate()
	}
	return nil
}

func (c inContext) String() string {
	name := nameOf(c.chunker)
	if c.before != 0 {
		name += fmt.Sprintf("/before=%d", c.before)
	}
	if c.after != 0 {
		name += fmt.Sprintf("/after=%d", c.after)
	}
	return name
}

func (c inContext) Chunk(ctx context.Context, text string) ([]string, error) {
	doc, err := spans.NewDocument("text", text, nil)
	if err != nil {
		return nil, err
	}
	pieces, err := c.ChunkWithPositions(ctx, doc)
	if err != nil || len(pieces) == 0 {
		return nil, err
	}
	texts := make([]string, len(pieces))
	for i, p := range pieces {
		texts[i] = p.Text
	}
	return texts, nil
}

func (c inContext) ChunkWithPositions(ctx context.Context, doc *spans.Document) ([]Piece, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	inner, err := c.chunker.ChunkWithPositions(ctx, doc)
	if err != nil || len(inner) == 0 {
		return nil, err
	}
	text, ascii := doc.Text(), doc.Len() == len(doc.Text())
	pieces := make([]Piece, len(inner))
	for i, p := range inner {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		pieces[i] = p
		if p.Start == -1 {
			continue
		}
		if p.Start < 0 || p.End < p.Start || p.End > len(text) {
			return nil, fmt.Errorf("adding context to piece %d of %s: bytes [%d:%d]: want 0 <= start <= end <= %d", i, nameOf(c.chunker), p.Start, p.End, len(text))
		}
		start, end := p.Start-min(c.before, p.Start), p.End+min(c.after, len(text)-p.End)
		if !ascii {
			start, end = backChars(text, p.Start, c.before), skipChars(text, p.End, c.after)
		}
		if p.Text == text[p.Start:p.End] {
			pieces[i].Text = text[start:end]
		} else {
			pieces[i].Text = strings.Join([]string{text[start:p.Start], p.Text, text[p.End:end]}, "")
		}
	}
	return pieces, nil
}

// backChars returns the byte offset of the n-th character before the one that
// begins at byte i of s, 0 if there are fewer.
func backChars(s string, i, n int) int {
	for ; n > 0 && i > 0; n-- {
		for i--; i > 0 && !utf8.RuneStart(s[i]); i-- {
		}
	}
	return i
}
