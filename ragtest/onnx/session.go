package onnx

import (
	"fmt"
	"slices"
)

// session is a model that has been loaded by a backend. Its run may be called
// from several goroutines at once, its close not while one is under way.
type session interface {
	inputs() []string
	outputs() []string

	// run computes the named output for a batch. Its errors say what the
	// backend found; it never panics.
	run(output string, b batch) (tensor, error)

	// padded returns the length to which rows of at most length tokens are best
	// padded, maxRows how many of them a batch has at most.
	padded(length int) int
	maxRows() int

	// runs says what runs the model, with its version where there is one.
	runs() string
	close()
}

// batch holds the model's inputs for some texts, each a row of equal length,
// one after the other: IDs, 1 for a token and 0 for padding, and the number of
// the segment.
type batch struct {
	rows, length       int
	ids, mask, segment []int64
}

// newBatch returns a batch of padding.
func newBatch(rows, length int, padding int64) batch {
	n := rows * length
	b := batch{rows: rows, length: length, ids: make([]int64, n), mask: make([]int64, n), segment: make([]int64, n)}
	for i := range b.ids {
		b.ids[i] = padding
	}
	return b
}

// set sets row i to an encoding, which is not longer than the row.
func (b batch) set(i int, e encoding) {
	start := i * b.length
	for j, id := range e.ids {
		b.ids[start+j] = int64(id)
		b.mask[start+j] = 1
		b.segment[start+j] = int64(e.segments[j])
	}
}

// input returns what the model takes as the named input.
func (b batch) input(name string) []int64 {
	switch name {
	case inputIDs:
		return b.ids
	case inputMask:
		return b.mask
	default:
		return b.segment
	}
}

const (
	inputIDs     = "input_ids"
	inputMask    = "attention_mask"
	inputSegment = "token_type_ids"
)

// checkInputs returns an error unless a model takes what there is to give.
func checkInputs(names []string) error {
	for _, name := range names {
		if name != inputIDs && name != inputMask && name != inputSegment {
			return fmt.Errorf("the model has an input %q: want only %s, %s and %s", name, inputIDs, inputMask, inputSegment)
		}
	}
	if !slices.Contains(names, inputIDs) {
		return fmt.Errorf("the model has the inputs %q: want %s among them", names, inputIDs)
	}
	return nil
}

// tensor is an output of a model, in row-major order.
type tensor struct {
	shape []int
	data  []float32
}

// newTensor checks that the data have the shape.
func newTensor(shape []int, data []float32) (tensor, error) {
	size := 1
	for _, d := range shape {
		size *= d
	}
	if size != len(data) || slices.ContainsFunc(shape, func(d int) bool { return d < 0 }) {
		return tensor{}, fmt.Errorf("the model's output has the shape %v but %d numbers", shape, len(data))
	}
	return tensor{shape, data}, nil
}

// recovered turns a panic of a backend's library into an error.
func recovered(err *error, doing string) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%s: the library panicked: %v", doing, r)
	}
}
