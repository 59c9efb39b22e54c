package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Interval is a confidence interval: Low <= High.
type Interval struct{ Low, High float64 }

// Resamples is how many bootstrap samples an interval is made of.
const Resamples = 2000

// Bootstrap returns an interval for the mean of each column of scores, given by
// column, each of one length: the bias-corrected and accelerated bootstrap of
// Efron ("Better bootstrap confidence intervals", JASA 1987) of [Resamples]
// samples, two-sided with the given confidence, such as 0.95. All columns see the
// same samples. Where all values of a column are equal, and for fewer than two
// values, the interval is the mean itself: it then says nothing.
func Bootstrap(columns [][]float64, confidence float64) []Interval {
	intervals := make([]Interval, len(columns))
	if len(columns) == 0 {
		return intervals
	}
	n := len(columns[0])
	means := make([][]float64, len(columns))
	for c := range means {
		means[c] = make([]float64, Resamples)
	}
	groups := group(columns)
	random := rand.NewPCG(seedBootstrap, uint64(n)) // without the indirection of a Rand
	drawn := make([]int32, n)
	for b := range Resamples {
		for i := 0; i < n; i += 2 {
			// Two of each random number: the upper half of 32 bits times n is uniform
			// to within n in 2^32.
			bits := random.Uint64()
			drawn[i] = int32(bits >> 32 * uint64(n) >> 32)
			if i+1 < n {
				drawn[i+1] = int32(bits & math.MaxUint32 * uint64(n) >> 32)
			}
		}
		for g, rows := range groups {
			var a0, a1, a2, a3 float64
			for _, i := range drawn {
				row := &rows[i]
				a0 += row[0]
				a1 += row[1]
				a2 += row[2]
				a3 += row[3]
			}
			for c, sum := range [groupColumns]float64{a0, a1, a2, a3} {
				if c += g * groupColumns; c < len(means) {
					means[c][b] = sum / float64(n)
				}
			}
		}
	}
	for c, values := range columns {
		intervals[c] = accelerated(values, means[c], confidence)
	}
	return intervals
}

// groupColumns is how many columns are summed at once: no sum waits for the last
// addition of its own.
const groupColumns = 4

// group returns the columns by row, a few columns at a time, the last ones filled
// up with zeros.
func group(columns [][]float64) [][][groupColumns]float64 {
	var groups [][][groupColumns]float64
	for some := range slices.Chunk(columns, groupColumns) {
		rows := make([][groupColumns]float64, len(columns[0]))
		for c, values := range some {
			for i, x := range values {
				rows[i][c] = x
			}
		}
		groups = append(groups, rows)
	}
	return groups
}

// accelerated makes the interval of the bootstrap means.
func accelerated(values, means []float64, confidence float64) Interval {
	mean := Mean(values)
	if len(values) < 2 || !slices.ContainsFunc(values, func(x float64) bool { return x != values[0] }) {
		return Interval{mean, mean}
	}
	below := 0.0
	tie := 1e-12 * max(1, math.Abs(mean))
	for _, m := range means {
		switch {
		case math.Abs(m-mean) <= tie:
			below += 0.5
		case m < mean:
			below++
		}
	}
	bias := normalQuantile(min(max(below, 0.5), float64(len(means))-0.5) / float64(len(means)))

	// The jackknife's acceleration of a mean is its skewness over 6.
	squares, cubes := 0.0, 0.0
	for _, x := range values {
		d := x - mean
		squares += float64(d * d)
		cubes += float64(float64(d*d) * d)
	}
	acceleration := cubes / float64(6*math.Pow(squares, 1.5))

	slices.Sort(means)
	at := func(p float64) float64 {
		z := bias + normalQuantile(p)
		z = bias + z/(1-float64(acceleration*z))
		// The quantile between order statistics, as R's type 7.
		h := float64(normal(z) * float64(len(means)-1))
		i := int(h)
		if i+1 >= len(means) {
			return means[len(means)-1]
		}
		return means[i] + float64((h-float64(i))*(means[i+1]-means[i]))
	}
	tail := (1 - confidence) / 2
	low, high := at(tail), at(1-tail)
	return Interval{min(low, mean), max(high, mean)}
}
