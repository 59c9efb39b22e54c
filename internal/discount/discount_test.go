package discount

import (
	"math"
	"slices"
	"testing"
)

func TestDiscount(t *testing.T) {
	for rank := 1; rank <= 100_000; rank++ {
		want := 1 / math.Log2(float64(rank+1))
		if got := At(rank); math.Abs(got-want) > 4e-16*want {
			t.Fatalf("discount of rank %d: got %v, want %v", rank, got, want)
		}
	}
	// Powers of two are exact; the rest, from a table of logarithms.
	for n, want := range map[uint64]float64{
		1: 0, 2: 1, 4: 2, 1 << 20: 20, 1 << 63: 63,
		3: 1.5849625007211561814537389439478, 5: 2.3219280948873623478703194294893, 10: 3.3219280948873623478703194294893,
	} {
		if got := log2(n); got != want {
			t.Errorf("log2(%d): got %v, want %v", n, got, want)
		}
	}
	var d Table
	if got := d.UpTo(3); !slices.Equal(got, []float64{0, 1, 1 / log2(3), 0.5}) {
		t.Errorf("got %v", got)
	}
	if got := d.UpTo(1); len(got) != 4 {
		t.Errorf("got %v, want what was there", got)
	}
}
