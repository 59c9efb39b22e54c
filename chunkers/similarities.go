package chunkers

import (
	"context"
	"fmt"
	"math"

	"github.com/rageval/rageval/internal/exact"
)

// one is what a similarity of 1 is stored as. Similarities are whole multiples
// of 1/one, which is all that float32 components can tell apart: so their sums
// are exact, in whatever order, and equal ones are ties.
const one = 1 << 24

// similarities are the cosine similarities of each of n units to the reach
// units before it.
type similarities struct {
	n, reach int
	before   []int32 // before[i*reach+d-1] is that of units i-d and i, if i >= d
	mean     int32   // of all pairs of units
}

// at returns the similarity of units i-d and i, for 1 <= d <= min(i, reach).
func (s *similarities) at(i, d int) int32 { return s.before[i*s.reach+d-1] }

// distances returns 1 minus the similarity of each unit to the next.
func (s *similarities) distances() []int32 {
	distances := make([]int32, s.n-1)
	for i := range distances {
		distances[i] = one - s.at(i+1, 1)
	}
	return distances
}

// embedBatch is the number of texts that are embedded in one call.
const embedBatch = 256

// compare embeds n texts, in batches, and compares each with the reach texts
// before it. It keeps the vectors of those, not of all. n must be at least 1.
func compare(ctx context.Context, e Embedder, n, reach int, text func(i int) string) (*similarities, error) {
	reach = min(reach, n-1)
	s := &similarities{n: n, reach: reach, before: make([]int32, n*reach)}
	recent := make([]embedded, reach+1) // that of text i at i%len(recent)
	var mean meanSimilarity
	dim := 0
	for first := 0; first < n; first += embedBatch {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		texts := make([]string, min(embedBatch, n-first))
		for i := range texts {
			texts[i] = text(first + i)
		}
		vectors, err := e.Embed(ctx, texts)
		if err != nil {
			return nil, fmt.Errorf("embedding units %d to %d of %d: %w", first, first+len(texts)-1, n, err)
		}
		if len(vectors) != len(texts) {
			return nil, fmt.Errorf("embedding units %d to %d of %d: got %d vectors for %d texts", first, first+len(texts)-1, n, len(vectors), len(texts))
		}
		for j, v := range vectors {
			i := first + j
			current := embedded{v, math.Sqrt(dot(v, v))}
			// The norm of finite components is finite: their squares are far from
			// overflowing a float64.
			if norm := current.norm; len(v) == 0 || dim != 0 && len(v) != dim || math.IsNaN(norm) || math.IsInf(norm, 0) {
				return nil, fmt.Errorf("embedding unit %d of %d, %s: its vector %w", i, n, abbreviate(texts[j]), exact.ValidateVector(v, dim))
			}
			dim = len(v)
			mean.add(current)
			for d := 1; d <= min(i, reach); d++ {
				s.before[i*reach+d-1] = cosine(current, recent[(i-d)%len(recent)])
			}
			recent[i%len(recent)] = current
		}
	}
	s.mean = mean.of(n)
	return s, nil
}

// embedded is a vector and its Euclidean length.
type embedded struct {
	vector []float32
	norm   float64
}

// cosine returns the similarity of a and b: 0 if either is the zero vector.
func cosine(a, b embedded) int32 {
	if a.norm == 0 || b.norm == 0 {
		return 0
	}
	return rounded(dot(a.vector, b.vector) / float64(a.norm*b.norm))
}

// rounded returns a similarity as it is stored.
func rounded(similarity float64) int32 {
	return int32(math.Round(float64(max(-1, min(1, similarity)) * one)))
}

// dot adds the products in four lanes, for speed; every product and sum is
// rounded by itself, so the result is the same on every machine.
func dot(a, b []float32) float64 {
	var s0, s1, s2, s3 float64
	for len(a) >= 4 && len(b) >= 4 {
		x, y := (*[4]float32)(a), (*[4]float32)(b)
		s0 += float64(float64(x[0]) * float64(y[0]))
		s1 += float64(float64(x[1]) * float64(y[1]))
		s2 += float64(float64(x[2]) * float64(y[2]))
		s3 += float64(float64(x[3]) * float64(y[3]))
		a, b = a[4:], b[4:]
	}
	for i, x := range a {
		s0 += float64(float64(x) * float64(b[i]))
	}
	return (s0 + s1) + (s2 + s3)
}

// meanSimilarity is the mean over all pairs of vectors in linear time: the
// square of the sum of unit vectors is the sum of all their products, those of
// each with itself included.
type meanSimilarity struct {
	sum     []float64 // of the vectors, each divided by its length
	nonzero int
}

func (m *meanSimilarity) add(e embedded) {
	if m.sum == nil {
		m.sum = make([]float64, len(e.vector))
	}
	if e.norm == 0 {
		return
	}
	m.nonzero++
	factor := 1 / e.norm
	for i, x := range e.vector {
		m.sum[i] += float64(float64(x) * factor)
	}
}

// of returns the mean over the pairs of n vectors, those added.
func (m *meanSimilarity) of(n int) int32 {
	if n < 2 {
		return 0
	}
	square := 0.0
	for _, x := range m.sum {
		square += float64(x * x)
	}
	return rounded((square - float64(m.nonzero)) / float64(float64(n)*float64(n-1)))
}
