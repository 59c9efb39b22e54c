package ragtest

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/rageval/rageval/internal/stats"
)

// TokenThreshold is a demand on the mean of a token-level metric over all
// queries, made by [TokenMetric.AtLeast] or [TokenMetric.AtMost], or over some of
// them, made by [TokenSlice.AtLeast] or [TokenSlice.AtMost]. The zero value
// demands nothing and is an error in an evaluation. Thresholds are immutable and
// compared with Equal.
type TokenThreshold struct {
	judged TokenMetric
	where  conditions // of the queries that count
	bound  bound
}

// ChunkThreshold is a demand on the mean of a chunk-level metric over all
// queries, made by [ChunkMetric.AtLeast] or [ChunkMetric.AtMost], or over some of
// them, made by [ChunkSlice.AtLeast] or [ChunkSlice.AtMost]. The zero value
// demands nothing and is an error in an evaluation. Thresholds are immutable and
// compared with Equal.
type ChunkThreshold struct {
	judged ChunkMetric
	where  conditions // of the queries that count
	bound  bound
}

// AtLeast returns the threshold that demands a mean of min or more. A min that
// is NaN or not between 0 and 1 is an error in an evaluation.
func (m TokenMetric) AtLeast(min float64) TokenThreshold {
	return TokenThreshold{judged: m, bound: bound{limit: min}}
}

// AtMost returns the threshold that demands a mean of max or less. A max that is
// NaN or not between 0 and 1 is an error in an evaluation.
func (m TokenMetric) AtMost(max float64) TokenThreshold {
	return TokenThreshold{judged: m, bound: bound{limit: max, upper: true}}
}

// AtLeast returns the threshold that demands a mean of min or more. A min that
// is NaN or not between 0 and 1 is an error in an evaluation.
func (m ChunkMetric) AtLeast(min float64) ChunkThreshold {
	return ChunkThreshold{judged: m, bound: bound{limit: min}}
}

// AtMost returns the threshold that demands a mean of max or less. A max that is
// NaN or not between 0 and 1 is an error in an evaluation.
func (m ChunkMetric) AtMost(max float64) ChunkThreshold {
	return ChunkThreshold{judged: m, bound: bound{limit: max, upper: true}}
}

// WithConfidence returns the threshold that demands more of the queries than a
// mean: they must show, with the given confidence, such as 0.95, that the mean
// over all the queries which they are a random sample of is within the bound. So
// it holds for few queries only if they exceed the bound by far. A confidence that
// is NaN or not between 0 and 1, both excluded, is an error in an evaluation.
//
// The one-sided confidence bound is the betting bound of Waudby-Smith and Ramdas
// ("Estimating means of bounded random variables by betting", JRSS B 2024). It
// keeps its promise for any scores between 0 and 1 and any number of queries, and
// never claims that equal scores leave no doubt.
func (t TokenThreshold) WithConfidence(confidence float64) TokenThreshold {
	t.bound.confidence, t.bound.confident = confidence, true
	return t
}

// String returns t in the form "span_recall@3 >= 0.8", or "span_recall@3 >=
// 0.8 with confidence 0.95".
func (t TokenThreshold) String() string { return t.name() + " " + t.bound.String() }

// WithConfidence returns the threshold that demands more of the queries than a
// mean: they must show, with the given confidence, such as 0.95, that the mean
// over all the queries which they are a random sample of is within the bound. So
// it holds for few queries only if they exceed the bound by far. A confidence that
// is NaN or not between 0 and 1, both excluded, is an error in an evaluation.
//
// The one-sided confidence bound is the betting bound of Waudby-Smith and Ramdas
// ("Estimating means of bounded random variables by betting", JRSS B 2024). It
// keeps its promise for any scores between 0 and 1 and any number of queries, and
// never claims that equal scores leave no doubt.
func (t ChunkThreshold) WithConfidence(confidence float64) ChunkThreshold {
	t.bound.confidence, t.bound.confident = confidence, true
	return t
}

// String returns t in the form "chunk_recall@3 >= 0.8", or "chunk_recall@3 >=
// 0.8 with confidence 0.95".
func (t ChunkThreshold) String() string { return t.name() + " " + t.bound.String() }

// Equal reports whether both thresholds demand the same of equal metrics.
func (t TokenThreshold) Equal(u TokenThreshold) bool {
	return t.judged.Equal(u.judged) && slices.Equal(t.where, u.where) && t.bound.equal(u.bound)
}

// Equal reports whether both thresholds demand the same of equal metrics.
func (t ChunkThreshold) Equal(u ChunkThreshold) bool {
	return t.judged.Equal(u.judged) && slices.Equal(t.where, u.where) && t.bound.equal(u.bound)
}

func (t TokenThreshold) metric() TokenMetric { return t.judged }
func (t ChunkThreshold) metric() ChunkMetric { return t.judged }
func (t TokenThreshold) want() bound         { return t.bound }
func (t ChunkThreshold) want() bound         { return t.bound }
func (t TokenThreshold) slice() conditions   { return t.where }
func (t ChunkThreshold) slice() conditions   { return t.where }
func (t TokenThreshold) name() string        { return t.where.suffix(t.judged.Name()) }
func (t ChunkThreshold) name() string        { return t.where.suffix(t.judged.Name()) }

// validate reports a bound that no score could meet or miss. Whether the
// evaluation knows the metric's cut-off is for [TokenMetric.validate] to say.
func (t TokenThreshold) validate() error {
	if t.judged.measure == nil {
		return fmt.Errorf("threshold without a metric: want one made by TokenMetric.AtLeast or TokenMetric.AtMost")
	}
	return t.bound.validate(t.name())
}

// validate is that of TokenThreshold.
func (t ChunkThreshold) validate() error {
	if t.judged.measure == nil {
		return fmt.Errorf("threshold without a metric: want one made by ChunkMetric.AtLeast or ChunkMetric.AtMost")
	}
	return t.bound.validate(t.name())
}

// bound is a least or a greatest score.
type bound struct {
	limit      float64
	upper      bool
	confidence float64
	confident  bool // whether a confidence is demanded
}

// judge returns the verdict on the scores of the queries.
func (b bound) judge(name string, scores []float64) ThresholdResult {
	r := ThresholdResult{Metric: name, Want: b.String(), Got: stats.Mean(scores)}
	if b.confident {
		r.Bound = stats.LowerBound(b.oriented(scores), b.confidence)
		if b.upper {
			r.Bound = 1 - r.Bound
		}
		r.Pass = b.holds(r.Bound)
		return r
	}
	r.Pass = b.holds(r.Got)
	return r
}

// oriented returns the scores, turned upside down if b is an upper bound.
func (b bound) oriented(scores []float64) []float64 {
	if !b.upper {
		return scores
	}
	turned := make([]float64, len(scores))
	for i, x := range scores {
		turned[i] = 1 - x
	}
	return turned
}

// needed says how many queries with scores like the given ones would hold a bound
// that demands confidence.
func (b bound) needed(scores []float64) string {
	least := b.limit
	if b.upper {
		least = 1 - b.limit
	}
	if n, ok := stats.ScoresNeeded(b.oriented(scores), b.confidence, least); ok {
		return fmt.Sprintf("about %d queries with such scores would do", n)
	}
	return "no number of queries with such scores would do"
}

func (b bound) holds(got float64) bool {
	if b.upper {
		return got <= b.limit
	}
	return got >= b.limit
}

func (b bound) String() string {
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	s := b.relation() + " " + number(b.limit)
	if b.confident {
		s += " with confidence " + number(b.confidence)
	}
	return s
}

func (b bound) relation() string {
	if b.upper {
		return "<="
	}
	return ">="
}

func (b bound) equal(c bound) bool {
	same := func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }
	return b.upper == c.upper && b.confident == c.confident && same(b.limit, c.limit) && same(b.confidence, c.confidence)
}

func (b bound) validate(metric string) error {
	if !inUnitRange(b.limit) {
		return fmt.Errorf("threshold %s %v: want a bound between 0 and 1", metric, b)
	}
	if b.confident && !(b.confidence > 0 && b.confidence < 1) {
		return fmt.Errorf("threshold %s %v: want a confidence between 0 and 1, such as 0.95", metric, b)
	}
	return nil
}
