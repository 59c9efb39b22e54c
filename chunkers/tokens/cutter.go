package tokens

import "math/bits"

// cutter cuts words into tokens. It remembers short words, of which a text has few
// that are not frequent: those that are tokens apart from those that it merged, which
// takes ten times as long as finding that a word is a token.
type cutter struct {
	merger
	whole  [1 << memoryBits]tokenSlot // without IDs
	merged [1 << memoryBits]mergedWord
}

const memoryBits = 13

// mergedWord is a word of at most 16 bytes. The last bit of ends, as in cutter.cut,
// says how many they are.
type mergedWord struct {
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
	i := t.hash() >> (64 - memoryBits)
	whole, merged := &c.whole[i], &c.merged[i]
	if whole.first == t.first && uint64(whole.last) == t.last && whole.idAndN == uint32(n) {
		return 1 << (n - 1)
	}
	if merged.shortText == t && bits.Len16(merged.ends) == n {
		return merged.ends
	}
	if n <= maxSlotBytes && c.slotRank(t, n) != noRank {
		*whole = tokenSlot{t.first, uint32(t.last), uint32(n)}
		return 1 << (n - 1)
	}
	for _, end := range c.tokens(s, start, end) {
		ends |= 1 << (end - start - 1)
	}
	*merged = mergedWord{t, ends}
	return ends
}
