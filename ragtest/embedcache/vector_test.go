package embedcache

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/rageval/rageval/internal/float16"
)

func TestVectorRoundTrip(t *testing.T) {
	long := make([]float32, 5000)
	for i := range long {
		long[i] = float16.FromBits(uint16(i))
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
