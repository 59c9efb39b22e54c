package embedcache

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/rageval/rageval/internal/exact"
	"github.com/rageval/rageval/internal/float16"
)

// encodeVector returns the base64 form of v, which has passed
// [exact.ValidateVector]. Components are little-endian.
func encodeVector(v []float32, half bool) ([]byte, error) {
	raw := make([]byte, 0, 4*len(v))
	for i, x := range v {
		if !half {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
			continue
		}
		h := float16.Bits(x)
		if h&0x7FFF == float16.Infinity {
			return nil, fmt.Errorf("has component %d = %v, beyond the largest of float16, 65504: store it as float32", i, x)
		}
		raw = binary.LittleEndian.AppendUint16(raw, h)
	}
	return base64.RawStdEncoding.AppendEncode(nil, raw), nil
}

// decodeVector returns a new vector. The error is a predicate, as that of
// [exact.ValidateVector] is.
func decodeVector(vector []byte, h header) ([]float32, error) {
	if len(vector) != h.vectorDigits() {
		return nil, fmt.Errorf("has %d digits, want %d", len(vector), h.vectorDigits())
	}
	v := make([]float32, 0, h.dim)
	size, finite := h.componentSize(), true
	var block [3072]byte // a multiple of 3, which four digits make, and of 4
	for len(vector) > 0 {
		digits := vector[:min(len(block)/3*4, len(vector))]
		vector = vector[len(digits):]
		n, err := base64.RawStdEncoding.Decode(block[:], digits)
		if err == nil && n != base64.RawStdEncoding.DecodedLen(len(digits)) {
			err = errors.New("it has line ends") // which the decoder passes over
		}
		if err != nil {
			return nil, fmt.Errorf("is not base64: %w", err)
		}
		for raw := block[:n]; len(raw) > 0; raw = raw[size:] {
			var x float32
			if h.float16 {
				x = float16.FromBits(binary.LittleEndian.Uint16(raw))
			} else {
				x = math.Float32frombits(binary.LittleEndian.Uint32(raw))
			}
			const infinite = 0x7F800000 // the exponent of infinity and NaN
			finite = finite && math.Float32bits(x)&infinite != infinite
			v = append(v, x)
		}
	}
	if !finite {
		return nil, exact.ValidateVector(v, h.dim)
	}
	return v, nil
}
