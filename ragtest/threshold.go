package ragtest

import (
	"fmt"
	"math"
	"strconv"
)

// TokenThreshold is a demand on the mean of a token-level metric over all
// queries, made by [TokenMetric.AtLeast] or [TokenMetric.AtMost]. The zero value
// demands nothing and is an error in an evaluation. Thresholds are immutable and
// compared with Equal.
type TokenThreshold struct {
	judged TokenMetric
	bound  bound
}

// ChunkThreshold is a demand on the mean of a chunk-level metric over all
// queries, made by [ChunkMetric.AtLeast] or [ChunkMetric.AtMost]. The zero value
// demands nothing and is an error in an evaluation. Thresholds are immutable and
// compared with Equal.
type ChunkThreshold struct {
	judged ChunkMetric
	bound  bound
}

// AtLeast returns the threshold that demands a mean of min or more. A min that
// is NaN or not between 0 and 1 is an error in an evaluation.
func (m TokenMetric) AtLeast(min float64) TokenThreshold {
	return TokenThreshold{m, bound{limit: min}}
}

// AtMost returns the threshold that demands a mean of max or less. A max that is
// NaN or not between 0 and 1 is an error in an evaluation.
func (m TokenMetric) AtMost(max float64) TokenThreshold {
	return TokenThreshold{m, bound{limit: max, upper: true}}
}

// AtLeast returns the threshold that demands a mean of min or more. A min that
// is NaN or not between 0 and 1 is an error in an evaluation.
func (m ChunkMetric) AtLeast(min float64) ChunkThreshold {
	return ChunkThreshold{m, bound{limit: min}}
}

// AtMost returns the threshold that demands a mean of max or less. A max that is
// NaN or not between 0 and 1 is an error in an evaluation.
func (m ChunkMetric) AtMost(max float64) ChunkThreshold {
	return ChunkThreshold{m, bound{limit: max, upper: true}}
}

// String returns t in the form "span_recall@3 >= 0.8".
func (t TokenThreshold) String() string { return t.judged.Name() + " " + t.bound.String() }

// String returns t in the form "chunk_recall@3 >= 0.8".
func (t ChunkThreshold) String() string { return t.judged.Name() + " " + t.bound.String() }

// Equal reports whether both thresholds demand the same of equal metrics.
func (t TokenThreshold) Equal(u TokenThreshold) bool {
	return t.judged.Equal(u.judged) && t.bound.equal(u.bound)
}

// Equal reports whether both thresholds demand the same of equal metrics.
func (t ChunkThreshold) Equal(u ChunkThreshold) bool {
	return t.judged.Equal(u.judged) && t.bound.equal(u.bound)
}

func (t TokenThreshold) metric() TokenMetric { return t.judged }
func (t ChunkThreshold) metric() ChunkMetric { return t.judged }
func (t TokenThreshold) want() bound         { return t.bound }
func (t ChunkThreshold) want() bound         { return t.bound }

// validate reports a bound that no score could meet or miss. Whether the
// evaluation knows the metric's cut-off is for [TokenMetric.validate] to say.
func (t TokenThreshold) validate() error {
	if t.judged.measure == nil {
		return fmt.Errorf("threshold without a metric: want one made by TokenMetric.AtLeast or TokenMetric.AtMost")
	}
	return t.bound.validate(t.judged.Name())
}

// validate is that of TokenThreshold.
func (t ChunkThreshold) validate() error {
	if t.judged.measure == nil {
		return fmt.Errorf("threshold without a metric: want one made by ChunkMetric.AtLeast or ChunkMetric.AtMost")
	}
	return t.bound.validate(t.judged.Name())
}

// bound is a least or a greatest score.
type bound struct {
	limit float64
	upper bool
}

func (b bound) holds(got float64) bool {
	if b.upper {
		return got <= b.limit
	}
	return got >= b.limit
}

func (b bound) String() string {
	limit := strconv.FormatFloat(b.limit, 'g', -1, 64)
	if b.upper {
		return "<= " + limit
	}
	return ">= " + limit
}

func (b bound) equal(c bound) bool {
	sameLimit := b.limit == c.limit || math.IsNaN(b.limit) && math.IsNaN(c.limit)
	return b.upper == c.upper && sameLimit
}

func (b bound) validate(metric string) error {
	if !inUnitRange(b.limit) {
		return fmt.Errorf("threshold %s %v: want a bound between 0 and 1", metric, b)
	}
	return nil
}
