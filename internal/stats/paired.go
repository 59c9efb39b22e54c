package stats

import (
	"math"
	"math/bits"
	"slices"
)

const (
	// exactChanges is up to how many differences that are not 0 all signs are
	// tried.
	exactChanges = 20
	// signDraws is how many signs are drawn where there are more.
	signDraws = 9999
)

// SignFlip returns the one-sided p-value of no loss: the probability that the
// mean of the differences (new - old, by query) is as low as it is or lower if
// each difference were as likely to have the other sign. Up to 20 differences
// that are not 0 the test is exact; beyond, 9,999 draws of signs give (count+1) /
// (draws+1), which never understates p on average. Without any difference p is 1.
func SignFlip(differences []float64) float64 {
	var changed []float64
	observed, scale := 0.0, 0.0
	for _, d := range differences {
		if d != 0 {
			changed = append(changed, math.Abs(d))
			observed += d
			scale += math.Abs(d)
		}
	}
	// Sums that are equal but for rounding count as equal.
	threshold := observed + float64(1e-12*scale)
	n := len(changed)
	if n == 0 {
		return 1
	}
	if n <= exactChanges {
		// Gray code: one sign changes at a time.
		sum := scale
		positive := uint32(1)<<n - 1
		count := 0
		if sum <= threshold {
			count++
		}
		for i := uint32(1); i < 1<<n; i++ {
			bit := bits.TrailingZeros32(i)
			if positive ^= 1 << bit; positive>>bit&1 == 1 {
				sum += 2 * changed[bit]
			} else {
				sum -= 2 * changed[bit]
			}
			if sum <= threshold {
				count++
			}
		}
		return float64(count) / float64(uint64(1)<<n)
	}
	random := newRand(seedSignFlip, n)
	count := 0
	for range signDraws {
		negative := 0.0 // the sum of those that get a minus
		for block := range slices.Chunk(changed, 64) {
			signs := random.Uint64()
			for _, d := range block {
				// Without a branch, which would be mispredicted half the time.
				negative += math.Float64frombits(math.Float64bits(d) & -(signs & 1))
				signs >>= 1
			}
		}
		if scale-2*negative <= threshold {
			count++
		}
	}
	return float64(count+1) / float64(signDraws+1)
}

// Holm adjusts p-values for being several, so that the chance of any false alarm
// is at most the level they are compared with (Holm, "A simple sequentially
// rejective multiple test procedure", 1979). The result is in the order of p.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	adjusted := make([]float64, len(p))
	largest := 0.0
	for rank, i := range order {
		largest = max(largest, min(1, p[i]*float64(len(p)-rank)))
		adjusted[i] = largest
	}
	return adjusted
}

// MinimumDetectableLoss returns the mean loss that a gate finds with probability
// 0.8 which fails where the mean loss exceeds margin and the one-sided paired
// test has p <= level, for n differences of the given standard deviation, by the
// normal approximation.
func MinimumDetectableLoss(deviation float64, n int, margin, level float64) float64 {
	if n == 0 {
		return math.Inf(1)
	}
	se := deviation / math.Sqrt(float64(n))
	power := normalQuantile(0.8)
	return max(margin+float64(power*se), float64((normalQuantile(1-level)+power)*se))
}
