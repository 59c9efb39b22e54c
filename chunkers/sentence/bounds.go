package sentence

import (
	"bytes"
	"iter"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// Bounds yields the bounds, in bytes, of the sentences of text, in order and
// without the white space around them. Everything else belongs to exactly one
// sentence.
//
// A sentence ends
//
//  1. where a paragraph does: at a line of white space alone, or at U+2029;
//  2. at a line break before or after a Markdown heading, a table row, a code
//     fence or a line without a letter or digit; before a list item; where a
//     block quote begins; and at any other line break that cannot be that of a
//     wrapped line, since the first word of the next line would have fitted
//     within the longest line of the paragraph, but not after a comma, nor
//     before a small letter in a paragraph that has a capital;
//  3. after more than 64 characters without a letter or digit, such as a row of
//     dots;
//  4. where Unicode's default rules (UAX #29, sentence boundaries) end one in
//     the text between, unless what they cut is joined as follows.
//
// Two sentences are joined if
//
//   - nothing but closing quotes and brackets is between the mark (. ! ?) and
//     what follows, as in .NET or a?b, unless that is an East Asian character;
//   - a small letter follows the mark, in a paragraph that has a capital;
//   - a Hiragana particle follows a closing bracket, as in 「行く。」と言った。;
//   - the full stop belongs to an abbreviation. Those that are always followed
//     by something (Dr., e.g., z. B., vs.) join whatever follows. Those that
//     stand before a number (Fig. 3, No. 7, S. 12) join a number, a Roman
//     numeral or a single letter. Those that may end a sentence (etc., U.S.,
//     Inc., usw.), initials (J.-C., J. Smith) and other single letters join
//     unless a word follows that commonly starts a sentence (The, However, Die,
//     Les);
//   - a number or letter with a full stop begins the sentence (2. First, a. So);
//   - the number is a German ordinal: before a month, after an article or
//     preposition, or in a date (am 3. Oktober, der 2. Weltkrieg, 3. 10. 2026).
//
// The lists of abbreviations and first words are those of English, German,
// French and Spanish. Decimal numbers (3.5) and addresses (example.com) are
// left whole by Unicode's rules. An ellipsis ends a sentence if a capital
// follows it.
//
// Unicode's rules are given the text of a block with some characters read as
// others: line breaks as spaces; an ellipsis (…) as three full stops; what
// directly follows the end of a sentence as a closing bracket, if it is a note
// mark such as [12] or ², Markdown's mark of emphasis, or a space before a
// closing guillemet (French); and what follows the end and white space as a
// capital, if it is a digit from 0 to 9 or, in a paragraph without any capital, a
// small letter from a to z. An opening bracket that directly follows the end of a
// sentence belongs to the next one.
//
// It takes time linear in the text, and memory for its longest paragraph. Text
// that is not valid UTF-8 is cut too, at places of no meaning. The documentation
// of the package says how often these rules err, and where.
func Bounds(text string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		s := segmenter{text: text, yield: yield}
		for start, end := range paragraphs(text) {
			if !s.paragraph(start, end) {
				return
			}
		}
	}
}

func hasUpper(text string) bool {
	for _, r := range text {
		if 'A' <= r && r <= 'Z' || r >= utf8.RuneSelf && unicode.IsUpper(r) {
			return true
		}
	}
	return false
}

// segmenter finds the sentences of a text, block by block.
type segmenter struct {
	text     string
	yield    func(start, end int) bool
	caseless bool   // the paragraph has no capital
	base     int    // where the block begins
	buf      []byte // the block, as the library is to read it: byte by byte in step with the text
	iter     *sentences.Iterator[[]byte]
}

// block yields the sentences of text[start:end]. It returns false if the
// consumer wants no more.
func (s *segmenter) block(start, end int) bool {
	s.base, s.buf = start, append(s.buf[:0], s.text[start:end]...)
	for i := 0; i < len(s.buf); {
		stop, next := s.rewrite(i)
		if !s.cut(i, stop, next) {
			return false
		}
		i = next
	}
	return true
}

// cut yields the sentences of buf[from:next], of which buf[to:next] is the rest
// of a long run.
func (s *segmenter) cut(from, to, next int) bool {
	if s.iter == nil {
		s.iter = sentences.FromBytes(nil)
	}
	s.iter.SetText(s.buf[from:to])
	start := from
	for s.iter.Next() {
		end := from + s.iter.End()
		if end == to {
			end = next
		} else if end = s.beforeOpeners(start, end); s.joins(start, end, to) {
			continue
		}
		if a, b := trim(s.text, s.base+start, s.base+end); a < b && !s.yield(a, b) {
			return false
		}
		start = end
	}
	return true
}

// maxRun is the number of characters that are neither letters nor digits which
// a sentence may have in a row: a bound on how far the library looks ahead,
// again and again, after a full stop.
const maxRun = 64

// What came before a character, to [segmenter.rewrite].
type position uint8

const (
	within   position = iota // anything else
	atEnd                    // the mark that ends a sentence, and closing quotes and brackets
	afterEnd                 // and white space, and opening quotes and brackets
)

// rewrite changes the buffer from byte i on as [Bounds] says it is read, up to
// the end or the first run of more than maxRun characters without a letter or
// digit. It returns where the library is to stop, and where it goes on.
func (s *segmenter) rewrite(i int) (stop, next int) {
	b := s.buf
	pos, run := within, 0
	for i < len(b) {
		c := b[i]
		if c < utf8.RuneSelf && asciiAlnum[c] {
			if pos != within {
				if pos == afterEnd && (c <= '9' || s.caseless && c >= 'a') {
					b[i] = 'A'
				}
				pos = within
			}
			if run > maxRun {
				return stop, i
			}
			run = 0
			i++
			continue
		}
		if c == ' ' && pos != atEnd && run < maxRun { // the commonest of the others
			run++
			i++
			continue
		}
		r, n := rune(c), 1
		if c >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(b[i:])
		}
		if pos == atEnd {
			if m := noteLen(b[i:]); m > 0 {
				n = m
				fill(b[i:i+n], ')')
				r = ')'
			}
		}
		switch {
		case r == '.' || r == '!' || r == '?':
			pos = atEnd
		case r == '…':
			fill(b[i:i+n], '.')
			pos = atEnd
		case isSpace(r):
			if c != ' ' && r != '\ufeff' {
				fill(b[i:i+n], ' ')
			}
			if pos == atEnd {
				pos = afterEnd
			}
		case isCloser(r) || isOpener(r):
		default:
			pos = within
		}
		switch {
		case r >= utf8.RuneSelf && isAlnum(r):
			if run > maxRun {
				return stop, i
			}
			run = 0
		case r < utf8.RuneSelf || !unicode.In(r, unicode.M, unicode.Cf):
			if run++; run == maxRun+1 {
				stop = i
			}
		}
		i += n
	}
	if run > maxRun {
		return stop, i
	}
	return i, i
}

var asciiAlnum = func() (is [256]bool) {
	for c := range 128 {
		is[c] = isAlnum(rune(c))
	}
	return is
}()

func fill(b []byte, c byte) {
	for i := range b {
		b[i] = c
	}
}

// noteLen returns the length of what b begins with if that belongs to the end
// of a sentence before it: see [Bounds].
func noteLen(b []byte) int {
	r, n := utf8.DecodeRune(b)
	switch {
	case r == '*' || r == '_' || r == '`' || r == '~':
		return n
	case r == '[':
		if i := bytes.IndexByte(b[:min(len(b), 6)], ']'); i > 1 && isNoteName(b[1:i]) {
			return i + 1
		}
	case r == '¹' || r == '²' || r == '³' || r == '⁰' || '⁴' <= r && r <= '⁹':
		return n
	case r == ' ' || r == '\u00a0' || r == '\u202f' || r == '\u2009':
		rest, ok := bytes.CutPrefix(b[n:], []byte("»"))
		if next, _ := utf8.DecodeRune(rest); ok && !isAlnum(next) {
			return n
		}
	}
	return 0
}

func isNoteName(b []byte) bool {
	for _, c := range b {
		if !asciiAlnum[c] {
			return false
		}
	}
	return true
}

// isOpener reports whether r is a quotation mark or bracket that may open.
func isOpener(r rune) bool {
	return r == '"' || r == '\'' || r >= utf8.RuneSelf && unicode.In(r, unicode.Ps, unicode.Pi, unicode.Pf) || r == '(' || r == '[' || r == '{'
}

// isCloser reports whether r is a quotation mark or bracket that may close.
func isCloser(r rune) bool {
	return r == '"' || r == '\'' || r == ')' || r == ']' || r == '}' || r >= utf8.RuneSelf && unicode.In(r, unicode.Pe, unicode.Pi, unicode.Pf) || r == '“'
}
