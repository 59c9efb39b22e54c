package ragtest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/rageval/rageval/spans"
)

// Few parts are looked through and many are searched: both find the characters that a
// walk over all of them does.
func TestTruthClips(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	doc := func() spans.DocumentID { return spans.DocumentID(fmt.Sprint("d", random.IntN(6))) }
	var clipper truth
	hits := 0
	for round := range 2_000 {
		var list []spans.Span
		for range random.IntN(3 * fewParts) {
			start := random.IntN(200)
			list = append(list, in(doc(), start, start+random.IntN(12)))
		}
		set := spans.Union(list...)
		clipper.reset(set)
		for range 20 {
			start := random.IntN(210) - 5
			s := spans.Span{Doc: doc(), Start: start, End: start + random.IntN(60) - 3}
			wantFrom, wantTo, number := 0, 0, 0
			for r := range set.All() {
				for at := r.Start; at < r.End; at++ {
					if r.Doc == s.Doc && s.Start <= at && at < s.End {
						if wantFrom == wantTo {
							wantFrom = number
						}
						wantTo = number + 1
					}
					number++
				}
			}
			if wantFrom < wantTo {
				hits++
			}
			if from, to := clipper.clip(&s); from != to && (from != wantFrom || to != wantTo) || from == to && wantFrom != wantTo {
				t.Fatalf("round %d: %v of %v: got %d to %d, want %d to %d", round, s, set, from, to, wantFrom, wantTo)
			}
		}
	}
	if hits < 1000 {
		t.Errorf("only %d spans hit: this test checks little", hits)
	}
}
