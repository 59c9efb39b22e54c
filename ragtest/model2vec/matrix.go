package model2vec

import (
	"encoding/binary"
	"fmt"
	"math"
)

// matrix is rows of dim numbers, as they are in the file.
type matrix struct {
	tensor
	rows, dim int
	rowBytes  int
}

func newMatrix(t tensor) (matrix, error) {
	if len(t.shape) != 2 || t.shape[0] == 0 || t.shape[1] == 0 {
		return matrix{}, fmt.Errorf("shape is %d: want rows and columns", t.shape)
	}
	switch t.dtype {
	case "F64", "F32", "F16", "BF16", "I8":
	default:
		return matrix{}, fmt.Errorf("dtype is %q: want F64, F32, F16, BF16 or I8", t.dtype)
	}
	return matrix{tensor: t, rows: t.shape[0], dim: t.shape[1], rowBytes: len(t.data) / t.shape[0]}, nil
}

// add adds a row, times weight, to sum. Each product and each sum is rounded by
// itself, so that no machine fuses them.
func (m *matrix) add(sum []float64, row int, weight float64) {
	data := m.data[row*m.rowBytes:][:m.rowBytes]
	switch m.dtype {
	case "F64":
		for i := range sum {
			sum[i] += float64(weight * math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:])))
		}
	case "F32":
		for i := range sum {
			sum[i] += float64(weight * float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))))
		}
	case "F16":
		for i := range sum {
			sum[i] += float64(weight * float64(half(binary.LittleEndian.Uint16(data[2*i:]))))
		}
	case "BF16":
		for i := range sum {
			sum[i] += float64(weight * float64(bfloat(binary.LittleEndian.Uint16(data[2*i:]))))
		}
	case "I8":
		for i := range sum {
			sum[i] += float64(weight * float64(int8(data[i])))
		}
	}
}

// peaks returns the greatest magnitude in each row. A component that is NaN or
// infinite is an error.
func (m *matrix) peaks() ([]float64, error) {
	peaks := make([]float64, m.rows)
	values := make([]float64, m.dim)
	for row := range peaks {
		clear(values)
		m.add(values, row, 1)
		for i, x := range values {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, fmt.Errorf("row %d, column %d is %v: want a finite number", row, i, x)
			}
			peaks[row] = max(peaks[row], math.Abs(x))
		}
	}
	return peaks, nil
}

// half returns the number whose IEEE 754 binary16 bits are given.
func half(b uint16) float32 {
	sign, exponent, fraction := uint32(b>>15)<<31, uint32(b>>10)&0x1f, uint32(b)&0x3ff
	switch exponent {
	case 0: // fraction·2⁻²⁴
		return math.Float32frombits(sign | math.Float32bits(float32(fraction)*0x1p-24))
	case 0x1f: // infinite or NaN
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}

// bfloat returns the number whose bfloat16 bits are given: the upper half of
// those of a float32.
func bfloat(b uint16) float32 { return math.Float32frombits(uint32(b) << 16) }
