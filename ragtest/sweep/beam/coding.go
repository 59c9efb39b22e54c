package beam

import (
	"encoding/binary"
	"errors"
	"math"
)

// writer appends values to a byte string, of which [reader] reads them in the same
// order.
type writer struct{ data []byte }

func (w *writer) number(n int) { w.data = binary.AppendVarint(w.data, int64(n)) }

func (w *writer) float32(x float32) {
	w.data = binary.BigEndian.AppendUint32(w.data, math.Float32bits(x))
}

func (w *writer) text(s string) {
	w.data = append(binary.AppendUvarint(w.data, uint64(len(s))), s...)
}

func (w *writer) place(p place) {
	w.number(p.file)
	w.number(p.offset)
}

// reader reads what a [writer] wrote. The first error stays.
type reader struct {
	data []byte
	err  error
}

var errCutShort = errors.New("decoding an element: it is cut short or damaged")

func (r *reader) skip(n int) {
	if n <= 0 || r.err != nil {
		r.err, r.data = errCutShort, nil
		return
	}
	r.data = r.data[n:]
}

func (r *reader) number() int {
	x, n := binary.Varint(r.data)
	r.skip(n)
	return int(x)
}

// count reads the length of a list whose elements take at least one byte each.
func (r *reader) count() int {
	n := r.number()
	if n < 0 || n > len(r.data) {
		r.err = errCutShort
		return 0
	}
	return n
}

func (r *reader) float32() float32 {
	if len(r.data) < 4 {
		r.skip(0)
		return 0
	}
	x := math.Float32frombits(binary.BigEndian.Uint32(r.data))
	r.skip(4)
	return x
}

func (r *reader) text() string {
	length, n := binary.Uvarint(r.data)
	r.skip(n)
	if length > uint64(len(r.data)) {
		r.err = errCutShort
		return ""
	}
	s := string(r.data[:length])
	r.data = r.data[length:]
	return s
}

func (r *reader) place() place { return place{file: r.number(), offset: r.number()} }

// done returns the first error, and one for data that is left.
func (r *reader) done() error {
	if r.err == nil && len(r.data) > 0 {
		return errCutShort
	}
	return r.err
}
