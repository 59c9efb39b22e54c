package align

import (
	"cmp"
	"slices"
)

// leftovers gives the chunks without a place their first occurrence that
// overlaps no chunk with a place: first those that occur exactly.
func (a *aligner) leftovers() error {
	identity := func(start, end int) (int, int) { return start, end }
	err := a.fillGaps(a.text, func(p *pattern) *occurrences { return &p.exact }, identity, identity)
	if err != nil || a.folded == nil {
		return err
	}
	return a.fillGaps(a.folded.Text, func(p *pattern) *occurrences { return &p.loose },
		func(start, end int) (int, int) { return a.folded.near(start), a.folded.near(end) },
		a.folded.Original)
}

// fillGaps scans the text, or the folded text, for the chunks without a place.
// scanned and original convert bytes of the text to bytes of what is scanned
// and back.
func (a *aligner) fillGaps(text string, of func(*pattern) *occurrences, scanned, original func(start, end int) (int, int)) error {
	waiting := map[string][]int{} // chunks by what is looked for
	var patterns []string
	for i, k := range a.of {
		if k < 0 || a.found[i].Start >= 0 || len(of(a.patterns[k]).at) == 0 {
			continue
		}
		wanted := of(a.patterns[k]).text
		if waiting[wanted] == nil {
			patterns = append(patterns, wanted)
		}
		waiting[wanted] = append(waiting[wanted], i)
	}
	if len(patterns) == 0 {
		return nil
	}
	var taken []Place
	for _, p := range a.found {
		if p.Start >= 0 {
			start, end := scanned(p.Start, p.End)
			taken = append(taken, Place{start, end})
		}
	}
	slices.SortFunc(taken, func(p, q Place) int { return cmp.Compare(p.Start, q.Start) })
	reach := 0 // the greatest end of what is taken and starts at or before at
	room := func(at int) int {
		for len(taken) > 0 && taken[0].Start <= at {
			reach = max(reach, taken[0].End)
			taken = taken[1:]
		}
		switch {
		case at < reach:
			return 0
		case len(taken) > 0:
			return taken[0].Start - at
		}
		return len(text) - at
	}
	return scan(a.ctx, text, patterns, room, func(k, at int) bool {
		if at < reach {
			return true // a longer chunk has just been given this place
		}
		reach = at + len(patterns[k])
		start, end := original(at, reach)
		chunks := waiting[patterns[k]]
		a.found[chunks[0]] = Place{start, end}
		waiting[patterns[k]] = chunks[1:]
		return len(chunks) > 1
	})
}
