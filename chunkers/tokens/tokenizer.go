package tokens

import (
	"fmt"
	"iter"
	"unicode/utf8"
)

// Tokenizer cuts a text into tokens. [Encoding] and [WordPiece] are
// tokenizers; others need this much.
type Tokenizer interface {
	// Tokens yields where each token of text begins and ends, in bytes, in
	// order: starts do not decrease, nor do ends, and a token may be empty. What
	// lies between two tokens, such as white space, belongs to none. Tokens may
	// begin and end inside a UTF-8 sequence. Any text at all has tokens, even if
	// it is not valid UTF-8, and the same text always has the same. It must be
	// safe for concurrent use.
	Tokens(text string) iter.Seq2[int, int]

	// String returns a short name, such as cl100k, for the names of chunkers.
	fmt.Stringer
}

// Counter is implemented by tokenizers that count the tokens of a text faster
// than they say where each is.
type Counter interface {
	Count(text string) int
}

// count returns the number of tokens of text.
func count(t Tokenizer, text string) (n int) {
	if c, ok := t.(Counter); ok {
		return c.Count(text)
	}
	for range t.Tokens(text) {
		n++
	}
	return n
}

// charEnd returns the first boundary of a UTF-8 sequence from byte i of text on.
func charEnd(text string, i int) int {
	for range utf8.UTFMax - 1 {
		if i >= len(text) || utf8.RuneStart(text[i]) {
			break
		}
		i++
	}
	return i
}
