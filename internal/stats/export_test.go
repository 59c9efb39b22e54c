package stats

import "math/rand/v2"

// Claims reports whether the lower bound for the scores exceeds m, or is m.
func Claims(scores []float64, confidence, m float64) bool {
	b := newBettor(scores, len(scores), confidence)
	return b.capital(m) >= b.wanted
}

func DrawRecall(random *rand.Rand, mean, between float64) float64 {
	return drawRecall(random, mean, between)
}
