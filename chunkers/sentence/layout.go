package sentence

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// isSpace reports whether r is white space: Unicode's White_Space, as
// [unicode.IsSpace] has it, and the byte order mark.
func isSpace(r rune) bool { return r == '\ufeff' || unicode.IsSpace(r) }

// trim returns the bounds of text[start:end] without the white space at its
// ends: start == end if there is nothing else.
func trim(text string, start, end int) (int, int) {
	start = end - len(strings.TrimLeftFunc(text[start:end], isSpace))
	return start, start + len(strings.TrimRightFunc(text[start:end], isSpace))
}

// breaks marks the bytes that a line break may begin with.
var breaks = [256]bool{'\n': true, '\r': true, 0xC2: true, 0xE2: true}

// lineAt returns where the line that begins at byte i of text ends, where the
// next one begins, and whether a paragraph separator is between them. Lines end
// at CR LF, LF, CR, U+0085 (next line), U+2028 (line separator) and U+2029
// (paragraph separator), and where the text does.
func lineAt(text string, i int) (end, next int, separator bool) {
	for ; i < len(text); i++ {
		c := text[i]
		if !breaks[c] {
			continue
		}
		switch {
		case c == '\n':
			return i, i + 1, false
		case c == '\r' && strings.HasPrefix(text[i:], "\r\n"):
			return i, i + 2, false
		case c == '\r':
			return i, i + 1, false
		case c == 0xC2 && strings.HasPrefix(text[i:], "\u0085"):
			return i, i + 2, false
		case c == 0xE2 && strings.HasPrefix(text[i:], "\u2028"):
			return i, i + 3, false
		case c == 0xE2 && strings.HasPrefix(text[i:], "\u2029"):
			return i, i + 3, true
		}
	}
	return i, i, false
}

// paragraphs yields the bounds, in bytes, of the paragraphs of text without the
// white space around them. Paragraphs are separated by lines of nothing but
// white space, and by U+2029.
func paragraphs(text string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		start, end := -1, -1 // of the paragraph so far
		for i := 0; i < len(text); {
			lineEnd, next, separator := lineAt(text, i)
			s, e := trim(text, i, lineEnd)
			if s < e {
				if start < 0 {
					start = s
				}
				end = e
			}
			if start >= 0 && (s == e || separator) {
				if !yield(start, end) {
					return
				}
				start = -1
			}
			i = next
		}
		if start >= 0 {
			yield(start, end)
		}
	}
}

// line is the bounds of a line, in bytes, without the white space around it.
type line struct{ start, end int }

// paragraph yields the sentences of the paragraph text[start:end]. It cuts it
// first into blocks of lines, between which a sentence certainly ends: see rule
// 2 of [Bounds]. It returns false if the consumer wants no more.
func (s *segmenter) paragraph(start, end int) bool {
	text := s.text[:end]
	s.caseless = !hasUpper(text[start:])
	if lineEnd, _, _ := lineAt(text, start); lineEnd == end {
		return s.block(start, end)
	}
	width := 0 // of the longest line, in characters
	for i := start; i < end; {
		lineEnd, next, _ := lineAt(text, i)
		width = max(width, utf8.RuneCountInString(text[i:lineEnd]))
		i = next
	}
	var last line
	block := start
	ordinal := 0 // of the last list item
	for i := start; i < end; {
		lineEnd, next, _ := lineAt(text, i)
		var l line
		l.start, l.end = trim(text, i, lineEnd)
		number := listNumber(text[l.start:l.end])
		ordered := number > 0 && (i == start || number == 1 || number == ordinal+1)
		if ordered {
			ordinal = number
		}
		if i > start && (ordered || !continues(text[last.start:last.end], text[l.start:l.end], width, !s.caseless)) {
			if !s.block(block, last.end) {
				return false
			}
			block = l.start
		}
		last, i = l, next
	}
	return s.block(block, end)
}

// continues reports whether the sentence at the end of line a may go on in line
// b, the next one of a paragraph whose longest line has width characters.
func continues(a, b string, width int, cased bool) bool {
	switch {
	case standsAlone(a) || standsAlone(b) || isListItem(b):
		return false
	case strings.HasPrefix(b, ">") && !strings.HasPrefix(a, ">"):
		return false
	case strings.HasSuffix(a, ","):
		return true
	}
	if strings.HasPrefix(b, ">") {
		b = strings.TrimLeft(b, "> ")
	}
	if r, _ := utf8.DecodeRuneInString(b); cased && unicode.IsLower(r) {
		return true
	}
	return utf8.RuneCountInString(a)+1+firstWordLen(b, width) > width
}

// firstWordLen returns the length, in characters, of the first word of a line: up
// to white space, or 1 where words are not separated. Lengths above most are
// not told apart.
func firstWordLen(line string, most int) int {
	n := 0
	for _, r := range line {
		if n > most || isSpace(r) {
			break
		}
		n++
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) {
			break
		}
	}
	return n
}

// standsAlone reports whether a line is a heading, a row of a table, the fence
// of a code block, or has no letter and no digit.
func standsAlone(line string) bool {
	if n := len(line) - len(strings.TrimLeft(line, "#")); n >= 1 && n <= 6 && strings.HasPrefix(line[n:], " ") {
		return true
	}
	return strings.HasPrefix(line, "|") || strings.Contains(line, " | ") || strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") ||
		!strings.ContainsFunc(line, isAlnum)
}

func isAlnum(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// isListItem reports whether a line begins with a bullet and a space.
func isListItem(line string) bool {
	r, n := utf8.DecodeRuneInString(line)
	return strings.ContainsRune("-*+•◦▪‣●", r) && n < len(line) && (line[n] == ' ' || line[n] == '\t')
}

// listNumber returns n if line begins as "n. " or "n) " do, with at most three
// digits, and 0 otherwise.
func listNumber(line string) int {
	n, i := 0, 0
	for ; i < len(line) && i < 4 && '0' <= line[i] && line[i] <= '9'; i++ {
		n = 10*n + int(line[i]-'0')
	}
	if i == 0 || i > 3 || i+1 >= len(line) || line[i] != '.' && line[i] != ')' || line[i+1] != ' ' {
		return 0
	}
	return n
}
