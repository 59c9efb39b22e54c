package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/rageval/rageval/internal/stats"
)

// settings are what a chunker's name says about its sizes.
type settings struct {
	kind    string // the name without sizes
	size    int
	overlap int
}

// parseSettings reads a name such as recursive/size=800/overlap=400, which
// chunkers print. A size may also be called tokens or maxsize; a field that is
// missing is 0.
func parseSettings(chunker string) (s settings, ok bool) {
	var rest []string
	for _, part := range strings.Split(chunker, "/") {
		field, value, _ := strings.Cut(part, "=")
		n, err := strconv.Atoi(value)
		switch {
		case err != nil:
			rest = append(rest, part)
		case field == "size" || field == "tokens" || field == "maxsize":
			s.size, ok = n, true
		case field == "overlap":
			s.overlap = n
		default:
			rest = append(rest, part)
		}
	}
	s.kind = strings.Join(rest, "/")
	return s, ok
}

// bySettings returns the means of the metric that ranks by kind, size and overlap,
// of the runs that name their sizes.
func (c *contents) bySettings() map[settings][]float64 {
	all := map[settings][]float64{}
	for _, r := range c.runs {
		if s, ok := parseSettings(r.Components.Chunker); ok {
			mean, _ := r.Score(c.metrics[0])
			all[s] = append(all[s], mean)
		}
	}
	return all
}

// axes returns the kinds and sizes there are, ascending.
func axes(all map[settings][]float64) (kinds []string, sizes []int) {
	for s := range all {
		kinds, sizes = append(kinds, s.kind), append(sizes, s.size)
	}
	return distinct(kinds), distinct(sizes)
}

func distinct[T cmp.Ordered](list []T) []T {
	slices.Sort(list)
	return slices.Compact(list)
}

// mostMaps is how many kinds of chunkers have a heat map at most.
const mostMaps = 12

// heatMaps show the mean score by size and overlap, one for each kind of chunker that
// has two of each, the kind with the best score first. One scale of colours is common
// to all.
func (c *contents) heatMaps() []*Plot {
	all := c.bySettings()
	kinds, _ := axes(all)
	var maps []heatMap
	low, high := math.Inf(1), math.Inf(-1)
	for _, kind := range kinds {
		if m, ok := newHeatMap(all, kind); ok {
			maps = append(maps, m)
			low, high = min(low, m.low), max(high, m.high)
		}
	}
	slices.SortStableFunc(maps, func(a, b heatMap) int { return cmp.Compare(b.high, a.high) })
	var plots []*Plot
	for i, m := range maps[:min(len(maps), mostMaps)] {
		p := newPlot("size of chunks", m.overlap)
		p.X.Tick.Marker, p.Y.Tick.Marker = numbered(m.sizes), numbered(m.overlaps)
		p.Add(cells{m.values, low, high})
		name, caption := "size-and-overlap", fmt.Sprintf("Mean %s by size and overlap, over all runs with these", c.metrics[0])
		if len(maps) > 1 {
			name = fmt.Sprintf("%s-%d", name, i+1)
			caption += ", of chunker " + m.kind
		}
		plots = append(plots, &Plot{name, caption + ".", p, figureWidth, vg.Length(60 + 30*len(m.overlaps))})
	}
	return plots
}

// heatMap has the mean scores of one kind of chunker.
type heatMap struct {
	kind            string
	overlap         string // what the overlaps are
	sizes, overlaps []int
	cells
}

// newHeatMap returns that of a kind; false unless it has two sizes and overlaps. The
// overlaps are in percent of the size where these are fewer numbers.
func newHeatMap(all map[settings][]float64, kind string) (heatMap, bool) {
	units := []struct {
		name string
		of   func(s settings) int
	}{
		{"overlap", func(s settings) int { return s.overlap }},
		{"overlap, % of the size", func(s settings) int { return int(math.Round(100 * float64(s.overlap) / float64(max(s.size, 1)))) }},
	}
	var best heatMap
	for _, unit := range units {
		m := heatMap{kind: kind, overlap: unit.name}
		scores := map[[2]int][]float64{} // by size and overlap
		for _, s := range slices.SortedFunc(maps.Keys(all), compareSettings) {
			if s.kind == kind {
				m.sizes, m.overlaps = append(m.sizes, s.size), append(m.overlaps, unit.of(s))
				at := [2]int{s.size, unit.of(s)}
				scores[at] = append(scores[at], all[s]...)
			}
		}
		m.sizes, m.overlaps = distinct(m.sizes), distinct(m.overlaps)
		if best.kind != "" && len(best.overlaps) <= len(m.overlaps) {
			break
		}
		m.low, m.high = math.Inf(1), math.Inf(-1)
		for _, overlap := range m.overlaps {
			var row []float64
			for _, size := range m.sizes {
				v := meanOf(scores[[2]int{size, overlap}])
				row = append(row, v)
				if !math.IsNaN(v) {
					m.low, m.high = min(m.low, v), max(m.high, v)
				}
			}
			m.values = append(m.values, row)
		}
		best = m
	}
	return best, len(best.sizes) > 1 && len(best.overlaps) > 1
}

func compareSettings(a, b settings) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.size, b.size), cmp.Compare(a.overlap, b.overlap))
}

// numbered labels the cells of a heat map.
func numbered(values []int) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for i, v := range values {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: strconv.Itoa(v)})
	}
	return ticks
}

// sizePlot shows the mean score by size, a line for each kind of chunker: nil
// unless a kind has two sizes.
func (c *contents) sizePlot() *Plot {
	all := c.bySettings()
	kinds, sizes := axes(all)
	if len(sizes) < 2 {
		return nil
	}
	p := newPlot("size of chunks", "mean "+c.metrics[0])
	p.Add(grid())
	var named []string
	for _, kind := range kinds {
		var points plotter.XYs
		for _, size := range sizes {
			var scores []float64
			for _, s := range slices.SortedFunc(maps.Keys(all), compareSettings) {
				if s.kind == kind && s.size == size {
					scores = append(scores, all[s]...)
				}
			}
			if len(scores) > 0 {
				points = append(points, plotter.XY{X: float64(size), Y: meanOf(scores)})
			}
		}
		if len(points) > 1 && len(named) < len(series) {
			addLine(p, points, len(named))
			named = append(named, kind)
		}
	}
	if len(named) == 0 {
		return nil
	}
	var ticks plot.ConstantTicks
	for _, s := range sizes {
		ticks = append(ticks, plot.Tick{Value: float64(s), Label: strconv.Itoa(s)})
	}
	p.X.Tick.Marker = ticks
	if c.withinUnit(c.metrics[0]) {
		scale(&p.Y)
		p.Y.Max = 1.25 // room for the legend
	}
	legend(p, named)
	return &Plot{"size", fmt.Sprintf("Mean %s by size, a line for each kind of chunker.", c.metrics[0]), p, figureWidth, figureHeight}
}

// meanOf returns the mean of scores: NaN if there are none.
func meanOf(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	return stats.Mean(values)
}
