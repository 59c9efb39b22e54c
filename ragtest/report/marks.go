package report

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// bars are horizontal bars, one a row, the first at the top.
type bars struct {
	rows  []bar
	width vg.Length
}

type bar struct {
	at       float64 // the row, from the bottom
	from, to float64
	color    color.Color
	label    string // beside the end
	low      float64
	high     float64 // of an interval; none if it is not above low
	limit    float64 // a ceiling; none if it is NaN
}

// DataRange is that of [plot.DataRanger].
func (b bars) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax, ymin, ymax = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, r := range b.rows {
		xmin, xmax = min(xmin, r.from, r.to), max(xmax, r.from, r.to)
		ymin, ymax = min(ymin, r.at-0.6), max(ymax, r.at+0.6)
	}
	return xmin, xmax, ymin, ymax
}

// Plot is that of [plot.Plotter].
func (b bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, r := range b.rows {
		half := b.width / 2
		top, bottom := y(r.at)+half, y(r.at)-half
		if r.from != r.to {
			c.FillPolygon(r.color, []vg.Point{{X: x(r.from), Y: bottom}, {X: x(r.to), Y: bottom}, {X: x(r.to), Y: top}, {X: x(r.from), Y: top}})
		}
		line := draw.LineStyle{Color: ink, Width: 1}
		end := max(x(r.from), x(r.to))
		if r.high > r.low {
			c.StrokeLine2(line, x(r.low), y(r.at), x(r.high), y(r.at))
			c.StrokeLine2(line, x(r.low), y(r.at)-3, x(r.low), y(r.at)+3)
			c.StrokeLine2(line, x(r.high), y(r.at)-3, x(r.high), y(r.at)+3)
			end = max(end, x(r.high))
		}
		if !math.IsNaN(r.limit) {
			limit := draw.LineStyle{Color: ink, Width: 1, Dashes: []vg.Length{2, 2}}
			c.StrokeLine2(limit, x(r.limit), bottom-2, x(r.limit), top+2)
			end = max(end, x(r.limit))
		}
		c.FillText(labelStyle(text.XLeft, text.YCenter), vg.Point{X: end + 4, Y: y(r.at)}, r.label)
	}
}

// columns are the vertical bars of a histogram.
type columns struct {
	from, step float64
	heights    []float64
	color      color.Color
}

// DataRange is that of [plot.DataRanger].
func (c columns) DataRange() (xmin, xmax, ymin, ymax float64) {
	for _, h := range c.heights {
		ymax = max(ymax, h)
	}
	return c.from, c.from + c.step*float64(len(c.heights)), 0, ymax
}

// Plot is that of [plot.Plotter].
func (c columns) Plot(canvas draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&canvas)
	for i, h := range c.heights {
		if h == 0 {
			continue
		}
		left, right := x(c.from+c.step*float64(i))+0.75, x(c.from+c.step*float64(i+1))-0.75
		canvas.FillPolygon(c.color, []vg.Point{{X: left, Y: y(0)}, {X: right, Y: y(0)}, {X: right, Y: y(h)}, {X: left, Y: y(h)}})
		canvas.FillText(labelStyle(text.XCenter, text.YBottom), vg.Point{X: (left + right) / 2, Y: y(h) + 1}, strconv.Itoa(int(h)))
	}
}

// cells are the cells of a heat map, with their values.
type cells struct {
	values [][]float64 // by row, from the bottom, then by column; NaN: none
	low    float64
	high   float64
}

// DataRange is that of [plot.DataRanger].
func (c cells) DataRange() (xmin, xmax, ymin, ymax float64) {
	return -0.5, float64(len(c.values[0])) - 0.5, -0.5, float64(len(c.values)) - 0.5
}

// Plot is that of [plot.Plotter].
func (c cells) Plot(canvas draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&canvas)
	for row, values := range c.values {
		for column, v := range values {
			if math.IsNaN(v) {
				continue
			}
			share := 1.0
			if c.high > c.low {
				share = (v - c.low) / (c.high - c.low)
			}
			left, right := x(float64(column)-0.5)+1, x(float64(column)+0.5)-1
			bottom, top := y(float64(row)-0.5)+1, y(float64(row)+0.5)-1
			// An opacity shows on light and on dark alike; ink stays readable on it.
			shade := color.NRGBA{series[0].R, series[0].G, series[0].B, uint8(20 + 150*share)}
			canvas.FillPolygon(shade, []vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}})
			canvas.FillText(labelStyle(text.XCenter, text.YCenter), vg.Point{X: (left + right) / 2, Y: (bottom + top) / 2}, decimals(v))
		}
	}
}

func labelStyle(x text.XAlignment, y text.YAlignment) text.Style {
	return text.Style{Color: ink, Font: font.From(sans, 9), XAlign: x, YAlign: y, Handler: plot.DefaultTextHandler}
}

// decimals returns a score as the report prints it.
func decimals(x float64) string { return strconv.FormatFloat(x, 'f', 4, 64) }
