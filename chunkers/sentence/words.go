package sentence

import (
	"iter"
	"unicode"
	"unicode/utf8"
)

// mark is a place in a text: the start of a word, or a place by the way.
type mark struct {
	place
	end    int  // of the word, in characters
	kind   int  // index of the word's type; noWord for a place by the way
	cut    bool // a chunk may begin or end here
	entity bool // the word is part of a name
}

const (
	noWord  = -1
	maxStep = 64 // most characters between a mark and the next, and of a word
)

// wordScanner reads the words of a text.
type wordScanner struct {
	text      string
	at        place
	last      int            // the character of the last mark
	split     bool           // the last word was cut for its length
	types     map[uint64]int // from the hash of a word to the index of its type
	sentence  int            // where the next sentence begins, in bytes
	first     bool           // no word of the sentence was read yet
	sentences func() (start, end int, ok bool)
	stop      func()
}

func newWordScanner(text string) *wordScanner {
	s := &wordScanner{text: text, types: map[uint64]int{}}
	s.sentences, s.stop = iter.Pull2(Bounds(text))
	s.nextSentence()
	return s
}

func (s *wordScanner) nextSentence() {
	start, _, ok := s.sentences()
	if !ok {
		start = len(s.text) + 1
	}
	s.sentence = start
}

// next returns the next word, or a place maxStep characters after the last mark
// if no word begins before it; false at the end of the text.
func (s *wordScanner) next() (mark, bool) {
	for s.at.byte < len(s.text) {
		r, n := decode(s.text, s.at.byte)
		if isAlnum(r) {
			return s.word(), true
		}
		s.split = false
		if s.at.char-s.last >= maxStep {
			s.last = s.at.char
			m := mark{place: s.at, end: s.at.char, kind: noWord}
			s.at = place{s.at.byte + n, s.at.char + 1}
			return m, true
		}
		s.at = place{s.at.byte + n, s.at.char + 1}
	}
	return mark{}, false
}

func decode(s string, i int) (rune, int) {
	if c := s[i]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	return utf8.DecodeRuneInString(s[i:])
}

// word reads the word at s.at.
func (s *wordScanner) word() mark {
	for s.sentence <= s.at.byte {
		s.first = true
		s.nextSentence()
	}
	m := mark{place: s.at, cut: !s.split}
	s.last = s.at.char
	s.split = false
	const offset, prime = 14695981039346656037, 1099511628211 // of the hash FNV-1a
	hash := uint64(offset)
	letters, capitals, digits := 0, 0, 0
	leading := false // the first character is a capital
	i, chars := s.at.byte, 0
	for i < len(s.text) {
		r, n := decode(s.text, i)
		solo := r >= firstSolo && isSolo(r)
		switch {
		case chars > 0 && solo:
			r = 0
		case unicode.IsLetter(r):
			letters++
			if unicode.IsUpper(r) {
				capitals++
				leading = leading || chars == 0
				r = unicode.ToLower(r)
			}
		case unicode.IsDigit(r):
			digits++
		case chars > 0 && r >= utf8.RuneSelf && unicode.Is(unicode.M, r):
		case (r == '\'' || r == '’') && chars > 0 && i+n < len(s.text):
			if after, _ := decode(s.text, i+n); !unicode.IsLetter(after) {
				r = 0
			} else {
				r = '\''
			}
		default:
			r = 0
		}
		if r == 0 {
			break
		}
		if chars == maxStep {
			s.split = true
			break
		}
		hash = (hash ^ uint64(r)) * prime
		i += n
		chars++
		if solo {
			i, chars = s.skipMarks(i, chars)
			break
		}
	}
	s.at = place{i, s.at.char + chars}
	m.end = s.at.char
	m.entity = digits > 0 || letters > 1 && (capitals == letters || leading && !s.first)
	s.first = false
	id, ok := s.types[hash]
	if !ok {
		id = len(s.types)
		s.types[hash] = id
	}
	m.kind = id
	return m
}

// skipMarks moves over combining marks.
func (s *wordScanner) skipMarks(i, chars int) (int, int) {
	for i < len(s.text) && chars < maxStep {
		r, n := decode(s.text, i)
		if r < utf8.RuneSelf || !unicode.Is(unicode.M, r) {
			break
		}
		i += n
		chars++
	}
	return i, chars
}

const firstSolo = '\u0e00' // Thai

// isSolo reports whether r is a letter of a script that does not separate words.
func isSolo(r rune) bool {
	return unicode.IsLetter(r) && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
