package lexical

import (
	"unicode"
	"unicode/utf8"
)

// foldRune returns the character that stands for r in tokens, or -1 if none
// does: lower case; without the accents, points and vowel signs of Latin,
// Greek, Cyrillic, Arabic and Hebrew, be they part of the letter or characters
// of their own, so that the composed and the decomposed form of a word are one
// token; digits of some scripts and full-width characters as ASCII; variants of
// Arabic letters as one, as in Lucene's ArabicNormalizer.
//
// Note: marks of other scripts are kept, for there they are vowels. Hangul and
// Kana are expected in composed form; a full normalisation (NFKC) would cost a
// dependency whose tables take longer to compile than the rest of the package.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	switch {
	case 0x0300 <= r && r <= 0x036F, // combining diacritical marks
		0x0591 <= r && r <= 0x05BD, r == 0x05BF, r == 0x05C1, r == 0x05C2, r == 0x05C4, r == 0x05C5, r == 0x05C7, // Hebrew points
		0x064B <= r && r <= 0x065F, r == 0x0670, r == 0x0640, // Arabic vowel signs, tatweel
		0x20D0 <= r && r <= 0x20F0,                                        // marks for symbols, such as that of keycaps
		0xFE00 <= r && r <= 0xFE0F,                                        // variation selectors
		r == 0x00AD, 0x200B <= r && r <= 0x200F, r == 0x2060, r == 0xFEFF, // soft hyphen, joiners and other invisible characters
		r == utf8.RuneError:
		return -1
	case r == 0x2018 || r == 0x2019:
		return '\''
	case 0x0660 <= r && r <= 0x0669: // Arabic-Indic digits
		return r - 0x0660 + '0'
	case 0x06F0 <= r && r <= 0x06F9: // extended Arabic-Indic digits
		return r - 0x06F0 + '0'
	case 0xFF01 <= r && r <= 0xFF5E: // full-width ASCII
		return foldRune(r - 0xFF01 + '!')
	}
	r = unicode.ToLower(r)
	if r > lastWithBase {
		return r
	}
	if base, ok := baseLetters[r]; ok {
		return base
	}
	return r
}

const lastWithBase = 0x1EF9

// baseLetters maps lower-case letters with marks to their base.
var baseLetters = func() map[rune]rune {
	bases := make(map[rune]rune)
	for _, group := range []string{
		"aàáâãäåāăąǎạảấầẩẫậắằẳẵặ", "cçćĉċč", "dďđ", "eèéêëēĕėęěẹẻẽếềểễệ", "gĝğġģǧ", "hĥħ",
		"iìíîïĩīĭįıǐỉị", "jĵ", "kķǩ", "lĺļľŀł", "nñńņňǹ", "oòóôõöøōŏőơǒọỏốồổỗộớờởỡợ", "rŕŗř",
		"sśŝşšș", "tţťŧț", "uùúûüũūŭůűųưǔụủứừửữự", "wŵẁẃẅ", "yýÿŷỳỵỷỹ", "zźżž",
		"αά", "εέ", "ηή", "ιίϊΐ", "οό", "υύϋΰ", "ωώ", "σς", "еёѐ", "ийѝ", "ії", "гѓ", "кќ", "уў",
		"اآأإٱ", "وؤ", "يئىی", "هة", "كک",
	} {
		base, size := utf8.DecodeRuneInString(group)
		for _, r := range group[size:] {
			bases[r] = base
		}
	}
	return bases
}()

// isPaired reports whether r belongs to a script whose text is cut into
// characters and pairs, not words: one without spaces between words, or Hangul,
// where particles are written onto the word.
func isPaired(r rune) bool {
	const firstThai = 0x0E00 // the first of all these scripts
	if r < firstThai {
		return false
	}
	// U+30FC, which lengthens vowels in Katakana, belongs to no script.
	return r == 0x30FC || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
