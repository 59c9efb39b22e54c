// Package float16 converts between float32 and IEEE 754 binary16.
package float16

import "math"

// Infinity is the bits of positive infinity.
const Infinity = 0x7C00

// Bits returns the binary16 number nearest to x, which is not NaN: of two that are
// equally near the one whose last bit is 0, and infinity from 65520 on.
func Bits(x float32) uint16 {
	bits := math.Float32bits(x)
	sign := uint16(bits >> 16 & 0x8000)
	exponent := int(bits>>23&0xFF) - 127
	switch {
	case exponent > 15:
		return sign | Infinity
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

// FromBits returns the value of a binary16 number, exactly.
func FromBits(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exponent, fraction := uint32(h>>10&0x1F), uint32(h&0x3FF)
	switch exponent {
	case 0: // zero or subnormal: steps of 2^-24
		return math.Float32frombits(sign | math.Float32bits(float32(fraction)*0x1p-24))
	case 0x1F: // infinite or NaN
		return math.Float32frombits(sign | 0x7F800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}
