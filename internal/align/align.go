// Package align finds where the chunks of a text come from, given only their
// texts, in the order in which a chunker returned them.
package align

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Place is the bytes [Start, End) of a text. Start and End are -1 where there
// is no place.
type Place struct{ Start, End int }

const (
	// maxPlaces is how many places a chunk is tried at. A chunk that occurs
	// more often is tried at those nearest to where it is expected.
	maxPlaces = 32
	// A chunk that occurs more often is looked for at most windowChunks times
	// its length, and at least minWindow bytes, from where it is expected.
	windowChunks = 8
	minWindow    = 2048
)

// Align returns the place of each chunk in the text.
//
//  1. A chunk may stand where it occurs exactly. If some chunk occurs nowhere,
//     the chunker may have changed white space, so every chunk may also stand
//     where it occurs up to white space: a run of Unicode white space in either
//     matches any run in the other, and at the ends of the chunk none at all.
//     Such a place neither begins nor ends with white space.
//  2. The expected overlap is the median overlap of neighbouring chunks that
//     occur once each; without such neighbours, the mean overlap of chunks that
//     cover the text.
//  3. Of chunks that occur more than maxPlaces times, the places nearest to the
//     expected one are kept: between the chunks before and after it that occur
//     once and in order, as far on as the lengths of the chunks between them
//     and a constant overlap say.
//  4. chain chooses among the places strictly increasing ones.
//  5. A chunk that fits no increasing sequence goes to its first occurrence that
//     overlaps nothing which has a place, else it has none. Neither has a chunk
//     that is empty, is not valid UTF-8, or occurs nowhere.
//
// The time is O(n + v + c·k·(log(c·k) + k)) for a text of n bytes and c chunks
// of v bytes in all, k = maxPlaces, and the memory O(n + v + c·k): neither
// depends on how repetitive the text is, except that comparing a long chunk
// with a text that repeats its beginning everywhere takes longer.
func Align(ctx context.Context, text string, chunks []string) ([]Place, error) {
	if len(text) > math.MaxInt32-1 {
		return nil, fmt.Errorf("aligning %d chunks: text of %d bytes: want less than 2 GiB", len(chunks), len(text))
	}
	a := &aligner{ctx: ctx, text: text, chunks: chunks, measure: newMeasure(text)}
	a.distinguish()
	if err := a.occurrences(); err != nil {
		return nil, err
	}
	if err := a.sequence(); err != nil {
		return nil, err
	}
	if err := a.leftovers(); err != nil {
		return nil, err
	}
	return a.found, nil
}

type aligner struct {
	ctx     context.Context
	text    string
	chunks  []string
	measure measure
	folded  *Folded // nil unless some chunk occurs nowhere exactly

	patterns []*pattern // distinct texts of chunks, in order of appearance
	of       []int      // of[i] is the index of chunks[i] in patterns, or -1
	found    []Place    // of each chunk
}

// pattern is a distinct text of chunks.
type pattern struct {
	exact, loose occurrences
	places       []place // if neither exact nor loose are too many
}

// occurrences are the places of a pattern in the text, or in the folded text.
type occurrences struct {
	text    string // of the pattern, folded for the folded text; "" if there is none
	at      []int32
	tooMany bool // there are more than the first maxPlaces, which at holds
}

func (a *aligner) distinguish() {
	a.of = make([]int, len(a.chunks))
	a.found = make([]Place, len(a.chunks))
	byText := make(map[string]int, len(a.chunks))
	for i, c := range a.chunks {
		a.found[i] = Place{-1, -1}
		k, ok := byText[c]
		if !ok {
			k = -1
			if c != "" && utf8.ValidString(c) {
				k = len(a.patterns)
				a.patterns = append(a.patterns, &pattern{exact: occurrences{text: c}})
			}
			byText[c] = k
		}
		a.of[i] = k
	}
}

func (a *aligner) occurrences() error {
	exact := make([]*occurrences, len(a.patterns))
	for i, p := range a.patterns {
		exact[i] = &p.exact
	}
	if err := findAll(a.ctx, a.text, exact); err != nil {
		return err
	}
	if slices.ContainsFunc(exact, func(o *occurrences) bool { return len(o.at) == 0 }) {
		a.folded = Fold(a.text)
		var loose []*occurrences
		for _, p := range a.patterns {
			if p.loose.text = FoldPattern(p.exact.text); p.loose.text != "" {
				loose = append(loose, &p.loose)
			}
		}
		if err := findAll(a.ctx, a.folded.Text, loose); err != nil {
			return err
		}
	}
	for _, p := range a.patterns {
		if !p.exact.tooMany && !p.loose.tooMany {
			p.places = a.merge(p, p.exact.at, p.loose.at)
		}
	}
	return nil
}

// findAll finds up to maxPlaces occurrences of each pattern. Several patterns
// may have one text.
func findAll(ctx context.Context, text string, patterns []*occurrences) error {
	var distinct []string
	var same [][]*occurrences
	index := make(map[string]int, len(patterns))
	for _, o := range patterns {
		k, ok := index[o.text]
		if !ok {
			k = len(distinct)
			index[o.text] = k
			distinct = append(distinct, o.text)
			same = append(same, nil)
		}
		same[k] = append(same[k], o)
	}
	room := func(at int) int { return len(text) - at }
	err := scan(ctx, text, distinct, room, func(k, at int) bool {
		o := same[k][0]
		if len(o.at) == maxPlaces {
			o.tooMany = true
			return false
		}
		o.at = append(o.at, int32(at))
		return true
	})
	for _, os := range same {
		for _, o := range os[1:] {
			o.at, o.tooMany = os[0].at, os[0].tooMany
		}
	}
	return err
}

// merge returns the places of exact and loose occurrences by start. Where a
// loose occurrence is an exact one but for white space at its ends, it is
// that one.
func (a *aligner) merge(p *pattern, exact, loose []int32) []place {
	places := make([]place, 0, max(len(exact), len(loose)))
	length := int32(len(p.exact.text))
	indent := length - int32(len(strings.TrimLeftFunc(p.exact.text, unicode.IsSpace)))
	for _, at := range loose {
		start, end := a.folded.Original(int(at), int(at)+len(p.loose.text))
		for len(exact) > 0 && exact[0]+indent <= int32(start) {
			places = append(places, place{start: exact[0], end: exact[0] + length})
			exact = exact[1:]
		}
		if n := len(places); n == 0 || places[n-1].loose || places[n-1].start+indent != int32(start) {
			places = append(places, place{int32(start), int32(end), true})
		}
	}
	for _, at := range exact {
		places = append(places, place{start: at, end: at + length})
	}
	return places
}

// sequence gives a place to the chunks that fit an increasing sequence.
func (a *aligner) sequence() error {
	var steps []int // chunks that occur
	for i, k := range a.of {
		if k >= 0 && len(a.patterns[k].exact.at)+len(a.patterns[k].loose.at) > 0 {
			steps = append(steps, i)
		}
	}
	overlap := a.expectedOverlap(steps)
	places := make([][]place, len(steps))
	var frequent []int // steps
	for s, i := range steps {
		places[s] = a.patterns[a.of[i]].places
		if places[s] == nil {
			frequent = append(frequent, s)
		}
	}
	if len(frequent) > 0 {
		expected, err := a.expectedStarts(steps, places, overlap)
		if err != nil {
			return err
		}
		var exactNear, looseNear [2 * maxPlaces]int32
		for n, s := range frequent {
			if n%256 == 0 && a.ctx.Err() != nil {
				return a.ctx.Err()
			}
			p := a.patterns[a.of[steps[s]]]
			exact, loose := p.exact.at, p.loose.at
			if p.exact.tooMany {
				exact = p.exact.near(a.text, expected(s), &exactNear)
			}
			if p.loose.tooMany {
				loose = p.loose.near(a.folded.Text, a.folded.near(expected(s)), &looseNear)
			}
			places[s] = a.merge(p, exact, loose)
		}
	}
	chosen, err := chain(a.ctx, a.measure, len(a.text), places, overlap)
	if err != nil {
		return err
	}
	for s, k := range chosen {
		if k >= 0 {
			a.found[steps[s]] = Place{int(places[s][k].start), int(places[s][k].end)}
		}
	}
	return nil
}

// expectedOverlap returns the median overlap, in characters, of neighbouring
// chunks that have one place each, or else the mean overlap of chunks that
// cover the text. Steps are the chunks that occur.
func (a *aligner) expectedOverlap(steps []int) int {
	var overlaps []int
	for s := 1; s < len(steps); s++ {
		p, q := a.patterns[a.of[steps[s-1]]].places, a.patterns[a.of[steps[s]]].places
		if len(p) == 1 && len(q) == 1 && p[0].start < q[0].start {
			overlaps = append(overlaps, max(0, a.measure.charsBefore(int(p[0].end))-a.measure.charsBefore(int(q[0].start))))
		}
	}
	if len(overlaps) > 0 {
		slices.Sort(overlaps)
		return overlaps[len(overlaps)/2]
	}
	if len(steps) < 2 {
		return 0
	}
	chars := 0
	for _, i := range steps {
		chars += utf8.RuneCountInString(a.chunks[i])
	}
	return max(0, (chars-a.measure.charsBefore(len(a.text)))/(len(steps)-1))
}

// expectedStarts returns a function from steps to the byte at which a chunk
// probably starts, judged by the chunks before and after it that have one place
// and are in sequence. If there is none, the first chunk is thought to begin
// the text, the last to end it.
func (a *aligner) expectedStarts(steps []int, places [][]place, overlap int) (func(step int) int, error) {
	single := make([][]place, len(steps))
	for s, ps := range places {
		if len(ps) == 1 {
			single[s] = ps
		}
	}
	chosen, err := chain(a.ctx, a.measure, len(a.text), single, overlap)
	if err != nil {
		return nil, err
	}
	type anchor struct{ step, start int }
	var anchors []anchor
	last := len(steps) - 1
	for s, k := range chosen {
		switch {
		case k >= 0:
			anchors = append(anchors, anchor{s, int(single[s][0].start)})
		case s == 0:
			anchors = append(anchors, anchor{0, 0})
		case s == last:
			anchors = append(anchors, anchor{last, max(anchors[len(anchors)-1].start, len(a.text)-len(a.chunks[steps[s]]))})
		}
	}
	before := make([]int, len(steps)) // total length of the chunks before
	for s := range last {
		before[s+1] = before[s] + len(a.chunks[steps[s]])
	}
	return func(step int) int {
		k, found := slices.BinarySearchFunc(anchors, step, func(x anchor, step int) int { return x.step - step })
		if found {
			return anchors[k].start
		}
		// The first and last steps are anchors, so this one is between two.
		l, r := anchors[k-1], anchors[k]
		overlaps := before[r.step] - before[l.step] - (r.start - l.start)
		x := l.start + before[step] - before[l.step] - overlaps*(step-l.step)/(r.step-l.step)
		return min(max(x, 0), len(a.text))
	}, nil
}

// near returns the occurrences nearest to byte at of the text, up to maxPlaces;
// the first of all if there is none within the window. It overwrites hits.
func (o *occurrences) near(text string, at int, hits *[2 * maxPlaces]int32) []int32 {
	window := max(minWindow, windowChunks*len(o.text))
	from, to := max(0, at-window), min(len(text), at+window+len(o.text))
	lo, hi := maxPlaces, maxPlaces // hits[lo:hi] are found
	for end := min(to, at+len(o.text)-1); lo > 0; {
		i := strings.LastIndex(text[from:max(from, end)], o.text)
		if i < 0 {
			break
		}
		lo--
		hits[lo] = int32(from + i)
		end = from + i + len(o.text) - 1
	}
	for start := min(at, to); hi < len(hits); {
		i := strings.Index(text[start:to], o.text)
		if i < 0 {
			break
		}
		hits[hi] = int32(start + i)
		hi++
		start += i + 1
	}
	if lo == hi {
		return o.at
	}
	for hi-lo > maxPlaces {
		if at-int(hits[lo]) > int(hits[hi-1])-at {
			lo++
		} else {
			hi--
		}
	}
	return hits[lo:hi]
}
