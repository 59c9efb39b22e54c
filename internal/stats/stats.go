// Package stats judges means and differences of scores: bootstrap intervals,
// lower bounds that hold, paired tests, and comparisons of several runs.
//
// Everything is deterministic: random numbers come from seeds that depend on
// nothing but the arguments' lengths, and products are rounded before they are
// added, so that no compiler fuses them. Scores are finite; where it matters
// they lie in [0, 1].
package stats

import (
	"math"
	"math/rand/v2"
)

// seeds differ by use, so that no two procedures share their random numbers.
const (
	seedBootstrap = 0x626f6f74
	seedFailures  = 0x6661696c
	seedBetting   = 0x62657473
	seedSignFlip  = 0x7369676e
	seedTukey     = 0x74756b65
)

func newRand(seed uint64, n int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(n))) }

// Mean returns the mean of values, rounded once: that of equal values is their
// value. What rounding loses is summed beside the sum (Neumaier 1974), and the
// remainder of the division is taken into account. It is NaN without values.
func Mean(values []float64) float64 {
	sum, lost := 0.0, 0.0
	for _, x := range values {
		s := sum + x
		if math.Abs(sum) >= math.Abs(x) {
			lost += (sum - s) + x
		} else {
			lost += (x - s) + sum
		}
		sum = s
	}
	n := float64(len(values))
	quotient := sum / n
	remainder := math.FMA(-quotient, n, sum) + lost
	return quotient + remainder/n
}

// Deviation returns the standard deviation of a sample, with n-1 below the line:
// 0 for fewer than two values.
func Deviation(values []float64) float64 {
	if len(values) < 2 {
		return 0
	}
	mean := Mean(values)
	sum := 0.0
	for _, x := range values {
		d := x - mean
		sum += float64(d * d)
	}
	return math.Sqrt(sum / float64(len(values)-1))
}

// normal returns the probability that a standard normal variable is below z.
func normal(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// normalQuantile is the inverse of normal.
func normalQuantile(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }
