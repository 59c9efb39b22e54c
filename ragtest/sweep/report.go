package sweep

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/rageval/rageval/internal/stats"
	"github.com/rageval/rageval/ragtest"
)

// Report is what a sweep found. Its JSON form reads back to an equal value and is the
// same, byte for byte, for equal grids: Work, Usage and Elapsed are not part of it.
type Report struct {
	Name               string            `json:"name"`
	CorpusFingerprint  string            `json:"corpusFingerprint"`  // of spans.Corpus.Fingerprint
	QueriesFingerprint string            `json:"queriesFingerprint"` // of IDs, texts and ground truth
	Grid               string            `json:"grid"`               // fingerprint of the names of all cells
	GridCells          int               `json:"gridCells"`          // more than there are here if this is a shard
	Metrics            []string          `json:"metrics"`            // of Cell.Scores; the first decides the order
	Queries            []ragtest.QueryID `json:"queries"`
	Budget             string            `json:"budget,omitempty"` // such as "2000 characters"
	Cells              []Cell            `json:"cells"`            // in the order of the grid
	Curves             []Curve           `json:"curves,omitempty"` // one for all the cells that differ in K alone

	Work    Work            `json:"-"`
	Usage   []ragtest.Usage `json:"-"` // of services, by all of the sweep
	Elapsed time.Duration   `json:"-"`
}

// Standing is the place of a cell among all.
type Standing struct {
	Cell int     // index of Report.Cells
	Rank int     // from 1; cells of equal means share it
	Mean float64 // of the first metric
	// P is the probability of a difference between the best and the worst cell as
	// large as the one between this cell and the first, if it did not matter to which
	// cell a score belongs: the randomised Tukey HSD test (Carterette, TOIS 2012) with
	// 9,999 draws, which allows for the number of cells.
	P float64
	// Tied is whether P is above 0.05: the queries do not tell the cell from the first.
	Tied bool
}

// tieLevel is the p-value up to which cells differ.
const tieLevel = 0.05

// Standings ranks the cells by the mean of the first metric, equal ones by the order
// of the grid. It takes time: about 5 s for 150 cells and 500 queries.
func (r *Report) Standings() []Standing {
	rows := make([][]float64, len(r.Cells))
	for i, c := range r.Cells {
		rows[i] = c.Scores[0]
	}
	return standings(rows)
}

// BudgetStandings ranks the curves by their recall within the whole budget, as
// Standings does cells: Cell is an index of Report.Curves.
func (r *Report) BudgetStandings() []Standing {
	rows := make([][]float64, len(r.Curves))
	for i, c := range r.Curves {
		rows[i] = c.Recalls
	}
	return standings(rows)
}

// standings ranks rows of scores by query.
func standings(rows [][]float64) []Standing {
	list := make([]Standing, len(rows))
	for i, row := range rows {
		list[i] = Standing{Cell: i, Mean: stats.Mean(row), P: 1, Tied: true}
	}
	slices.SortStableFunc(list, func(a, b Standing) int { return cmp.Compare(b.Mean, a.Mean) })
	var p [][]float64
	if len(rows) > 1 {
		p = stats.TukeyHSD(rows)
	}
	for i := range list {
		s := &list[i]
		s.Rank = i + 1
		if i > 0 {
			if s.Mean == list[i-1].Mean {
				s.Rank = list[i-1].Rank
			}
			s.P = p[list[0].Cell][s.Cell]
			s.Tied = s.P > tieLevel
		}
	}
	return list
}

// analysis is what takes long to find out.
type analysis struct{ cells, curves []Standing }

func (r *Report) analyse() analysis { return analysis{r.Standings(), r.BudgetStandings()} }

// Pareto returns the indexes of the cells of which none other has both a mean of the
// first metric at least as high and a cost at most as high, one of them strictly;
// cheapest first. The cost is for instance [Cell.RetrievedChars] or [Cell.Cost].
func (r *Report) Pareto(cost func(Cell) float64) []int {
	order := make([]int, len(r.Cells))
	for i := range order {
		order[i] = i
	}
	mean := func(i int) float64 { return r.Cells[i].Metrics[0].Value }
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(cost(r.Cells[i]), cost(r.Cells[j])), cmp.Compare(mean(j), mean(i)))
	})
	var front []int
	for _, i := range order {
		n := len(front)
		equal := n > 0 && mean(i) == mean(front[n-1]) && cost(r.Cells[i]) == cost(r.Cells[front[n-1]])
		if n == 0 || mean(i) > mean(front[n-1]) || equal {
			front = append(front, i)
		}
	}
	return front
}

// AxisValue says how the cells with one value on one axis did. The value "" stands for
// the cells that have none there, such as those without a reranker.
type AxisValue struct {
	Setting
	Cells int     // with this value
	Mean  float64 // of their means of the first metric
	Best  int     // the index of the best of them in Report.Cells
}

// Axes returns, for each axis on which cells differ, its values, that of the highest
// mean first. The mean over cells is a fair comparison where the grid has all
// combinations.
func (r *Report) Axes() []AxisValue {
	var axes []string
	on := make([]map[string]string, len(r.Cells)) // by cell, then by axis
	for i, c := range r.Cells {
		on[i] = map[string]string{}
		for _, s := range c.Settings() {
			on[i][s.Axis] = s.Value
			if !slices.Contains(axes, s.Axis) {
				axes = append(axes, s.Axis)
			}
		}
	}
	mean := func(i int) float64 { return r.Cells[i].Metrics[0].Value }
	var list []AxisValue
	for _, axis := range axes {
		var values []string
		cells := map[string][]int{}
		for i := range r.Cells {
			v := on[i][axis]
			if cells[v] == nil {
				values = append(values, v)
			}
			cells[v] = append(cells[v], i)
		}
		if len(values) < 2 {
			continue
		}
		of := make([]AxisValue, len(values))
		for j, v := range values {
			var means []float64
			best := cells[v][0]
			for _, i := range cells[v] {
				means = append(means, mean(i))
				if mean(i) > mean(best) {
					best = i
				}
			}
			of[j] = AxisValue{Setting{axis, v}, len(means), stats.Mean(means), best}
		}
		slices.SortStableFunc(of, func(a, b AxisValue) int { return cmp.Compare(b.Mean, a.Mean) })
		list = append(list, of...)
	}
	return list
}

// unfair is how many times as much text configurations of one K may retrieve before
// comparing them is no longer fair.
const unfair = 1.5

// Warnings says what speaks against taking the report at its word: cells that are
// missing, comparisons at an equal K of configurations that retrieve more than 1.5
// times as much text as others, rankings that are too short for the budget, and what
// the evaluations warned of.
func (r *Report) Warnings() []string {
	var list []string
	if n := r.GridCells - len(r.Cells); n > 0 {
		list = append(list, fmt.Sprintf("%d of the %d cells of the grid are missing: this is a part of it", n, r.GridCells))
	}
	var ks []int
	for _, c := range r.Cells {
		if !slices.Contains(ks, c.K) {
			ks = append(ks, c.K)
		}
	}
	for _, k := range ks {
		var least, most *Cell
		for i := range r.Cells {
			c := &r.Cells[i]
			if c.K != k {
				continue
			}
			if least == nil || c.RetrievedChars < least.RetrievedChars {
				least = c
			}
			if most == nil || c.RetrievedChars > most.RetrievedChars {
				most = c
			}
		}
		if most.RetrievedChars > unfair*least.RetrievedChars {
			remedy := "compare at an equal context, by Grid.Budget or ragtest sweep -budget"
			if r.Budget != "" {
				remedy = "compare at the budget of " + r.Budget
			}
			list = append(list, fmt.Sprintf("at K = %d a query is given from %.0f characters (%s) to %.0f (%s): %s",
				k, least.RetrievedChars, least.Configuration.name(), most.RetrievedChars, most.Configuration.name(), remedy))
		}
	}
	short, queries, most := 0, 0, 0
	for i, c := range r.Curves {
		if c.Short > 0 {
			short++
		}
		if c.Short > queries {
			queries, most = c.Short, i
		}
	}
	if short > 0 {
		list = append(list, fmt.Sprintf("the rankings of %d of %d configurations ended within the budget of %s though there were more chunks, in %s for %d of %d queries: a larger K, or FetchK with a reranker, makes them longer",
			short, len(r.Curves), r.Budget, r.Curves[most].Configuration.name(), queries, len(r.Queries)))
	}
	cells := map[string]int{}
	var warnings []string
	first := map[string]string{}
	for _, c := range r.Cells {
		for _, w := range c.Warnings {
			if cells[w]++; cells[w] == 1 {
				warnings = append(warnings, w)
				first[w] = c.Name
			}
		}
	}
	for _, w := range warnings {
		list = append(list, fmt.Sprintf("%s (%d cells, the first %s)", w, cells[w], first[w]))
	}
	return list
}
