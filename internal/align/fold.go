package align

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Folded is a text in which every run of Unicode white space is one space, and
// which knows where its bytes were in the original. It is immutable.
type Folded struct {
	Text string
	// A byte of Text at or after at[i] and before at[i+1] was shift[i] bytes
	// further on in the original.
	at, shift []int32
}

// Fold folds a text of less than 2 GiB. It takes one byte for each byte of the
// text, and eight for each run of white space that is not one byte long.
func Fold(text string) *Folded {
	f := &Folded{at: []int32{0}, shift: []int32{0}}
	var b strings.Builder
	b.Grow(len(text))
	copied := 0 // text[:copied] is in b
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !unicode.IsSpace(r) {
			i += size
			continue
		}
		b.WriteString(text[copied:i])
		b.WriteByte(' ')
		for i < len(text) {
			r, size := utf8.DecodeRuneInString(text[i:])
			if !unicode.IsSpace(r) {
				break
			}
			i += size
		}
		copied = i
		if shift := int32(i - b.Len()); shift != f.shift[len(f.shift)-1] {
			f.at = append(f.at, int32(b.Len()))
			f.shift = append(f.shift, shift)
		}
	}
	b.WriteString(text[copied:])
	f.Text = b.String()
	return f
}

// FoldPattern folds a text that is to be found in a [Folded]: as [Fold] does,
// without the white space at its ends.
func FoldPattern(text string) string { return strings.Join(strings.Fields(text), " ") }

// Original returns where the bytes [start, end) of f.Text were in the original,
// if they are not empty and neither begin nor end with white space.
func (f *Folded) Original(start, end int) (int, int) {
	return f.original(start), f.original(end-1) + 1
}

func (f *Folded) original(i int) int {
	k := sort.Search(len(f.at), func(k int) bool { return int(f.at[k]) > i }) - 1
	return i + int(f.shift[k])
}

// near returns the byte of f.Text that was at byte i of the original; within a
// run of white space, one at the ends of its space.
func (f *Folded) near(i int) int {
	k := sort.Search(len(f.at), func(k int) bool { return int(f.at[k]+f.shift[k]) > i })
	end := len(f.Text)
	if k < len(f.at) {
		end = int(f.at[k])
	}
	return min(i-int(f.shift[k-1]), end)
}
