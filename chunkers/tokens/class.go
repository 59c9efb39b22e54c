package tokens

import (
	"math/bits"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

// class says what the expressions that cut a text into words want to know of a
// character.
type class uint8

const (
	upper   class = 1 << iota // \p{Lu} or \p{Lt}
	lower                     // \p{Ll}
	uncased                   // \p{Lm} or \p{Lo}
	mark                      // \p{M}
	number                    // \p{N}
	space                     // \s
	newline                   // \r or \n, which are space too

	letter = upper | lower | uncased
	first  = upper | uncased | mark // U
	rest   = lower | uncased | mark // L
)

// classify returns the class of c: 0 for punctuation, symbols and the like.
func classify(c rune) class {
	switch {
	case c == '\r' || c == '\n':
		return space | newline
	case unicode.IsSpace(c):
		return space
	case unicode.IsLetter(c):
		switch {
		case unicode.Is(unicode.Ll, c):
			return lower
		case unicode.In(c, unicode.Lu, unicode.Lt):
			return upper
		}
		return uncased
	case unicode.IsNumber(c):
		return number
	case unicode.IsMark(c):
		return mark
	}
	return 0
}

var asciiClasses = func() (classes [utf8.RuneSelf]class) {
	for c := range classes {
		classes[c] = classify(rune(c))
	}
	return classes
}()

// classPage is the classes of 256 characters that follow each other.
type classPage [1 << 8]class

// classPages are the pages that a text needed so far, nil where none did: 1.1 MB
// if all are.
var classPages [(unicode.MaxRune + 1) / len(classPage{})]atomic.Pointer[classPage]

func loadClassPage(i int) *classPage {
	page := new(classPage)
	for j := range page {
		page[j] = classify(rune(i*len(page) + j))
	}
	classPages[i].Store(page) // what another goroutine may have stored meanwhile is the same
	return page
}

// classAt returns the class of the character at byte i of s and its size, 0 at
// the end of s. A byte that is not valid UTF-8 is a symbol.
func classAt(s string, i int) (class, int) {
	if i >= len(s) {
		return 0, 0
	}
	if c := s[i]; c < utf8.RuneSelf {
		return asciiClasses[c], 1
	}
	return wideClassAt(s, i)
}

// wideClassAt is classAt for a byte that is not ASCII.
func wideClassAt(s string, i int) (class, int) {
	c, n := utf8.DecodeRuneInString(s[i:])
	page := classPages[c>>8].Load()
	if page == nil {
		page = loadClassPage(int(c >> 8))
	}
	return page[c&0xff], n
}

// skip returns where the run of characters of a class in the set that begins at
// byte i of s ends.
func skip(s string, i int, set class) int {
	for {
		c, n := classAt(s, i)
		if c&set == 0 {
			return i
		}
		i += n
	}
}

// skipLetters is skip for sets that have, of ASCII, the lower case letters, or,
// with a foldCase, all letters.
func skipLetters(s string, i int, set class, foldCase uint64) int {
	for {
		for i < len(s) && s[i] >= utf8.RuneSelf {
			c, n := wideClassAt(s, i)
			if c&set == 0 {
				return i
			}
			i += n
		}
		i = skipASCIILetters(s, i, foldCase)
		if i == len(s) || s[i] < utf8.RuneSelf {
			return i
		}
	}
}

const (
	eachByte = 0x0101010101010101
	foldCase = eachByte * ('a' - 'A') // gives a capital letter the bit of a small one
	noFold   = 0
)

// skipASCIILetters looks at eight bytes at once: most words end among them.
func skipASCIILetters(s string, i int, fold uint64) int {
	const high = eachByte * 0x80
	for ; len(s)-i >= 8; i += 8 {
		x := littleEndian(s[i : i+8])
		low := (x | fold) &^ high
		// The high bit of a byte is set in the first sum if it is at least a, and in
		// the second if it is more than z.
		letters := (low + eachByte*(0x80-'a')) &^ (low + eachByte*(0x7F-'z')) &^ x
		if others := ^letters & high; others != 0 {
			return i + bits.TrailingZeros64(others)/8
		}
	}
	for i < len(s) && 'a' <= s[i]|byte(fold) && s[i]|byte(fold) <= 'z' {
		i++
	}
	return i
}

// skipPunctuation returns where the run of [^\s\p{L}\p{N}] that begins at byte i
// of s ends.
func skipPunctuation(s string, i int) int {
	for {
		c, n := classAt(s, i)
		if c&(space|letter|number) != 0 || n == 0 {
			return i
		}
		i += n
	}
}
