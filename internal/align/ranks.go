package align

import (
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// ranks is a set of integers in [0, n) that counts its members below a bound in
// constant time. It takes 12 bytes for every 64 integers.
type ranks struct {
	words  []uint64
	before []int32 // members below 64*i; made by count
}

func newRanks(n int) *ranks {
	return &ranks{words: make([]uint64, n/64+1)}
}

func (r *ranks) add(i int) { r.words[i/64] |= 1 << (i % 64) }

// count must be called between the last add and the first below. It returns the
// number of members.
func (r *ranks) count() int {
	r.before = make([]int32, len(r.words))
	n := 0
	for i, w := range r.words {
		r.before[i] = int32(n)
		n += bits.OnesCount64(w)
	}
	return n
}

// below returns the number of members less than i, for 0 <= i <= n.
func (r *ranks) below(i int) int {
	return int(r.before[i/64]) + bits.OnesCount64(r.words[i/64]&(1<<(i%64)-1))
}

// measure counts the characters of a text before a byte: all of them, and those
// that are not white space.
type measure struct {
	chars    *ranks // nil if the text is ASCII
	nonSpace *ranks
}

func newMeasure(text string) measure {
	m := measure{nonSpace: newRanks(len(text))}
	if utf8.RuneCountInString(text) < len(text) {
		m.chars = newRanks(len(text))
	}
	for i, r := range text {
		if !unicode.IsSpace(r) {
			m.nonSpace.add(i)
		}
		if m.chars != nil {
			m.chars.add(i)
		}
	}
	m.nonSpace.count()
	if m.chars != nil {
		m.chars.count()
	}
	return m
}

func (m measure) charsBefore(i int) int {
	if m.chars == nil {
		return i
	}
	return m.chars.below(i)
}

func (m measure) nonSpaceBefore(i int) int { return m.nonSpace.below(i) }
