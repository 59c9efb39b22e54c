package html

import (
	"sort"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/rageval/rageval/internal/blocks"
)

// separator is what comes between two texts. Of several, the greatest counts.
type separator byte

const (
	nothing  separator = iota
	space              // white space
	blockEnd           // of what a cell may hold: a line end
	cellEnd            // a tab
	rowEnd             // a line end
)

// separatorOf returns what a tag puts between the plain texts on both its sides.
func separatorOf(tag atom.Atom, r role) separator {
	switch tag {
	case atom.Td, atom.Th:
		return cellEnd
	case atom.Table, atom.Caption, atom.Thead, atom.Tbody, atom.Tfoot, atom.Tr:
		return rowEnd
	case atom.Br:
		return blockEnd
	case atom.Title: // of a drawing
		return space
	}
	switch r {
	case block, heading, container, item, pre:
		return blockEnd
	}
	return nothing
}

// within returns the index of the first solid that ends after byte start.
func (p *page) within(start int) int {
	return sort.Search(len(p.Solids), func(i int) bool { return p.Solids[i].End > start })
}

// hasContent reports whether text[start:end] has text that is not white space,
// or an image.
func (p *page) hasContent(start, end int) bool {
	for i := p.within(start); start < end; i++ {
		stop := end
		if i < len(p.Solids) {
			stop = min(end, p.Solids[i].Start)
		}
		if stop > start && strings.TrimLeftFunc(p.text[start:stop], blocks.IsSpace) != "" {
			return true
		}
		if stop == end {
			return false
		}
		solid, m := p.Solids[i], p.marks[i]
		if m.image && solid.Start >= start {
			return true
		}
		if m.entity && strings.TrimFunc(html.UnescapeString(p.text[solid.Start:solid.End]), blocks.IsSpace) != "" {
			return true
		}
		start = solid.End
	}
	return false
}

// plain returns the text of text[start:end] without markup.
func (p *page) plain(start, end int) string {
	var w plainWriter
	for i := p.within(start); start < end; i++ {
		for i < len(p.Solids) && p.marks[i].entity {
			i++
		}
		stop := end
		if i < len(p.Solids) {
			stop = min(end, p.Solids[i].Start)
		}
		if stop > start {
			text := html.UnescapeString(p.text[start:stop])
			if p.preformatted(start) {
				w.writePre(text)
			} else {
				w.write(text)
			}
		}
		if stop == end {
			break
		}
		if p.Solids[i].Start >= start {
			w.separate(p.marks[i].separator)
			if p.marks[i].image {
				w.write(p.alts[i])
			}
		}
		start = p.Solids[i].End
	}
	return strings.TrimRightFunc(w.b.String(), blocks.IsSpace)
}

// preformatted reports whether byte i is in preformatted text.
func (p *page) preformatted(i int) bool {
	n := sort.Search(len(p.pres), func(n int) bool { return p.pres[n].End > i })
	return n < len(p.pres) && p.pres[n].Start <= i
}

// plainWriter collects plain text.
type plainWriter struct {
	b         strings.Builder
	separator separator // what comes before the next text
}

// separate puts at least sep before the next text.
func (w *plainWriter) separate(sep separator) { w.separator = max(w.separator, sep) }

func (w *plainWriter) flush() {
	if w.separator != nothing && w.b.Len() > 0 {
		w.b.WriteByte(w.separator.char())
	}
	w.separator = nothing
}

func (s separator) char() byte { return "\x00 \n\t\n"[s] }

// write adds text with its white space as single spaces.
func (w *plainWriter) write(text string) {
	for text != "" {
		if n := strings.IndexFunc(text, blocks.IsSpace); n != 0 {
			if n < 0 {
				n = len(text)
			}
			w.flush()
			w.b.WriteString(strings.ToValidUTF8(text[:n], "\ufffd"))
			text = text[n:]
			continue
		}
		w.separate(space)
		text = strings.TrimLeftFunc(text, blocks.IsSpace)
	}
}

// writePre adds text with its white space.
func (w *plainWriter) writePre(text string) {
	if w.b.Len() == 0 || w.separator.char() == '\n' {
		text = strings.TrimPrefix(strings.TrimPrefix(text, "\r"), "\n")
	}
	if strings.TrimLeftFunc(text, blocks.IsSpace) == "" && w.b.Len() == 0 {
		return
	}
	w.flush()
	w.b.WriteString(strings.ToValidUTF8(text, "\ufffd"))
}
