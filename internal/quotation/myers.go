package quotation

import (
	"math/bits"
	"unicode/utf8"
)

// pattern computes edit distances (insertions, deletions and substitutions of
// characters) between a text and parts of another. It is Myers' bit-vector
// algorithm ("A Fast Bit-Vector Algorithm for Approximate String Matching Based on
// Dynamic Programming", JACM 1999) in blocks of 64 characters: a column of the
// table is held as vertical differences, a bit each, and every block hands the
// horizontal difference at its lower edge to the next. Memory is one word for each
// block and distinct character.
type pattern struct {
	length int // characters
	ascii  [utf8.RuneSelf]int32
	others map[rune]int32
	equal  []uint64 // of each distinct character, numbered from 1, and each block: where it stands; number 0: nowhere
	plus   []uint64 // where a column's values increase downwards
	minus  []uint64 // and decrease
}

func newPattern(chars []rune) *pattern {
	blocks := (len(chars) + 63) / 64
	p := &pattern{length: len(chars), plus: make([]uint64, blocks), minus: make([]uint64, blocks), equal: make([]uint64, blocks)}
	for i, r := range chars {
		n := p.number(r)
		if n == 0 {
			n = int32(len(p.equal) / blocks)
			p.equal = append(p.equal, make([]uint64, blocks)...)
			if r < utf8.RuneSelf {
				p.ascii[r] = n
			} else {
				if p.others == nil {
					p.others = make(map[rune]int32)
				}
				p.others[r] = n
			}
		}
		p.equal[int(n)*blocks+i/64] |= 1 << (i % 64)
	}
	return p
}

func (p *pattern) number(r rune) int32 {
	if r < utf8.RuneSelf {
		return p.ascii[r]
	}
	return p.others[r]
}

// reset begins a new table. The distance at its lower edge is then p.length.
func (p *pattern) reset() {
	for b := range p.plus {
		p.plus[b], p.minus[b] = ^uint64(0), 0
	}
}

// step goes on by one character of the text, and returns by how much the distance
// at the lower edge changes. top is the change at the upper edge: 0 where a match
// may begin anywhere, 1 where it begins at the first character.
func (p *pattern) step(r rune, top int) int {
	blocks := len(p.plus)
	n := int(p.number(r)) * blocks
	carry := top
	for b := range blocks {
		plus, minus, eq := p.plus[b], p.minus[b], p.equal[n+b]
		vertical := eq | minus
		if carry < 0 {
			eq |= 1
		}
		horizontal := (((eq & plus) + plus) ^ plus) | eq
		up := minus | ^(horizontal | plus)
		down := plus & horizontal
		last := 63
		if b == blocks-1 {
			last = (p.length - 1) % 64
		}
		next := int(up>>last&1) - int(down>>last&1)
		up, down = up<<1, down<<1
		if carry < 0 {
			down |= 1
		} else {
			up |= uint64(carry)
		}
		p.plus[b] = down | ^(vertical | up)
		p.minus[b] = up & vertical
		carry = next
	}
	return carry
}

// ends calls visit for each byte of text at which a part of it ends whose distance
// is at most limit.
func (p *pattern) ends(text string, limit int, visit func(end, distance int)) {
	p.reset()
	distance := p.length
	for i, r := range text {
		if distance += p.step(r, 0); distance <= limit {
			visit(i+utf8.RuneLen(r), distance)
		}
	}
}

// bestSuffix returns where the shortest suffix of text begins that has the least
// distance. The pattern must be of the reversed characters.
func (p *pattern) bestSuffix(text string) (start, distance int) {
	p.reset()
	start, distance = len(text), p.length
	d := p.length
	for i := len(text); i > 0; {
		r, size := utf8.DecodeLastRuneInString(text[:i])
		i -= size
		if d += p.step(r, 1); d < distance {
			start, distance = i, d
		}
	}
	return start, distance
}

// marks is a set of integers.
type marks []uint64

func newMarks(n int) marks { return make(marks, n/64+1) }

func (m marks) add(i int) { m[i/64] |= 1 << (i % 64) }

// next returns the least member that is at least i, or -1.
func (m marks) next(i int) int {
	for w := i / 64; w < len(m); w++ {
		word := m[w]
		if w == i/64 {
			word &= ^uint64(0) << (i % 64)
		}
		if word != 0 {
			return w*64 + bits.TrailingZeros64(word)
		}
	}
	return -1
}
