package report

import (
	"cmp"
	"slices"

	"github.com/rageval/rageval/internal/stats"
	"github.com/rageval/rageval/ragtest"
)

// tie says whether a run can be told from the best one.
type tie int

const (
	notJudged tie = iota
	best
	tied
	worse
)

const (
	// tieLevel is the p-value up to which a difference counts as one.
	tieLevel = 0.05
	// tieScores bounds how many scores of all runs together the test exchanges at
	// random, 9,999 times: that takes about a second.
	tieScores = 5_000
)

// rank sorts the runs by the metric that ranks, the best first; runs with equal
// means keep their order.
func (c *contents) rank() {
	c.runs = slices.Clone(c.runs)
	mean := func(r *ragtest.Result) float64 {
		s, _ := r.Score(c.metrics[0])
		return s
	}
	slices.SortStableFunc(c.runs, func(a, b *ragtest.Result) int { return cmp.Compare(mean(b), mean(a)) })
}

// judged returns how many of the best runs are compared with the best.
func (c *contents) judged() int {
	if c.tied != nil {
		return len(c.runs)
	}
	if !c.paired {
		return 0
	}
	return min(len(c.runs), max(2, tieScores/len(c.queries)))
}

// tie says which runs cannot be told from the best one: the randomised Tukey HSD
// test among the runs that are judged.
func (c *contents) tie() {
	c.ties = make([]tie, len(c.runs))
	if c.tied != nil {
		for i, r := range c.runs {
			c.ties[i] = worse
			if c.tied[r] {
				c.ties[i] = tied
			}
		}
		c.ties[0] = best
		return
	}
	scores := make([][]float64, c.judged())
	for i := range scores {
		scores[i] = make([]float64, len(c.queries))
		for q := range c.queries {
			scores[i][q] = c.score(i, q, c.metrics[0])
		}
	}
	p := stats.TukeyHSD(scores)
	for i := range scores {
		switch {
		case i == 0:
			c.ties[i] = best
		case p[0][i] > tieLevel:
			c.ties[i] = tied
		default:
			c.ties[i] = worse
		}
	}
}
