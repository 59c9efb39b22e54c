package ragtest

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/rageval/rageval/internal/stats"
)

// Comparison compares runs of the same queries: the first with each of the
// others.
type Comparison struct {
	Level   string             `json:"level"`
	Queries int                `json:"queries"`
	Runs    []string           `json:"runs"`    // the names; that of the baseline first
	Metrics []MetricComparison `json:"metrics"` // of those that all runs have, in the order of the first
}

// MetricComparison compares runs by one metric.
type MetricComparison struct {
	Metric  string          `json:"metric"`
	Means   []float64       `json:"means"`   // of each run
	Changes []MetricChange  `json:"changes"` // from the first run to each of the others
	Pairs   []RunDifference `json:"pairs,omitempty"`
}

// MetricChange is the change of one metric from one run to another. Differences
// are new - old: negative for a loss.
type MetricChange struct {
	Difference float64 `json:"difference"` // of the means
	// Low and High are a 95 % confidence interval for the difference: the
	// bias-corrected and accelerated bootstrap of the differences by query.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// P is the one-sided probability of a loss as large as this one if each query
	// were as likely to have gained what it lost: the paired sign-flip test, exact
	// for up to 20 changed queries, else with 9,999 draws. Adjusted is P adjusted for
	// the number of metrics (Holm 1979).
	P        float64 `json:"p"`
	Adjusted float64 `json:"adjusted"`
	// DetectableLoss is the mean loss by this metric alone that these queries show with
	// probability 0.8, so that it exceeds the margin, if there is one, and Adjusted is at
	// most 0.05: from the spread of the differences, by the normal approximation.
	// If nothing differs it is from the spread of the first run's scores, and
	// DetectableBound says that it is an upper bound.
	DetectableLoss  float64       `json:"detectableLoss"`
	DetectableBound bool          `json:"detectableBound,omitempty"`
	Worse           []QueryChange `json:"worse,omitempty"`  // the greatest loss first
	Better          []QueryChange `json:"better,omitempty"` // the greatest gain first
}

// QueryChange is the change of one query's score.
type QueryChange struct {
	ID   QueryID `json:"id"`
	Text string  `json:"text"`
	Old  float64 `json:"old"`
	New  float64 `json:"new"`
}

// RunDifference judges two of three or more runs.
type RunDifference struct {
	First  int `json:"first"` // indexes of Comparison.Runs
	Second int `json:"second"`
	// P is the probability of a difference between the best and the worst of all
	// runs as large as that of these two, if it did not matter to which run a score
	// belongs: the randomised Tukey HSD test (Carterette, TOIS 2012) with 9,999
	// draws. It is adjusted for the number of pairs, not for that of the metrics.
	P float64 `json:"p"`
}

// Compare compares a run with a later one, query by query, and further ones if
// there are any: then each pair too. The runs need the same queries, by ID, in any
// order, the same level, and a metric in common; that they had the same corpus is
// not demanded. Random numbers have a fixed seed: the same results give the same
// comparison.
func Compare(a, b *Result, more ...*Result) (*Comparison, error) {
	return compare(0, append([]*Result{a, b}, more...))
}

// compare compares runs for a gate that lets losses up to margin pass.
func compare(margin float64, runs []*Result) (*Comparison, error) {
	for i, r := range runs {
		if r == nil {
			return nil, fmt.Errorf("comparing runs: run %d is nil", i)
		}
	}
	a := runs[0]
	c := &Comparison{Level: a.Level, Queries: len(a.Queries)}
	order := make([][]int, len(runs)) // of the queries of each run, in the order of the first
	for i, r := range runs {
		c.Runs = append(c.Runs, r.Name)
		if r.Level != a.Level {
			return nil, fmt.Errorf("comparing runs: run %d (%s) is %s-level, and the first %s-level", i, r.Name, r.Level, a.Level)
		}
		var err error
		if order[i], err = matchQueries(a, r); err != nil {
			return nil, fmt.Errorf("comparing runs: run %d (%s): %w", i, r.Name, err)
		}
	}
	if c.Queries == 0 {
		return nil, errors.New("comparing runs: they have no queries")
	}
	var all [][][]float64 // by metric, then by run
	for _, s := range a.Metrics {
		if slices.ContainsFunc(runs, func(r *Result) bool { _, ok := r.Score(s.Metric); return !ok }) {
			continue
		}
		scores := make([][]float64, len(runs))
		for i, r := range runs {
			scores[i] = make([]float64, c.Queries)
			for q, j := range order[i] {
				score, ok := r.Queries[j].Score(s.Metric)
				if !ok || math.IsNaN(score) || math.IsInf(score, 0) {
					return nil, fmt.Errorf("comparing runs: run %d (%s): query %s has no finite score by %s", i, r.Name, r.Queries[j].ID, s.Metric)
				}
				scores[i][q] = score
			}
		}
		c.Metrics = append(c.Metrics, compareMetric(s.Metric, a.Queries, scores))
		all = append(all, scores)
	}
	if len(c.Metrics) == 0 {
		return nil, errors.New("comparing runs: they have no metric in common")
	}
	c.adjust()
	c.detect(margin, all)
	return c, nil
}

// matchQueries returns where r has each query of a.
func matchQueries(a, r *Result) ([]int, error) {
	at := make(map[QueryID]int, len(r.Queries))
	for i, q := range r.Queries {
		if _, twice := at[q.ID]; twice {
			return nil, fmt.Errorf("it has the query %s twice", q.ID)
		}
		at[q.ID] = i
	}
	order := make([]int, len(a.Queries))
	for i, q := range a.Queries {
		j, ok := at[q.ID]
		if !ok {
			return nil, fmt.Errorf("it lacks the query %s of the first run (%q); %d queries against %d", q.ID, abbreviate(q.Text, 60), len(r.Queries), len(a.Queries))
		}
		order[i] = j
		delete(at, q.ID)
	}
	for _, q := range r.Queries {
		if _, left := at[q.ID]; left {
			return nil, fmt.Errorf("it has the query %s (%q), which the first run lacks; %d queries against %d", q.ID, abbreviate(q.Text, 60), len(r.Queries), len(a.Queries))
		}
	}
	return order, nil
}

func compareMetric(metric string, queries []QueryResult, scores [][]float64) MetricComparison {
	m := MetricComparison{Metric: metric}
	for _, s := range scores {
		m.Means = append(m.Means, stats.Mean(s))
	}
	for _, s := range scores[1:] {
		m.Changes = append(m.Changes, compareScores(queries, scores[0], s))
	}
	if len(scores) > 2 {
		p := stats.TukeyHSD(scores)
		for i := range scores {
			for j := i + 1; j < len(scores); j++ {
				m.Pairs = append(m.Pairs, RunDifference{i, j, p[i][j]})
			}
		}
	}
	return m
}

func compareScores(queries []QueryResult, before, after []float64) MetricChange {
	var worse, better []QueryChange
	for i, q := range queries {
		change := QueryChange{q.ID, q.Text, before[i], after[i]}
		switch {
		case after[i] < before[i]:
			worse = append(worse, change)
		case after[i] > before[i]:
			better = append(better, change)
		}
	}
	slices.SortStableFunc(worse, func(a, b QueryChange) int { return cmp.Compare(a.New-a.Old, b.New-b.Old) })
	slices.SortStableFunc(better, func(a, b QueryChange) int { return cmp.Compare(b.New-b.Old, a.New-a.Old) })
	differences := differences(before, after)
	interval := stats.Bootstrap([][]float64{differences}, 0.95)[0]
	return MetricChange{Difference: stats.Mean(differences), Low: interval.Low, High: interval.High, P: stats.SignFlip(differences), Worse: worse, Better: better}
}

// detect sets which losses would be found. Of the scores of all runs by a metric those
// of the first come first.
func (c *Comparison) detect(margin float64, scores [][][]float64) {
	// The p-value of a loss by one metric alone is multiplied by their number.
	level := regressionLevel / float64(len(c.Metrics))
	for m := range c.Metrics {
		before := scores[m][0]
		for i := range c.Metrics[m].Changes {
			d := &c.Metrics[m].Changes[i]
			spread := stats.Deviation(differences(before, scores[m][i+1]))
			if len(d.Worse)+len(d.Better) == 0 {
				// Independent runs would differ by the spread of both.
				spread = math.Sqrt2 * stats.Deviation(before)
				d.DetectableBound = true
			}
			d.DetectableLoss = stats.MinimumDetectableLoss(spread, len(before), margin, level)
		}
	}
}

func differences(before, after []float64) []float64 {
	list := make([]float64, len(before))
	for i := range before {
		list[i] = after[i] - before[i]
	}
	return list
}

// adjust sets the adjusted p-values of each run's changes.
func (c *Comparison) adjust() {
	for run := range c.Metrics[0].Changes {
		p := make([]float64, len(c.Metrics))
		for i, m := range c.Metrics {
			p[i] = m.Changes[run].P
		}
		for i, adjusted := range stats.Holm(p) {
			c.Metrics[i].Changes[run].Adjusted = adjusted
		}
	}
}

// regressionLevel is the adjusted p-value up to which a loss counts as one.
const regressionLevel = 0.05

// String returns a table with a row for each metric and run after the first.
func (c *Comparison) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s-level comparison of %s with %s, over %s\n\n", c.Level, strings.Join(c.Runs[1:], ", "), c.Runs[0], count(c.Queries, "query"))
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	rows := c.rows()
	for _, row := range rows {
		fmt.Fprintln(w, "  "+strings.Join(row, "\t"))
	}
	w.Flush()
	c.eachPair(func(metric string, d RunDifference) {
		fmt.Fprintf(&b, "  %s: %s and %s differ, p = %.4f\n", metric, c.Runs[d.First], c.Runs[d.Second], d.P)
	})
	return trimLines(b.String())
}

// eachPair calls f for the pairs of three or more runs that differ.
func (c *Comparison) eachPair(f func(metric string, d RunDifference)) {
	for _, m := range c.Metrics {
		for _, d := range m.Pairs {
			if d.P <= regressionLevel {
				f(m.Metric, d)
			}
		}
	}
}

// rows returns the cells of the table, the head first.
func (c *Comparison) rows() [][]string {
	rows := [][]string{{"metric", "run", "old", "new", "difference", "95 % interval", "p (loss)", "worse", "better", "detectable loss"}}
	for _, m := range c.Metrics {
		for i, d := range m.Changes {
			detectable := fmt.Sprintf("%.4f", d.DetectableLoss)
			if d.DetectableBound {
				detectable += " (bound)"
			}
			rows = append(rows, []string{
				m.Metric, c.Runs[i+1], fmt.Sprintf("%.4f", m.Means[0]), fmt.Sprintf("%.4f", m.Means[i+1]),
				fmt.Sprintf("%+.4f", d.Difference), fmt.Sprintf("%+.4f to %+.4f", d.Low, d.High), fmt.Sprintf("%.4f", d.Adjusted),
				fmt.Sprint(len(d.Worse)), fmt.Sprint(len(d.Better)), detectable,
			})
		}
	}
	return rows
}

// Markdown returns the table in GitHub-flavored Markdown.
func (c *Comparison) Markdown() string {
	escape := strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;", `\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`)
	var b strings.Builder
	for i, row := range c.rows() {
		for _, cell := range row {
			fmt.Fprintf(&b, "| %s ", escape.Replace(cell))
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString("| --- | --- |" + strings.Repeat(" ---: |", len(row)-2) + "\n")
		}
	}
	return b.String()
}

// LaTeX returns the table as a tabular environment.
func (c *Comparison) LaTeX() string {
	escape := strings.NewReplacer(`\`, `\textbackslash{}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`, "_", `\_`, "{", `\{`, "}", `\}`, "~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "\n", " ")
	var b strings.Builder
	rows := c.rows()
	fmt.Fprintf(&b, "\\begin{tabular}{ll%s}\n\\hline\n", strings.Repeat("r", len(rows[0])-2))
	for i, row := range rows {
		cells := make([]string, len(row))
		for j, cell := range row {
			cells[j] = escape.Replace(cell)
		}
		b.WriteString(strings.Join(cells, " & ") + ` \\` + "\n")
		if i == 0 {
			b.WriteString("\\hline\n")
		}
	}
	b.WriteString("\\hline\n\\end{tabular}\n")
	return b.String()
}

// ScoreSummary is what a publication tells about the scores of a run.
type ScoreSummary struct {
	Mean              float64
	StandardDeviation float64 // of the queries' scores, with n-1 below the line
	Queries           int     // at least 2
}

// SummaryComparison is the difference of two means of which the queries' scores
// are not known.
type SummaryComparison struct {
	Difference float64 // of the means, new - old
	Low, High  float64 // a 95 % confidence interval for it
}

// String says what the interval allows to say.
func (c SummaryComparison) String() string {
	verdict := "the runs differ"
	if c.Low <= 0 && c.High >= 0 {
		verdict = "a tie: the interval holds 0"
	}
	return fmt.Sprintf("difference %+.4f, 95 %% interval %+.4f to %+.4f: %s (unpaired: scores by query would tell more)", c.Difference, c.Low, c.High, verdict)
}

// CompareSummaries compares two runs by mean, standard deviation and number of
// queries alone. The interval is that of Welch (Biometrika 1947). It takes the
// runs for independent, so for runs over the same queries it is wider than that of
// [Compare], which pairs them: what it calls a difference is one. Fewer than two
// queries, and numbers that are negative, NaN or infinite where they cannot be, are
// an error.
func CompareSummaries(a, b ScoreSummary) (SummaryComparison, error) {
	for i, s := range []ScoreSummary{a, b} {
		switch {
		case s.Queries < 2:
			return SummaryComparison{}, fmt.Errorf("comparing summaries: summary %d has %d queries, want at least 2", i, s.Queries)
		case !(s.StandardDeviation >= 0) || math.IsInf(s.StandardDeviation, 0):
			return SummaryComparison{}, fmt.Errorf("comparing summaries: summary %d has the standard deviation %v, want 0 or more", i, s.StandardDeviation)
		case math.IsNaN(s.Mean) || math.IsInf(s.Mean, 0):
			return SummaryComparison{}, fmt.Errorf("comparing summaries: summary %d has the mean %v, want a finite number", i, s.Mean)
		}
	}
	interval := stats.Welch(stats.Summary{Mean: a.Mean, Deviation: a.StandardDeviation, N: a.Queries},
		stats.Summary{Mean: b.Mean, Deviation: b.StandardDeviation, N: b.Queries}, 0.95)
	return SummaryComparison{b.Mean - a.Mean, interval.Low, interval.High}, nil
}
