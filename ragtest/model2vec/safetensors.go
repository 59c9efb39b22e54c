package model2vec

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
)

// tensor is a tensor of a safetensors file: numbers of one type, row by row,
// little-endian.
type tensor struct {
	dtype string
	shape []int
	data  []byte // a part of the file
}

// maxHeader is the largest header in bytes that the format allows.
const maxHeader = 100_000_000

// tensorHeader says where a tensor is.
type tensorHeader struct {
	DType   string   `json:"dtype"`
	Shape   []uint64 `json:"shape"`
	Offsets []uint64 `json:"data_offsets"` // in the data, which follow the header
}

// elementBytes holds the size of the numbers of each type. Types that the format
// may gain are no error in tensors that nobody asks for.
var elementBytes = map[string]uint64{
	"BOOL": 1, "U8": 1, "I8": 1, "F8_E5M2": 1, "F8_E4M3": 1,
	"I16": 2, "U16": 2, "F16": 2, "BF16": 2,
	"I32": 4, "U32": 4, "F32": 4,
	"I64": 8, "U64": 8, "F64": 8,
}

// parseSafetensors returns the tensors of a file in the format of
// https://github.com/huggingface/safetensors (README, "Format"): the length of
// the header in 8 bytes, the header in JSON, and the data, all of which belong to
// one tensor each. The tensors are parts of content. Besides them, it allocates
// no more than a multiple of the header.
func parseSafetensors(content []byte) (map[string]tensor, error) {
	if len(content) < 8 {
		return nil, fmt.Errorf("the file has %d bytes: want at least the 8 of the header's length", len(content))
	}
	length, rest := binary.LittleEndian.Uint64(content), content[8:]
	if length > maxHeader {
		return nil, fmt.Errorf("the header's length is %d bytes: want at most %d", length, maxHeader)
	}
	if length > uint64(len(rest)) {
		return nil, fmt.Errorf("the header's length is %d bytes: the file has %d after it", length, len(rest))
	}
	header, data := rest[:length], rest[length:]
	if !bytes.HasPrefix(header, []byte("{")) {
		return nil, errors.New("the header does not begin with {")
	}
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(header, &entries); err != nil {
		return nil, fmt.Errorf("the header: %w", err)
	}
	delete(entries, "__metadata__")
	tensors := make(map[string]tensor, len(entries))
	var places []place
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		t, p, err := parseTensor(entries[name], data)
		if err != nil {
			return nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		p.name = name
		tensors[name], places = t, append(places, p)
	}
	return tensors, checkPlaces(places, uint64(len(data)))
}

// place is where the data of a tensor are.
type place struct {
	name       string
	start, end uint64
}

func parseTensor(entry json.RawMessage, data []byte) (tensor, place, error) {
	var h tensorHeader
	if err := json.Unmarshal(entry, &h); err != nil {
		return tensor{}, place{}, err
	}
	if len(h.Offsets) != 2 {
		return tensor{}, place{}, fmt.Errorf("data_offsets has %d numbers: want 2", len(h.Offsets))
	}
	start, end := h.Offsets[0], h.Offsets[1]
	if start > end || end > uint64(len(data)) {
		return tensor{}, place{}, fmt.Errorf("data_offsets is [%d, %d]: want a range in the %d bytes of data", start, end, len(data))
	}
	t := tensor{dtype: h.DType, data: data[start:end:end]}
	size, known := elementBytes[h.DType]
	if slices.Contains(h.Shape, 0) {
		size = 0
	}
	for _, n := range h.Shape {
		high, low := bits.Mul64(size, n)
		if known && (high != 0 || low > uint64(len(data))) {
			return tensor{}, place{}, fmt.Errorf("shape is %d: the file has %d bytes of data", h.Shape, len(data))
		}
		size = low
		t.shape = append(t.shape, int(min(n, math.MaxInt)))
	}
	if known && size != end-start {
		return tensor{}, place{}, fmt.Errorf("data_offsets is [%d, %d], %d bytes: dtype %s and shape %d need %d", start, end, end-start, h.DType, h.Shape, size)
	}
	return t, place{start: start, end: end}, nil
}

// checkPlaces returns an error if tensors overlap, or if there are data that
// belong to none.
func checkPlaces(places []place, size uint64) error {
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	})
	covered, before := uint64(0), ""
	for _, p := range places {
		if p.start < covered {
			return fmt.Errorf("tensor %q: data_offsets is [%d, %d], which overlaps with tensor %q", p.name, p.start, p.end, before)
		}
		if p.start > covered {
			return fmt.Errorf("tensor %q: data_offsets is [%d, %d]: bytes %d to %d of the data belong to no tensor", p.name, p.start, p.end, covered, p.start)
		}
		covered, before = p.end, p.name
	}
	if covered != size {
		return fmt.Errorf("bytes %d to %d of the data belong to no tensor", covered, size)
	}
	return nil
}
