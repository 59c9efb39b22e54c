package sentence

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rageval/rageval/chunkers"
)

// byteRange is the bytes [start, end) of a text. Chunks are collected as ranges,
// which hold no pointers, and made pieces when their number is known.
type byteRange struct{ start, end int }

// piecesOf returns the parts of text as pieces: nil if there are none.
func piecesOf(text string, parts []byteRange) []chunkers.Piece {
	if len(parts) == 0 {
		return nil
	}
	pieces := make([]chunkers.Piece, len(parts))
	for i, p := range parts {
		pieces[i] = chunkers.Piece{Text: text[p.start:p.end], Start: p.start, End: p.end}
	}
	return pieces
}

// textsOf returns the parts of text as strings: nil if there are none.
func textsOf(text string, parts []byteRange) []string {
	if len(parts) == 0 {
		return nil
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = text[p.start:p.end]
	}
	return texts
}

// charCounter counts the characters of a text from its start, each byte of it
// once as long as it is asked about offsets that do not decrease.
type charCounter struct {
	text  string
	ascii bool
	byte  int // counted up to here
	chars int
}

// before returns the number of characters that begin before byte b.
func (c *charCounter) before(b int) int {
	if c.ascii {
		return b
	}
	c.chars += utf8.RuneCountInString(c.text[c.byte:b])
	c.byte = b
	return c.chars
}

// cutLong appends the pieces of text[start:end], which is longer than size
// characters, as [chunkers.RecursiveCharacter] cuts it at line ends, at spaces
// and between characters.
func cutLong(ctx context.Context, chunks []byteRange, text string, start, end, size int) ([]byteRange, error) {
	c := chunkers.RecursiveCharacter{Size: size, Separators: longSeparators, Trim: true}
	texts, err := c.Chunk(ctx, text[start:end])
	for _, t := range texts {
		// Without overlap, all between two pieces is white space.
		start, _ = trim(text, start, end)
		chunks = append(chunks, byteRange{start, start + len(t)})
		start += len(t)
	}
	return chunks, err
}

var longSeparators = []string{"\n", " ", ""}

// field is a field of a chunker that holds a number.
type field struct {
	name  string
	value int
}

// nameOf returns the name of a chunker with those fields that are not zero.
func nameOf(chunker string, fields ...field) string {
	name := []byte(chunker)
	for _, f := range fields {
		if f.value != 0 {
			name = append(append(name, '/'), strings.ToLower(f.name)...)
			name = strconv.AppendInt(append(name, '='), int64(f.value), 10)
		}
	}
	return string(name)
}

// validateNotNegative returns an error that names the first field below 0.
func validateNotNegative(chunker string, fields ...field) error {
	for _, f := range fields {
		if f.value < 0 {
			return fmt.Errorf("%s: %s is %d: want at least 0", chunker, f.name, f.value)
		}
	}
	return nil
}
