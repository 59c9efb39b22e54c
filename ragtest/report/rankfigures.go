package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
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
		labels = append(labels, short(c.labels[i]))
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

// kPlot shows the mean score against K, of the best runs among those that differ in K
// alone: nil unless there are such.
func (c *contents) kPlot() *Plot {
	type line struct {
		name   string
		points plotter.XYs
	}
	var lines []*line
	of := map[string]*line{}
	for _, r := range c.runs { // the best first
		name := strings.TrimSuffix(r.Name, fmt.Sprintf("/k=%d", r.K))
		l := of[name]
		if name == r.Name {
			continue
		}
		if l == nil {
			l = &line{name: name}
			of[name] = l
			lines = append(lines, l)
		}
		mean, _ := r.Score(c.metrics[0])
		l.points = append(l.points, plotter.XY{X: float64(r.K), Y: mean})
	}
	p := newPlot("K", "mean "+c.metrics[0])
	unit := c.withinUnit(c.metrics[0])
	if unit {
		scale(&p.Y)
	}
	p.Add(grid())
	var named []string
	var ks []int
	for _, l := range lines {
		if len(l.points) < 2 || len(named) == len(series) {
			continue
		}
		slices.SortFunc(l.points, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
		for _, point := range l.points {
			ks = append(ks, int(point.X))
		}
		addLine(p, l.points, len(named))
		named = append(named, short(l.name))
	}
	if len(named) == 0 {
		return nil
	}
	if unit {
		p.Y.Max = above(named)
	}
	ks = distinct(ks)
	if len(ks) > 12 {
		p.X.Tick.Marker = wholeNumbers(ks[len(ks)-1])
	} else {
		var ticks plot.ConstantTicks
		for _, k := range ks {
			ticks = append(ticks, plot.Tick{Value: float64(k), Label: strconv.Itoa(k)})
		}
		p.X.Tick.Marker = ticks
	}
	legend(p, named)
	return &Plot{"k", fmt.Sprintf("Mean %s against K, of the best configurations.", c.metrics[0]), p, figureWidth, figureHeight}
}

// short returns the name of a configuration as a figure has room for it.
func short(name string) string { return strings.TrimPrefix(name, "chunker=") }

// above returns where an axis of scores ends that has room for a legend above 1.
func above(legend []string) float64 { return 1.1 + 0.1*float64(len(legend)) }

// curvesPlot shows the highest of the page's curves: nil if it has none.
func (c *contents) curvesPlot() *Plot {
	curves := slices.DeleteFunc(slices.Clone(c.curves), func(c Curve) bool { return len(c.Points) == 0 })
	if len(curves) == 0 {
		return nil
	}
	last := func(c Curve) float64 { return c.Points[len(c.Points)-1].Recall }
	slices.SortStableFunc(curves, func(a, b Curve) int { return cmp.Compare(last(b), last(a)) })
	shown := curves[:min(len(curves), len(series))]
	p := newPlot("budget in "+curves[0].Unit, "mean recall")
	scale(&p.Y)
	p.Add(grid())
	var named []string
	for i, curve := range shown {
		var points plotter.XYs
		for _, point := range curve.Points {
			points = append(points, plotter.XY{X: point.Budget, Y: point.Recall})
		}
		addLine(p, points, i)
		named = append(named, short(curve.Name))
	}
	fromZero(&p.X)
	p.Y.Max = above(named)
	legend(p, named)
	caption := "Recall within budgets of text that every configuration may fill with its chunks, best first."
	if len(shown) < len(curves) {
		caption += fmt.Sprintf(" The best %d of %d configurations.", len(shown), len(curves))
	}
	return &Plot{"recall-within-budget", caption, p, figureWidth, figureHeight}
}

// characters returns how much text each run retrieves for a query, in the mean, and
// what is counted; nil if that is not known of all. Of a run without its queries' hits
// only the length of all chunks together is known, which then counts for all.
func (c *contents) characters() (of []float64, what string) {
	for _, r := range c.runs {
		if d := depths(r); len(d) > 0 {
			of = append(of, d[len(d)-1].characters)
		}
	}
	if len(of) == len(c.runs) {
		return of, "distinct text"
	}
	of = nil
	for _, r := range c.runs {
		at := slices.IndexFunc(r.Budgets, func(s ragtest.Score) bool { return s.Metric == ragtest.RetrievedCharacters.Name() })
		if at < 0 {
			return nil, ""
		}
		of = append(of, r.Budgets[at].Value)
	}
	return of, "the text of all chunks"
}

// costPlot shows what recall costs in retrieved text.
func (c *contents) costPlot() *Plot {
	characters, _ := c.characters()
	if characters == nil {
		return nil
	}
	var points, front plotter.XYs
	for i, r := range c.runs {
		mean, _ := r.Score(c.metrics[0])
		points = append(points, plotter.XY{X: characters[i], Y: mean})
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
