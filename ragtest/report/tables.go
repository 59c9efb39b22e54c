package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rageval/rageval/ragtest"
)

// tables are the figures of the runs in numbers.
func (c *contents) tables() []table {
	switch len(c.runs) {
	case 1:
		tables := []table{c.metricsTable()}
		if b := c.runs[0].Baseline; b != nil && b.Comparison != nil && len(b.Comparison.Runs) == 2 {
			tables = append(tables, changesTable("Against the baseline", b.Comparison))
		}
		return append(tables, lossTables(c.runs, c.labels)...)
	case 2:
		tables := []table{c.twoTable()}
		if c.comparison != nil {
			tables = []table{changesTable("Change of the means", c.comparison)}
		}
		return append(tables, lossTables(c.runs, c.labels)...)
	}
	return []table{c.rankingTable()}
}

func words(list ...string) []head {
	var heads []head
	for _, w := range list {
		heads = append(heads, head{Text: w})
	}
	return heads
}

func numbers(list ...string) []head {
	heads := words(list...)
	for i := range heads {
		heads[i].Number = true
	}
	return heads
}

func scoreCell(x float64) tableCell {
	return tableCell{Text: decimals(x), Class: "number", Sort: strconv.FormatFloat(x, 'g', -1, 64)}
}

func numberCell(text string) tableCell { return tableCell{Text: text, Class: "number"} }

func (c *contents) metricsTable() table {
	r := c.runs[0]
	t := table{Title: "Metrics", Head: append(append(words("metric"), numbers("mean", "95 % interval", "at most", "min", "queries at 1")...), words("threshold")...)}
	for _, m := range c.metrics {
		mean, _ := r.Score(m)
		low, full := mean, 0
		for q := range r.Queries {
			s, _ := r.Queries[q].Score(m)
			low = min(low, s)
			if s == 1 {
				full++
			}
		}
		between, limit := "", ""
		if s, ok := interval(r, m); ok {
			between = decimals(s.Low) + " to " + decimals(s.High)
		}
		if s, ok := ceiling(r, m); ok {
			limit = decimals(s)
		}
		verdict, class := thresholds(r, m)
		t.Rows = append(t.Rows, []tableCell{{Text: m}, scoreCell(mean), numberCell(between), numberCell(limit), scoreCell(low), numberCell(strconv.Itoa(full)), {Text: verdict, Class: class}})
	}
	return t
}

// thresholds returns the verdicts on a metric, and the class that shows them.
func thresholds(r *ragtest.Result, metric string) (text, class string) {
	var list []string
	for _, t := range r.Thresholds {
		switch {
		case t.Metric != metric:
		case t.Pass:
			list = append(list, t.Want+" ok")
			if class == "" {
				class = "good"
			}
		default:
			list = append(list, t.Want+" FAILED")
			class = "bad"
		}
	}
	return strings.Join(list, ", "), class
}

// lossTables have a row for each run that tells its losses.
func lossTables(runs []*ragtest.Result, labels []string) []table {
	one := func(title, left string, of func(r *ragtest.Result) []ragtest.Loss, rest func(r *ragtest.Result) (float64, bool)) (table, bool) {
		t := table{Title: title}
		var names []string
		for _, r := range runs {
			for _, l := range of(r) {
				known := false
				for _, n := range names {
					known = known || n == l.Stage
				}
				if !known {
					names = append(names, l.Stage)
				}
			}
		}
		if len(runs) > 1 {
			t.Head = words("run")
		}
		t.Head = append(t.Head, numbers(append(names, left)...)...)
		for i, r := range runs {
			var row []tableCell
			if len(runs) > 1 {
				row = append(row, tableCell{Text: labels[i]})
			}
			for _, n := range names {
				text := "–"
				for _, l := range of(r) {
					if l.Stage == n {
						text = decimals(l.Amount)
					}
				}
				row = append(row, numberCell(text))
			}
			text := "–"
			if x, ok := rest(r); ok {
				text = decimals(x)
			}
			t.Rows = append(t.Rows, append(row, numberCell(text)))
		}
		return t, len(names) > 0
	}
	var tables []table
	if t, ok := one("Recall lost, by stage", "found", func(r *ragtest.Result) []ragtest.Loss { return r.RecallLosses }, found); ok {
		t.Note = "unlocatable: no chunk holds it; budget: no K chunks hold it; retriever: the embedder ranks it too low; index: the store misses what exact search finds; reranker: retrieved, but not among the K best."
		tables = append(tables, t)
	}
	if t, ok := one("Precision lost, by kind", "relevant", func(r *ragtest.Result) []ragtest.Loss { return r.PrecisionLosses }, precision); ok {
		t.Note = "chunk granularity: in chunks that hold relevant text too; wrong chunks: in chunks that hold none."
		tables = append(tables, t)
	}
	return tables
}

// found returns the recall that the losses leave.
func found(r *ragtest.Result) (float64, bool) {
	left := 1.0
	for _, l := range r.RecallLosses {
		left -= l.Amount
	}
	return max(left, 0), len(r.RecallLosses) > 0
}

// precision returns the mean precision, if the run has that metric. The losses do
// not add up to what it lacks where nothing was retrieved.
func precision(r *ragtest.Result) (float64, bool) {
	if r.Level == "chunk" {
		return r.Score(ragtest.ChunkPrecision.Name())
	}
	return r.Score(ragtest.SpanPrecision.Name())
}

// changesTable shows a comparison of two runs.
func changesTable(title string, c *ragtest.Comparison) table {
	t := table{Title: title, Head: append(words("metric"), numbers("A", "B", "B − A", "95 % interval", "p of a loss", "worse", "better", "detectable loss")...),
		Note: fmt.Sprintf("A is %s, B is %s. Over %s, paired. p: sign-flip test of a loss, adjusted for the number of metrics (Holm). A detectable loss is one that these queries show with probability 0.8.",
			c.Runs[0], c.Runs[1], count(c.Queries, "query", "queries"))}
	for _, m := range c.Metrics {
		d := m.Changes[0]
		class := "number"
		switch {
		case d.Low > 0:
			class = "number good"
		case d.High < 0:
			class = "number bad"
		}
		detectable := scoreCell(d.DetectableLoss)
		if d.DetectableBound {
			detectable.Text += " (bound)"
		}
		t.Rows = append(t.Rows, []tableCell{
			{Text: m.Metric}, scoreCell(m.Means[0]), scoreCell(m.Means[1]), {Text: plus(d.Difference), Class: class}, numberCell(plus(d.Low) + " to " + plus(d.High)),
			scoreCell(d.Adjusted), numberCell(strconv.Itoa(len(d.Worse))), numberCell(strconv.Itoa(len(d.Better))), detectable,
		})
	}
	return t
}

// twoTable shows the means of two runs that cannot be compared.
func (c *contents) twoTable() table {
	t := table{Title: "Means", Head: append(words("metric"), numbers("A", "B")...), Note: "A is " + c.labels[0] + ", B is " + c.labels[1] + ". The runs cannot be compared: " + c.apart + "."}
	for _, m := range c.metrics {
		a, _ := c.runs[0].Score(m)
		b, _ := c.runs[1].Score(m)
		t.Rows = append(t.Rows, []tableCell{{Text: m}, scoreCell(a), scoreCell(b)})
	}
	return t
}

func (c *contents) rankingTable() table {
	t := table{Title: "Ranking by " + c.metrics[0], Sortable: true, Note: c.tieNote()}
	t.Head = append(numbers("rank"), words("run", "verdict")...)
	t.Head = append(t.Head, numbers(append(append([]string{}, c.metrics[0], "95 % interval"), c.metrics[1:]...)...)...)
	t.Head = append(t.Head, numbers("characters", "chunks", "K")...)
	characters, _ := c.characters()
	for i, r := range c.runs {
		between := ""
		if s, ok := interval(r, c.metrics[0]); ok {
			between = decimals(s.Low) + " to " + decimals(s.High)
		}
		verdict := c.tieText(i)
		row := []tableCell{{Text: strconv.Itoa(i + 1), Class: "number", Sort: strconv.Itoa(i + 1)}, {Text: c.labels[i], Class: "text"}, verdict}
		for j, m := range c.metrics {
			mean, _ := r.Score(m)
			row = append(row, scoreCell(mean))
			if j == 0 {
				row = append(row, numberCell(between))
			}
		}
		text := tableCell{Class: "number"}
		if characters != nil {
			n := strconv.FormatFloat(characters[i], 'f', 0, 64)
			text.Text, text.Sort = n, n
		}
		row = append(row, text)
		for _, n := range []int{r.Chunks, r.K} {
			row = append(row, tableCell{Text: strconv.Itoa(n), Class: "number", Sort: strconv.Itoa(n)})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (c *contents) tieText(run int) tableCell {
	cell := map[tie]tableCell{best: {Text: "best", Class: "good"}, tied: {Text: "tied"}, worse: {Text: "worse"}, notJudged: {Text: ""}}[c.ties[run]]
	if failed(c.runs[run]) {
		cell.Text, cell.Class = strings.TrimPrefix(cell.Text+", failed", ", "), "bad"
	}
	return cell
}

func (c *contents) tieNote() string {
	characters := " Failed: a threshold."
	if of, what := c.characters(); of != nil {
		characters += " Characters: " + what + " retrieved for a query, mean."
	}
	n := c.judged()
	switch {
	case n == 0:
		return "The runs are not over the same queries, so which of them tie is not said." + characters
	case n < len(c.runs):
		return fmt.Sprintf("Tied: the queries do not tell the run from the best one (randomised Tukey HSD test over the best %d runs, p > %v).", n, tieLevel) + characters
	}
	return fmt.Sprintf("Tied: the queries do not tell the run from the best one (randomised Tukey HSD test over all runs, p > %v).", tieLevel) + characters
}
