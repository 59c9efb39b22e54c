package sentence

import (
	"sort"
	"unicode/utf8"
)

// window is a part of a text, both ends of which move forwards, and what is
// counted in its words.
type window struct {
	counts
	scanner *wordScanner
	marks   []mark
	head    int   // marks before it have been left
	inside  int   // marks[head:inside] are in the window
	before  place // the last mark that was left, or the start of the text
	occurs  []int // how often each type is in the window
}

func newWindow(text string) *window { return &window{scanner: newWordScanner(text)} }

// readTo reads words until one begins after the character limit.
func (w *window) readTo(limit int) {
	for len(w.marks) == 0 || w.marks[len(w.marks)-1].char <= limit {
		m, ok := w.scanner.next()
		if !ok {
			return
		}
		if w.head > len(w.marks)/2 { // at most one move for each mark that was left
			w.marks = w.marks[:copy(w.marks, w.marks[w.head:])]
			w.inside -= w.head
			w.head = 0
		}
		w.marks = append(w.marks, m)
	}
}

// moveTo makes the characters [start, end) the window. Neither may decrease.
func (w *window) moveTo(start, end int) {
	for ; w.inside < len(w.marks) && w.marks[w.inside].end <= end; w.inside++ {
		w.enter(w.marks[w.inside])
	}
	for ; w.head < len(w.marks) && w.marks[w.head].char < start; w.head++ {
		w.before = w.marks[w.head].place
		if w.head < w.inside {
			w.leave(w.marks[w.head])
		} else {
			w.inside = w.head + 1
		}
	}
}

func (w *window) enter(m mark) {
	if m.kind == noWord {
		return
	}
	for m.kind >= len(w.occurs) {
		w.occurs = append(w.occurs, 0)
	}
	w.counts.words++
	switch w.occurs[m.kind]++; w.occurs[m.kind] {
	case 1:
		w.types++
		w.hapaxes++
	case 2:
		w.hapaxes--
	}
	if m.entity {
		w.entities++
	}
}

func (w *window) leave(m mark) {
	if m.kind == noWord {
		return
	}
	w.counts.words--
	switch w.occurs[m.kind]--; w.occurs[m.kind] {
	case 0:
		w.types--
		w.hapaxes--
	case 1:
		w.hapaxes++
	}
	if m.entity {
		w.entities--
	}
}

// after returns the index of the first mark after the character c.
func (w *window) after(c int) int {
	return w.head + sort.Search(len(w.marks)-w.head, func(i int) bool { return w.marks[w.head+i].char > c })
}

// lastStart returns the last place in [low, high], in characters, at which a
// chunk may end: high itself if no word begins there.
func (w *window) lastStart(low, high int) place {
	for i := w.after(high) - 1; i >= w.head && w.marks[i].char >= low; i-- {
		if w.marks[i].cut {
			return w.marks[i].place
		}
	}
	return w.placeOf(high)
}

// nearestStart returns the start of the word in [low, high], in characters,
// that is nearest to target, the earlier of two: target itself if there is none.
func (w *window) nearestStart(low, target, high int) place {
	split := w.after(target)
	best := -1
	for i := split - 1; i >= w.head && w.marks[i].char >= low; i-- {
		if w.marks[i].cut {
			best = i
			break
		}
	}
	for i := split; i < len(w.marks) && w.marks[i].char <= high; i++ {
		if w.marks[i].cut {
			if best < 0 || w.marks[i].char-target < target-w.marks[best].char {
				best = i
			}
			break
		}
	}
	if best >= 0 {
		return w.marks[best].place
	}
	return w.placeOf(target)
}

// placeOf returns the place of the character c, which is not before the start of
// the window, walking from the last mark before it.
func (w *window) placeOf(c int) place {
	p := w.before
	if i := w.after(c) - 1; i >= w.head {
		p = w.marks[i].place
	}
	text := w.scanner.text
	for ; p.char < c; p.char++ {
		_, n := utf8.DecodeRuneInString(text[p.byte:])
		p.byte += n
	}
	return p
}
