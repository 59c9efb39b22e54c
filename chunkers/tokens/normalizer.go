package tokens

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normalizer changes a text before it is cut.
type normalizer interface{ normalize(n *normalText) }

// normalizerJSON is a normalizer of a tokenizer.json.
type normalizerJSON struct {
	Type               string
	CleanText          bool             `json:"clean_text"`
	HandleChineseChars bool             `json:"handle_chinese_chars"`
	StripAccents       *bool            `json:"strip_accents"` // nil: as Lowercase
	Lowercase          bool             // of a BertNormalizer
	Normalizers        []normalizerJSON // of a Sequence
	Pattern            struct{ String, Regex *string }
	Content            string
	StripLeft          bool `json:"strip_left"`
	StripRight         bool `json:"strip_right"`
	Prepend            string
	Charsmap           *string `json:"precompiled_charsmap"`
}

// bert returns the settings of a BertNormalizer.
func (n *normalizerJSON) bert() bertRules {
	r := bertRules{
		cleans:           n.CleanText,
		separatesChinese: n.HandleChineseChars,
		stripsAccents:    n.Lowercase,
		lowers:           n.Lowercase,
	}
	if n.StripAccents != nil {
		r.stripsAccents = *n.StripAccents
	}
	return r
}

// steps appends what n, nil for nothing, does to a text. Field is where it is.
func (n *normalizerJSON) steps(field string, steps []normalizer) ([]normalizer, error) {
	if n == nil {
		return steps, nil
	}
	var step normalizer
	var err error
	switch n.Type {
	case "Sequence":
		for i := range n.Normalizers {
			if steps, err = n.Normalizers[i].steps(fmt.Sprintf("%s.normalizers[%d]", field, i), steps); err != nil {
				return nil, err
			}
		}
		return steps, nil
	case "BertNormalizer":
		step = n.bert()
	case "Lowercase":
		step = bertRules{lowers: true}
	case "NFC":
		step = unicodeForm(norm.NFC)
	case "NFD":
		step = unicodeForm(norm.NFD)
	case "NFKC":
		step = unicodeForm(norm.NFKC)
	case "NFKD":
		step = unicodeForm(norm.NFKD)
	case "Nmt":
		step = nmt{}
	case "Precompiled":
		step, err = n.charsmap()
	case "Prepend":
		step = prepend(n.Prepend)
	case "Replace":
		step, err = n.replace()
	case "Strip":
		step = strip{n.StripLeft, n.StripRight}
	case "StripAccents":
		step = stripAccents{}
	default:
		return nil, fmt.Errorf("%s.type is %q: want BertNormalizer, Lowercase, NFC, NFD, NFKC, NFKD, Nmt, Precompiled, Prepend, Replace, Sequence, Strip or StripAccents", field, n.Type)
	}
	if err != nil {
		return nil, fmt.Errorf("%s%w", field, err)
	}
	return append(steps, step), nil
}

// normalize does what a BertNormalizer does, character by character.
func (r bertRules) normalize(n *normalText) {
	for i := 0; i < len(n.text); {
		c, size := utf8.DecodeRune(n.text[i:])
		end := i + size
		chinese := r.separatesChinese && isChinese(c)
		if chinese {
			n.insert(" ", i)
		}
		switch {
		case r.cleans && isRemoved(c):
			n.drop(i, end)
		case r.cleans && isSpace(c):
			n.putByte(' ', i, end)
		case c < utf8.RuneSelf:
			n.putByte(byte(r.lower(c)), i, end)
		default:
			r.normalizeRune(n, c, i, end)
		}
		if chinese {
			n.insert(" ", end)
		}
		i = end
	}
	n.commit()
}

// normalizeRune puts what becomes of c, which is not ASCII, for text[start:end].
func (r bertRules) normalizeRune(n *normalText, c rune, start, end int) {
	n.char = n.char[:0]
	if r.stripsAccents {
		n.char = appendNFD(n.char, c)
	} else {
		n.char = utf8.AppendRune(n.char, c)
	}
	n.lowered = n.lowered[:0]
	for all := n.char; len(all) > 0; {
		d, size := utf8.DecodeRune(all)
		all = all[size:]
		switch {
		case r.stripsAccents && isNonspacingMark(d):
		case d == 'İ' && r.lowers: // the only character that becomes two
			n.lowered = append(n.lowered, "i\u0307"...)
		default:
			n.lowered = utf8.AppendRune(n.lowered, r.lower(d))
		}
	}
	n.put(n.lowered, start, end)
}

// unicodeForm is one of Unicode's normalization forms.
type unicodeForm norm.Form

func (f unicodeForm) normalize(n *normalText) {
	form := norm.Form(f)
	if form.IsNormal(n.text) {
		return
	}
	var new []byte
	for start := 0; start < len(n.text); {
		end := start + form.NextBoundary(n.text[start:], true)
		new = form.Append(new[:0], n.text[start:end]...)
		if bytes.Equal(new, n.text[start:end]) {
			n.keep(start, end)
		} else {
			n.put(new, start, end)
		}
		start = end
	}
	n.commit()
}

// mapped replaces each character by what of returns: itself, a space, or -1 to
// remove it.
func (n *normalText) mapped(of func(c rune) rune) {
	for i := 0; i < len(n.text); {
		c, size := utf8.DecodeRune(n.text[i:])
		switch of(c) {
		case c:
			n.keep(i, i+size)
		case -1:
			n.drop(i, i+size)
		default:
			n.putByte(' ', i, i+size)
		}
		i += size
	}
	n.commit()
}

// nmt removes control characters and makes white space of others, as Hugging
// Face's normalizers/unicode.rs does after SentencePiece's nmt_nfkc rules.
type nmt struct{}

func (nmt) normalize(n *normalText) {
	n.mapped(func(c rune) rune {
		switch {
		case c >= 1 && c <= 8, c == 0xb, c >= 0xe && c <= 0x1f, c == 0x7f, c == 0x8f, c == 0x9f:
			return -1
		case c == '\t', c == '\n', c == '\f', c == '\r', c == 0x1680, c >= 0x200b && c <= 0x200f,
			c == 0x2028, c == 0x2029, c == 0x2581, c == 0xfeff, c == 0xfffd:
			return ' '
		}
		return c
	})
}

// stripAccents removes all marks.
type stripAccents struct{}

func (stripAccents) normalize(n *normalText) {
	n.mapped(func(c rune) rune {
		if unicode.Is(unicode.M, c) {
			return -1
		}
		return c
	})
}

// prepend begins every text that is not empty with a string.
type prepend string

func (p prepend) normalize(n *normalText) {
	if len(n.text) > 0 {
		n.insert(string(p), 0)
		n.keep(0, len(n.text))
		n.commit()
	}
}

// strip removes white space at the ends.
type strip struct{ left, right bool }

func (s strip) normalize(n *normalText) {
	start, end := 0, len(n.text)
	if s.left {
		start = end - len(bytes.TrimLeftFunc(n.text, unicode.IsSpace))
	}
	if s.right {
		end = start + len(bytes.TrimRightFunc(n.text[start:], unicode.IsSpace))
	}
	if start > 0 || end < len(n.text) {
		n.keep(start, end)
		n.commit()
	}
}

// replaceString, replaceRuns and replaceRegexp replace all that matches, from
// left to right.
type replaceString struct{ old, new string }

// replaceRuns replaces runs of at least so many characters: the regular
// expressions that files have most, and that cost most.
type replaceRuns struct {
	least int
	in    func(rune) bool
	new   string
}

type replaceRegexp struct {
	old *regexp.Regexp
	new string
}

func (r replaceString) normalize(n *normalText) {
	if !bytes.Contains(n.text, []byte(r.old)) {
		return
	}
	for start := 0; ; {
		i := bytes.Index(n.text[start:], []byte(r.old))
		if i < 0 {
			n.keep(start, len(n.text))
			break
		}
		n.keep(start, start+i)
		at := start + i
		start = at + len(r.old)
		if before, after, ok := strings.Cut(r.new, r.old); ok { // as in " . " for "."
			n.insert(before, at)
			n.keep(at, start)
			n.insert(after, start)
		} else {
			n.put([]byte(r.new), at, start)
		}
	}
	n.commit()
}

func (r replaceRuns) normalize(n *normalText) {
	kept, start, count := 0, 0, 0 // the end of the last run, the start of this one, its characters
	end := func(at int) {
		if count >= r.least {
			n.keep(kept, start)
			n.put([]byte(r.new), start, at)
			kept = at
		}
		count = 0
	}
	for i := 0; i < len(n.text); {
		c, size := rune(n.text[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRune(n.text[i:])
		}
		switch {
		case !r.in(c):
			end(i)
		case count == 0:
			start, count = i, 1
		default:
			count++
		}
		i += size
	}
	end(len(n.text))
	n.keep(kept, len(n.text))
	n.commit()
}

func (r replaceRegexp) normalize(n *normalText) {
	matches := r.old.FindAllIndex(n.text, -1)
	if len(matches) == 0 {
		return
	}
	start := 0
	for _, m := range matches {
		n.keep(start, m[0])
		if m[0] == m[1] {
			n.insert(r.new, m[0])
		} else {
			n.put([]byte(r.new), m[0], m[1])
		}
		start = m[1]
	}
	n.keep(start, len(n.text))
	n.commit()
}

func (n *normalizerJSON) replace() (normalizer, error) {
	switch {
	case n.Pattern.String != nil && *n.Pattern.String != "":
		return replaceString{*n.Pattern.String, n.Content}, nil
	case n.Pattern.Regex != nil:
		switch *n.Pattern.Regex {
		case `\s+`:
			return replaceRuns{1, unicode.IsSpace, n.Content}, nil
		case ` {2,}`:
			return replaceRuns{2, func(c rune) bool { return c == ' ' }, n.Content}, nil
		}
		pattern, err := unicodeClasses(*n.Pattern.Regex)
		if err != nil {
			return nil, fmt.Errorf(".pattern.Regex: %w", err)
		}
		re, err := regexp.Compile(pattern)
		if err != nil {
			return nil, fmt.Errorf(".pattern.Regex: %w", err)
		}
		return replaceRegexp{re, n.Content}, nil
	}
	return nil, errors.New(".pattern: want a String that is not empty, or a Regex")
}

// unicodeClasses makes the classes \s, \d and \w of a regular expression mean
// what they mean to Oniguruma: Unicode's. What cannot be written that way is an
// error.
func unicodeClasses(pattern string) (string, error) {
	classes := map[byte]string{
		's': `\t-\r\x{85}\p{Z}`,
		'd': `\p{Nd}`,
		'w': `\p{L}\p{M}\p{N}\p{Pc}`,
	}
	var b strings.Builder
	inClass := false
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		if c != '\\' || i+1 == len(pattern) {
			inClass = c == '[' || inClass && c != ']'
			b.WriteByte(c)
			continue
		}
		i++
		escaped := pattern[i]
		class, ok := classes[escaped|0x20]
		negated := escaped&0x20 == 0
		switch {
		case ok && negated && inClass, escaped|0x20 == 'b' && !inClass:
			return "", fmt.Errorf("%q at byte %d of %q is not supported", pattern[i-1:i+1], i-1, pattern)
		case !ok:
			b.WriteString(pattern[i-1 : i+1])
		case inClass:
			b.WriteString(class)
		case negated:
			b.WriteString("[^" + class + "]")
		default:
			b.WriteString("[" + class + "]")
		}
	}
	return b.String(), nil
}

func (n *normalizerJSON) charsmap() (normalizer, error) {
	if n.Charsmap == nil {
		return nil, errors.New(".precompiled_charsmap is missing")
	}
	content, err := base64.StdEncoding.DecodeString(*n.Charsmap)
	if err != nil {
		return nil, fmt.Errorf(".precompiled_charsmap: %w", err)
	}
	c, err := parseCharsmap(content)
	if err != nil {
		return nil, fmt.Errorf(".precompiled_charsmap: %w", err)
	}
	return c, nil
}
