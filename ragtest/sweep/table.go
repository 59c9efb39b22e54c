package sweep

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// shown is how many lines of a ranking String prints.
const shown = 25

// String returns the report as text: the best cells, with confidence intervals and
// with = beside the rank of those that cannot be told from the first, the Pareto front,
// the values of each axis, the slices, the ranking at the budget with its curves, the warnings, and
// the work that was saved.
func (r *Report) String() string { return r.text(r.analyse()) }

func (r *Report) text(a analysis) string {
	var b strings.Builder
	title := "sweep"
	if r.Name != "" {
		title += " " + r.Name
	}
	fmt.Fprintf(&b, "%s: %d cells, %d queries\n", title, len(r.Cells), len(r.Queries))
	if len(r.Cells) == 0 {
		return b.String()
	}
	metric := r.Metrics[0]
	r.table(&b, func(w *tabwriter.Writer) {
		fmt.Fprint(w, "  \t"+metric+"\t95 % interval\tp")
		for _, m := range r.Metrics[1:] {
			fmt.Fprint(w, "\t"+m)
		}
		fmt.Fprintln(w, "\tchars/query\tchunks\tcell")
		for i, s := range a.cells {
			c := r.Cells[s.Cell]
			if i == shown {
				break
			}
			interval := ""
			if low, high, ok := c.Interval(metric); ok {
				interval = fmt.Sprintf("%.4f to %.4f", low, high)
			}
			fmt.Fprintf(w, "  %s\t%.4f\t%s\t%.4f", rank(s), s.Mean, interval, s.P)
			for _, m := range c.Metrics[1:] {
				fmt.Fprintf(w, "\t%.4f", m.Value)
			}
			fmt.Fprintf(w, "\t%.0f\t%d\t%s\n", c.RetrievedChars, c.Chunks, c.Name)
		}
	})
	r.more(&b, len(r.Cells))
	b.WriteString("  = cannot be told from the first (randomised Tukey HSD, p > 0.05)\n")

	for _, front := range []struct {
		title string
		cost  func(Cell) float64
	}{
		{"retrieved characters", func(c Cell) float64 { return c.RetrievedChars }}, {"cost", func(c Cell) float64 { return c.Cost }},
	} {
		fmt.Fprintf(&b, "\nPareto front of %s against %s:\n", metric, front.title)
		r.table(&b, func(w *tabwriter.Writer) {
			for _, i := range r.Pareto(front.cost) {
				fmt.Fprintf(w, "  %.6g\t%.4f\t%s\n", front.cost(r.Cells[i]), r.Cells[i].Metrics[0].Value, r.Cells[i].Name)
			}
		})
	}
	if axes := r.Axes(); len(axes) > 0 {
		fmt.Fprintf(&b, "\nmean %s on each axis:\n", metric)
		r.table(&b, func(w *tabwriter.Writer) {
			for _, a := range axes {
				fmt.Fprintf(w, "  %s\t%s\t%.4f\tof %d cells, the best %.4f\n", a.Axis, cmp.Or(a.Value, "-"), a.Mean, a.Cells, r.Cells[a.Best].Metrics[0].Value)
			}
		})
	}
	r.sliceTable(&b, a.cells)
	r.budgetTable(&b, a.curves)
	for _, w := range r.Warnings() {
		fmt.Fprintf(&b, "\nwarning: %s", w)
	}
	if len(r.Warnings()) > 0 {
		b.WriteByte('\n')
	}
	if r.Work != (Work{}) {
		fmt.Fprintf(&b, "\n%s\n", r.Work)
		if r.Elapsed > 0 {
			fmt.Fprintf(&b, "took %v\n", r.Elapsed.Round(time.Millisecond))
		}
	}
	for _, u := range r.Usage {
		fmt.Fprintf(&b, "usage: %s\n", u)
	}
	return trimLines(b.String())
}

// sliceTable says how the first cell does on each slice, and which cell does best there.
func (r *Report) sliceTable(b *strings.Builder, standings []Standing) {
	metric := r.Metrics[0]
	first := r.Cells[standings[0].Cell]
	if len(first.Slices) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s of the first cell and of the best one on each slice:\n", metric)
	r.table(b, func(w *tabwriter.Writer) {
		for i, slice := range first.Slices {
			best := standings[0].Cell
			mean := func(cell int) float64 { return r.Cells[cell].Slices[i].Metrics[0].Value }
			for _, s := range standings {
				if mean(s.Cell) > mean(best) {
					best = s.Cell
				}
			}
			fmt.Fprintf(w, "  %s\t%d queries\t%.4f\t%.4f\t%s\n", slice.Name, slice.Queries, mean(standings[0].Cell), mean(best), r.Cells[best].Name)
		}
	})
}

func (r *Report) budgetTable(b *strings.Builder, standings []Standing) {
	if len(r.Curves) == 0 {
		return
	}
	fmt.Fprintf(b, "\nspan_recall within %s, and within parts of it:\n", r.Budget)
	parts := []int{1, 4, 9, 14} // of the points
	r.table(b, func(w *tabwriter.Writer) {
		fmt.Fprint(w, "  \tspan_recall\t95 % interval\tp")
		for _, i := range parts {
			fmt.Fprintf(w, "\t%.6g", r.Curves[0].Points[i].Budget)
		}
		fmt.Fprintln(w, "\tused\tconfiguration")
		for i, s := range standings {
			if i == shown {
				break
			}
			c := r.Curves[s.Cell]
			interval := ""
			if c.Low < c.High {
				interval = fmt.Sprintf("%.4f to %.4f", c.Low, c.High)
			}
			fmt.Fprintf(w, "  %s\t%.4f\t%s\t%.4f", rank(s), c.Recall, interval, s.P)
			for _, i := range parts {
				fmt.Fprintf(w, "\t%.4f", c.Points[i].Recall)
			}
			fmt.Fprintf(w, "\t%.0f\t%s\n", c.Points[curvePoints-1].Used, c.Configuration.name())
		}
	})
	r.more(b, len(r.Curves))
}

func rank(s Standing) string {
	if s.Tied {
		return fmt.Sprintf("%d=", s.Rank)
	}
	return fmt.Sprint(s.Rank)
}

func (r *Report) table(b *strings.Builder, write func(w *tabwriter.Writer)) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	write(w)
	w.Flush()
}

func (r *Report) more(b *strings.Builder, n int) {
	if n > shown {
		fmt.Fprintf(b, "  and %d more\n", n-shown)
	}
}

// trimLines removes white space from the ends of lines.
func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}
