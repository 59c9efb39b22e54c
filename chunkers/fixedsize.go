package chunkers

import (
	"context"
	"fmt"
	"strconv"

	"github.com/rageval/rageval/spans"
)

// FixedSize cuts a text into windows of Size characters, each beginning
// Size-Overlap characters after the one before. The last window ends where the
// text does and may be shorter; no window lies within another, and an empty
// text has none. The text is not looked at: words are cut, and windows of white
// space alone are kept.
//
// It takes time linear in the text and the number of windows. Pieces share the
// text's memory. Text that is not valid UTF-8 is cut too: there a character is
// a byte that can begin a sequence with the continuation bytes that follow.
type FixedSize struct {
	Size    int // characters; at least 1
	Overlap int // characters that a window shares with the one before; less than Size
}

// Validate returns an error unless 0 <= Overlap < Size.
func (c FixedSize) Validate() error { return validateSizes("fixed-size chunker", c.Size, c.Overlap) }

func validateSizes(chunker string, size, overlap int) error {
	if size <= 0 {
		return fmt.Errorf("%s: Size is %d: want at least 1", chunker, size)
	}
	if overlap < 0 || overlap >= size {
		return fmt.Errorf("%s: Overlap is %d: want at least 0 and less than Size, which is %d", chunker, overlap, size)
	}
	return nil
}

// String returns a name such as fixed/size=200/overlap=50.
func (c FixedSize) String() string { return "fixed" + sizesName(c.Size, c.Overlap) }

func sizesName(size, overlap int) string {
	var name []byte
	if size != 0 {
		name = strconv.AppendInt(append(name, "/size="...), int64(size), 10)
	}
	if overlap != 0 {
		name = strconv.AppendInt(append(name, "/overlap="...), int64(overlap), 10)
	}
	return string(name)
}

// Chunk returns the texts of the windows. Errors are those of
// [FixedSize.Validate] and the cause of ctx being done.
func (c FixedSize) Chunk(ctx context.Context, text string) ([]string, error) {
	windows, err := c.cut(ctx, text, charCount(text))
	return textsOf(text, windows), err
}

// ChunkWithPositions returns the windows. Errors are as for [FixedSize.Chunk].
func (c FixedSize) ChunkWithPositions(ctx context.Context, doc *spans.Document) ([]Piece, error) {
	windows, err := c.cut(ctx, doc.Text(), doc.Len())
	return piecesOf(doc.Text(), windows), err
}

// cut cuts a text of n characters.
func (c FixedSize) cut(ctx context.Context, text string, n int) ([]byteRange, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	step := c.Size - c.Overlap
	windows := make([]byteRange, 0, 1+(max(0, n-c.Size)+step-1)/step)
	for start, end := range charWindows(text, n == len(text), c.Size, c.Overlap) {
		if len(windows)%1024 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		windows = append(windows, byteRange{start, end})
	}
	return windows, nil
}
