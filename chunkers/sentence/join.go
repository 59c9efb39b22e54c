package sentence

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// beforeOpeners returns where the opening brackets at the end of buf[start:at]
// begin. To Unicode's rules, they are all closing ones.
func (s *segmenter) beforeOpeners(start, at int) int {
	next, _ := utf8.DecodeRune(s.buf[at:])
	for end := at; ; at = end {
		r, n := utf8.DecodeLastRune(s.buf[start:at])
		if end = at - n; n == 0 || !unicode.Is(unicode.Ps, r) && (next < firstEastAsian || r != '“' && r != '‘') {
			return at
		}
	}
}

// joins reports whether buf[start:at], at whose end Unicode's rules end a
// sentence, and what follows up to byte end are one sentence. Marks are looked
// up in the buffer, words in the text: the buffer has some of their characters
// changed.
func (s *segmenter) joins(start, at, end int) bool {
	left := bytes.TrimRightFunc(s.buf[start:at], isSpace)
	gap := start+len(left) < at
	body := bytes.TrimRightFunc(left, isCloser)
	mark, n := utf8.DecodeLastRune(body)
	right := strings.TrimLeftFunc(s.text[s.base+at:s.base+end], isSpace)
	next, _ := utf8.DecodeRuneInString(right)
	if mark != '.' && mark != '!' && mark != '?' {
		return len(body) < len(left) && !gap && isParticle(next)
	}
	if !gap {
		return next < firstEastAsian
	}
	right = strings.TrimLeftFunc(right, isOpener)
	next, _ = utf8.DecodeRuneInString(right)
	if !s.caseless && unicode.IsLower(next) {
		return true
	}
	body = body[:len(body)-n]
	if mark != '.' || bytes.HasSuffix(body, []byte(".")) { // the latter is an ellipsis
		return false
	}
	return s.abbreviates(s.text[s.base+start:][:len(body)], right)
}

const firstEastAsian = '⺀' // of the Unicode blocks for East Asian scripts

// isParticle reports whether r begins a Japanese particle that follows a
// quotation.
func isParticle(r rune) bool {
	switch r {
	case 'と', 'っ', 'な', 'は', 'が', 'を', 'に', 'の', 'も':
		return true
	}
	return false
}

// abbreviates reports whether the full stop between left and right belongs to a
// word of left and does not end the sentence.
func (s *segmenter) abbreviates(left, right string) bool {
	left = strings.TrimRight(left, " ") // text cut into tokens has a space before the full stop
	word := lastWord(left)
	if len(word) == 0 {
		return false
	}
	before := strings.TrimRight(left[:len(left)-len(word)], " ")
	first := len(strings.TrimFunc(before, isOpener)) == 0
	previous := lastWord(strings.TrimSuffix(before, "."))
	next := firstWord(right)
	letters := utf8.RuneCountInString(word)

	switch {
	case isNumber(word):
		return first && (len(word) <= 3 || strings.ContainsRune(word, '.')) || isGermanOrdinal(previous, word, next)
	case first && (letters == 1 || isRoman(word)):
		return true
	}
	kind := s.kindOf(word)
	if kind == 0 && strings.HasSuffix(before, ".") {
		kind = kindOfPair(previous, word)
	}
	beginsPair := strings.HasPrefix(right[len(next):], ".") && kindOfPair(word, next) != 0
	switch {
	case kind == continuing || beginsPair:
		return true
	case kind == numbering && (letters > 1 || isReference(next)):
		return isReference(next)
	case kind == ending || isInitials(word):
		return !isStarter(next, right)
	case letters > 1:
		return false
	}
	r, _ := utf8.DecodeRuneInString(word)
	switch {
	case !unicode.IsLetter(r):
		return false
	case !unicode.IsUpper(r) && !unicode.IsLower(r): // as in Arabic and Hebrew
		return r < firstEastAsian && !isNumber(previous)
	case r == 'I': // a pronoun, or a numeral
		p, _ := utf8.DecodeRuneInString(previous)
		return unicode.IsUpper(p) && !isStarter(next, right)
	}
	return !isStarter(next, right)
}

const maxWord = 40 // bytes; no abbreviation is longer

// lastWord returns the word at the end of b: what follows the last white space,
// opening bracket, quotation mark, slash, dash, mark of emphasis, or apostrophe
// after the first letter (l'art). It is empty if longer than maxWord.
func lastWord(b string) string {
	i := len(b)
	for i > 0 {
		r, n := utf8.DecodeLastRuneInString(b[:i])
		if isSpace(r) || isDelimiter(r) {
			break
		}
		if i -= n; len(b)-i > maxWord {
			return ""
		}
	}
	word := b[i:]
	if _, n := utf8.DecodeRuneInString(word); n < len(word) && (word[n] == '\'' || strings.HasPrefix(word[n:], "’")) {
		_, m := utf8.DecodeRuneInString(word[n:])
		word = word[n+m:]
	}
	return word
}

func isDelimiter(r rune) bool {
	switch r {
	case '(', '[', '{', '"', '“', '”', '„', '«', '»', '‘', '/', '–', '—', '*', '_', '`', '¿', '¡':
		return true
	}
	return false
}

// firstWord returns the letters and digits at the start of b, at most about
// maxWord bytes of them.
func firstWord(b string) string {
	i := 0
	for i < len(b) && i < maxWord {
		r, n := utf8.DecodeRuneInString(b[i:])
		if !isAlnum(r) {
			break
		}
		i += n
	}
	return b[:i]
}

// folded appends the word in small letters.
func folded(dst []byte, word string) []byte {
	for len(word) > 0 {
		r, n := utf8.DecodeRuneInString(word)
		dst = utf8.AppendRune(dst, unicode.ToLower(r))
		word = word[n:]
	}
	return dst
}

// kindOf returns the kind of an abbreviation, 0 if it is not a known one.
func (s *segmenter) kindOf(word string) kind {
	var buf [2 * maxWord]byte
	small := folded(buf[:0], word)
	k := kinds[string(small)]
	if k == 0 && bytes.HasSuffix(small, []byte("str")) { // German: Hauptstr. 5
		k = kinds["str"]
	}
	if r, _ := utf8.DecodeRuneInString(word); k&capitalised != 0 && !s.caseless && !unicode.IsUpper(r) {
		return 0
	}
	return k &^ capitalised
}

// kindOfPair returns the kind of two abbreviations with a space between them,
// such as z. B., which are listed without it.
func kindOfPair(first, second string) kind {
	var buf [4*maxWord + 1]byte
	key := append(folded(buf[:0], first), '.')
	return kinds[string(folded(key, second))] &^ capitalised
}

// isNumber reports whether word is digits, with full stops between them.
func isNumber(word string) bool {
	for _, c := range []byte(word) {
		if (c < '0' || c > '9') && c != '.' {
			return false
		}
	}
	return len(word) > 0
}

// isRoman reports whether word is a small Roman numeral, in capitals or not.
func isRoman(word string) bool {
	return len(word) > 0 && (len(strings.Trim(word, "ivx")) == 0 || len(strings.Trim(word, "IVX")) == 0)
}

// isReference reports whether word is what stands after Fig. or No.: it has a
// digit, or is a Roman numeral or a single letter.
func isReference(word string) bool {
	return strings.ContainsFunc(word, unicode.IsDigit) || isRoman(word) || utf8.RuneCountInString(word) == 1
}

// isInitials reports whether word is parts of one or two letters with full
// stops, and perhaps hyphens, between them: U.S, Ph.D, J.-C.
func isInitials(word string) bool {
	run, stops := 0, 0
	for len(word) > 0 {
		r, n := utf8.DecodeRuneInString(word)
		word = word[n:]
		switch {
		case r == '.' && run > 0:
			run = 0
			stops++
		case unicode.IsLetter(r) && run < 2:
			run++
		case r == '-' && run == 0:
		default:
			return false
		}
	}
	return stops > 0 && run > 0
}

// isStarter reports whether word, with which right begins, commonly starts a
// sentence. A single letter with a full stop is an initial.
func isStarter(word, right string) bool {
	if utf8.RuneCountInString(word) == 1 && strings.HasPrefix(right[len(word):], ".") {
		return false
	}
	var buf [2 * maxWord]byte
	return starters[string(folded(buf[:0], word))]
}

// isGermanOrdinal reports whether number, with a full stop, is a German
// ordinal between the two words.
func isGermanOrdinal(previous, number, next string) bool {
	if len(number) > 2 {
		return false
	}
	if isNumber(previous) && isNumber(next) {
		return true
	}
	var buf [2 * maxWord]byte
	return beforeOrdinal[string(folded(buf[:0], previous))] || germanMonths[string(folded(buf[:0], next))]
}
