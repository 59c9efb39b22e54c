package spans

import (
	"fmt"
	"maps"
	"sort"
	"unicode/utf8"

	"github.com/rageval/rageval/internal/invalid"
)

// Document is a text with a name. It is immutable: metadata is copied in and
// out. Documents are made by [NewDocument] and compared with Equal.
type Document struct {
	id       DocumentID
	text     string
	metadata map[string]string
	chars    int
	// charsBefore[i] is the number of characters that begin before byte
	// (i+1)*blockLen. It is nil for ASCII text. With one int for every 256
	// bytes it takes 1/32 of the text's size.
	charsBefore []int
}

const blockLen = 256

// NewDocument returns the document with the given ID and text. The text must
// be valid UTF-8; the error names the offset of the first byte that is not.
// An empty ID is an error; an empty text is not. The metadata may be nil.
func NewDocument(id DocumentID, text string, metadata map[string]string) (*Document, error) {
	if id == "" {
		return nil, fmt.Errorf("document without an ID")
	}
	d := &Document{id: id, text: text, metadata: maps.Clone(metadata)}
	if i := firstNonASCII(text); i == len(text) {
		d.chars = len(text)
		return d, nil
	}
	if at := invalid.UTF8(text); at >= 0 {
		return nil, fmt.Errorf("document %s: invalid UTF-8 at byte %d", id, at)
	}
	d.charsBefore = make([]int, 0, len(text)/blockLen)
	for start := 0; start < len(text); start += blockLen {
		block := text[start:min(start+blockLen, len(text))]
		d.chars += runeStarts(block)
		if len(block) == blockLen {
			d.charsBefore = append(d.charsBefore, d.chars)
		}
	}
	return d, nil
}

func firstNonASCII(s string) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if load64(s, i)&highBits != 0 {
			break
		}
	}
	for i < len(s) && s[i] < utf8.RuneSelf {
		i++
	}
	return i
}

const highBits = 0x8080808080808080

// load64 reads eight bytes of s; the compiler makes one load of it.
func load64(s string, i int) uint64 {
	_ = s[i+7]
	return uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
		uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
}

// runeStarts counts the bytes of s that begin a character, eight at a time.
func runeStarts(s string) int {
	n := len(s)
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := load64(s, i)
		// A continuation byte is 10xxxxxx: bit 7 set, bit 6 clear.
		cont := w >> 7 & (^w >> 6) & 0x0101010101010101
		n -= int(cont * 0x0101010101010101 >> 56)
	}
	for ; i < len(s); i++ {
		if s[i]&0xC0 == 0x80 {
			n--
		}
	}
	return n
}

// ID returns the document's ID.
func (d *Document) ID() DocumentID { return d.id }

// Text returns the document's text.
func (d *Document) Text() string { return d.text }

// Len returns the length of the text in characters.
func (d *Document) Len() int { return d.chars }

// Metadata returns a copy of the document's metadata: nil if none was given.
func (d *Document) Metadata() map[string]string { return maps.Clone(d.metadata) }

// Equal reports whether both documents have the same ID, text and metadata.
// Nil and empty metadata are the same; a nil document equals only nil.
func (d *Document) Equal(e *Document) bool {
	if d == nil || e == nil {
		return d == e
	}
	return d.id == e.id && d.text == e.text && maps.Equal(d.metadata, e.metadata)
}

// CharSpan returns the span of the bytes [startByte, endByte) of the text. It
// is an error if they lie outside the text, are out of order, or if either
// lies inside the UTF-8 sequence of a character. It takes constant time.
func (d *Document) CharSpan(startByte, endByte int) (Span, error) {
	if startByte < 0 || endByte < startByte || endByte > len(d.text) {
		return Span{}, fmt.Errorf("bytes [%d:%d] of document %s: want 0 <= start <= end <= %d", startByte, endByte, d.id, len(d.text))
	}
	for _, b := range [2]int{startByte, endByte} {
		if b < len(d.text) && !utf8.RuneStart(d.text[b]) {
			return Span{}, fmt.Errorf("bytes [%d:%d] of document %s: byte %d is inside a UTF-8 sequence", startByte, endByte, d.id, b)
		}
	}
	start := d.charAt(startByte)
	if !d.ascii() && endByte-startByte <= blockLen {
		return Span{d.id, start, start + runeStarts(d.text[startByte:endByte])}, nil
	}
	return Span{d.id, start, d.charAt(endByte)}, nil
}

func (d *Document) ascii() bool { return d.chars == len(d.text) }

// charAt returns the number of characters that begin before byte b.
func (d *Document) charAt(b int) int {
	if d.ascii() {
		return b
	}
	block := b / blockLen
	n := 0
	if block > 0 {
		n = d.charsBefore[block-1]
	}
	return n + runeStarts(d.text[block*blockLen:b])
}

// ByteRange returns the bytes [start, end) of the text that s covers. It is an
// error if s belongs to another document or is not within the text. It takes
// O(log n) time for a text of n bytes, constant time for ASCII.
func (d *Document) ByteRange(s Span) (start, end int, err error) {
	if s.Doc != d.id {
		return 0, 0, fmt.Errorf("span %v: not of document %s", s, d.id)
	}
	if s.Start < 0 || s.End < s.Start || s.End > d.chars {
		return 0, 0, fmt.Errorf("span %v: want 0 <= start <= end <= %d, the length of the document", s, d.chars)
	}
	return d.byteAt(s.Start), d.byteAt(s.End), nil
}

// byteAt returns the byte at which character c begins.
func (d *Document) byteAt(c int) int {
	if c == d.chars {
		return len(d.text)
	}
	if d.ascii() {
		return c
	}
	// The last block before which at most c characters begin.
	block := sort.Search(len(d.charsBefore), func(i int) bool { return d.charsBefore[i] > c })
	b, n := block*blockLen, 0
	if block > 0 {
		n = d.charsBefore[block-1]
	}
	for {
		if utf8.RuneStart(d.text[b]) {
			if n == c {
				return b
			}
			n++
		}
		b++
	}
}

// Slice returns the text of s. Errors are those of [Document.ByteRange].
func (d *Document) Slice(s Span) (string, error) {
	start, end, err := d.ByteRange(s)
	if err != nil {
		return "", err
	}
	return d.text[start:end], nil
}
