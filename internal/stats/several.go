package stats

import "math"

// tukeyDraws is how many times the runs are exchanged.
const tukeyDraws = 9999

// TukeyHSD returns, for each pair of runs, the probability of a difference of
// means as large as theirs between the best and the worst of all runs if which
// run a score belongs to did not matter: the randomised Tukey HSD test
// (Carterette, "Multiple testing in statistical analysis of systems-based
// information retrieval experiments", TOIS 2012). It needs no further adjustment
// for the number of pairs. scores are by run, then by query, the same queries for
// each. p[i][j] = p[j][i], and p[i][i] is 1.
func TukeyHSD(scores [][]float64) (p [][]float64) {
	runs := len(scores)
	p = make([][]float64, runs)
	for i := range p {
		p[i] = make([]float64, runs)
	}
	if runs == 0 {
		return p
	}
	n := len(scores[0])
	sums := make([]float64, runs)
	scale := 0.0
	for r, row := range scores {
		for _, x := range row {
			sums[r] += x
			scale += math.Abs(x)
		}
	}
	tie := 1e-12 * scale
	counts := make([][]int, runs)
	for i := range counts {
		counts[i] = make([]int, runs)
	}
	random := newRand(seedTukey, n)
	exchanged := make([]float64, runs)
	column := make([]float64, runs)
	for range tukeyDraws {
		clear(exchanged)
		for q := range n {
			for r := range runs {
				column[r] = scores[r][q]
			}
			random.Shuffle(runs, func(i, j int) { column[i], column[j] = column[j], column[i] })
			for r, x := range column {
				exchanged[r] += x
			}
		}
		low, high := exchanged[0], exchanged[0]
		for _, s := range exchanged[1:] {
			low, high = min(low, s), max(high, s)
		}
		for i := range runs {
			for j := range i {
				if high-low >= math.Abs(sums[i]-sums[j])-tie {
					counts[i][j]++
				}
			}
		}
	}
	for i := range runs {
		p[i][i] = 1
		for j := range i {
			p[i][j] = float64(counts[i][j]+1) / float64(tukeyDraws+1)
			p[j][i] = p[i][j]
		}
	}
	return p
}

// Summary describes scores of which no more is known.
type Summary struct {
	Mean, Deviation float64 // of a sample: with n-1 below the line
	N               int     // at least 2
}

// Welch returns an interval for the difference of the means that a and b are
// samples of, b - a, without assuming equal variances (Welch, "The generalization
// of Student's problem when several different population variances are involved",
// Biometrika 1947). It takes them for independent: for scores of the same queries
// it is wider than a paired interval.
func Welch(a, b Summary, confidence float64) Interval {
	difference := b.Mean - a.Mean
	va := float64(a.Deviation*a.Deviation) / float64(a.N)
	vb := float64(b.Deviation*b.Deviation) / float64(b.N)
	if va+vb == 0 {
		return Interval{difference, difference}
	}
	freedom := float64((va+vb)*(va+vb)) / (float64(va*va)/float64(a.N-1) + float64(vb*vb)/float64(b.N-1))
	half := float64(studentQuantile(1-(1-confidence)/2, freedom) * math.Sqrt(va+vb))
	return Interval{difference - half, difference + half}
}

// studentQuantile returns the t that a variable with Student's distribution is
// below with probability p > 1/2.
func studentQuantile(p, freedom float64) float64 {
	low, high := 0.0, 1.0
	for student(high, freedom) < p {
		high *= 2
	}
	for range 100 {
		middle := (low + high) / 2
		if student(middle, freedom) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// student returns the probability that a variable with Student's distribution is
// below t >= 0.
func student(t, freedom float64) float64 {
	return 1 - incompleteBeta(freedom/2, 0.5, freedom/(freedom+t*t))/2
}

// incompleteBeta returns the regularised incomplete beta function, by its
// continued fraction (Abramowitz and Stegun 26.5.8) in the modified method of
// Lentz.
func incompleteBeta(a, b, x float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2):
		return 1 - incompleteBeta(b, a, 1-x)
	}
	lgamma := func(x float64) float64 {
		y, _ := math.Lgamma(x)
		return y
	}
	front := math.Exp(lgamma(a+b)-lgamma(a)-lgamma(b)+a*math.Log(x)+b*math.Log1p(-x)) / a
	const tiny = 1e-300
	nonzero := func(x float64) float64 {
		if math.Abs(x) < tiny {
			return tiny
		}
		return x
	}
	c, d := 1.0, 1/nonzero(1-(a+b)*x/(a+1))
	fraction := d
	for i := 1; i <= 1000; i++ {
		m := float64(i)
		for _, term := range [2]float64{
			m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m)),
			-(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1)),
		} {
			d = 1 / nonzero(1+term*d)
			c = nonzero(1 + term/c)
			fraction *= c * d
		}
		if math.Abs(c*d-1) < 1e-15 {
			break
		}
	}
	return front * fraction
}
