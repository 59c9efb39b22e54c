package stats

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestMeanIsRoundedOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := 1 + random.IntN(500)
		equal, mixed := make([]float64, n), make([]float64, n)
		x := float64(random.IntN(101)) / 100
		exact := new(big.Float).SetPrec(2000)
		for i := range n {
			equal[i] = x
			y := random.Float64()
			if random.IntN(3) == 0 {
				y = float64(random.IntN(2))
			}
			mixed[i] = y
			exact.Add(exact, big.NewFloat(y))
		}
		if got := Mean(equal); got != x {
			t.Fatalf("the mean of %d times %v is %v", n, x, got)
		}
		want, _ := exact.Quo(exact, big.NewFloat(float64(n))).Float64()
		if got := Mean(mixed); got != want {
			t.Fatalf("got mean %v of %d scores, want %v", got, n, want)
		}
	}
}
