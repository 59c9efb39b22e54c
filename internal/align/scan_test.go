package align

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// randomText returns n letters of a small alphabet, which repeat themselves.
func randomText(rnd *rand.Rand, n int) string {
	b := make([]byte, 0, n)
	for len(b) < n {
		if k := rnd.IntN(len(b) + 1); rnd.IntN(4) == 0 {
			b = append(b, b[k:min(len(b), k+rnd.IntN(100))]...)
		} else {
			b = append(b, "ab "[rnd.IntN(3)])
		}
	}
	return string(b[:n])
}

// everywhere is where pattern begins in text, found the slow way.
func everywhere(text, pattern string) []int {
	var at []int
	for i := range text {
		if strings.HasPrefix(text[i:], pattern) {
			at = append(at, i)
		}
	}
	return at
}

func TestScanFindsEveryOccurrence(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		text := randomText(rnd, 1+rnd.IntN(600))
		quota := map[string]int{}
		var patterns []string
		for range rnd.IntN(30) {
			from := rnd.IntN(len(text))
			p := text[from : from+1+rnd.IntN(len(text)-from)]
			if rnd.IntN(5) == 0 {
				p += "x"
			}
			if quota[p] == 0 {
				quota[p] = 1 + rnd.IntN(20)
				patterns = append(patterns, p)
			}
		}
		limit := 1 + rnd.IntN(len(text))
		room := func(at int) int { return min(limit, len(text)-at) }
		got, want := map[string][]int{}, map[string][]int{}
		lastAt, lastLen := 0, 0
		err := scan(t.Context(), text, patterns, room, func(i, at int) bool {
			p := patterns[i]
			if at < lastAt || at == lastAt && len(p) >= lastLen && len(got) > 0 {
				t.Fatalf("visited %q at %d after a pattern of %d bytes at %d", p, at, lastLen, lastAt)
			}
			lastAt, lastLen = at, len(p)
			got[p] = append(got[p], at)
			return len(got[p]) < quota[p]
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range patterns {
			if at := everywhere(text, p); len(p) <= limit && len(at) > 0 {
				want[p] = at[:min(len(at), quota[p])]
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("text %q, patterns %q, limit %d: (-want +got)\n%s", text, patterns, limit, diff)
		}
	}
}

func TestScanStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := scan(ctx, "text", []string{"t"}, func(at int) int { return 4 - at }, func(int, int) bool {
		t.Error("visited a pattern in spite of a cancelled context")
		return true
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want context.Canceled", err)
	}
}

func TestOccurrences(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		text := randomText(rnd, rnd.IntN(60))
		pattern := randomText(rnd, 1+rnd.IntN(5))
		if got, want := slices.Collect(Occurrences(text, pattern)), everywhere(text, pattern); !slices.Equal(got, want) {
			t.Fatalf("occurrences of %q in %q: got %v, want %v", pattern, text, got, want)
		}
		length, at := LongestPrefix(text, pattern)
		wantLength := len(pattern)
		for !strings.Contains(text, pattern[:wantLength]) {
			wantLength--
		}
		if wantAt := strings.Index(text, pattern[:wantLength]); length != wantLength || at != wantAt {
			t.Fatalf("longest prefix of %q in %q: got %d at %d, want %d at %d", pattern, text, length, at, wantLength, wantAt)
		}
	}
	for range Occurrences("aaaa", "a") {
		break // must not panic
	}
}

func TestFold(t *testing.T) {
	tests := []struct{ text, folded string }{
		{"", ""},
		{"plain text", "plain text"},
		{"  two\t\r\nlines ", " two lines "},
		{"\u00a0é\u3000\u2003ü\n", " é ü "},
	}
	for _, tt := range tests {
		f := Fold(tt.text)
		if f.Text != tt.folded {
			t.Errorf("Fold(%q): got %q, want %q", tt.text, f.Text, tt.folded)
		}
	}
}

func TestFoldedOriginal(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for range 1000 {
		var b strings.Builder
		for range rnd.IntN(40) {
			b.WriteString([]string{"a", "é", "😀", " ", "\n", "\u3000", "\r\n"}[rnd.IntN(7)])
		}
		text := b.String()
		f := Fold(text)
		// Everything but white space has the same order in both.
		var folded, original []int
		for i, r := range f.Text {
			if r != ' ' {
				folded = append(folded, i)
			}
		}
		for i, r := range text {
			if !strings.ContainsRune(" \n\r\u3000", r) {
				original = append(original, i)
			}
		}
		for k, i := range folded {
			size := len("é")
			switch f.Text[i] {
			case 'a':
				size = 1
			case "😀"[0]:
				size = 4
			}
			if start, end := f.Original(i, i+size); start != original[k] || end != original[k]+size {
				t.Fatalf("byte %d of %q: got [%d:%d] of %q, want [%d:%d]", i, f.Text, start, end, text, original[k], original[k]+size)
			}
			if near := f.near(original[k]); near != i {
				t.Fatalf("byte %d of %q: got byte %d of %q, want %d", original[k], text, near, f.Text, i)
			}
		}
		last := 0
		for i := range len(text) + 1 {
			if near := f.near(i); near < last || near > len(f.Text) {
				t.Fatalf("byte %d of %q: got byte %d of %q, want at least %d", i, text, near, f.Text, last)
			} else {
				last = near
			}
		}
	}
}
