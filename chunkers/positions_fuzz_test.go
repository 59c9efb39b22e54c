package chunkers_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

// FuzzWithPositions takes chunks from a text by a recipe, each byte of which
// makes one chunk, and alters some of them.
func FuzzWithPositions(f *testing.F) {
	f.Add("one two three four five", []byte{0x10, 0x32, 0x54, 0x16, 0x91})
	f.Add("a\r\nb \u3000 c\nd a b", []byte{0x40, 0x41, 0x42, 0xc3, 0x44})
	f.Add(strings.Repeat("ab", 50), []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
	f.Add("日本語日本語、東京 \ufffd", []byte{0x22, 0xf3, 0x12})
	f.Fuzz(func(t *testing.T, text string, recipe []byte) {
		doc, err := spans.NewDocument("doc", text, nil)
		if err != nil {
			return
		}
		var chunks []string
		start := 0
		for _, r := range recipe {
			if start >= len(text) {
				break
			}
			end := min(len(text), start+1+int(r&15))
			chunk := text[start:end]
			switch r >> 4 {
			case 9:
				chunk = strings.Join(strings.Fields(chunk), "\n\n")
			case 10:
				chunk = strings.TrimSpace(chunk)
			case 11:
				chunk += "x"
			case 12:
				start = 0
			case 13:
				chunk = string(recipe)
			case 14:
				continue
			}
			chunks = append(chunks, chunk)
			start = max(start, end-int(r>>4&3))
		}
		pieces := placesOf(t, doc, chunks)
		if again := placesOf(t, doc, chunks); !slices.EqualFunc(pieces, again, func(p, q chunkers.Piece) bool {
			return p.Text == q.Text && p.Start == q.Start && p.End == q.End
		}) {
			t.Fatalf("%q in %q: got %v, then %v", chunks, text, pieces, again)
		}
		for i, p := range pieces {
			if p.Text != chunks[i] {
				t.Fatalf("piece %d: got text %q, want %q", i, p.Text, chunks[i])
			}
			if p.Start == -1 && p.End == -1 {
				continue
			}
			if _, err := doc.CharSpan(p.Start, p.End); err != nil || p.Start == p.End {
				t.Fatalf("%q in %q: piece %d is at [%d:%d]: %v", chunks, text, i, p.Start, p.End, err)
			}
			slice := text[p.Start:p.End]
			if slice != p.Text && strings.TrimSpace(foldSlowly(slice)) != strings.TrimSpace(foldSlowly(p.Text)) {
				t.Fatalf("%q in %q: piece %d is at [%d:%d], which is %q", chunks, text, i, p.Start, p.End, slice)
			}
		}
	})
}

// FuzzWithPositionsOfWindows cuts true windows. Together they cover the text,
// so that they must all find places that do, in order; and the windows that
// occur once must be where they were cut.
func FuzzWithPositionsOfWindows(f *testing.F) {
	f.Add("one two three one two three one two", uint8(5), uint8(2))
	f.Add(strings.Repeat("ab", 50), uint8(7), uint8(3))
	f.Add("日本語日本語、東京", uint8(3), uint8(1))
	f.Fuzz(func(t *testing.T, text string, size, overlap uint8) {
		doc, err := spans.NewDocument("doc", text, nil)
		if err != nil || overlap >= size || len(text) > 1<<14 {
			return
		}
		want := slidingWindows(text, int(size), int(overlap))
		got := placesOf(t, doc, textsOf(want))
		last, reach := -1, 0
		for i, p := range got {
			if p.Start <= last || strings.TrimSpace(text[min(reach, p.Start):p.Start]) != "" {
				t.Fatalf("windows %d/%d of %q: piece %d is at [%d:%d], after [%d:%d]", size, overlap, text, i, p.Start, p.End, last, reach)
			}
			last, reach = p.Start, p.End
			first := strings.Index(text, p.Text)
			_, width := utf8.DecodeRuneInString(text[first:])
			if once := !strings.Contains(text[first+width:], p.Text); once && p.Start != want[i].Start {
				t.Fatalf("windows %d/%d of %q: piece %d is at byte %d, want %d", size, overlap, text, i, p.Start, want[i].Start)
			}
		}
		if len(got) > 0 && strings.TrimSpace(text[reach:]) != "" {
			t.Fatalf("windows %d/%d of %q: nothing is at %q", size, overlap, text, text[reach:])
		}
	})
}
