package exact

import (
	"fmt"
	"math"
)

// ValidateChunks returns an error unless there is one vector for each of n
// chunks and the vectors pass [ValidateVectors].
func ValidateChunks(n int, vectors [][]float32, dim int) error {
	switch {
	case len(vectors) < n:
		return fmt.Errorf("got %d vectors for %d chunks: chunk %d has none", len(vectors), n, len(vectors))
	case len(vectors) > n:
		return fmt.Errorf("got %d vectors for %d chunks: vector %d has no chunk", len(vectors), n, n)
	}
	return ValidateVectors(vectors, dim)
}

// ValidateVectors returns an error that names the first vector which is empty,
// is not of dimension dim, or has a component that is NaN or infinite. A dim of
// 0 stands for the dimension of the first vector.
func ValidateVectors(vectors [][]float32, dim int) error {
	for i, v := range vectors {
		if dim == 0 {
			dim = len(v)
		}
		if err := ValidateVector(v, dim); err != nil {
			return fmt.Errorf("vector %d %w", i, err)
		}
	}
	return nil
}

// ValidateVector is [ValidateVectors] for one vector. The error is a predicate
// for which the caller supplies the subject: "has dimension 3, want 4".
func ValidateVector(v []float32, dim int) error {
	if len(v) == 0 {
		return fmt.Errorf("is empty: want at least one component")
	}
	if dim != 0 && len(v) != dim {
		return fmt.Errorf("has dimension %d, want %d", len(v), dim)
	}
	if sum := squares(v); !math.IsInf(sum, 0) && !math.IsNaN(sum) {
		return nil
	}
	for i, x := range v {
		if y := float64(x); math.IsNaN(y) || math.IsInf(y, 0) {
			return fmt.Errorf("has component %d = %v: want a finite number", i, x)
		}
	}
	return nil
}
