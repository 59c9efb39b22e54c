package report

import (
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

// plots returns the figures that the runs have the data for.
func (c *contents) plots() []Plot {
	var all []*Plot
	switch len(c.runs) {
	case 1:
		all = []*Plot{c.metricsPlot(), c.lossPlot(), c.depthPlot(), c.budgetPlot(), c.scoresPlot()}
	case 2:
		all = []*Plot{c.metricsPlot(), c.changesPlot(), c.depthPlot(), c.budgetPlot()}
	default:
		all = append(append([]*Plot{c.rankingPlot()}, c.heatMaps()...), c.sizePlot(), c.kPlot(), c.costPlot())
	}
	all = append(all, c.curvesPlot())
	var plots []Plot
	for _, p := range all {
		if p != nil {
			plots = append(plots, *p)
		}
	}
	return plots
}

// scale sets an axis of scores from 0 to 1.
func scale(a *plot.Axis) {
	a.Min, a.Max = 0, 1
	a.Tick.Marker = plot.ConstantTicks{{Value: 0, Label: "0"}, {Value: 0.25, Label: "0.25"}, {Value: 0.5, Label: "0.5"}, {Value: 0.75, Label: "0.75"}, {Value: 1, Label: "1"}}
}

// fromZero sets an axis of counts from 0 to what its data need.
func fromZero(a *plot.Axis) {
	a.Min = 0
	a.Max = max(a.Max, 1) * 1.04
	step := 1.0
	for i := 0; a.Max/step > 6; i++ {
		step *= []float64{2, 2.5, 2}[i%3] // 1, 2, 5, 10 and so on
	}
	var ticks plot.ConstantTicks
	for v := 0.0; v <= a.Max; v += step {
		ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'f', -1, 64)})
	}
	a.Tick.Marker = ticks
}

// rows labels the rows of a figure, the first at the top.
func rows(p *plot.Plot, labels []string) {
	var ticks plot.ConstantTicks
	for i, l := range labels {
		ticks = append(ticks, plot.Tick{Value: float64(len(labels) - 1 - i), Label: inFigure(l)})
	}
	p.Y.Tick.Marker = ticks
	p.Y.Tick.LineStyle.Width, p.Y.LineStyle.Width = 0, 0
}

func grid() *plotter.Grid {
	g := plotter.NewGrid()
	g.Vertical.Color, g.Horizontal.Color = faint, faint
	g.Vertical.Width, g.Horizontal.Width = 0.5, 0.5
	return g
}

// withinUnit reports whether the means of a metric fit an axis from 0 to 1.
func (c *contents) withinUnit(metric string) bool {
	for _, r := range c.runs {
		if mean, _ := r.Score(metric); mean < 0 || mean > 1 {
			return false
		}
	}
	return true
}

// metricsPlot shows the means of one or two runs with their intervals.
func (c *contents) metricsPlot() *Plot {
	metrics := slices.DeleteFunc(slices.Clone(c.metrics), func(m string) bool { return !c.withinUnit(m) })
	if len(metrics) == 0 {
		return nil
	}
	p := newPlot("mean over the queries", "")
	scale(&p.X)
	b := bars{width: 14}
	var labels []string
	n := len(metrics)
	for i, m := range metrics {
		labels = append(labels, m)
		for j, r := range c.runs {
			mean, _ := r.Score(m)
			row := bar{at: float64(n - 1 - i), from: 0, to: mean, color: series[j], label: decimals(mean), limit: math.NaN()}
			if len(c.runs) == 2 {
				b.width = 9
				row.at += 0.2 - 0.4*float64(j)
			}
			if at := slices.IndexFunc(r.Intervals, func(s ragtest.ScoreInterval) bool { return s.Metric == m }); at >= 0 {
				row.low, row.high = r.Intervals[at].Low, r.Intervals[at].High
			}
			if at := slices.IndexFunc(r.Ceilings, func(s ragtest.Score) bool { return s.Metric == m }); at >= 0 {
				row.limit = r.Ceilings[at].Value
			}
			b.rows = append(b.rows, row)
		}
	}
	rows(p, labels)
	g := grid()
	g.Horizontal.Width = 0
	p.Add(g, b)
	p.X.Max = 1.2 // room for the last label
	p.Y.Min, p.Y.Max = -0.6, float64(n)-0.4
	caption := "Means with 95 % intervals; a dashed line marks the best that any ranking of these chunks reaches."
	if len(c.runs) == 2 {
		p.Y.Max += 0.5
		legend(p, c.labels)
	}
	return &Plot{"metrics", caption, p, figureWidth, vg.Length(60 + 26*n + 20*(len(c.runs)-1))}
}

// legend adds the names of runs, each in its colour.
func legend(p *plot.Plot, labels []string) {
	p.Legend.Top = true
	for i, l := range labels {
		p.Legend.Add(inFigure(l), swatch{i})
	}
}

// swatch is the colour of a series in a legend.
type swatch struct{ series int }

// Thumbnail is that of [plot.Thumbnailer].
func (s swatch) Thumbnail(c *draw.Canvas) {
	y := (c.Min.Y + c.Max.Y) / 2
	c.FillPolygon(series[s.series%len(series)], []vg.Point{{X: c.Min.X, Y: y - 3}, {X: c.Max.X, Y: y - 3}, {X: c.Max.X, Y: y + 3}, {X: c.Min.X, Y: y + 3}})
}

// lossPlot shows where recall was lost: from all relevant text down to what was
// found.
func (c *contents) lossPlot() *Plot {
	r := c.runs[0]
	if len(r.RecallLosses) == 0 {
		return nil
	}
	p := newPlot("recall", "")
	scale(&p.X)
	p.X.Max = 1.2
	labels := []string{"all relevant text"}
	b := bars{width: 14, rows: []bar{{from: 0, to: 1, color: faint, label: "1", limit: math.NaN()}}}
	left := 1.0
	for _, l := range r.RecallLosses {
		color := lost
		if l.Amount < 0 {
			color = gained
		}
		labels = append(labels, l.Stage)
		b.rows = append(b.rows, bar{from: left, to: left - l.Amount, color: color, label: signed(-l.Amount), limit: math.NaN()})
		left -= l.Amount
	}
	left = max(left, 0)
	labels = append(labels, "found")
	b.rows = append(b.rows, bar{from: 0, to: left, color: series[0], label: decimals(left), limit: math.NaN()})
	for i := range b.rows {
		b.rows[i].at = float64(len(b.rows) - 1 - i)
	}
	rows(p, labels)
	g := grid()
	g.Horizontal.Width = 0
	p.Add(g, b)
	p.Y.Min, p.Y.Max = -0.6, float64(len(b.rows))-0.4
	return &Plot{"recall-lost", "Recall, from all relevant text through what each stage lost to what was found.", p, figureWidth, vg.Length(50 + 22*len(b.rows))}
}

// signed returns a difference as the report prints it.
func signed(x float64) string {
	if math.Abs(x) < 0.00005 {
		return "0"
	}
	return strings.Replace(strconv.FormatFloat(x, 'f', 4, 64), "-", "−", 1)
}

// depthPlot shows the mean recall of the first chunks of each ranking.
func (c *contents) depthPlot() *Plot {
	if c.runs[0].K < 2 {
		return nil
	}
	p := newPlot("chunks judged, of the final ranking", "mean recall")
	scale(&p.Y)
	p.Add(grid())
	deepest := 0
	for i, r := range c.runs {
		var points plotter.XYs
		for k, d := range depths(r) {
			points = append(points, plotter.XY{X: float64(k + 1), Y: d.recall})
		}
		deepest = max(deepest, len(points))
		addLine(p, points, i)
	}
	if deepest < 2 {
		return nil
	}
	p.X.Tick.Marker = wholeNumbers(deepest)
	p.X.Min, p.X.Max = 1, float64(deepest)
	if len(c.runs) > 1 {
		p.Y.Max = 1.25
		legend(p, c.labels)
	}
	return &Plot{"recall-by-rank", "Recall of the first chunks, from one retrieval: what a smaller K would have found.", p, figureWidth, figureHeight}
}

// wholeNumbers returns about ten ticks from 1 to n.
func wholeNumbers(n int) plot.ConstantTicks {
	step := (n + 9) / 10
	var ticks plot.ConstantTicks
	for k := 1; k <= n; k += step {
		ticks = append(ticks, plot.Tick{Value: float64(k), Label: strconv.Itoa(k)})
	}
	return ticks
}

// budgetPlot shows recall against the text that a reader, such as a language
// model, is given for it.
func (c *contents) budgetPlot() *Plot {
	p := newPlot("text retrieved for a query, mean, in characters", "mean recall")
	scale(&p.Y)
	p.Add(grid())
	for i, r := range c.runs {
		var points plotter.XYs
		for _, d := range depths(r) {
			points = append(points, plotter.XY{X: d.characters, Y: d.recall})
		}
		if len(points) < 2 {
			return nil
		}
		addLine(p, points, i)
	}
	fromZero(&p.X)
	if len(c.runs) > 1 {
		p.Y.Max = 1.25
		legend(p, c.labels)
	}
	return &Plot{"recall-by-budget", "Recall against the text that was retrieved for it: one point for each K.", p, figureWidth, figureHeight}
}

func addLine(p *plot.Plot, points plotter.XYs, i int) {
	if len(points) == 0 {
		return
	}
	colour := series[i%len(series)]
	p.Add(
		&plotter.Line{XYs: points, LineStyle: draw.LineStyle{Color: colour, Width: 1.5}},
		&plotter.Scatter{XYs: points, GlyphStyle: draw.GlyphStyle{Color: colour, Radius: 2.5, Shape: draw.CircleGlyph{}}},
	)
}

// scoresPlot shows how the scores of the queries are spread.
func (c *contents) scoresPlot() *Plot {
	const bins = 10
	h := columns{step: 1.0 / bins, heights: make([]float64, bins), color: series[0]}
	for q := range c.queries {
		s := c.score(0, q, c.metrics[0])
		if s < 0 || s > 1 {
			return nil
		}
		h.heights[min(bins-1, int(s*bins))]++
	}
	p := newPlot(c.metrics[0]+" of a query", "queries")
	g := grid()
	g.Vertical.Width = 0
	p.Add(g, h)
	scale(&p.X)
	p.Y.Max = max(1, slices.Max(h.heights)*1.12)
	fromZero(&p.Y)
	return &Plot{"scores", "How many queries have which score; the last bar includes 1.", p, figureWidth, figureHeight}
}

// changesPlot shows the change of each metric from one run to the other.
func (c *contents) changesPlot() *Plot {
	if c.comparison == nil {
		return nil
	}
	p := newPlot("difference of the means", "")
	b := bars{width: 14}
	var labels []string
	n := len(c.comparison.Metrics)
	furthest := 0.0
	for i, m := range c.comparison.Metrics {
		d := m.Changes[0]
		color := gained
		if d.Difference < 0 {
			color = lost
		}
		labels = append(labels, m.Metric)
		b.rows = append(b.rows, bar{at: float64(n - 1 - i), from: 0, to: d.Difference, color: color, label: plus(d.Difference), low: d.Low, high: d.High, limit: math.NaN()})
		furthest = max(furthest, math.Abs(d.Low), math.Abs(d.High), math.Abs(d.Difference))
	}
	rows(p, labels)
	g := grid()
	g.Horizontal.Width = 0
	p.Add(g, b)
	furthest = max(furthest, 0.01)
	p.X.Min, p.X.Max = -furthest*1.1, furthest*1.4
	p.Y.Min, p.Y.Max = -0.6, float64(n)-0.4
	return &Plot{"changes", "How the means changed, with 95 % intervals: one that holds 0 may be chance.", p, figureWidth, vg.Length(60 + 26*n)}
}

// plus returns a difference with its sign.
func plus(x float64) string {
	if s := signed(x); x < 0 || s == "0" {
		return s
	}
	return "+" + signed(x)
}
