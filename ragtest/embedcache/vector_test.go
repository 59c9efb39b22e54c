package embedcache

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestHalf(t *testing.T) {
	// Every binary16 number is its own nearest, and the middle between two
	// neighbours goes to the even one.
	for h := range uint16(halfInfinity) {
		low, high := fromHalf(h), fromHalf(h+1)
		if h+1 == halfInfinity {
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
			if got := toHalf(test.x); got != test.want {
				t.Fatalf("toHalf(%g): got %#04x, want %#04x", test.x, got, test.want)
			}
			if got := toHalf(-test.x); got != test.want|0x8000 {
				t.Fatalf("toHalf(%g): got %#04x, want %#04x", -test.x, got, test.want|0x8000)
			}
		}
	}
	for h, want := range map[uint16]float64{0: 0, 1: 0x1p-24, 0x3FF: 0x3FFp-24, 0x400: 0x1p-14, 0x3C00: 1, 0x3555: 0.333251953125, 0xC000: -2, 0x7BFF: 65504, 0x7C00: math.Inf(1)} {
		if got := fromHalf(h); float64(got) != want {
			t.Errorf("fromHalf(%#04x): got %v, want %v", h, got, want)
		}
	}
	if !math.Signbit(float64(fromHalf(0x8000))) || toHalf(float32(math.Copysign(0, -1))) != 0x8000 {
		t.Error("the sign of zero was lost")
	}
	if got := toHalf(math.MaxFloat32); got != halfInfinity {
		t.Errorf("toHalf of the largest float32: got %#04x, want infinity", got)
	}
	if got := toHalf(math.SmallestNonzeroFloat32); got != 0 {
		t.Errorf("toHalf of the smallest float32: got %#04x, want 0", got)
	}
}

func TestVectorRoundTrip(t *testing.T) {
	long := make([]float32, 5000)
	for i := range long {
		long[i] = fromHalf(uint16(i))
	}
	for _, half := range []bool{false, true} {
		for _, dim := range []int{1, 2, 3, 767, 768, 769, 1535, 1536, 1537, 5000} {
			stored, err := encodeVector(long[:dim], half)
			if err != nil {
				t.Fatal(err)
			}
			got, err := decodeVector(stored, header{dim: dim, float16: half})
			if err != nil || !slices.Equal(got, long[:dim]) {
				t.Errorf("dimension %d, float16 %v: got another vector, %v", dim, half, err)
			}
		}
	}
	v := []float32{0, float32(math.Copysign(0, -1)), 1, -1.0 / 3, math.MaxFloat32, math.SmallestNonzeroFloat32}
	stored, err := encodeVector(v, false)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeVector(stored, header{dim: len(v)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range v {
		if math.Float32bits(got[i]) != math.Float32bits(v[i]) {
			t.Errorf("component %d: got %v, want %v", i, got[i], v[i])
		}
	}
	if _, err := encodeVector([]float32{1, -70000}, true); err == nil || !strings.Contains(err.Error(), "component 1 = -70000, beyond the largest of float16, 65504") {
		t.Errorf("got error %v", err)
	}
	if v, err := decodeVector([]byte("AAAAAAAA\r\r\r"), header{dim: 2}); err == nil || err.Error() != "is not base64: it has line ends" {
		t.Errorf("decoding line ends: got %v, %v", v, err)
	}
	for bad, want := range map[string]string{
		"AAAA":    "has 4 digits, want 6",
		"AAAAAAA": "has 7 digits, want 6",
		"======":  "is not base64: illegal base64 data at input byte 0",
		"AADAfw":  "has component 0 = NaN: want a finite number",
		"AACA/w":  "has component 0 = -Inf: want a finite number",
	} {
		if v, err := decodeVector([]byte(bad), header{dim: 1}); err == nil || err.Error() != want {
			t.Errorf("decoding %q: got %v, %v, want the error %s", bad, v, err, want)
		}
	}
}
