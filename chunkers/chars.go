package chunkers

import (
	"iter"
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// A character, in this file, is a byte that begins a UTF-8 sequence and the
// continuation bytes after it: in valid UTF-8, a code point. In other text a
// stray continuation byte belongs to the character before it, so that any
// string at all can be cut.

// byteRange is a part of a text: the bytes [start, end).
//
// Chunks are collected as byte ranges and turned into pieces when their number
// is known: a range has no pointers for the garbage collector to follow while
// the slice grows.
type byteRange struct{ start, end int }

// piecesOf returns the parts of text as pieces: nil if there are none.
func piecesOf(text string, parts []byteRange) []Piece {
	if len(parts) == 0 {
		return nil
	}
	pieces := make([]Piece, len(parts))
	for i, p := range parts {
		pieces[i] = Piece{Text: text[p.start:p.end], Start: p.start, End: p.end}
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

// charCount returns the number of characters that begin in s.
func charCount(s string) int {
	n := len(s)
	for ; len(s) >= 8; s = s[8:] {
		n -= continuations(s)
	}
	for i := range len(s) {
		if !utf8.RuneStart(s[i]) {
			n--
		}
	}
	return n
}

// skipChars returns the byte offset of the n-th character after the one that
// begins at byte i of s, len(s) if there are fewer.
func skipChars(s string, i, n int) int {
	for n >= 32 && len(s)-i >= 32 {
		w := s[i : i+32]
		n -= 32 - continuations(w) - continuations(w[8:]) - continuations(w[16:]) - continuations(w[24:])
		i += 32
	}
	for n >= 8 && len(s)-i >= 8 {
		n -= 8 - continuations(s[i:])
		i += 8
	}
	for ; i < len(s); i++ {
		if utf8.RuneStart(s[i]) {
			if n == 0 {
				return i
			}
			n--
		}
	}
	return len(s)
}

// continuations counts the continuation bytes, 10xxxxxx, among the first eight
// bytes of s.
func continuations(s string) int {
	w := eight(s)
	return bits.OnesCount64(w & (^w << 1) & 0x8080808080808080)
}

// eight returns the first eight bytes of s, the first one lowest.
func eight(s string) uint64 {
	_ = s[7] // one bounds check, and one load
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// lastByte returns where c is last in s, -1 if nowhere. It looks at eight bytes at a
// time.
func lastByte(s string, c byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := len(s)
	for ; i >= 8; i -= 8 {
		w := eight(s[i-8:]) ^ ones*uint64(c)                // c becomes 0
		zeros := ^(w | (w&^highs + ^uint64(highs))) & highs // the high bit of each byte that is 0
		if zeros != 0 {
			return i - 1 - bits.LeadingZeros64(zeros)/8
		}
	}
	for i--; i >= 0 && s[i] != c; i-- {
	}
	return i
}

// charWindows yields the bounds, in bytes, of windows of size characters of s
// that overlap by overlap characters, until one ends where s does. It needs
// 0 <= overlap < size. With ascii, every byte of s must be below utf8.RuneSelf.
func charWindows(s string, ascii bool, size, overlap int) iter.Seq2[int, int] {
	skip := func(i, n int) int {
		if ascii {
			return i + min(n, len(s)-i)
		}
		return skipChars(s, i, n)
	}
	return func(yield func(start, end int) bool) {
		if s == "" {
			return
		}
		start, end := 0, skip(0, size)
		for yield(start, end) && end < len(s) {
			if overlap == 0 {
				start = end
			} else {
				start = skip(start, size-overlap)
			}
			end = skip(end, size-overlap)
		}
	}
}

// isWhiteSpace reports whether Trim takes r away: Unicode's White_Space, as
// [unicode.IsSpace] has it, and the byte order mark.
func isWhiteSpace(r rune) bool {
	if ' ' < r && r < utf8.RuneSelf {
		return false
	}
	return r == '\ufeff' || unicode.IsSpace(r)
}
