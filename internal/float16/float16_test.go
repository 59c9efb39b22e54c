package float16

import (
	"math"
	"testing"
)

func TestBits(t *testing.T) {
	// Every binary16 number is its own nearest, and the middle between two
	// neighbours goes to the even one.
	for h := range uint16(Infinity) {
		low, high := FromBits(h), FromBits(h+1)
		if h+1 == Infinity {
			high = 65536 // where the next number would be
		}
		middle := float32((float64(low) + float64(high)) / 2)
		even := h + h&1
		for _, test := range []struct {
			x    float32
			want uint16
		}{
			{low, h},
			{math.Nextafter32(middle, 0), h},
			{middle, even},
			{math.Nextafter32(middle, high), h + 1},
		} {
			if got := Bits(test.x); got != test.want {
				t.Fatalf("Bits(%g): got %#04x, want %#04x", test.x, got, test.want)
			}
			if got := Bits(-test.x); got != test.want|0x8000 {
				t.Fatalf("Bits(%g): got %#04x, want %#04x", -test.x, got, test.want|0x8000)
			}
		}
	}
	for h, want := range map[uint16]float64{0: 0, 1: 0x1p-24, 0x3FF: 0x3FFp-24, 0x400: 0x1p-14, 0x3C00: 1, 0x3555: 0.333251953125, 0xC000: -2, 0x7BFF: 65504, 0x7C00: math.Inf(1)} {
		if got := FromBits(h); float64(got) != want {
			t.Errorf("FromBits(%#04x): got %v, want %v", h, got, want)
		}
	}
	if !math.Signbit(float64(FromBits(0x8000))) || Bits(float32(math.Copysign(0, -1))) != 0x8000 {
		t.Error("the sign of zero was lost")
	}
	if got := Bits(math.MaxFloat32); got != Infinity {
		t.Errorf("Bits of the largest float32: got %#04x, want infinity", got)
	}
	if got := Bits(math.SmallestNonzeroFloat32); got != 0 {
		t.Errorf("Bits of the smallest float32: got %#04x, want 0", got)
	}
}

func TestFromBitsOfNaN(t *testing.T) {
	for _, h := range []uint16{0x7C01, 0x7E00, 0xFFFF} {
		if x := FromBits(h); x == x {
			t.Errorf("FromBits(%#04x): got %v, want NaN", h, x)
		}
	}
}
