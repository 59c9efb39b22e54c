package blocks

import (
	"context"
	"unicode/utf8"
)

// part is a piece of the chunk under construction: a block, an inner block, a
// line, a sentence or a run of words, with the white space after it.
type part struct {
	start, end int
	length     int // characters
	section    int
	opens      bool // it is the heading of its section
	heading    bool // it is a heading, perhaps within another block
	table      byteRange
}

// byteRange is the bytes [start, end) of the text; empty if both are 0.
type byteRange struct{ start, end int }

// cutter is one run of Cut.
type cutter struct {
	Options
	ctx    context.Context
	err    error
	ticks  uint
	text   string
	ascii  bool
	blocks []Block
	titles []string
	solids []Solid
	chunks []Chunk

	sections []section
	section  int       // that of the block being placed
	opens    bool      // the block being placed is the heading of its section
	heading  bool      // the block being placed is a heading
	table    byteRange // the header rows of the table being placed

	// The chunk under construction: its parts, how many of them are also in the
	// chunk before, their length, and that of the white space after the last.
	parts  []part
	shared int
	length int
	trail  int
}

// Cut cuts text. The Start of the first block is where the first chunk may
// begin. It takes time linear in the text times the depth of the blocks, and
// returns the cause of ctx being done.
func Cut(ctx context.Context, text string, s Structure, options Options) ([]Chunk, error) {
	most := len(text) + 1 // what is greater makes no difference, but overflows
	c := cutter{
		Options:  Options{min(options.Size, most), min(options.MinSize, most), min(options.Overlap, most)},
		ctx:      ctx,
		text:     text,
		ascii:    utf8.RuneCountInString(text) == len(text),
		blocks:   s.Blocks,
		titles:   s.Titles,
		solids:   s.Solids,
		sections: []section{{}},
	}
	for i := 0; i < len(c.blocks) && !c.done(); {
		i = c.placeGroup(i)
	}
	c.flush()
	if c.err != nil {
		return nil, c.err
	}
	return c.chunks, nil
}

// done reports whether the work must stop.
func (c *cutter) done() bool {
	c.ticks++
	if c.err == nil && c.ticks%64 == 1 && c.ctx.Err() != nil {
		c.err = context.Cause(c.ctx)
	}
	return c.err != nil
}

// next returns the index of the first block after i that is not within it.
func (c *cutter) next(i int) int { return i + 1 + c.blocks[i].Inner }

// startOf returns where block i begins: the end of the text if there is none.
func (c *cutter) startOf(i int) int {
	if i < len(c.blocks) {
		return c.blocks[i].Start
	}
	return len(c.text)
}

// placeGroup places the group that begins with block i and returns the index of
// the block after it.
func (c *cutter) placeGroup(i int) int {
	first := c.blocks[i]
	if first.Kind == Drop {
		c.flush()
		return c.next(i)
	}
	n, broken := i, false
	for n < len(c.blocks) && c.blocks[n].Level > 0 {
		broken = broken || c.blocks[n].Broken
		n = c.next(n)
	}
	for n < len(c.blocks) && c.blocks[n].Level == 0 && c.blocks[n].Kind != Drop {
		broken = broken || c.blocks[n].Broken
		n = c.next(n)
	}
	if len(c.parts) > 0 && (broken || !c.joins(c.parentOf(first.Level), c.measure(first.Start, c.startOf(n)))) {
		c.flush()
	}
	for ; i < n && !c.done(); i = c.next(i) {
		if c.blocks[i].Level > 0 {
			c.openSection(c.blocks[i])
			c.opens = true
		}
		c.place(i, c.blocks[i].Start, c.startOf(c.next(i)))
		c.opens = false
	}
	return n
}

// joins reports whether a group of this length, whose first heading is under
// parent, continues the chunk under construction.
func (c *cutter) joins(parent, length int) bool {
	if length >= c.MinSize && c.length-c.trail >= c.MinSize || c.length+length > c.Size {
		return false
	}
	common := c.sections[c.parts[0].section].parent
	for parent > common { // a section has a greater index than its parent
		parent = c.sections[parent].parent
	}
	return parent == common
}

// parentOf returns the section that a heading of this level would be under.
func (c *cutter) parentOf(level uint8) int {
	s := c.section
	for s > 0 && c.sections[s].level >= level {
		s = c.sections[s].parent
	}
	return s
}

func (c *cutter) openSection(heading Block) {
	parent := c.parentOf(heading.Level)
	title := c.titles[heading.Title]
	if utf8.RuneCountInString(title) > maxTitle {
		title = string([]rune(title)[:maxTitle]) + "…"
	}
	path := c.sections[parent].path
	switch {
	case path == "":
		path = title
	case title != "":
		path += separator + title
	}
	c.section = len(c.sections)
	c.sections = append(c.sections, section{parent, heading.Level, path})
}

// place adds block i, which is text[start:end], to the chunk under construction
// or to the next one, in parts if it must be.
func (c *cutter) place(i, start, end int) {
	b := c.blocks[i]
	if b.Kind == Drop {
		c.flush()
		return
	}
	heading := c.heading
	if b.Level > 0 {
		c.heading = true
	}
	if b.Broken || !c.fit(start, end) {
		c.split(i, start, end)
	}
	c.heading = heading
}

// split places block i by its inner blocks, lines or sentences. The header rows
// of a table stay with its first row where both fit Size.
func (c *cutter) split(i, start, end int) {
	b := c.blocks[i]
	table := c.table
	isTable := b.Header > start && c.measure(start, b.Header) <= c.Size
	if isTable {
		c.table = byteRange{start, b.Header}
	}
	if b.Inner == 0 {
		if isTable {
			header := c.lineEnd(b.Header, end)
			if c.measure(start, header) > c.Size {
				header = b.Header
			}
			c.placeText(start, header, b.Kind)
			start = header
		}
		c.placeText(start, end, b.Kind)
	}
	for j, last := i+1, i+b.Inner; j <= last && !c.done(); {
		next := c.next(j)
		for isTable && next <= last && c.blocks[next].Start <= b.Header {
			next = c.next(next)
		}
		stop := end
		if next <= last {
			stop = c.blocks[next].Start
		}
		if isTable && !b.Broken && c.fit(start, stop) {
			j, start = next, stop
			continue
		}
		isTable = false
		if next = c.next(j); next <= last {
			stop = c.blocks[next].Start
		}
		c.place(j, start, stop)
		j, start = next, stop
	}
	c.table = table
}

// placeText places text[start:end], whole, by its lines or by its sentences.
func (c *cutter) placeText(start, end int, kind Kind) {
	if c.fit(start, end) {
		return
	}
	boundary := c.sentenceEnd
	if kind == Lines {
		boundary = c.lineEnd
	}
	for start < end && !c.done() {
		stop := boundary(start, end)
		if !c.fit(start, stop) {
			c.placeWords(start, stop)
		}
		start = stop
	}
}

// fit adds text[start:end] to the chunk under construction, or to the next one.
// It reports whether it fits, and if it does not, adds nothing.
func (c *cutter) fit(start, end int) bool {
	length := c.measure(start, end)
	if length > 0 && c.length+length > c.Size {
		if length > c.Size {
			return false
		}
		c.breakBefore(length)
		if c.length+length > c.Size {
			return false
		}
	}
	c.add(start, end, length)
	return true
}

// add adds text[start:end], which measures length without the white space at
// its end.
func (c *cutter) add(start, end, length int) {
	trail := c.count(c.trimEnd(start, end), end)
	if length == 0 {
		if len(c.parts) == 0 {
			return
		}
		c.parts[len(c.parts)-1].end = end
		c.parts[len(c.parts)-1].length += trail
		c.length += trail
		c.trail += trail
		return
	}
	c.parts = append(c.parts, part{
		start:   start,
		end:     end,
		length:  length + trail,
		section: c.section,
		opens:   c.opens,
		heading: c.heading,
		table:   c.table,
	})
	c.length += length + trail
	c.trail = trail
}

// placeWords places text[start:end], which has more characters than there is
// room for, in runs of words.
func (c *cutter) placeWords(start, end int) {
	c.breakBefore(c.Size)
	word := c.skipSpace(start, end)
	c.add(start, word, 0)
	start = word
	if c.length >= c.Size { // headings alone fill a chunk
		c.flush()
	}
	last := c.trimEnd(start, end)
	for before := start; !c.done(); {
		stop := c.wordsEnd(start, last, c.Size-c.length, before)
		if c.crowded(start, stop, last) {
			c.flush()
			continue
		}
		if stop == last {
			c.add(start, end, c.measure(start, last))
			return
		}
		c.add(start, stop, c.measure(start, stop))
		c.flush()
		overlap := c.Overlap
		if next := c.nextWord(stop, last); next <= c.Size {
			overlap = min(overlap, c.Size-next)
		}
		start, before = c.skipSpace(c.wordsStart(start, stop, overlap), last), stop
	}
}

// crowded reports whether the headings in the chunk under construction leave so
// little room for text[start:end] that it is cut at stop, within a solid, or,
// where they fill half of Size, within a word, and alone it would not be.
func (c *cutter) crowded(start, stop, end int) bool {
	if c.length == 0 || c.endsWord(stop, end) {
		return false
	}
	alone := c.wordsEnd(start, end, c.Size, start)
	if c.cutsSolid(stop) {
		return !c.cutsSolid(alone)
	}
	return 2*c.length > c.Size && (c.endsWord(alone, end) || c.touchesSolid(alone))
}

// breakBefore ends the chunk under construction before a part of this length,
// and begins the next one with the headings at its end or with the overlap. A
// chunk of nothing but headings it leaves as it is.
func (c *cutter) breakBefore(length int) {
	keep := len(c.parts)
	for keep > 0 && c.parts[keep-1].heading {
		keep--
	}
	if keep == 0 {
		return
	}
	c.emit(c.parts[:keep])
	c.shared = 0
	if keep == len(c.parts) {
		for shared := 0; keep > 1; keep-- { // the next chunk must begin after this one
			shared += c.parts[keep-1].length
			if shared > c.Overlap || shared+length > c.Size {
				break
			}
			c.shared++
		}
	}
	c.parts = c.parts[:copy(c.parts, c.parts[keep:])]
	c.length = 0
	for _, p := range c.parts {
		c.length += p.length
	}
	if len(c.parts) == 0 {
		c.trail = 0
	}
}

// flush ends the chunk under construction; the next one shares nothing with it.
func (c *cutter) flush() {
	c.emit(c.parts)
	c.parts, c.shared, c.length, c.trail = c.parts[:0], 0, 0, 0
}

// emit appends the chunk of these parts, the first of those under construction,
// unless it is white space or the end of the chunk before.
func (c *cutter) emit(parts []part) {
	if len(parts) <= c.shared {
		return
	}
	first, last := parts[0], parts[len(parts)-1]
	start, end := c.trimStart(first.start, last.end), c.trimEnd(first.start, last.end)
	if start >= end {
		return
	}
	under := -1
	for _, p := range parts {
		if !p.heading && p.section != under {
			under = c.common(under, p.section)
		}
	}
	if under < 0 {
		under = last.section
	}
	above := first.section
	if first.opens {
		above = c.sections[above].parent
	}
	chunk := Chunk{Start: start, End: end, Headings: c.sections[under].path, Above: c.sections[above].path}
	if first.start >= first.table.end {
		chunk.HeaderStart, chunk.HeaderEnd = first.table.start, c.trimEnd(first.table.start, first.table.end)
	}
	c.chunks = append(c.chunks, chunk)
}

// common returns the innermost section that a and b are in or under: b if a is
// negative.
func (c *cutter) common(a, b int) int {
	if a < 0 {
		return b
	}
	for a != b { // a section has a greater index than its parent
		if a > b {
			a = c.sections[a].parent
		} else {
			b = c.sections[b].parent
		}
	}
	return a
}
