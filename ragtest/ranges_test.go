package ragtest

import (
	"math/rand/v2"
	"testing"
)

// What a range adds to those before it is what marking numbers finds.
func TestRangesAddWhatIsNew(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		var set ranges
		marked := make([]bool, 120)
		for range random.IntN(40) {
			from := random.IntN(80)
			to := from + 1 + random.IntN(1+random.IntN(40))
			want := 0
			for at := from; at < to; at++ {
				if !marked[at] {
					marked[at] = true
					want++
				}
			}
			if got := set.add(from, to); got != want {
				t.Fatalf("adding %d to %d: got %d new numbers, want %d", from, to, got, want)
			}
			for i := 1; i < len(set); i++ {
				if set[i-1].to >= set[i].from {
					t.Fatalf("%v: range %d is not apart from the one before", set, i)
				}
			}
		}
	}
}
