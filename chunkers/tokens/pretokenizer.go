package tokens

import (
	"bytes"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// preTokenizer cuts the parts of a normalised text into smaller ones, none of
// them empty.
type preTokenizer interface {
	split(n *normalText, parts []part) []part
}

// preTokenizerJSON is a pre_tokenizer of a tokenizer.json.
type preTokenizerJSON struct {
	Type           string
	PreTokenizers  []preTokenizerJSON `json:"pretokenizers"` // of a Sequence
	Replacement    *string
	PrependScheme  *string `json:"prepend_scheme"`
	AddPrefixSpace *bool   `json:"add_prefix_space"` // where there is no PrependScheme
	Split          *bool   // nil: true
}

// steps appends how p, nil for not at all, cuts a text. Field is where it is.
func (p *preTokenizerJSON) steps(field string, steps []preTokenizer) ([]preTokenizer, error) {
	if p == nil {
		return steps, nil
	}
	switch p.Type {
	case "Sequence":
		var err error
		for i := range p.PreTokenizers {
			if steps, err = p.PreTokenizers[i].steps(fmt.Sprintf("%s.pretokenizers[%d]", field, i), steps); err != nil {
				return nil, err
			}
		}
		return steps, nil
	case "WhitespaceSplit":
		return append(steps, whitespaceSplit{}), nil
	case "Metaspace":
		m, err := p.metaspace()
		if err != nil {
			return nil, fmt.Errorf("%s%w", field, err)
		}
		return append(steps, m), nil
	}
	return nil, fmt.Errorf("%s.type is %q: want Metaspace, Sequence or WhitespaceSplit", field, p.Type)
}

func (p *preTokenizerJSON) metaspace() (preTokenizer, error) {
	m := metaspace{replacement: "\u2581", prepend: prependAlways, splits: p.Split == nil || *p.Split}
	if p.Replacement != nil {
		m.replacement = *p.Replacement
	}
	if utf8.RuneCountInString(m.replacement) != 1 {
		return nil, fmt.Errorf(".replacement is %q: want one character", m.replacement)
	}
	switch {
	case p.PrependScheme == nil && p.AddPrefixSpace != nil && !*p.AddPrefixSpace:
		m.prepend = prependNever
	case p.PrependScheme == nil:
	default:
		switch *p.PrependScheme {
		case "always":
		case "first":
			m.prepend = prependFirst
		case "never":
			m.prepend = prependNever
		default:
			return nil, fmt.Errorf(".prepend_scheme is %q: want always, first or never", *p.PrependScheme)
		}
	}
	return m, nil
}

// whitespaceSplit cuts at white space, which it leaves out.
type whitespaceSplit struct{}

func (whitespaceSplit) split(n *normalText, parts []part) []part {
	var words []part
	for _, p := range parts {
		start := p.start
		for i := p.start; i < p.end; {
			c, size := utf8.DecodeRune(n.text[i:p.end])
			if unicode.IsSpace(c) {
				if start < i {
					words = append(words, part{start, i})
				}
				start = i + size
			}
			i += size
		}
		if start < p.end {
			words = append(words, part{start, p.end})
		}
	}
	return words
}

// metaspace replaces spaces by a character that tokens can hold, has one before
// each part, or only before the one at the beginning of the original, and cuts
// before each.
type metaspace struct {
	replacement string
	prepend     prependScheme
	splits      bool
}

type prependScheme int

const (
	prependAlways prependScheme = iota
	prependFirst
	prependNever
)

func (m metaspace) split(n *normalText, parts []part) []part {
	mark := []byte(m.replacement)
	marked := parts[:0]
	for _, p := range parts {
		start := len(n.next)
		text := n.text[p.start:p.end]
		prepends := m.prepend == prependAlways || m.prepend == prependFirst && n.from[p.start] == 0
		if prepends && text[0] != ' ' && !bytes.HasPrefix(text, mark) {
			n.insert(m.replacement, p.start)
		}
		for at := p.start; at < p.end; {
			space := bytes.IndexByte(n.text[at:p.end], ' ')
			if space < 0 {
				n.keep(at, p.end)
				break
			}
			n.keep(at, at+space)
			at += space + 1
			n.put(mark, at-1, at)
		}
		if start < len(n.next) {
			marked = append(marked, part{start, len(n.next)})
		}
	}
	n.commit()
	if !m.splits {
		return marked
	}
	var words []part
	for _, p := range marked {
		start := p.start
		for {
			i := bytes.Index(n.text[start+1:p.end], mark)
			if i < 0 {
				break
			}
			words = append(words, part{start, start + 1 + i})
			start += 1 + i
		}
		words = append(words, part{start, p.end})
	}
	return words
}
