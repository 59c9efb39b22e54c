package ragtest

import (
	"github.com/rageval/rageval/internal/coverage"
	"github.com/rageval/rageval/internal/stats"
)

// ceiling is the best score that any choice of chunks has, or a bound for it.
type ceiling struct {
	metric string
	value  float64
	bound  bool
}

// ceilings returns those of recall and of the other metrics that have one, for as
// many chunks as were retrieved; of recall, for K chunks. Of several answers the
// best counts.
func (l *tokenLevel) ceilings(query, retrieved int) []ceiling {
	names := []TokenMetric{SpanRecall}
	for _, m := range l.measured {
		if of := m.measure; !m.Equal(SpanRecall) && (of == SpanRecall.measure || of == SpanPrecision.measure || of == SpanIoU.measure) {
			names = append(names, m)
		}
	}
	list := make([]ceiling, len(names))
	for j, m := range names {
		list[j] = ceiling{metric: m.Name()}
		for i := range l.answers[query] {
			c := l.ceilingOf(m, &l.answers[query][i], retrieved)
			if best := &list[j]; i == 0 || c.Value > best.value || c.Value == best.value && !c.Bound {
				best.value, best.bound = c.Value, c.Bound
			}
		}
	}
	return list
}

func (l *tokenLevel) ceilingOf(m TokenMetric, a *answer, retrieved int) coverage.Ceiling {
	k := m.cut.of(l.k)
	counted := l.counted(a)
	if m.measure == SpanRecall.measure {
		if a.set.Empty() {
			return coverage.Ceiling{Value: 1}
		}
		_, best := l.optimum.Reach(l.scorer.index(), a.set, k, counted...)
		bound := l.optimum.Bound()
		if l.tokenBudget > 0 {
			best, bound = min(best, l.within(a, l.chunksOf(a))), true
		}
		return coverage.Ceiling{Value: float64(best) / float64(a.set.Len()), Bound: bound}
	}
	h := l.highestOf(a, min(k, retrieved))
	if l.tokenBudget > 0 {
		h = l.highestUpTo(a, min(k, len(l.indexed)))
	}
	if m.measure == SpanPrecision.measure {
		return h.precision
	}
	return h.iou
}

// highest is what any choice of n chunks reaches of an answer.
type highest struct {
	answer         *answer
	n              int
	precision, iou coverage.Ceiling
}

// highestUpTo bounds what any choice of up to n chunks reaches: under a token budget
// rankings differ in how many chunks they fill it with.
func (l *tokenLevel) highestUpTo(a *answer, n int) highest {
	most := l.highestOf(a, 0)
	for i := 1; i <= n; i++ {
		h := l.highestOf(a, i)
		most.precision.Value, most.iou.Value = max(most.precision.Value, h.precision.Value), max(most.iou.Value, h.iou.Value)
	}
	most.precision.Bound, most.iou.Bound = true, true
	return most
}

// highestOf keeps what it returned last.
func (l *tokenLevel) highestOf(a *answer, n int) highest {
	if l.highest.answer == a && l.highest.n == n {
		return l.highest
	}
	if l.ceiling == nil {
		l.ceiling = coverage.NewCeilings(l.scorer.index(), l.k)
	}
	h := highest{answer: a, n: n}
	h.precision, h.iou = l.ceiling.Best(a.set, n)
	if counted := l.counted(a); len(counted) > 0 && n > 0 {
		// Of the chunks' lengths nothing is known: equal texts count once.
		_, best := l.optimum.Reach(l.scorer.index(), a.set, n, counted...)
		h.precision, h.iou = coverage.Ceiling{Value: 1, Bound: true}, coverage.Ceiling{Value: float64(best) / float64(a.set.Len()), Bound: true}
	}
	l.highest = h
	return h
}

// split returns the ceilings that some choice of chunks reaches, and the others.
func split(ceilings []ceiling) (exact, bounds []Score) {
	for _, c := range ceilings {
		if c.bound {
			bounds = append(bounds, Score{c.metric, c.value})
		} else {
			exact = append(exact, Score{c.metric, c.value})
		}
	}
	return exact, bounds
}

// meanCeilings returns the means of the queries' ceilings, or of those of one query in
// several repetitions: a metric that is only bounded for one of them is only bounded.
func meanCeilings(queries []QueryResult) (exact, bounds []Score) {
	values := map[string][]float64{}
	bounded := map[string]bool{}
	for _, q := range queries {
		for _, c := range q.Ceilings {
			values[c.Metric] = append(values[c.Metric], c.Value)
		}
		for _, c := range q.CeilingBounds {
			values[c.Metric] = append(values[c.Metric], c.Value)
			bounded[c.Metric] = true
		}
	}
	var means []ceiling
	for _, list := range [][]Score{queries[0].Ceilings, queries[0].CeilingBounds} {
		for _, c := range list {
			means = append(means, ceiling{c.Metric, stats.Mean(values[c.Metric]), bounded[c.Metric]})
		}
	}
	return split(means)
}
