package chunkers

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestLastByte(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 20_000 {
		s := make([]byte, random.IntN(40))
		for i := range s {
			s[i] = byte(random.IntN(4)) * 0x7f // 0, 0x7f, 0xfe and 0x7d
		}
		c := byte(random.IntN(4)) * 0x7f
		if got, want := lastByte(string(s), c), strings.LastIndexByte(string(s), c); got != want {
			t.Fatalf("%x in %x: got %d, want %d", c, s, got, want)
		}
	}
}

func TestSkipChars(t *testing.T) {
	text := strings.Repeat("a é語😀 plain words ", 20)
	var starts []int
	for i := range text {
		starts = append(starts, i)
	}
	starts = append(starts, len(text))
	for i := range starts {
		for n := 0; i+n < len(starts); n += 1 + n/7 {
			if got, want := skipChars(text, starts[i], n), starts[i+n]; got != want {
				t.Fatalf("%d characters from %d on: got %d, want %d", n, starts[i], got, want)
			}
		}
	}
}
