package quotation

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

func sorted(list []int) []int {
	slices.Sort(list)
	return list
}

// margins returns what stands in the quotation before and after what folding keeps.
func margins(quotation string, f folded) (lead, tail string) {
	start, end := f.original(quotation, 0, len(f.text))
	return quotation[:start], quotation[end:]
}

// extend adds to bytes [start, end) the marks before and after it that stand in lead
// and tail too, in the same order, white space aside. The quotation may have further
// ones.
func (x *Index) extend(start, end int, lead, tail string) Range {
	at := start
	for lead != "" {
		mark, size := utf8.DecodeLastRuneInString(lead)
		lead = lead[:len(lead)-size]
		if unicode.IsSpace(mark) {
			continue
		}
		r, size := utf8.DecodeLastRuneInString(x.text[:at])
		for unicode.IsSpace(r) && size > 0 {
			at -= size
			r, size = utf8.DecodeLastRuneInString(x.text[:at])
		}
		if size == 0 || !sameMark(r, mark) {
			continue
		}
		at -= size
		start = at
	}
	at = end
	for _, mark := range tail {
		if unicode.IsSpace(mark) {
			continue
		}
		r, size := utf8.DecodeRuneInString(x.text[at:])
		for unicode.IsSpace(r) && size > 0 {
			at += size
			r, size = utf8.DecodeRuneInString(x.text[at:])
		}
		if size == 0 || !sameMark(r, mark) {
			continue
		}
		at += size
		end = at
	}
	return Range{start, end}
}

// sameMark reports whether two marks are equal, or both are quotation marks, or
// both are dashes.
func sameMark(a, b rune) bool {
	return a == b || isQuote(a) && isQuote(b) || unicode.Is(unicode.Pd, a) && unicode.Is(unicode.Pd, b)
}

func isQuote(r rune) bool { return unicode.In(r, unicode.Quotation_Mark) || r == '`' }

// wholeWords moves ends that cut a word to the nearer end of it, by at most a number
// of characters.
func (x *Index) wholeWords(start, end, most int) (int, int) {
	if before, after := x.cut(start); before > 0 && after > 0 {
		if before <= after && before <= most {
			start = x.back(start, before)
		} else if after <= most {
			next := x.forth(start, after)
			for next < end {
				r, size := utf8.DecodeRuneInString(x.text[next:])
				if isWord(r) {
					start = next
					break
				}
				next += size
			}
		}
	}
	if before, after := x.cut(end); before > 0 && after > 0 {
		if after <= before && after <= most {
			end = x.forth(end, after)
		} else if before <= most {
			next := x.back(end, before)
			for next > start {
				r, size := utf8.DecodeLastRuneInString(x.text[:next])
				if isWord(r) {
					end = next
					break
				}
				next -= size
			}
		}
	}
	return start, end
}

// cut returns how many characters of a word stand before and after a byte. Words
// longer than any that is moved count as no word.
func (x *Index) cut(at int) (before, after int) {
	const longest = 64
	for i := at; before < longest; before++ {
		r, size := utf8.DecodeLastRuneInString(x.text[:i])
		if !isWord(r) || size == 0 {
			break
		}
		i -= size
	}
	for i := at; after < longest; after++ {
		r, size := utf8.DecodeRuneInString(x.text[i:])
		if !isWord(r) || size == 0 {
			break
		}
		i += size
	}
	return before, after
}

func (x *Index) back(at, chars int) int {
	for range chars {
		_, size := utf8.DecodeLastRuneInString(x.text[:at])
		at -= size
	}
	return at
}

func (x *Index) forth(at, chars int) int {
	for range chars {
		_, size := utf8.DecodeRuneInString(x.text[at:])
		at += size
	}
	return at
}

// isWord reports whether r is part of a word in a script that has spaces between
// words.
func isWord(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) &&
		!unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
