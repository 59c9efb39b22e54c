package quotation

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// folded is a text without what layout changes, and where its bytes came from.
//
// Characters are normalised (NFKC), so that ligatures, full-width letters and
// both forms of accents agree, and in lower case. White space, control and format
// characters and punctuation are dropped, with what Markdown marks text with and
// the target of its links, [text](target). A point between two digits is kept, and
// so are %, & and $, which are words.
type folded struct {
	text string
	at   []int32 // the byte of the original that each byte of text came from
}

// newFolded takes five bytes for each byte of the text.
func newFolded(text string) folded {
	var b strings.Builder
	b.Grow(len(text))
	f := folded{at: make([]int32, 0, len(text))}
	add := func(r rune, at int) {
		from := b.Len()
		b.WriteRune(r)
		for range b.Len() - from {
			f.at = append(f.at, int32(at))
		}
	}
	digitBefore := false
	for i := 0; i < len(text); {
		size := segment(text[i:])
		if c := text[i]; size == 1 && c < utf8.RuneSelf {
			switch {
			case 'A' <= c && c <= 'Z':
				add(rune(c)+'a'-'A', i)
			case c == '.' && digitBefore && i+1 < len(text) && isDigit(text[i+1]), isKept(rune(c)):
				add(rune(c), i)
			case c == ']':
				size += linkTarget(text[i+1:])
			}
			digitBefore = isDigit(c)
		} else {
			for _, r := range norm.NFKC.String(text[i : i+size]) {
				if isKept(r) {
					add(unicode.ToLower(unicode.ToUpper(r)), i)
				}
			}
			digitBefore = false
		}
		i += size
	}
	f.text = b.String()
	return f
}

// segment returns the length of the first characters of text, which is not empty,
// that normalisation treats together.
func segment(text string) int {
	if text[0] < utf8.RuneSelf && (len(text) == 1 || text[1] < utf8.RuneSelf) {
		return 1
	}
	return max(1, norm.NFKC.NextBoundaryInString(text, true))
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isKept(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || r == '%' || r == '&' || r == '$'
	}
	return !unicode.IsSpace(r) && !unicode.In(r, unicode.P, unicode.C, unicode.Z, unicode.Sk, unicode.Variation_Selector)
}

// linkTarget returns the length of the target of a Markdown link with which text
// begins, in parentheses, or 0.
func linkTarget(text string) int {
	const longest = 2000
	if text == "" || text[0] != '(' {
		return 0
	}
	depth := 0
	for i := range min(len(text), longest) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		case '\n':
			return 0
		}
	}
	return 0
}

// original returns the bytes of the original that bytes [start, end) of f.text,
// not empty and whole characters, came from.
func (f folded) original(text string, start, end int) (int, int) {
	last := int(f.at[end-1])
	return int(f.at[start]), last + segment(text[last:])
}
