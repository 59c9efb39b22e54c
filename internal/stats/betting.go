package stats

import "math"

// permutations is how many orders of the scores a lower bound averages over.
const permutations = 64

// LowerBound returns a number that the mean of the distribution which the scores
// are drawn from exceeds with at least the given confidence, whatever that
// distribution on [0, 1] is and however few scores there are: the betting bound
// of Waudby-Smith and Ramdas ("Estimating means of bounded random variables by
// betting", JRSS B 2024, predictable plug-in bets). It is below the mean of the
// scores, also where all scores are equal, and 0 without scores.
//
// Somebody who bets that the mean is above m, with stakes that depend only on the
// scores seen so far, does not expect to win if it is not; the bound is the
// largest m at which the capital grew to 1/(1-confidence). The capital is the mean
// over several orders of the scores, which are chosen without looking at them.
func LowerBound(scores []float64, confidence float64) float64 {
	return newBettor(scores, len(scores), confidence).bound()
}

// most is the largest share of the capital that is staked.
const most = 0.9

// bettor knows the stakes for each order of the scores.
type bettor struct {
	scores [][]float64 // by order
	stakes [][]float64 // before they are cut to what m allows
	wanted float64     // capital
}

// newBettor takes n scores, those given again and again from the first if they
// are fewer.
func newBettor(scores []float64, n int, confidence float64) *bettor {
	b := &bettor{wanted: 1 / (1 - confidence)}
	random := newRand(seedBetting, n)
	for range permutations {
		ordered := make([]float64, n)
		for i, j := range random.Perm(n) {
			ordered[i] = scores[j%len(scores)]
		}
		b.scores = append(b.scores, ordered)
		b.stakes = append(b.stakes, stakes(ordered, confidence))
	}
	return b
}

// stakes returns the predictable plug-in stakes: sqrt(2·log(1/α) / (n·σ²)), with
// the variance σ² of the scores before, begun with one of 1/4 about 1/2.
func stakes(scores []float64, confidence float64) []float64 {
	list := make([]float64, len(scores))
	sum, squares := 0.5, 0.25
	for i, x := range scores {
		seen := float64(i + 1)
		list[i] = math.Sqrt(2 * math.Log(1/(1-confidence)) / float64(float64(len(scores))*squares/seen))
		sum += x
		d := x - sum/(seen+1)
		squares += float64(d * d)
	}
	return list
}

// capital returns what betting on a mean above m leaves of a capital of 1. It
// falls with m.
func (b *bettor) capital(m float64) float64 {
	total := 0.0
	for o, scores := range b.scores {
		capital := 1.0
		for i, x := range scores {
			stake := min(b.stakes[o][i], most/m)
			capital *= 1 + float64(stake*(x-m))
		}
		total += capital
	}
	return total / float64(len(b.scores))
}

// bound rounds down: the capital is reached at it.
func (b *bettor) bound() float64 {
	if len(b.scores[0]) == 0 {
		return 0
	}
	low, high := 0.0, 1.0
	for range 50 {
		middle := (low + high) / 2
		if b.capital(middle) >= b.wanted {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// enough is where [ScoresNeeded] stops looking.
const enough = 1 << 15

// ScoresNeeded returns how many scores, distributed like the given ones and no
// fewer, would lift the lower bound to least; false if no number below 32,768 would, as when
// their mean is not above it.
func ScoresNeeded(scores []float64, confidence, least float64) (n int, ok bool) {
	if len(scores) == 0 || Mean(scores) <= least {
		return 0, false
	}
	holds := func(n int) bool {
		return least <= 0 || newBettor(scores, n, confidence).capital(least) >= 1/(1-confidence)
	}
	low, high := 0, len(scores)
	if holds(high) {
		return high, true
	}
	for !holds(high) {
		low, high = high, 2*high
		if high > enough {
			return 0, false
		}
	}
	for high-low > max(1, high/100) {
		if middle := (low + high) / 2; holds(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high, true
}
