package tokens

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// charsmap is a precompiled_charsmap: SentencePiece's rules of normalisation, in
// a double-array trie of Darts-clone whose values are places in a list of
// replacements that end with a zero byte.
type charsmap struct {
	units        []uint32
	replacements []byte
}

// parseCharsmap reads the size of the trie in bytes, the trie and the
// replacements, little-endian.
func parseCharsmap(content []byte) (*charsmap, error) {
	if len(content) < 4 {
		return nil, fmt.Errorf("it has %d bytes: want at least the 4 of the trie's size", len(content))
	}
	size := binary.LittleEndian.Uint32(content)
	content = content[4:]
	if size == 0 || size%4 != 0 || uint64(size) > uint64(len(content)) {
		return nil, fmt.Errorf("the trie's size is %d bytes: want a multiple of 4 that is not 0 and at most the %d that follow", size, len(content))
	}
	c := &charsmap{units: make([]uint32, size/4), replacements: content[size:]}
	if !utf8.Valid(c.replacements) {
		return nil, errors.New("the replacements are not valid UTF-8")
	}
	for i := range c.units {
		c.units[i] = binary.LittleEndian.Uint32(content[4*i:])
	}
	return c, nil
}

// shortest returns the replacement for the shortest rule that text begins with,
// and whether there is one. Text that was cut off a rule matches it too.
func (c *charsmap) shortest(text []byte) ([]byte, bool) {
	node := offsetOf(c.units[0])
	for _, b := range text {
		if b == 0 {
			break
		}
		node ^= uint32(b)
		if int(node) >= len(c.units) {
			break
		}
		unit := c.units[node]
		if unit&(1<<31|0xff) != uint32(b) {
			break
		}
		node ^= offsetOf(unit)
		if unit>>8&1 == 1 && int(node) < len(c.units) {
			return c.replacement(c.units[node] &^ (1 << 31))
		}
	}
	return nil, false
}

func offsetOf(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }

func (c *charsmap) replacement(at uint32) ([]byte, bool) {
	if int64(at) >= int64(len(c.replacements)) || !utf8.RuneStart(c.replacements[at]) {
		return nil, false
	}
	end := int(at)
	for end < len(c.replacements) && c.replacements[end] != 0 {
		end++
	}
	return c.replacements[at:end], true
}

// normalize replaces graphemes of fewer than 6 bytes, and else characters, that
// begin with a rule, whole: that is how Hugging Face's normalizers/precompiled.rs
// reads the rules.
func (c *charsmap) normalize(n *normalText) {
	for it := graphemes.FromBytes(n.text); it.Next(); {
		start, end := it.Start(), it.End()
		if end-start < 6 {
			if new, ok := c.shortest(n.text[start:end]); ok {
				n.put(new, start, end)
				continue
			}
		}
		for start < end {
			_, size := utf8.DecodeRune(n.text[start:end])
			if new, ok := c.shortest(n.text[start : start+size]); ok {
				n.put(new, start, start+size)
			} else {
				n.keep(start, start+size)
			}
			start += size
		}
	}
	n.commit()
}
