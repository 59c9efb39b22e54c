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

// Bootstrap returns an interval for the mean of each column of values, given by
// column, each of one length: the bias-corrected and accelerated bootstrap of
// Efron ("Better bootstrap confidence intervals", JASA 1987) of [Resamples]
// samples, two-sided with the given confidence, such as 0.95. All columns see the
// same samples. Where all values of a column are equal, and for fewer than two
// values, the interval is the mean itself: it then says nothing.
func Bootstrap(columns [][]float64, confidence float64) []Interval {
	intervals := make([]Interval, len(columns))
	means, _ := resample(columns, false)
	for c, values := range columns {
		intervals[c] = accelerated(values, means[c], confidence)
	}
	return intervals
}

// BootstrapScores is [Bootstrap] for scores of 0 or more, with a low end that allows
// for a failure that is too rare for these scores to show: it is that of the scores
// and one more, of 0. So it says something of scores that are all equal, unless they
// are 0. Resamples alone know no worse score than the worst that was
// seen, so that among 50 scores of which one in twenty is 0, those without any 0
// would claim too much. That the least possible value counts as if it had been seen
// once is what lower bounds for any distribution do (Gaffke, "Three test statistics
// for a nonparametric one-sided hypothesis on the mean of a nonnegative variable",
// Mathematical Methods of Statistics 2005; Learned-Miller and Thomas, "A new
// confidence interval for the mean of a bounded random variable", 2019).
func BootstrapScores(columns [][]float64, confidence float64) []Interval {
	intervals := make([]Interval, len(columns))
	means, failing := resample(columns, true)
	for c, values := range columns {
		intervals[c] = accelerated(values, means[c], confidence)
		if len(values) > 1 {
			one := accelerated(append(slices.Clip(values), 0), failing[c], confidence)
			intervals[c].Low = min(intervals[c].Low, one.Low)
		}
	}
	return intervals
}

// resample returns the means of the resamples of each column. If failing is asked
// for, it also returns those of the resamples of the column and one more value, 0.
func resample(columns [][]float64, failing bool) (means, failed [][]float64) {
	if len(columns) == 0 {
		return nil, nil
	}
	n := len(columns[0])
	means, failed = make([][]float64, len(columns)), make([][]float64, len(columns))
	for c := range means {
		means[c] = make([]float64, Resamples)
		if failing {
			failed[c] = make([]float64, Resamples)
		}
	}
	groups := group(columns)
	random := rand.NewPCG(seedBootstrap, uint64(n)) // without the indirection of a Rand
	failures := newFailures(n)
	drawn := make([]int32, n+1)
	for b := range Resamples {
		for i := 0; i < n; i += 2 {
			// Two of each random number: the upper half of 32 bits times n is uniform
			// to within n in 2^32.
			bits := random.Uint64()
			drawn[i] = int32(bits >> 32 * uint64(n) >> 32)
			drawn[i+1] = int32(bits & math.MaxUint32 * uint64(n) >> 32)
		}
		others := n // that are drawn beside the additional 0
		if failing && n > 0 {
			others, drawn[n] = failures.draw()
		}
		for g, rows := range groups {
			var all, some sums
			if others <= n {
				some = some.add(rows, drawn[:others])
				all = some.add(rows, drawn[others:n])
			} else {
				all = all.add(rows, drawn[:n])
				some = all.add(rows, drawn[n:])
			}
			for i := range min(groupColumns, len(columns)-g*groupColumns) {
				c := g*groupColumns + i
				means[c][b] = all[i] / float64(n)
				if failing {
					failed[c][b] = some[i] / float64(n+1)
				}
			}
		}
	}
	return means, failed
}

// failures draws n+1 times from n values and one more, of 0.
type failures struct {
	random *rand.Rand
	n      int
	least  []float64 // least[i]: the probability of i zeros or fewer, until it is all but certain
}

func newFailures(n int) *failures {
	f := &failures{newRand(seedFailures, n), n, nil}
	// The number of zeros is binomial.
	one, total := 1.0, 0.0
	for range n + 1 {
		one *= float64(n) / float64(n+1)
	}
	for i := 0; i <= n && total < 1-1e-12; i++ {
		total += one
		f.least = append(f.least, total)
		one *= float64(n+1-i) / (float64(i+1) * float64(n))
	}
	return f
}

// draw returns how many of n+1 draws are not of the 0, and one draw of the others in
// case none is.
func (f *failures) draw() (others int, last int32) {
	p := f.random.Float64()
	zeros := 0
	for zeros < len(f.least) && p >= f.least[zeros] {
		zeros++
	}
	return f.n + 1 - zeros, int32(f.random.IntN(f.n))
}

// sums are the sums of a group of columns.
type sums [groupColumns]float64

// add adds the rows that were drawn.
func (s sums) add(rows [][groupColumns]float64, drawn []int32) sums {
	a0, a1, a2, a3 := s[0], s[1], s[2], s[3]
	for _, i := range drawn {
		row := &rows[i]
		a0 += row[0]
		a1 += row[1]
		a2 += row[2]
		a3 += row[3]
	}
	return sums{a0, a1, a2, a3}
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
