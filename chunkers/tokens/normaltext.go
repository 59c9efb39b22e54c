package tokens

import "unicode/utf8"

// normalText is a text while it is normalised, in UTF-8. With places, it knows
// which bytes of the original each of its bytes stands for. A change is made by
// going over the text once: keep, put, drop and insert, in order, say what becomes
// of each part of it, and commit makes that the text.
//
// What would make the text longer than any real rules do is left out: a few rules
// that double it could fill the memory.
type normalText struct {
	text     []byte
	from, to []int // of each byte; empty without places
	places   bool
	end      int // of the original
	most     int // bytes that text may have

	next             []byte
	nextFrom, nextTo []int

	char, lowered []byte // of one character, while it is changed
}

// maxGrowth is more than any normal form's: U+FDFA has 11 times the bytes in NFKC.
const maxGrowth = 64

// full reports whether the text has no room for another size bytes.
func (n *normalText) full(size int) bool { return len(n.next)+size > n.most }

// reset makes text, which begins at byte offset of the original, the text. Bytes
// that are not UTF-8 become U+FFFD.
func (n *normalText) reset(text string, offset int, places bool) {
	n.text, n.from, n.to = n.text[:0], n.from[:0], n.to[:0]
	n.places, n.end = places, offset+len(text)
	n.most = maxGrowth*len(text) + 4096
	if utf8.ValidString(text) && !places {
		n.text = append(n.text, text...)
		return
	}
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRuneInString(text[i:])
		n.text = utf8.AppendRune(n.text, c)
		for places && len(n.from) < len(n.text) {
			n.from, n.to = append(n.from, offset+i), append(n.to, offset+i+size)
		}
		i += size
	}
}

// keep leaves text[start:end] as it is.
func (n *normalText) keep(start, end int) {
	if n.full(end - start) {
		return
	}
	n.next = append(n.next, n.text[start:end]...)
	if n.places {
		n.nextFrom, n.nextTo = append(n.nextFrom, n.from[start:end]...), append(n.nextTo, n.to[start:end]...)
	}
}

// put replaces text[start:end], which is not empty. The first new character
// stands for it, the others for nothing after it.
func (n *normalText) put(new []byte, start, end int) {
	if len(new) == 0 {
		n.drop(start, end)
		return
	}
	if n.full(len(new)) {
		return
	}
	n.next = append(n.next, new...)
	if n.places {
		from, to := n.from[start], n.to[end-1]
		_, size := utf8.DecodeRune(new)
		for i := range new {
			if i == size {
				from = to
			}
			n.nextFrom, n.nextTo = append(n.nextFrom, from), append(n.nextTo, to)
		}
	}
}

// putByte replaces text[start:end], which is not empty, by an ASCII character.
func (n *normalText) putByte(new byte, start, end int) {
	if n.full(1) {
		return
	}
	n.next = append(n.next, new)
	if n.places {
		n.nextFrom, n.nextTo = append(n.nextFrom, n.from[start]), append(n.nextTo, n.to[end-1])
	}
}

// drop removes text[start:end], which is not empty. It becomes part of the
// character before it, unless that is white space or not there.
func (n *normalText) drop(start, end int) {
	if i := len(n.nextTo); n.places && i > 0 && n.next[i-1] != ' ' {
		n.nextTo[i-1] = n.to[end-1]
	}
}

// insert adds new before text[at:].
func (n *normalText) insert(new string, at int) {
	if n.full(len(new)) {
		return
	}
	n.next = append(n.next, new...)
	if n.places {
		place := n.end
		if at < len(n.from) {
			place = n.from[at]
		}
		for range len(new) {
			n.nextFrom, n.nextTo = append(n.nextFrom, place), append(n.nextTo, place)
		}
	}
}

// commit ends a change.
func (n *normalText) commit() {
	n.text, n.next = n.next, n.text[:0]
	n.from, n.nextFrom = n.nextFrom, n.from[:0]
	n.to, n.nextTo = n.nextTo, n.to[:0]
}
