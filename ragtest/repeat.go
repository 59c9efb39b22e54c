package ragtest

import (
	"context"
	"slices"

	"github.com/rageval/rageval/internal/stats"
)

// Repetition is one of several times that an evaluation ran all its queries, as its
// field Repeat asked.
type Repetition struct {
	Metrics []Score       `json:"metrics"` // means over the queries
	Queries []QueryResult `json:"queries"`

	Trace Trace `json:"-"` // of the set-up, which is common to all, and of this repetition
}

// Spread says how much the mean of a metric over the queries varies between the
// repetitions of an evaluation.
type Spread struct {
	Metric    string  `json:"metric"`
	Deviation float64 `json:"deviation"` // standard deviation of the means, with n - 1
	Low       float64 `json:"low"`       // the smallest of the means
	High      float64 `json:"high"`
}

// repeat runs all queries as often as is asked for, and makes one result of it.
func (e *engine[C]) repeat(ctx context.Context) (*Result, error) {
	results := make([]*Result, max(e.times, 1))
	for i := range results {
		if err := e.round(ctx); err != nil {
			return nil, err
		}
		var err error
		if results[i], err = e.finish(ctx); err != nil {
			return nil, err
		}
		e.usage.mark() // The rounds add up.
	}
	r := combine(results)
	e.summarise(r)
	return r, nil
}

// combine makes one result of those of repetitions: what was retrieved is that of the
// first, whatever can be averaged is the mean, and what describes the run is that of
// the last, which knows of all.
func combine(results []*Result) *Result {
	last := results[len(results)-1]
	if len(results) == 1 {
		return last
	}
	r := *last
	r.Queries = slices.Clone(results[0].Queries)
	r.Trace = results[0].Trace
	for _, one := range results {
		r.LossBounds = r.LossBounds || one.LossBounds
		r.Repetitions = append(r.Repetitions, Repetition{one.Metrics, one.Queries, one.Trace})
	}
	columns := make([][]float64, len(r.Metrics))
	for i := range r.Queries {
		q := &r.Queries[i]
		q.Scores = meanScores(results, func(one *Result) []Score { return one.Queries[i].Scores })
		repeated := make([]QueryResult, len(results))
		for j, one := range results {
			repeated[j] = one.Queries[i]
		}
		q.Ceilings, q.CeilingBounds = meanCeilings(repeated)
		q.RecallLosses = meanLosses(results, func(one *Result) []Loss { return one.Queries[i].RecallLosses })
		q.PrecisionLosses = meanLosses(results, func(one *Result) []Loss { return one.Queries[i].PrecisionLosses })
		for m, s := range q.Scores {
			columns[m] = append(columns[m], s.Value)
		}
	}
	r.Metrics = meanScores(results, func(one *Result) []Score { return one.Metrics })
	r.Ceilings, r.CeilingBounds = meanCeilings(r.Queries)
	r.RecallLosses = meanLosses(results, func(one *Result) []Loss { return one.RecallLosses })
	r.PrecisionLosses = meanLosses(results, func(one *Result) []Loss { return one.PrecisionLosses })
	r.Intervals = intervals(r.Metrics, columns)
	for m, s := range r.Metrics {
		means := make([]float64, len(results))
		for i, one := range results {
			means[i] = one.Metrics[m].Value
		}
		r.Spreads = append(r.Spreads, Spread{s.Metric, stats.Deviation(means), slices.Min(means), slices.Max(means)})
	}
	return &r
}

// intervals returns the confidence intervals of means, whose columns hold the scores of
// all queries.
func intervals(metrics []Score, columns [][]float64) []ScoreInterval {
	var list []ScoreInterval
	for m, interval := range stats.BootstrapScores(columns, 0.95) {
		if interval.Low < interval.High {
			list = append(list, ScoreInterval{metrics[m].Metric, interval.Low, interval.High})
		}
	}
	return list
}

func meanScores(results []*Result, of func(*Result) []Score) []Score {
	means := slices.Clone(of(results[0]))
	for i := range means {
		means[i].Value = meanOf(results, func(r *Result) float64 { return of(r)[i].Value })
	}
	return means
}

func meanLosses(results []*Result, of func(*Result) []Loss) []Loss {
	means := slices.Clone(of(results[0]))
	for i := range means {
		means[i].Amount = meanOf(results, func(r *Result) float64 { return of(r)[i].Amount })
	}
	return means
}

func meanOf(results []*Result, of func(*Result) float64) float64 {
	values := make([]float64, len(results))
	for i, r := range results {
		values[i] = of(r)
	}
	return stats.Mean(values)
}
