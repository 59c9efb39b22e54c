package chunkers

import (
	"context"
	"strings"
	"unicode/utf8"
)

// recursion is one run of [RecursiveCharacter] over a text. All offsets are
// bytes of text; lengths are in the unit of length.
type recursion struct {
	ctx           context.Context
	err           error // the cause of ctx being done, once that was seen
	ticks         uint
	text          string
	ascii         bool // text is ASCII
	size, overlap int
	length        func(string) int // nil: characters
	keep          KeepSeparator
	trim          bool
	chunks        []byteRange

	// What two parts measure more when joined, where the text is being cut.
	joinLen int

	// The chunk under construction: where it begins, -1 if it has no part yet,
	// where its last part ends, and its length.
	start, end, total int

	// tail[head:] are the last parts of the chunk under construction, as many
	// as the next chunk may begin with. tailTotal is their length, joined.
	tail      []part
	head      int
	tailTotal int

	// What textStart and textEnd found last, so that no run of white space is
	// walked through twice. The offsets they are given never decrease.
	lastTextStart int
	lastEnd       int
	lastTextEnd   int // the answer for lastEnd
}

// part is where a part of the text begins, and its length.
type part struct{ start, len int }

const unmeasured = -1

// cut cuts text[start:end], whose length is known unless it is unmeasured.
func (r *recursion) cut(start, end, known int, separators []string) {
	sep, at := "", end // without a separator, one part
	var rest []string
	for i, s := range separators {
		if s == "" {
			r.cutChars(start, end)
			return
		}
		if first := strings.Index(r.text[start:end], s); first >= 0 {
			sep, at, rest = s, start+first, separators[i+1:]
			break
		}
	}
	if sep != "" && r.length == nil && r.overlap == 0 && r.keep == KeepStart {
		r.jump(start, end, sep, at, rest)
		return
	}
	joinLen := r.measureJoin(sep)
	for p := start; p < end && !r.done(); {
		if r.keep == KeepStart && at == p {
			at = r.find(sep, p+1, end)
		} else if at < p {
			at = r.find(sep, p, end)
		}
		partEnd, next := at, at
		if at < end && r.keep != KeepStart {
			next += len(sep)
			if r.keep == KeepEnd {
				partEnd = next
			}
		}
		if p < partEnd {
			n := known
			if n == unmeasured || partEnd-p < end-start {
				n = r.measure(p, partEnd)
			}
			r.joinLen = joinLen
			r.place(p, partEnd, n, rest)
		}
		p = next
	}
	r.flush()
}

// jump does what cut does with characters, without overlap, before each occurrence of
// sep, of which the first is at at: then a chunk ends at the last occurrence that is
// at most size characters after its start, so that most parts need not be looked
// at. A part that is exactly that long is a chunk in either way.
func (r *recursion) jump(start, end int, sep string, at int, rest []string) {
	for p := start; p < end && !r.done(); {
		full := end // where a chunk of size characters ends
		if r.ascii {
			full = min(end, p+min(r.size, end-p))
		} else if end-p > r.size {
			full = min(end, skipChars(r.text, p, r.size))
		}
		if full == end {
			r.emit(p, end)
			return
		}
		if at <= p {
			at = r.find(sep, p+1, end)
		}
		if at <= full {
			next := lastBefore(r.text[:end], sep, at, full)
			r.emit(p, next)
			p = next
			continue
		}
		if len(rest) > 0 {
			r.cut(p, at, unmeasured, rest)
		} else {
			r.emit(p, at)
		}
		p = at
	}
}

// lastBefore returns where the last sep in s begins that begins at last or before, or
// first, where one does.
func lastBefore(s, sep string, first, last int) int {
	for i := last + 1; i > first+1; {
		if i = lastByte(s[first:min(i, len(s))], sep[0]); i < 0 {
			break
		}
		i += first
		if len(sep) == 1 || strings.HasPrefix(s[i:], sep) {
			return i
		}
	}
	return first
}

// place adds the part text[start:end] of length n to the chunk under
// construction, or cuts it at the separators if it is too long.
func (r *recursion) place(start, end, n int, separators []string) {
	if n < r.size {
		r.add(start, end, n)
		return
	}
	r.flush()
	if len(separators) > 0 {
		r.cut(start, end, n, separators)
	} else {
		r.emit(start, end)
	}
}

// cutChars cuts text[start:end] between all characters.
func (r *recursion) cutChars(start, end int) {
	text := r.text[start:end]
	if r.length == nil { // parts of length 1 merge into windows
		for a, b := range charWindows(text, r.ascii, r.size, r.overlap) {
			if r.done() {
				return
			}
			r.emit(start+a, start+b)
		}
		return
	}
	r.joinLen = r.measureJoin("")
	for p, next := 0, 0; p < len(text) && !r.done(); p = next {
		next = skipChars(text, p, 1)
		r.place(start+p, start+next, r.length(text[p:next]), nil)
	}
	r.flush()
}

// find returns where the first sep in text[from:end] begins, end without one.
func (r *recursion) find(sep string, from, end int) int {
	if i := strings.Index(r.text[from:end], sep); i >= 0 {
		return from + i
	}
	return end
}

// measure returns the length of text[start:end], or the size that it certainly
// reaches.
func (r *recursion) measure(start, end int) int {
	switch {
	case r.length != nil:
		return r.length(r.text[start:end])
	case r.ascii:
		return end - start
	case (end-start)/utf8.UTFMax >= r.size:
		return r.size
	}
	return charCount(r.text[start:end])
}

// measureJoin returns the length of what stands between two parts that were cut
// at sep.
func (r *recursion) measureJoin(sep string) int {
	if r.keep != KeepNone {
		sep = ""
	}
	if r.length == nil {
		return charCount(sep)
	}
	return r.length(sep)
}

// add adds the part text[start:end] of length n to the chunk under construction,
// or to the next one if it does not fit.
func (r *recursion) add(start, end, n int) {
	if r.start >= 0 && r.total+r.joinLen+n > r.size {
		r.emit(r.start, r.end)
		for r.tailTotal > 0 && r.tailTotal+r.joinLen+n > r.size {
			r.popTail()
		}
		r.start, r.total = -1, r.tailTotal
		if r.head < len(r.tail) {
			r.start = r.tail[r.head].start
		}
	}
	if r.start < 0 {
		r.start = start
	} else {
		r.total += r.joinLen
	}
	r.end = end
	r.total += n
	r.pushTail(part{start, n})
}

func (r *recursion) pushTail(p part) {
	if p.len > r.overlap {
		r.tail, r.head, r.tailTotal = r.tail[:0], 0, 0
		return
	}
	if r.head < len(r.tail) {
		r.tailTotal += r.joinLen
	}
	if r.head > len(r.tail)/2 { // at most one move for each part that was popped
		r.tail, r.head = r.tail[:copy(r.tail, r.tail[r.head:])], 0
	}
	r.tail = append(r.tail, p)
	for r.tailTotal += p.len; r.tailTotal > r.overlap; {
		r.popTail()
	}
}

// popTail removes the first part of the tail, which must have one.
func (r *recursion) popTail() {
	r.tailTotal -= r.tail[r.head].len
	r.head++
	if r.head < len(r.tail) {
		r.tailTotal -= r.joinLen
	}
}

// flush ends the chunk under construction, if there is one.
func (r *recursion) flush() {
	if r.start >= 0 {
		r.emit(r.start, r.end)
	}
	r.start, r.total = -1, 0
	r.tail, r.head, r.tailTotal = r.tail[:0], 0, 0
}

// emit appends text[start:end] to the pieces unless it is white space.
func (r *recursion) emit(start, end int) {
	textStart := r.textStart(start)
	if textStart >= end {
		return
	}
	if r.trim {
		start, end = textStart, r.textEnd(end)
	}
	r.chunks = append(r.chunks, byteRange{start, end})
}

// textStart returns where the first character from i on begins that is not
// white space.
func (r *recursion) textStart(i int) int {
	if i < r.lastTextStart {
		return r.lastTextStart
	}
	for i < len(r.text) {
		c, n := rune(r.text[i]), 1
		if c >= utf8.RuneSelf {
			c, n = utf8.DecodeRuneInString(r.text[i:])
		}
		if !isWhiteSpace(c) {
			break
		}
		i += n
	}
	r.lastTextStart = i
	return i
}

// textEnd returns where the last character before end that is not white space
// ends.
func (r *recursion) textEnd(end int) int {
	i := end
	for i > r.lastEnd {
		c, n := rune(r.text[i-1]), 1
		if c >= utf8.RuneSelf {
			c, n = utf8.DecodeLastRuneInString(r.text[:i])
		}
		if !isWhiteSpace(c) {
			break
		}
		i -= n
	}
	if i <= r.lastEnd {
		i = r.lastTextEnd
	}
	r.lastEnd, r.lastTextEnd = end, i
	return i
}

// done reports whether the work must stop. It looks at the context before each
// call of a length that may be slow, and now and then without.
func (r *recursion) done() bool {
	r.ticks++
	if r.err == nil && (r.length != nil || r.ticks%256 == 0) && r.ctx.Err() != nil {
		r.err = context.Cause(r.ctx)
	}
	return r.err != nil
}
