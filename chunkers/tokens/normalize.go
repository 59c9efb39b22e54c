package tokens

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// What BERT's normalizer and pre-tokenizer want to know of characters, as in
// Hugging Face's tokenizers (normalizers/bert.rs, pre_tokenizers/bert.rs).

// bertRules are the settings of a BertNormalizer.
type bertRules struct {
	cleans, separatesChinese, stripsAccents, lowers bool
}

// isRemoved reports whether cleaning removes c: control and format characters,
// those for private use, and U+FFFD, but not white space.
func isRemoved(c rune) bool {
	switch {
	case c == '\t' || c == '\n' || c == '\r':
		return false
	case c < 0x80:
		return c < 0x20 || c == 0x7f
	}
	return c == '\ufffd' || unicode.In(c, unicode.Cc, unicode.Cf, unicode.Co)
}

func isSpace(c rune) bool { return unicode.IsSpace(c) }

// isPunctuation reports whether c is a word by itself: all of ASCII but
// letters, digits, white space and control characters, and Unicode's
// punctuation.
func isPunctuation(c rune) bool {
	if c < 0x80 {
		return c > ' ' && c < 0x7f && !('0' <= c && c <= '9') && !('a' <= c && c <= 'z') && !('A' <= c && c <= 'Z')
	}
	return unicode.IsPunct(c)
}

func isNonspacingMark(c rune) bool { return unicode.Is(unicode.Mn, c) }

// isChinese reports whether c is in one of the blocks of Han characters, each
// of which is a word by itself. Kana and Hangul are not.
func isChinese(c rune) bool {
	switch {
	case c < 0x3400:
		return false
	case c <= 0x4dbf, 0x4e00 <= c && c <= 0x9fff, 0xf900 <= c && c <= 0xfaff:
		return true
	}
	return 0x20000 <= c && c <= 0x2a6df || 0x2a700 <= c && c <= 0x2b73f || 0x2b740 <= c && c <= 0x2b81f ||
		0x2b820 <= c && c <= 0x2ceaf || 0x2f800 <= c && c <= 0x2fa1f
}

// lower returns c in lower case, if the rules say so.
func (r bertRules) lower(c rune) rune {
	if !r.lowers {
		return c
	}
	if c < 0x80 {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		return c
	}
	return unicode.ToLower(c)
}

// appendNFD appends the canonical decomposition of c. It does not allocate, as
// norm.NFD.Append does.
func appendNFD(text []byte, c rune) []byte {
	const (
		syllables, lead, vowel, trail = 0xac00, 0x1100, 0x1161, 0x11a7
		vowels, trails, count         = 21, 28, 11172
	)
	if i := c - syllables; i >= 0 && i < count { // Hangul: The Unicode Standard, §3.12
		text = utf8.AppendRune(text, lead+i/(vowels*trails))
		text = utf8.AppendRune(text, vowel+i%(vowels*trails)/trails)
		if i%trails > 0 {
			text = utf8.AppendRune(text, trail+i%trails)
		}
		return text
	}
	start := len(text)
	text = utf8.AppendRune(text, c)
	if decomposed := norm.NFD.Properties(text[start:]).Decomposition(); decomposed != nil {
		text = append(text[:start], decomposed...)
	}
	return text
}
