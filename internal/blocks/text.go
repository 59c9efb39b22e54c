package blocks

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// count returns the number of characters of text[start:end].
func (c *cutter) count(start, end int) int {
	if c.ascii {
		return end - start
	}
	return utf8.RuneCountInString(c.text[start:end])
}

// measure returns the number of characters of text[start:end] without the white
// space at its end, or Size+1 if there are more than Size.
func (c *cutter) measure(start, end int) int {
	end = c.trimEnd(start, end)
	if (end-start)/utf8.UTFMax > c.Size {
		return c.Size + 1
	}
	return min(c.count(start, end), c.Size+1)
}

// trimEnd returns where the last character of text[start:end] ends that is not
// white space, start if there is none.
func (c *cutter) trimEnd(start, end int) int {
	for end > start {
		r, n := rune(c.text[end-1]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeLastRuneInString(c.text[start:end])
		}
		if !IsSpace(r) {
			break
		}
		end -= n
	}
	return end
}

// trimStart returns where the first line of text[start:end] begins that has
// more than white space: its indentation belongs to it.
func (c *cutter) trimStart(start, end int) int {
	line := start
	indented := start == 0 || c.text[start-1] == '\n'
	for start < end {
		r, n := utf8.DecodeRuneInString(c.text[start:end])
		if !IsSpace(r) {
			break
		}
		start += n
		if r != ' ' && r != '\t' {
			line, indented = start, true
		}
	}
	if indented {
		return line
	}
	return start
}

// lineEnd returns where the line that holds byte start ends, after its line end.
func (c *cutter) lineEnd(start, end int) int {
	for i := start; i < end; {
		n := strings.IndexByte(c.text[i:end], '\n')
		if n < 0 {
			break
		}
		i += n + 1
		if _, after := c.solidAt(i); after == i {
			return i
		}
	}
	return end
}

// sentenceEnd returns where the sentence that begins at start ends, after the
// white space that follows it. A sentence ends with '.', '!', '?' or '…', closing
// quotation marks, brackets and emphasis, and white space; or with '。', '！' or
// '？' and closing marks; or before an empty line.
func (c *cutter) sentenceEnd(start, end int) int {
	const none, needsSpace, ended = 0, 1, 2
	state := none
	for i := start; i < end; {
		r, n := rune(c.text[i]), 1
		if state == none && (r == ' ' || 'a' <= r|0x20 && r|0x20 <= 'z') {
			i++
			continue
		}
		if _, after := c.solidAt(i + 1); after != i+1 { // a tag does not count
			i = min(after, end)
			continue
		}
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(c.text[i:end])
		}
		switch {
		case IsSpace(r):
			stop := c.skipSpace(i, end)
			if state != none || strings.Count(c.text[i:stop], "\n") > 1 {
				if _, after := c.solidAt(stop); after == stop {
					return stop
				}
			}
			i, state = stop, none
			continue
		case strings.ContainsRune(".!?…", r):
			state = max(state, needsSpace)
		case strings.ContainsRune("。！？", r):
			state = ended
		case state != none && strings.ContainsRune("\"')]}*_~`’”»」』）】", r):
		case state == ended:
			if _, after := c.solidAt(i); after == i {
				return i
			}
			state = none
		default:
			state = none
		}
		i += n
	}
	return end
}

// wordsEnd returns where a run of words of text[start:end] ends that has at most
// room characters without the white space at its end, which belongs to it. It is
// after start and after before, which is less than room characters away.
// Text[end-1] is not white space.
func (c *cutter) wordsEnd(start, end, room, before int) int {
	limit := c.skip(start, end, room)
	if limit == end {
		return end
	}
	low := max(start, before)
	for i := limit; i > low; {
		if r, _ := utf8.DecodeRuneInString(c.text[i:end]); IsSpace(r) {
			at, after := c.solidAt(i)
			if after == i {
				return c.skipSpace(i, end)
			}
			i = at
			continue
		}
		_, n := utf8.DecodeLastRuneInString(c.text[low:i])
		i -= n
	}
	if at, _ := c.solidAt(limit); at > low {
		return at
	}
	return limit
}

// endsWord reports whether byte i is where a word begins, or the end of the
// text to cut.
func (c *cutter) endsWord(i, end int) bool {
	return i == end || c.trimEnd(0, i) < i
}

// wordsStart returns where the last words of text[start:end] begin that have at
// most n characters: end if there are none.
func (c *cutter) wordsStart(start, end, n int) int {
	word := end
	for i := end; i > start && n >= 0; n-- {
		r, size := utf8.DecodeLastRuneInString(c.text[start:i])
		if IsSpace(r) {
			if _, after := c.solidAt(i); after == i {
				word = i
			}
		}
		i -= size
	}
	return word
}

// skipSpace returns where the white space at the start of text[start:end] ends.
func (c *cutter) skipSpace(start, end int) int {
	return end - len(strings.TrimLeftFunc(c.text[start:end], IsSpace))
}

// skip returns where the n-th character after start begins, end if there are
// fewer.
func (c *cutter) skip(start, end, n int) int {
	if c.ascii {
		return start + min(n, end-start)
	}
	for ; n > 0 && start < end; n-- {
		_, size := utf8.DecodeRuneInString(c.text[start:end])
		start += size
	}
	return start
}

// solidAt returns the bounds of the solid that byte i is within: i and i if it
// may be cut there.
func (c *cutter) solidAt(i int) (start, end int) {
	if len(c.solids) == 0 {
		return i, i
	}
	n := sort.Search(len(c.solids), func(n int) bool { return c.solids[n].End > i })
	if n < len(c.solids) && c.solids[n].Start < i {
		return c.solids[n].Start, c.solids[n].End
	}
	return i, i
}
