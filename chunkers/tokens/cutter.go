package tokens

import "math/bits"

// cutter cuts words into tokens. It remembers how it cut the short ones that it
// had to merge, of which a text has few that are not frequent.
type cutter struct {
	merger
	words [1 << wordBits]cutWord
}

const wordBits = 14

// cutWord is a word of at most 16 bytes that was cut. The last bit of ends, as in
// cutter.cut, says how many bytes it has.
type cutWord struct {
	shortText
	ends uint16
}

// take returns a cutter that is not in use.
func (v *vocabulary) take() *cutter {
	if c, ok := v.cutters.Get().(*cutter); ok {
		return c
	}
	return &cutter{merger: merger{vocabulary: v}}
}

// give gives back what take returned.
func (v *vocabulary) give(c *cutter) {
	c.stop, c.stopped = nil, false
	if cap(c.nodes) > maxKeptNodes {
		c.nodes, c.candidates, c.ends = nil, nil, nil
	}
	v.cutters.Put(c)
}

// maxKeptNodes bounds what memory a cutter that is not in use has for merging.
const maxKeptNodes = 1 << 14

// cut cuts the word s[start:end]. For a word of at most 16 bytes it returns in
// which of them tokens end: bit i stands for byte i. For a longer word it returns
// 0, and c.ends says where its tokens end.
func (c *cutter) cut(s string, start, end int) (ends uint16) {
	n := end - start
	if n > maxShortBytes {
		c.tokens(s, start, end)
		return 0
	}
	t := shortTextAt(s, start, n)
	word := &c.words[t.hash()>>(64-wordBits)]
	if word.shortText == t && bits.Len16(word.ends) == n {
		return word.ends
	}
	for _, end := range c.tokens(s, start, end) {
		ends |= 1 << (end - start - 1)
	}
	*word = cutWord{t, ends}
	return ends
}
