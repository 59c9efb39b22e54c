package quotation

import (
	"slices"
	"unicode/utf8"
)

// tolerance is how many characters there are for each edit that is allowed: one
// part in ten.
const tolerance = 10

// longest is how many characters a quotation may have for an approximate place: to
// align it takes time in proportion to its length and to that of the text.
const longest = 10_000

// match is bytes [start, end) of the folded text.
type match struct{ start, end, distance int }

// approximate returns the places of least distance at which the quotation, folded,
// occurs with at most one edit for each tolerance characters, and those whose
// distance is not clearly greater: see rivals.
//
// It tries few edits first, which need few and long seeds.
func (x *Index) approximate(quotation string, parts []Range) []match {
	chars := []rune(quotation)
	most := len(chars) / tolerance
	if most == 0 || len(chars) > longest {
		return nil
	}
	p := newPattern(chars)
	for edits := min(max(1, len(chars)/50), most); ; {
		found := x.within(p, chars, edits)
		found = slices.DeleteFunc(found, func(m match) bool {
			_, end := x.folded.original(x.text, 0, m.end)
			return !inside(parts, Range{end, end})
		})
		if len(found) == 0 {
			if edits == most {
				return nil
			}
			edits = min(2*edits, most)
			continue
		}
		best := slices.MinFunc(found, func(a, b match) int { return a.distance - b.distance }).distance
		if need := min(rivals(best), most); need > edits {
			edits = need
			continue
		}
		found = slices.DeleteFunc(found, func(m match) bool { return m.distance > rivals(best) })
		slices.Reverse(chars)
		backwards := newPattern(chars)
		for i := range found {
			x.findStart(backwards, &found[i])
		}
		return found
	}
}

// rivals returns the greatest distance at which another place makes one of the
// given distance doubtful.
func rivals(distance int) int { return distance + 1 + distance/4 }

// within returns the places with at most the given number of edits, without their
// starts. If the quotation is cut into one piece more than there are edits, one of
// them is intact: the suffix array finds where, and only there is it aligned. No
// character of the text is aligned twice, so that repetitive texts cost no more
// than a scan.
func (x *Index) within(p *pattern, chars []rune, edits int) []match {
	text := x.folded.text
	slack := edits
	if x.wide {
		slack *= utf8.UTFMax
	}
	const bucket = 64 // bytes
	hits := newMarks(len(text)/bucket + 1)
	length, offset := len(string(chars)), 0
	for i := range edits + 1 {
		piece := string(chars[i*len(chars)/(edits+1) : (i+1)*len(chars)/(edits+1)])
		for _, at := range x.seeds.Lookup([]byte(piece), -1) {
			hits.add(max(0, at-offset) / bucket)
		}
		offset += len(piece)
	}
	var found []match
	var best match
	visit := func(from int) func(end, distance int) {
		return func(end, distance int) {
			switch m := (match{end: from + end, distance: distance}); {
			case best.end == 0:
				best = m
			case m.end-best.end > length/2:
				found = append(found, best)
				best = m
			case m.distance < best.distance:
				best = m
			}
		}
	}
	for b := hits.next(0); b >= 0; {
		last := b
		next := hits.next(b + 1)
		for next >= 0 && (next-last)*bucket <= bucket+length+2*slack {
			last = next
			next = hits.next(next + 1)
		}
		from := max(0, b*bucket-slack)
		for from > 0 && !utf8.RuneStart(text[from]) {
			from--
		}
		to := min(len(text), (last+1)*bucket+length+slack)
		p.ends(text[from:to], edits, visit(from))
		b = next
	}
	if best.end > 0 {
		found = append(found, best)
	}
	return found
}

func (x *Index) findStart(backwards *pattern, m *match) {
	text := x.folded.text
	from := m.end
	for range backwards.length + m.distance {
		_, size := utf8.DecodeLastRuneInString(text[:from])
		from -= size
	}
	start, _ := backwards.bestSuffix(text[from:m.end])
	m.start = from + start
}
