package embedcache

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/rageval/rageval/internal/exact"
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
		h := toHalf(x)
		if h&0x7FFF == halfInfinity {
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
				x = fromHalf(binary.LittleEndian.Uint16(raw))
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

const halfInfinity = 0x7C00

// toHalf returns the IEEE 754 binary16 number nearest to x, which is not NaN: of
// two that are equally near the one whose last bit is 0, and infinity from 65520 on.
func toHalf(x float32) uint16 {
	bits := math.Float32bits(x)
	sign := uint16(bits >> 16 & 0x8000)
	exponent := int(bits>>23&0xFF) - 127
	switch {
	case exponent > 15:
		return sign | halfInfinity
	case exponent < -25: // less than half of the smallest
		return sign
	}
	significand := bits&0x7FFFFF | 0x800000
	drop := 13 // bits of the significand that binary16 has no room for
	var half uint32
	if exponent >= -14 {
		half = uint32(exponent+14) << 10 // the significand's leading bit adds 1 to the exponent
	} else { // subnormal: steps of 2^-24
		drop = -1 - exponent
	}
	half += significand >> drop
	rest, middle := significand&(1<<drop-1), uint32(1)<<(drop-1)
	if rest > middle || rest == middle && half&1 == 1 {
		half++ // may carry into the exponent, up to infinity, as it should
	}
	return sign | uint16(half)
}

// fromHalf returns the value of a binary16 number, exactly.
func fromHalf(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exponent, fraction := uint32(h>>10&0x1F), uint32(h&0x3FF)
	switch exponent {
	case 0: // zero or subnormal: steps of 2^-24
		return math.Float32frombits(sign | math.Float32bits(float32(fraction)*0x1p-24))
	case 0x1F:
		return math.Float32frombits(sign | 0x7F800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}
