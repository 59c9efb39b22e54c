package chunkers

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	sentenceEnds         = ".!?…؟۔।॥።" // before white space
	unspacedSentenceEnds = "。！？｡．"     // of scripts that put no space between sentences
	sentenceClosers      = "\"'”’»)]}*_」』）】》"
)

// sentences returns the sentences of text, by the rule that [Semantic] states.
// They are disjoint, in order, and cover the text: a sentence holds the white
// space after it.
func sentences(text string) []byteRange {
	var found []byteRange
	start := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		ends, unspaced := false, false
		switch {
		case r > ' ' && r < utf8.RuneSelf && r != '.' && r != '!' && r != '?': // most of a text
			i += size
			continue
		case isWhiteSpace(r):
		case strings.ContainsRune(sentenceEnds, r), strings.ContainsRune(unspacedSentenceEnds, r):
			ends = true
			i, unspaced = skipSentenceEnd(text, i)
		default:
			i += size
			continue
		}
		next, lines := skipWhiteSpace(text, i)
		follower, _ := utf8.DecodeRuneInString(text[next:])
		if lines > 1 || unspaced || ends && next > i && !unicode.IsLower(follower) {
			found = append(found, byteRange{start, next})
			start = next
		}
		i = next
	}
	if start < len(text) {
		found = append(found, byteRange{start, len(text)})
	}
	return found
}

// skipSentenceEnd returns where the marks and closing characters end that begin
// at byte i, and whether a mark is among them that needs no white space.
func skipSentenceEnd(text string, i int) (end int, unspaced bool) {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if strings.ContainsRune(unspacedSentenceEnds, r) {
			unspaced = true
		} else if !strings.ContainsRune(sentenceEnds, r) && !strings.ContainsRune(sentenceClosers, r) {
			break
		}
		i += size
	}
	return i, unspaced
}

// skipWhiteSpace returns where the white space ends that begins at byte i, and
// how many line ends it has.
func skipWhiteSpace(text string, i int) (end, lines int) {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !isWhiteSpace(r) {
			break
		}
		if r == '\n' {
			lines++
		}
		i += size
	}
	return i, lines
}
