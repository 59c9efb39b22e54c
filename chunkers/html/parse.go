package html

import (
	"context"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/rageval/rageval/internal/blocks"
)

// maxDepth is the number of blocks that may hold other blocks: an end tag is
// matched against all that are open.
const maxDepth = 64

// role is what an element means to the structure.
type role uint8

const (
	inline    role = iota
	block          // a block element that holds text or is only a boundary
	heading        // h1 to h6
	container      // kept whole: holds items or blocks
	item           // part of a container, ended by the next one
	pre            // preformatted
	dropped        // left out
	image          // content without text
	hidden         // neither content nor a boundary
)

func roleOf(tag atom.Atom) role {
	switch tag {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return heading
	case atom.Ul, atom.Ol, atom.Menu, atom.Dl, atom.Table, atom.Blockquote, atom.Figure:
		return container
	case atom.Li, atom.Dt, atom.Dd, atom.Tr, atom.Td, atom.Th, atom.Caption:
		return item
	case atom.Pre, atom.Xmp, atom.Listing, atom.Plaintext:
		return pre
	case atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Iframe,
		atom.Noembed, atom.Noframes, atom.Title:
		return dropped
	case atom.Img, atom.Svg, atom.Object, atom.Embed, atom.Video, atom.Audio, atom.Canvas, atom.Math:
		return image
	case atom.Meta, atom.Link, atom.Base:
		return hidden
	case atom.Html, atom.Head, atom.Body, atom.Main, atom.Article, atom.Section, atom.Header, atom.Footer, atom.Nav,
		atom.Aside, atom.Div, atom.P, atom.Hr, atom.Form, atom.Fieldset, atom.Legend, atom.Center,
		atom.Figcaption, atom.Details, atom.Summary, atom.Address, atom.Hgroup, atom.Dialog, atom.Search,
		atom.Thead, atom.Tbody, atom.Tfoot, atom.Colgroup, atom.Col, atom.Optgroup, atom.Option:
		return block
	}
	return inline
}

// holds reports whether an open element holds items with this tag.
func holds(open, tag atom.Atom) bool {
	switch tag {
	case atom.Li:
		return open == atom.Ul || open == atom.Ol || open == atom.Menu
	case atom.Dt, atom.Dd:
		return open == atom.Dl
	case atom.Td, atom.Th:
		return open == atom.Tr || open == atom.Table
	default: // a row, a caption or a group of rows
		return open == atom.Table
	}
}

// page is what parse found in a text. Its solids are tags, comments, elements
// left out and entities.
type page struct {
	blocks.Structure
	text  string
	marks []mark         // what the solids mean: as many
	alts  map[int]string // of images, by the indices of their solids
	pres  []blocks.Solid // preformatted text
}

// mark is what a solid means to the plain text: by default nothing.
type mark struct {
	separator separator // what it puts between what comes before and after it
	entity    bool
	image     bool
}

// open is an element whose block is not complete.
type open struct {
	tag      atom.Atom
	index    int  // of its block
	head     bool // of a table: in its thead; of a row: it was begun there
	th, td   bool // of a row: it has such cells
	rows     int  // of a table: those that are complete
	headRows int  // of a table: how many of them in a row are header rows, from the first on
}

// parsing is one run of parse.
type parsing struct {
	page
	pos   int // where the token begins
	stack []open
	start int  // where the next block begins; -1 if where its first text does
	leaf  int  // index of the block that text belongs to; -1 if text begins one
	level int  // of the heading that is open; 0 if none
	pre   int  // where the preformatted text that is open begins; -1 if none is
	svg   bool // an svg element is open, without a block within it
}

// parse finds the blocks of text. It returns the cause of ctx being done.
func parse(ctx context.Context, text string) (*page, error) {
	p := parsing{page: page{text: text}, start: -1, leaf: -1, pre: -1}
	tags := min(strings.Count(text, "<"), len(text)/len("<b>"))
	most := min(tags+strings.Count(text, "&"), len(text)/len("<b>"))
	p.Solids, p.marks = make([]blocks.Solid, 0, most), make([]mark, 0, most)
	p.Blocks = make([]blocks.Block, 0, tags/2)
	z := html.NewTokenizer(strings.NewReader(text))
	for tokens := 0; ; tokens++ {
		if tokens%1024 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		end := p.pos + len(z.Raw())
		switch kind {
		case html.TextToken:
			p.addText(end)
		case html.StartTagToken, html.SelfClosingTagToken:
			tag := tagOf(text[p.pos:end])
			r := roleOf(tag)
			if tag == atom.Title && p.svg {
				r = inline
			}
			if r == dropped {
				end = p.skip(z, tag, end)
			}
			if r == image {
				p.addAlt(z)
			}
			p.addStartTag(tag, r, end)
			p.svg = tag == atom.Svg && kind == html.StartTagToken || p.svg && (r == inline || r == image || r == dropped)
			p.addSolid(end, mark{separator: separatorOf(tag, r), image: r == image})
		case html.EndTagToken:
			tag := tagOf(text[p.pos:end])
			r := roleOf(tag)
			p.addEndTag(tag, r)
			p.svg = p.svg && tag != atom.Svg
			p.addSolid(end, mark{separator: separatorOf(tag, r)})
		default:
			p.addSolid(end, mark{})
		}
		p.pos = end
	}
	p.addText(len(text)) // what is left is an unfinished tag
	p.endLeaf()
	p.pop(0)
	if p.pre >= 0 {
		p.pres = append(p.pres, blocks.Solid{Start: p.pre, End: len(text)})
	}
	return &p.page, nil
}

// skip reads tokens until the element that was opened ends, and returns where.
func (p *parsing) skip(z *html.Tokenizer, tag atom.Atom, end int) int {
	for depth := 1; depth > 0; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return len(p.text)
		}
		end += len(z.Raw())
		if kind != html.StartTagToken && kind != html.EndTagToken {
			continue
		}
		if tagOf(p.text[end-len(z.Raw()):end]) != tag {
			continue
		}
		if kind == html.StartTagToken {
			depth++
		} else {
			depth--
		}
	}
	return end
}

// tagOf returns the name of the tag that raw is, 0 if it is not one that HTML
// has. [html.Tokenizer.TagName] would allocate.
func tagOf(raw string) atom.Atom {
	const longest = len("blockquote")
	name := strings.TrimPrefix(raw[1:], "/")
	var lower [longest]byte
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '>' || c == '/' || c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f':
			return atom.Lookup(lower[:i])
		case i == longest:
			return 0
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		}
		lower[i] = c
	}
	return 0
}

// addAlt notes the alternative text of the image whose tag was read.
func (p *parsing) addAlt(z *html.Tokenizer) {
	for {
		key, value, more := z.TagAttr()
		if string(key) == "alt" {
			if p.alts == nil {
				p.alts = map[int]string{}
			}
			p.alts[len(p.Solids)] = string(value)
			return
		}
		if !more {
			return
		}
	}
}

func (p *parsing) addSolid(end int, m mark) {
	p.Solids = append(p.Solids, blocks.Solid{Start: p.pos, End: end})
	p.marks = append(p.marks, m)
}

// addText adds the text up to end.
func (p *parsing) addText(end int) {
	text := p.text[p.pos:end]
	if p.leaf < 0 {
		if strings.TrimFunc(text, blocks.IsSpace) == "" {
			return
		}
		p.beginLeaf()
	}
	for i := 0; ; {
		n := strings.IndexByte(text[i:], '&')
		if n < 0 {
			return
		}
		i += n
		length := entityLength(text[i:])
		if length > 1 {
			p.Solids = append(p.Solids, blocks.Solid{Start: p.pos + i, End: p.pos + i + length})
			p.marks = append(p.marks, mark{entity: true})
		}
		i += length
	}
}

// entityLength returns the length of the entity at the start of text, which is
// '&': 1 if there is none.
func entityLength(text string) int {
	const longest = len("&CounterClockwiseContourIntegral;")
	for i := 1; i < min(len(text), longest); i++ {
		switch c := text[i]; {
		case c == ';':
			return i + 1
		case c != '#' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z'):
			return 1
		}
	}
	return 1
}

// beginLeaf begins the block that text at the position belongs to.
func (p *parsing) beginLeaf() {
	b := blocks.Block{Start: p.takeStart(), Level: uint8(p.level)}
	if b.Level > 0 {
		b.Title = int32(len(p.Titles))
		p.Titles = append(p.Titles, "")
	}
	if p.pre >= 0 {
		b.Kind = blocks.Lines
	}
	p.leaf = len(p.Blocks)
	p.Blocks = append(p.Blocks, b)
}

// takeStart returns where the block begins that begins now.
func (p *parsing) takeStart() int {
	start := p.start
	p.start = -1
	if start < 0 {
		return p.pos
	}
	return start
}

// endLeaf ends the block that text belongs to.
func (p *parsing) endLeaf() {
	if p.leaf < 0 {
		return
	}
	if b := p.Blocks[p.leaf]; b.Level > 0 {
		p.Titles[b.Title] = strings.Join(strings.FieldsFunc(p.plain(b.Start, p.pos), blocks.IsSpace), " ")
		p.level = 0
	}
	p.leaf = -1
}

// addStartTag adds a start tag, or an element that is left out, that ends at end.
func (p *parsing) addStartTag(tag atom.Atom, r role, end int) {
	if tag == atom.Head {
		r = dropped
	}
	switch r {
	case hidden:
		return
	case dropped:
		p.endLeaf()
		p.start = -1
		p.Blocks = append(p.Blocks, blocks.Block{Start: p.pos, Kind: blocks.Drop})
		for _, e := range p.stack {
			p.Blocks[e.index].Broken = true
		}
		return
	case inline, image:
		if p.leaf < 0 {
			if p.start < 0 {
				p.start = p.pos
			}
			if r == image {
				p.beginLeaf()
			}
		}
		return
	}
	p.endLeaf()
	if p.start < 0 {
		p.start = p.pos
	}
	switch r {
	case heading:
		p.level = int(tag.String()[1] - '0')
	case pre:
		if p.pre < 0 {
			p.pre = end
		}
	case container:
		p.push(tag)
	case item:
		if n := p.holder(tag); n >= 0 {
			p.pop(n + 1)
			p.push(tag)
			p.addToTable(tag)
		}
	case block:
		if tag == atom.Thead || tag == atom.Tbody || tag == atom.Tfoot {
			if n := p.holder(tag); n >= 0 {
				p.pop(n + 1)
				p.stack[n].head = tag == atom.Thead
			}
		}
	}
}

// addToTable notes what a row or cell that was pushed means to its table.
func (p *parsing) addToTable(tag atom.Atom) {
	if len(p.stack) < 2 || p.stack[len(p.stack)-1].tag != tag {
		return // nested too deep
	}
	e, parent := &p.stack[len(p.stack)-1], &p.stack[len(p.stack)-2]
	switch tag {
	case atom.Tr:
		e.head = parent.head
		if parent.rows > 0 && parent.headRows == parent.rows {
			p.Blocks[parent.index].Header = p.Blocks[e.index].Start
		}
	case atom.Th:
		parent.th = true
	case atom.Td:
		parent.td = true
	}
}

// addEndTag adds an end tag.
func (p *parsing) addEndTag(tag atom.Atom, r role) {
	switch r {
	case inline, image, hidden, dropped:
		return
	}
	p.endLeaf()
	p.start = -1
	switch r {
	case heading:
		p.level = 0
	case pre:
		if p.pre >= 0 {
			p.pres = append(p.pres, blocks.Solid{Start: p.pre, End: p.pos})
			p.pre = -1
		}
	case container, item:
		for n := len(p.stack) - 1; n >= 0; n-- {
			if p.stack[n].tag == tag {
				p.pop(n)
				break
			}
			if r == item && roleOf(p.stack[n].tag) == container || p.stack[n].tag == atom.Table {
				break
			}
		}
	case block:
		if tag == atom.Thead {
			if n := p.holder(tag); n >= 0 {
				p.pop(n + 1)
				p.stack[n].head = false
			}
		}
	}
}

// holder returns the index of the open element that holds items with this tag:
// -1 if there is none within the innermost other container.
func (p *parsing) holder(tag atom.Atom) int {
	for n := len(p.stack) - 1; n >= 0; n-- {
		if holds(p.stack[n].tag, tag) {
			return n
		}
		if roleOf(p.stack[n].tag) == container {
			break
		}
	}
	return -1
}

// push opens a block that holds others.
func (p *parsing) push(tag atom.Atom) {
	if len(p.stack) >= maxDepth {
		return
	}
	p.stack = append(p.stack, open{tag: tag, index: len(p.Blocks)})
	p.Blocks = append(p.Blocks, blocks.Block{Start: p.takeStart()})
}

// pop completes open blocks until n are left.
func (p *parsing) pop(n int) {
	for len(p.stack) > n {
		e := p.stack[len(p.stack)-1]
		p.stack = p.stack[:len(p.stack)-1]
		p.Blocks[e.index].Inner = len(p.Blocks) - e.index - 1
		if e.tag == atom.Tr && len(p.stack) > 0 {
			if table := &p.stack[len(p.stack)-1]; table.tag == atom.Table {
				if table.headRows == table.rows && (e.head || e.th && !e.td) {
					table.headRows++
				}
				table.rows++
			}
		}
	}
}
