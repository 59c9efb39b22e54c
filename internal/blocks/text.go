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
// Text[end-1] is not white space. Where no word ends, a solid does, if the next
// word fits Size without it.
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
	switch at, _ := c.solidAt(limit); {
	case at <= low:
		return limit
	case at < limit:
		return at
	}
	if at := c.afterSolid(limit); at > low && c.fitsUntilSpace(at, end) {
		return at
	}
	return limit
}

// afterSolid returns where the last solid ends that ends at byte i or before: 0
// if there is none.
func (c *cutter) afterSolid(i int) int {
	n := sort.Search(len(c.solids), func(n int) bool { return c.solids[n].End > i })
	if n == 0 {
		return 0
	}
	return c.solids[n-1].End
}

// fitsUntilSpace reports whether text[start:end] has at most Size characters
// before the first solid or white space.
func (c *cutter) fitsUntilSpace(start, end int) bool {
	if n := sort.Search(len(c.solids), func(n int) bool { return c.solids[n].Start >= start }); n < len(c.solids) {
		end = min(end, c.solids[n].Start)
	}
	limit := c.skip(start, end, c.Size)
	return limit == end || strings.IndexFunc(c.text[start:limit], IsSpace) >= 0
}

// endsWord reports whether a word begins at byte i, or the text to cut ends.
func (c *cutter) endsWord(i, end int) bool {
	return i == end || c.trimEnd(0, i) < i && !c.cutsSolid(i)
}

// cutsSolid reports whether byte i is within a solid.
func (c *cutter) cutsSolid(i int) bool {
	start, _ := c.solidAt(i)
	return start < i
}

// touchesSolid reports whether a solid begins or ends at byte i.
func (c *cutter) touchesSolid(i int) bool {
	n := sort.Search(len(c.solids), func(n int) bool { return c.solids[n].End >= i })
	return n < len(c.solids) && (c.solids[n].Start == i || c.solids[n].End == i)
}

// nextWord returns how many characters the first word of text[start:end] has,
// with the solids in it; or, if it has more than Size, its first solid or what is
// before that.
func (c *cutter) nextWord(start, end int) int {
	n := sort.Search(len(c.solids), func(n int) bool { return c.solids[n].End > start })
	length, first := 0, 0
	for i := start; i < end && length <= c.Size; {
		stop, last := end, false
		if n < len(c.solids) && c.solids[n].Start <= i {
			stop = c.skip(i, min(end, c.solids[n].End), c.Size+1)
			n++
		} else {
			if n < len(c.solids) {
				stop = min(end, c.solids[n].Start)
			}
			stop = c.skip(i, stop, c.Size+1)
			if space := strings.IndexFunc(c.text[i:stop], IsSpace); space >= 0 {
				stop, last = i+space, true
			}
		}
		length += c.count(i, stop)
		if first == 0 {
			first = length
		}
		if last {
			break
		}
		i = stop
	}
	if length > c.Size {
		return first
	}
	return length
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
