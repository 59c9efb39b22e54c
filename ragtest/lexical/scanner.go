package lexical

import (
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

// scanner cuts texts into tokens. Its buffers are reused from text to text, so
// that scanning does not allocate. It is not safe for concurrent use.
type scanner struct {
	emit  func(token []byte)
	words *words.Iterator[string]
	buf   []byte // a word, folded
	parts []int  // where each part of it starts and ends in buf
	run   []byte // neighbouring characters of paired scripts, folded
	ends  []int  // where each of them ends in run
}

// newScanner returns a scanner that calls emit for each token, in order. The
// bytes are valid during the call only.
func newScanner(emit func(token []byte)) *scanner {
	return &scanner{emit: emit, words: words.FromString("")}
}

// maxWord is about the number of bytes of a folded word that count: a bound on
// what a text without spaces costs.
const maxWord = 64

// scan emits the tokens of text: the words of Unicode's default segmentation
// (UAX #29) that hold a letter, a digit or a pictograph, folded by [foldRune].
//
// A word of several parts, such as snake_case, camelCase or example.com, is
// emitted whole after its parts. In the scripts of [isPaired], each character and
// each pair of neighbours is a token.
func (s *scanner) scan(text string) {
	s.words.SetText(text)
	for s.words.Next() {
		w := s.words.Value()
		if r, _ := utf8.DecodeRuneInString(w); isPaired(r) {
			s.extendRun(w)
			continue
		}
		s.flushRun()
		if len(w) > 1 || isASCIIAlnum(w[0]) {
			s.word(w)
		}
	}
	s.flushRun()
}

func (s *scanner) extendRun(w string) {
	for _, r := range w {
		if r = foldRune(r); r >= 0 {
			s.run = utf8.AppendRune(s.run, r)
			s.ends = append(s.ends, len(s.run))
		}
	}
}

func (s *scanner) flushRun() {
	start := 0
	for i, end := range s.ends {
		s.emit(s.run[start:end])
		if i+1 < len(s.ends) {
			s.emit(s.run[start:s.ends[i+1]])
		}
		start = end
	}
	s.run, s.ends = s.run[:0], s.ends[:0]
}

func (s *scanner) word(w string) {
	if s.foldSimple(w) {
		s.emit(s.buf)
		return
	}
	s.foldParts(w)
	n := len(s.parts)
	for i := 0; i < n && n > 2; i += 2 {
		if part := s.buf[s.parts[i]:s.parts[i+1]]; len(part) > 1 {
			s.emit(part)
		}
	}
	if n > 0 {
		s.emit(s.buf[s.parts[0]:s.parts[n-1]])
	}
}

// foldSimple folds w into buf if it is ASCII and has one part, as most words
// do, and reports whether it is so.
func (s *scanner) foldSimple(w string) bool {
	if len(w) > maxWord {
		return false
	}
	s.buf = s.buf[:0]
	for i := range len(w) {
		c := w[i]
		switch {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
		case 'A' <= c && c <= 'Z' && i == 0:
			c += 'a' - 'A'
		default:
			return false
		}
		s.buf = append(s.buf, c)
	}
	return true
}

// foldParts folds w into buf and finds its parts. They end at characters that
// do not belong to words, such as an underscore, except the point and the comma
// between digits, and where an upper-case letter begins a word: after a
// lower-case letter, and before one in a sequence of upper-case letters.
func (s *scanner) foldParts(w string) {
	s.buf, s.parts = s.buf[:0], s.parts[:0]
	inPart := false
	cut := func() {
		if inPart {
			s.parts = append(s.parts, len(s.buf))
			inPart = false
		}
	}
	var before rune
	for i := 0; i < len(w) && len(s.buf) < maxWord; {
		r, size := utf8.DecodeRuneInString(w[i:])
		i += size
		folded := foldRune(r)
		switch {
		case folded < 0:
			continue
		case (r == '.' || r == ',') && unicode.IsDigit(before) && beginsWith(w[i:], unicode.IsDigit):
			if r == ',' { // 1,000 is 1000
				continue
			}
		case !isWordRune(r) && !(inPart && isInnerRune(r)):
			cut()
			s.buf = utf8.AppendRune(s.buf, folded)
			before = r
			continue
		case unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsUpper(before) && beginsWith(w[i:], unicode.IsLower)):
			cut()
		}
		if !inPart {
			s.parts = append(s.parts, len(s.buf))
			inPart = true
		}
		s.buf = utf8.AppendRune(s.buf, folded)
		before = r
	}
	cut()
}

func beginsWith(s string, is func(rune) bool) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return is(r)
}

func isASCIIAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// isWordRune reports whether r may begin a word. Pictographs, which are symbols
// of the category So, do.
func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return isASCIIAlnum(byte(r))
	}
	return unicode.In(r, unicode.L, unicode.N, unicode.So)
}

// isInnerRune reports whether r belongs to the word that it follows, though it
// begins none.
func isInnerRune(r rune) bool {
	return r == '\'' || r == '\u2019' || unicode.IsMark(r)
}
