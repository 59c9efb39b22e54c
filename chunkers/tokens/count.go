package tokens

import "encoding/binary"

// counter counts tokens. It remembers those of short words, of which a text has
// few that are not frequent: looking one up there costs a tenth of looking it up
// among all tokens.
type counter struct {
	merger
	words [1 << wordBits]wordCount
}

const (
	wordBits    = 12
	maxWordSize = 16 // bytes of a word that is remembered
)

// wordCount is a word of n bytes, 0 for none, and the number of its tokens. For a
// given n the two halves, which overlap in shorter words, are all of it.
type wordCount struct {
	first, last uint64
	n, tokens   uint8
}

// Count returns the number of tokens of text, faster than ranging over Tokens. It
// panics if e is not one of the constants. It is safe for concurrent use.
func (e Encoding) Count(text string) (n int) {
	v := e.vocabulary()
	c, ok := v.counters.Get().(*counter)
	if !ok {
		c = &counter{merger: merger{vocabulary: v}}
	}
	defer v.counters.Put(c)
	for text != "" {
		word := text[:v.split(text)]
		n += c.count(word)
		text = text[len(word):]
	}
	return n
}

// count returns the number of tokens of one word.
func (c *counter) count(word string) int {
	if len(word) > maxWordSize {
		return len(c.tokens(word))
	}
	key := wordCount{n: uint8(len(word))}
	key.first, key.last = halves(word)
	slot := &c.words[(key.first^key.last*3+uint64(key.n))*0x9E3779B97F4A7C15>>(64-wordBits)]
	if slot.n != key.n || slot.first != key.first || slot.last != key.last {
		key.tokens = uint8(len(c.tokens(word)))
		*slot = key
	}
	return int(slot.tokens)
}

// halves returns the first and the last bytes of a word of 1 to 16 bytes: eight
// of each, or, in a shorter word, all that there are.
func halves(word string) (first, last uint64) {
	var bytes [maxWordSize]byte
	n := copy(bytes[:], word)
	if n <= 8 {
		return binary.LittleEndian.Uint64(bytes[:8]), 0
	}
	return binary.LittleEndian.Uint64(bytes[:8]), binary.LittleEndian.Uint64(bytes[8:])
}
