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
	joinLen       int              // what two parts measure more when joined
	trim          bool
	pieces        []Piece

	// parts[head:] are the parts of the chunk under construction: neighbours
	// in the text. total is their length, joined.
	parts []part
	head  int
	total int

	// What was last learnt about white space, so that no run of it is walked
	// through twice. Both arguments only ever grow.
	textAt    int // the first character from some earlier start on that is not white space
	endAt     int // the last end given to textEnd,
	textEndAt int // and what came of it
}

// part is a part of the text that begins at start and ends where the next one
// begins.
type part struct{ start, len int }

const unmeasured = -1

// cut cuts text[start:end], whose length is known unless it is unmeasured.
func (r *recursion) cut(start, end, known int, separators []string) {
	sep, next := "", end // without a separator, one part
	var rest []string
	for i, s := range separators {
		if s == "" {
			r.cutChars(start, end)
			return
		}
		if at := strings.Index(r.text[start:end], s); at >= 0 {
			sep, next, rest = s, start+at, separators[i+1:]
			break
		}
	}
	for p := start; p < end && !r.done(); p = next {
		if next == p {
			next = r.find(sep, p+1, end)
		}
		n := known
		if n == unmeasured || next-p < end-start {
			n = r.measure(p, next)
		}
		switch {
		case n < r.size:
			r.add(p, n)
		case len(rest) > 0:
			r.flush(p)
			r.cut(p, next, n, rest)
		default:
			r.flush(p)
			r.emit(p, next)
		}
	}
	r.flush(end)
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
	for p, next := 0, 0; p < len(text) && !r.done(); p = next {
		next = skipChars(text, p, 1)
		if n := r.length(text[p:next]); n < r.size {
			r.add(start+p, n)
		} else {
			r.flush(start + p)
			r.emit(start+p, start+next)
		}
	}
	r.flush(end)
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

// add adds the part of length n that begins at start to the chunk under
// construction, or to the next one if it does not fit.
func (r *recursion) add(start, n int) {
	if r.head < len(r.parts) && r.total+r.joinLen+n > r.size {
		r.emit(r.parts[r.head].start, start)
		for r.head < len(r.parts) && (r.total > r.overlap || r.total > 0 && r.total+r.joinLen+n > r.size) {
			r.total -= r.parts[r.head].len
			r.head++
			if r.head < len(r.parts) {
				r.total -= r.joinLen
			}
		}
		if r.head >= len(r.parts)-r.head { // so that each part is moved but once or twice
			r.parts = r.parts[:copy(r.parts, r.parts[r.head:])]
			r.head = 0
		}
	}
	if r.head < len(r.parts) {
		r.total += r.joinLen
	}
	r.total += n
	r.parts = append(r.parts, part{start, n})
}

// flush ends the chunk under construction, if there is one, at end.
func (r *recursion) flush(end int) {
	if r.head < len(r.parts) {
		r.emit(r.parts[r.head].start, end)
	}
	r.parts, r.head, r.total = r.parts[:0], 0, 0
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
	r.pieces = append(r.pieces, Piece{Text: r.text[start:end], Start: start, End: end})
}

// textStart returns where the first character from i on begins that is not
// white space.
func (r *recursion) textStart(i int) int {
	if r.textAt >= i && r.textAt > 0 {
		return r.textAt
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
	r.textAt = i
	return i
}

// textEnd returns where the last character before end that is not white space
// ends.
func (r *recursion) textEnd(end int) int {
	i := end
	for i > r.endAt {
		c, n := rune(r.text[i-1]), 1
		if c >= utf8.RuneSelf {
			c, n = utf8.DecodeLastRuneInString(r.text[:i])
		}
		if !isWhiteSpace(c) {
			break
		}
		i -= n
	}
	if i <= r.endAt {
		i = r.textEndAt
	}
	r.endAt, r.textEndAt = end, i
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
