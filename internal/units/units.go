// Package units holds the small parts of a text of which chunkers that look at
// meaning join neighbours.
package units

import (
	"fmt"
	"strings"
	"unicode"
)

// Range is a part of a text: the bytes [Start, End).
type Range struct{ Start, End int }

// Unit is a sentence or another small part of a text. It begins at byte Start,
// where the one before ends. Its text is the bytes [TextStart, TextEnd): without
// white space at the ends, and never empty.
type Unit struct{ Start, TextStart, TextEnd int }

// Of makes units of disjoint parts of a text, in order; that they are is
// checked. The units cover the text: what lies between two parts, and parts of
// white space alone, belong to the unit before, or to the first. There is none
// if every part is white space.
func Of(text string, parts []Range) ([]Unit, error) {
	var units []Unit
	covered := 0
	for i, p := range parts {
		if p.Start < covered || p.End < p.Start || p.End > len(text) {
			return nil, fmt.Errorf("unit %d is bytes [%d:%d]: want a part of what follows byte %d, in a text of %d bytes", i, p.Start, p.End, covered, len(text))
		}
		covered = p.End
		trimmed := strings.TrimLeftFunc(text[p.Start:p.End], isWhiteSpace)
		if trimmed == "" {
			continue
		}
		u := Unit{Start: p.Start, TextStart: p.End - len(trimmed)}
		u.TextEnd = u.TextStart + len(strings.TrimRightFunc(trimmed, isWhiteSpace))
		if len(units) == 0 {
			u.Start = 0
		}
		units = append(units, u)
	}
	return units, nil
}

// Covering returns the part of the text that units i to j-1 cover.
func Covering(text string, units []Unit, i, j int) Range {
	if j < len(units) {
		return Range{units[i].Start, units[j].Start}
	}
	return Range{units[i].Start, len(text)}
}

// Repair makes units of what the recursive splitter gives, which it changes in
// place:
//
//   - Parts that measure nothing may be in two chunks even without overlap, for
//     instance line ends where words are counted. They stay in the first.
//   - A full stop, question mark or exclamation mark that begins a chunk, torn
//     off its sentence because separators are kept at the start of what follows,
//     is moved to the chunk before.
//
// A part may be empty afterwards.
func Repair(text string, parts []Range) {
	for i := 1; i < len(parts); i++ {
		before, p := &parts[i-1], &parts[i]
		p.Start = max(p.Start, before.End)
		p.End = max(p.End, p.Start)
		if before.End == p.Start && p.Start < p.End && strings.IndexByte(".?!", text[p.Start]) >= 0 {
			before.End++
			p.Start++
		}
	}
}

func isWhiteSpace(r rune) bool { return r == '\ufeff' || unicode.IsSpace(r) }
