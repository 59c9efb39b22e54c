package align

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// costOf computes the cost of a choice of places from its definition.
func costOf(text string, places [][]place, chosen []int, overlap int) (c cost, increasing bool) {
	m := newMeasure(text)
	covered := make([]bool, len(text))
	last := place{start: -1, end: -1}
	for i, k := range chosen {
		if k < 0 {
			c.skipped++
			continue
		}
		p := places[i][k]
		if p.start <= last.start {
			return cost{}, false
		}
		if p.loose {
			c.loose++
		}
		if last.end >= 0 {
			c.deviation += abs(m.charsBefore(int(last.end)) - m.charsBefore(int(p.start)) - overlap)
		}
		for b := p.start; b < p.end; b++ {
			covered[b] = true
		}
		last = p
	}
	for i, r := range text {
		if covered[i] && !strings.ContainsRune(" \n", r) {
			c.covered++
		}
	}
	return c, true
}

// cheapest tries every choice of places.
func cheapest(text string, places [][]place, overlap int) cost {
	var best cost
	found := false
	chosen := make([]int, len(places))
	var try func(i int)
	try = func(i int) {
		if i == len(places) {
			if c, ok := costOf(text, places, chosen, overlap); ok && (!found || c.less(best)) {
				best, found = c, true
			}
			return
		}
		for k := -1; k < len(places[i]); k++ {
			chosen[i] = k
			try(i + 1)
		}
	}
	try(0)
	return best
}

func TestChainIsCheapest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for n := range 3000 {
		var b strings.Builder
		for range 1 + rnd.IntN(12) {
			b.WriteString([]string{"a", "b", "ab", "é", " ", "\n"}[rnd.IntN(6)])
		}
		text := b.String()
		var bounds []int
		for i := range text {
			bounds = append(bounds, i)
		}
		bounds = append(bounds, len(text))
		places := make([][]place, rnd.IntN(6))
		// Equally long, so that no chunk lies within another.
		length := 1 + rnd.IntN(4)
		for i := range places {
			for s := 0; s+length < len(bounds); s++ {
				if rnd.IntN(3) == 0 {
					places[i] = append(places[i], place{int32(bounds[s]), int32(bounds[s+length]), rnd.IntN(4) == 0})
				}
			}
		}
		overlap := rnd.IntN(3)
		chosen, err := chain(t.Context(), newMeasure(text), len(text), places, overlap)
		if err != nil {
			t.Fatal(err)
		}
		got, increasing := costOf(text, places, chosen, overlap)
		if want := cheapest(text, places, overlap); !increasing || got != want {
			t.Fatalf("case %d: text %q, places %v, overlap %d: chose %v, increasing: %t, of cost %+v, want cost %+v",
				n, text, places, overlap, chosen, increasing, got, want)
		}
	}
}
