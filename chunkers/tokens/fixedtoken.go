package tokens

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

// FixedToken cuts a text into windows of a fixed number of tokens, each
// beginning Tokens-Overlap tokens after the one before. The last window ends
// with the last token and may be shorter. These are the windows of LangChain's
// TokenTextSplitter and of the TokenText chunking of Chroma's evaluation.
//
// A piece goes from the start of its first token to the end of its last one, and
// both are moved to the next character boundary if they lie inside a UTF-8
// sequence: no piece has half a character, where LangChain's texts have U+FFFD.
// A character belongs to the window in which its first token is. A window that
// has only later tokens of a character is left out.
//
// The tokens of an [Encoding] leave no gaps, so everything in the text is in
// some piece. [WordPiece] has no tokens for white space: between pieces without
// overlap it is lost. Windows of white space alone are kept.
//
// Positions are known from the cutting, never searched. Pieces share the text's
// memory; besides the tokenizer's own, it takes memory for the pieces only.
type FixedToken struct {
	Tokens  int // in a window; at least 1
	Overlap int // tokens that a window shares with the one before; less than Tokens

	Encoding Tokenizer // nil: CL100K
}

// Validate returns an error unless 0 <= Overlap < Tokens, and the error of
// Encoding's Validate, if it has one.
func (c FixedToken) Validate() error {
	if c.Tokens <= 0 {
		return fmt.Errorf("fixed-token chunker: Tokens is %d: want at least 1", c.Tokens)
	}
	if c.Overlap < 0 || c.Overlap >= c.Tokens {
		return fmt.Errorf("fixed-token chunker: Overlap is %d: want at least 0 and less than Tokens, which is %d", c.Overlap, c.Tokens)
	}
	if v, ok := c.Encoding.(chunkers.Validator); ok {
		if err := v.Validate(); err != nil {
			return fmt.Errorf("fixed-token chunker: Encoding: %w", err)
		}
	}
	return nil
}

func (c FixedToken) tokenizer() Tokenizer {
	if c.Encoding == nil {
		return CL100K
	}
	return c.Encoding
}

// String returns a name such as fixedtoken/tokens=200/overlap=50/encoding=o200k
// with every field that differs from its zero value; CL100K is not printed. In
// the name of the encoding, what is not a letter, a digit or one of "._-" is
// printed as an underscore.
func (c FixedToken) String() string {
	name := []byte("fixedtoken")
	if c.Tokens != 0 {
		name = strconv.AppendInt(append(name, "/tokens="...), int64(c.Tokens), 10)
	}
	if c.Overlap != 0 {
		name = strconv.AppendInt(append(name, "/overlap="...), int64(c.Overlap), 10)
	}
	if t := c.tokenizer(); t != CL100K {
		name = append(append(name, "/encoding="...), plainWord(t.String())...)
	}
	return string(name)
}

func plainWord(s string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, s)
}

// Chunk returns the texts of the windows. Errors are those of
// [FixedToken.Validate], the cause of ctx being done, and a tokenizer's tokens
// out of order.
func (c FixedToken) Chunk(ctx context.Context, text string) ([]string, error) {
	windows, err := c.cut(ctx, text)
	if err != nil || len(windows) == 0 {
		return nil, err
	}
	texts := make([]string, len(windows))
	for i, w := range windows {
		texts[i] = text[w.start:w.end]
	}
	return texts, nil
}

// ChunkWithPositions returns the windows. Errors are as for [FixedToken.Chunk].
func (c FixedToken) ChunkWithPositions(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
	windows, err := c.cut(ctx, doc.Text())
	if err != nil || len(windows) == 0 {
		return nil, err
	}
	pieces := make([]chunkers.Piece, len(windows))
	for i, w := range windows {
		pieces[i] = chunkers.Piece{Text: doc.Text()[w.start:w.end], Start: w.start, End: w.end}
	}
	return pieces, nil
}

// window is a part of a text, in bytes.
type window struct{ start, end int }

func (c FixedToken) cut(ctx context.Context, text string) ([]window, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var windows []window
	step := c.Tokens - c.Overlap
	n, closed := 0, 0              // tokens so far, and windows of which the end is known
	opens, closes := 0, c.Tokens-1 // the tokens that begin and end the next window
	var last window                // the token before
	tokens := c.tokenizer().Tokens(text)
	if e, ok := c.tokenizer().(Encoding); ok {
		tokens = e.tokensUntil(func() bool { return ctx.Err() != nil }, text)
	}
	for start, end := range tokens {
		if n%1024 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if start < last.start || end < last.end || end < start || end > len(text) {
			return nil, fmt.Errorf("fixed-token chunker: token %d of %v is at bytes [%d:%d], the one before at [%d:%d]: want tokens in order in a text of %d bytes",
				n, c.tokenizer(), start, end, last.start, last.end, len(text))
		}
		last = window{start, end}
		if n == opens {
			windows = append(windows, window{start: start})
			opens += step
		}
		if n == closes {
			windows[closed].end = end
			closed++
			closes += step
		}
		n++
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if full := closes - step + 1; n > 0 && (closed == 0 || n > full) { // tokens follow the last window that is full
		windows[closed].end = last.end
		closed++
	}
	return toCharacters(text, windows[:closed]), nil
}

// toCharacters moves the ends of windows to character boundaries, and leaves out
// those that are empty then.
func toCharacters(text string, windows []window) []window {
	kept := windows[:0]
	for _, w := range windows {
		w.start, w.end = charEnd(text, w.start), charEnd(text, w.end)
		if w.start < w.end {
			kept = append(kept, w)
		}
	}
	return kept
}
