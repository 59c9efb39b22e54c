package report

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/rageval/rageval/ragtest"
)

// rankedRows is how many runs the ranking shows.
const rankedRows = 30

// rankingPlot shows the best runs.
func (c *contents) rankingPlot() *Plot {
	if !c.withinUnit(c.metrics[0]) {
		return nil
	}
	p := newPlot(c.metrics[0], "")
	scale(&p.X)
	p.X.Max = 1.2
	b := bars{width: 9}
	var labels []string
	n := min(len(c.runs), rankedRows)
	for i, r := range c.runs[:n] {
		mean, _ := r.Score(c.metrics[0])
		row := bar{at: float64(n - 1 - i), to: mean, color: series[0], label: decimals(mean), limit: math.NaN()}
		if at := slices.IndexFunc(r.Intervals, func(s ragtest.ScoreInterval) bool { return s.Metric == c.metrics[0] }); at >= 0 {
			row.low, row.high = r.Intervals[at].Low, r.Intervals[at].High
		}
		b.rows = append(b.rows, row)
		labels = append(labels, c.labels[i])
	}
	rows(p, labels)
	g := grid()
	g.Horizontal.Width = 0
	p.Add(g, b)
	p.Y.Min, p.Y.Max = -0.6, float64(n)-0.4
	caption := "The runs, the best first, with 95 % intervals."
	if n < len(c.runs) {
		caption = fmt.Sprintf("The best %d of %d runs, with 95 %% intervals.", n, len(c.runs))
	}
	return &Plot{"ranking", caption, p, figureWidth, vg.Length(50 + 16*n)}
}

// costPlot shows what recall costs in retrieved text.
func (c *contents) costPlot() *Plot {
	var points, front plotter.XYs
	for i, r := range c.runs {
		d := depths(r)
		if len(d) == 0 {
			return nil
		}
		mean, _ := c.runs[i].Score(c.metrics[0])
		points = append(points, plotter.XY{X: d[len(d)-1].characters, Y: mean})
	}
	front = pareto(points)
	p := newPlot("text retrieved for a query, mean, in characters", c.metrics[0])
	if c.withinUnit(c.metrics[0]) {
		scale(&p.Y)
	}
	p.Add(grid(),
		&plotter.Line{XYs: front, LineStyle: draw.LineStyle{Color: series[1], Width: 1.5}},
		&plotter.Scatter{XYs: points, GlyphStyle: draw.GlyphStyle{Color: series[0], Radius: 3, Shape: draw.CircleGlyph{}}},
	)
	fromZero(&p.X)
	return &Plot{"cost", "Each run's score against the text that it retrieves; the line joins those that no run beats in both.", p, figureWidth, figureHeight}
}

// pareto returns the points that no other beats or equals in one coordinate and
// beats in the other: less X, more Y; by X.
func pareto(points plotter.XYs) plotter.XYs {
	sorted := slices.Clone(points)
	slices.SortStableFunc(sorted, func(a, b plotter.XY) int {
		switch {
		case a.X != b.X && a.X < b.X, a.X == b.X && a.Y > b.Y:
			return -1
		case a == b:
			return 0
		}
		return 1
	})
	var front plotter.XYs
	top := math.Inf(-1)
	for _, p := range sorted {
		if p.Y > top {
			front, top = append(front, p), p.Y
		}
	}
	return front
}
