package tokens

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Both encodings first cut a text into words, with a regular expression, and
// then merge the bytes of each word. The expressions are those of OpenAI's
// tiktoken (tiktoken_ext/openai_public.py), in the form that their first
// release had and js-tiktoken and tiktoken-go still have. For cl100k_base:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
//	 ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// and for o200k_base, with U for [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}], L for
// [\p{Ll}\p{Lm}\p{Lo}\p{M}] and C for the first alternative above:
//
//	[^\r\n\p{L}\p{N}]?U*L+C?|[^\r\n\p{L}\p{N}]?U+L*C?|\p{N}{1,3}|
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// The functions below match them by hand, in one pass.
//
// Note: the expressions as tiktoken-go compiles them match white space with
// several line ends in pieces, which gives other tokens and takes quadratic
// time.

// class says what the expressions want to know of a character.
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

var asciiClasses = func() (classes [utf8.RuneSelf]class) {
	for c := range classes {
		classes[c] = classify(rune(c))
	}
	return classes
}()

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

// classAt returns the class of the character at byte i of s and its size, 0 at
// the end of s.
func classAt(s string, i int) (class, int) {
	if i >= len(s) {
		return 0, 0
	}
	if c := s[i]; c < utf8.RuneSelf {
		return asciiClasses[c], 1
	}
	c, n := utf8.DecodeRuneInString(s[i:])
	return classify(c), n
}

// skip returns where the run of characters of a class in the set that begins at
// byte i of s ends.
func skip(s string, i int, set class) int {
	for {
		c, n := classAt(s, i)
		if c&set == 0 || n == 0 {
			return i
		}
		i += n
	}
}

// cl100kSplit returns the length of the first word of s, which is not empty.
func cl100kSplit(s string) int {
	if n := contraction(s); n > 0 {
		return n
	}
	c, n := classAt(s, 0)
	if c&letter != 0 {
		return skip(s, n, letter)
	}
	if c&(newline|number) == 0 {
		if end := skip(s, n, letter); end > n {
			return end
		}
	}
	return splitOther(s, c, n, "\r\n")
}

// o200kSplit returns the length of the first word of s, which is not empty.
func o200kSplit(s string) int {
	c, n := classAt(s, 0)
	mayPrefix := c&(letter|number|newline) == 0
	if mayPrefix {
		if end := casedEnd(s, n); end > 0 {
			return end + contraction(s[end:])
		}
	}
	if end := casedEnd(s, 0); end > 0 {
		return end + contraction(s[end:])
	}
	if mayPrefix {
		if end := skip(s, n, first); end > n {
			return end + contraction(s[end:])
		}
	}
	if end := skip(s, 0, first); end > 0 {
		return end + contraction(s[end:])
	}
	return splitOther(s, c, n, "\r\n/")
}

// casedEnd returns where U*L+ ends that begins at byte i of s, 0 if nothing
// matches.
func casedEnd(s string, i int) int {
	last := 0 // where the last character ends that is in both U and L
	for {
		c, n := classAt(s, i)
		if c&first == 0 || n == 0 {
			break
		}
		i += n
		if c&rest != 0 {
			last = i
		}
	}
	if end := skip(s, i, rest); end > i {
		return end
	}
	return last
}

// contraction returns the length of the contraction that s begins with, 0
// without one.
func contraction(s string) int {
	if len(s) < 2 || s[0] != '\'' {
		return 0
	}
	switch s[1] | 0x20 { // ASCII letters in lower case
	case 's', 't', 'm', 'd':
		return 2
	case 'r', 'v':
		if len(s) > 2 && s[2]|0x20 == 'e' {
			return 3
		}
	case 'l':
		if len(s) > 2 && s[2]|0x20 == 'l' {
			return 3
		}
	}
	return 0
}

// splitOther returns the length of the first word of s if it has no letters.
// The first character is of class c and has n bytes. The characters of trailing
// may follow punctuation.
func splitOther(s string, c class, n int, trailing string) int {
	if c&number != 0 {
		end := n
		for range 2 {
			if c, n := classAt(s, end); c&number != 0 {
				end += n
			}
		}
		return end
	}
	start := 0
	if s[0] == ' ' {
		start = 1
	}
	if end := skipPunctuation(s, start); end > start {
		return len(s) - len(strings.TrimLeft(s[end:], trailing))
	}
	return splitSpace(s)
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

// splitSpace returns the length of the first word of s, which begins with white
// space.
func splitSpace(s string) int {
	end, last, lineEnd := 0, 0, 0 // of the run, before its last character, after its last line end
	for {
		c, n := classAt(s, end)
		if c&space == 0 || n == 0 {
			break
		}
		last, end = end, end+n
		if c&newline != 0 {
			lineEnd = end
		}
	}
	switch {
	case lineEnd > 0:
		return lineEnd
	case end == len(s) || last == 0:
		return end
	}
	return last // the last one begins the next word
}
