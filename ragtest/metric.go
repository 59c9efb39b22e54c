package ragtest

import (
	"fmt"
	"slices"
	"strconv"
)

// cutoff is the k of a metric's At(k): how many of the retrieved chunks it
// judges. The zero value judges all.
type cutoff struct {
	k   int
	set bool
}

// of returns the cut-off in an evaluation with the given K, never negative.
func (c cutoff) of(k int) int {
	if c.set {
		k = c.k
	}
	return max(0, k)
}

func (c cutoff) validate(metric string, k int) error {
	if c.set && (c.k < 1 || c.k > k) {
		return fmt.Errorf("metric %s: want a cut-off between 1 and K = %d", metric, k)
	}
	return nil
}

func (c cutoff) suffix() string {
	if !c.set {
		return ""
	}
	return "@" + strconv.Itoa(c.k)
}

// inUnitRange reports whether score is between 0 and 1; NaN is not.
func inUnitRange(score float64) bool { return score >= 0 && score <= 1 }

func outOfRange(metric string, score float64) error {
	return fmt.Errorf("scoring %s: got %v, want a score between 0 and 1", metric, score)
}

// checkMetric panics on misuse of the constructor of that name: a metric name
// that is not a letter a–z and then letters a–z, digits and underscores, or no
// function.
func checkMetric(constructor, name string, hasScore bool) {
	if !isMetricName(name) {
		panic(fmt.Sprintf("ragtest.%s: metric name %q: want lower-case letters a-z, digits and underscores, beginning with a letter", constructor, name))
	}
	if !hasScore {
		panic(fmt.Sprintf("ragtest.%s: metric %s: want a function that scores, got nil", constructor, name))
	}
}

// checkFree returns an error if a metric of the user's has the name of something else
// that benchmarks report.
func checkFree(name string, own bool) error {
	taken := name == chunksUnit || slices.ContainsFunc(append(budgets(), SecondsPerQuery), func(b Budget) bool { return b.Name() == name })
	if own && taken {
		return fmt.Errorf("metric %s: the name is that of another unit of benchmarks: want one of your own", name)
	}
	return nil
}

func isMetricName(name string) bool {
	for i, c := range []byte(name) {
		letter := 'a' <= c && c <= 'z'
		if !letter && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return name != ""
}

// precision is the share of the retrieved, characters or chunks, that is
// relevant.
func precision(relevant, retrieved int) float64 {
	if retrieved == 0 {
		return 0
	}
	return float64(relevant) / float64(retrieved)
}

// hitRate is 1 if the first relevant chunk is among the first k. Its rank is 0 if
// there is none.
func hitRate(firstHit, k int) float64 {
	if firstHit == 0 || firstHit > k {
		return 0
	}
	return 1
}

// reciprocalRank is 1 over the rank of the first relevant chunk if that is among
// the first k. Its rank is 0 if there is none.
func reciprocalRank(firstHit, k int) float64 {
	if firstHit == 0 || firstHit > k {
		return 0
	}
	return 1 / float64(firstHit)
}
