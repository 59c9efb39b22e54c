package ragtest

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// String returns the table that tests print: a row for each metric with its
// mean and the interval that it is known to, its ceiling where that is known, its
// smallest value, the number of queries with the largest possible value, and the
// verdict of its thresholds; then how much
// means varied between repetitions, the slices, the budgets with a threshold, at which
// stages recall was lost and in which chunks precision, [PrecisionOmega], the usage of
// services, and the warnings.
func (r *Result) String() string {
	var b strings.Builder
	title := r.Level + "-level evaluation"
	if r.Name != "" {
		title += " " + r.Name
	}
	fmt.Fprintf(&b, "%s: %s, %s, K = %d", title, count(r.Diagnostics.Documents, "document"), count(len(r.Queries), "query"), r.K)
	if r.TokenBudget > 0 {
		fmt.Fprintf(&b, " within %d tokens (%s)", r.TokenBudget, r.Diagnostics.Tokenizer)
	}
	if r.Chunks > 0 {
		fmt.Fprintf(&b, ", %s", count(r.Chunks, "chunk"))
	}
	b.WriteByte('\n')
	for _, c := range [][2]string{
		{"chunker", r.Components.Chunker}, {"embedder", r.Components.Embedder}, {"store", r.Components.Store},
		{"retriever", r.Components.Retriever}, {"reranker", r.Components.Reranker},
	} {
		if c[1] != "" {
			fmt.Fprintf(&b, "  %s %s", c[0], c[1])
		}
	}
	b.WriteString("\n\n")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  metric\tmean\t95 % interval\tat most\tmin\tqueries at 1\tthreshold")
	for _, s := range r.Metrics {
		low, full := s.Value, 0
		for _, q := range r.Queries {
			v, _ := q.Score(s.Metric)
			low = min(low, v)
			if v == 1 {
				full++
			}
		}
		interval := ""
		if i := slices.IndexFunc(r.Intervals, func(i ScoreInterval) bool { return i.Metric == s.Metric }); i >= 0 {
			interval = fmt.Sprintf("%.4f to %.4f", r.Intervals[i].Low, r.Intervals[i].High)
		}
		fmt.Fprintf(w, "  %s\t%.4f\t%s\t%s\t%.4f\t%d\t%s\n", s.Metric, s.Value, interval, r.ceilingText(s.Metric), low, full, r.verdict(s.Metric))
	}
	w.Flush()
	for _, s := range r.Spreads {
		if s.Low < s.High {
			fmt.Fprintf(&b, "  %s varied from %.4f to %.4f over %s, with a deviation of %.4f\n", s.Metric, s.Low, s.High, count(len(r.Repetitions), "repetition"), s.Deviation)
		}
	}
	b.WriteString(r.sliceTable())
	b.WriteString(r.budgetTable())
	b.WriteString(r.lossTable())
	if recall := r.Diagnostics.IndexRecall; recall != nil {
		fmt.Fprintf(&b, "  the store found %.4f of what exact search finds\n", *recall)
	}
	if e := r.Diagnostics.EquivalentText; e != nil && e.RecallChange != 0 {
		fmt.Fprintf(&b, "  the text of %s is elsewhere too: to count it (EquivalentText) makes %+.4f of span_recall\n", count(e.Passages, "relevant passage"), e.RecallChange)
	}
	for _, u := range r.Diagnostics.Usage {
		fmt.Fprintf(&b, "  usage: %s\n", u)
	}
	for _, warning := range r.Diagnostics.Warnings {
		fmt.Fprintf(&b, "  warning: %s\n", warning)
	}
	return trimLines(b.String())
}

// lossTable returns waterfalls: from a recall of 1 through what each stage lost to
// what is left and, if it is judged, from a precision of 1.
func (r *Result) lossTable() string {
	left := 1.0
	for _, l := range r.RecallLosses {
		left -= l.Amount
	}
	text := waterfall("recall", r.RecallLosses, max(left, 0))
	if r.LossBounds && text != "" {
		text += "  by bounds for what chunks could hold: part of an amount may belong to another stage\n"
	}
	precision, ok := r.Score(r.precisionName())
	if !ok {
		return text
	}
	text += waterfall("precision", r.PrecisionLosses, precision)
	if d := r.Diagnostics; d.PrecisionOmega != nil && d.PrecisionOmegaEdges != nil {
		text += fmt.Sprintf("  precision omega of the chunks %.4f, by Chroma's code %.4f\n", *d.PrecisionOmega, *d.PrecisionOmegaEdges)
	}
	return text
}

// precisionName returns the name of the precision that PrecisionLosses are of.
func (r *Result) precisionName() string {
	switch r.Level {
	case "chunk":
		return ChunkPrecision.Name()
	case "document":
		return DocumentPrecision.Name()
	}
	return SpanPrecision.Name()
}

func waterfall(score string, losses []Loss, left float64) string {
	if !slices.ContainsFunc(losses, func(l Loss) bool { return l.Amount != 0 }) {
		return ""
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	head, amounts := "  "+score+" lost by", "  "
	for _, l := range losses {
		head += "\t" + stageName(l.Stage, losses)
		amounts += fmt.Sprintf("\t%.4f", l.Amount)
	}
	fmt.Fprintf(w, "%s\tleft\n%s\t%.4f\n", head, amounts, left)
	w.Flush()
	return "\n" + b.String()
}

// stageName returns the name of a stage, which for the retriever says what it includes
// where there are no vectors to search exactly.
func stageName(stage string, losses []Loss) string {
	if stage == LossRetriever && !slices.ContainsFunc(losses, func(l Loss) bool { return l.Stage == LossIndex }) {
		return stage + " with index"
	}
	return stage
}

// lossText lists what was lost of the precision, for its metric, or of the recall: ""
// if nothing was.
func (r *Result) lossText(metric string, queries []QueryResult) string {
	score, of := "recall", func(q QueryResult) []Loss { return q.RecallLosses }
	if metric == r.precisionName() {
		score, of = "precision", func(q QueryResult) []Loss { return q.PrecisionLosses }
	}
	if len(queries) == 0 {
		return ""
	}
	rows := make([][]float64, len(queries))
	for i, q := range queries {
		rows[i] = amounts(of(q))
		if len(rows[i]) != len(of(queries[0])) {
			return "" // of a result made by hand
		}
	}
	losses := means(of(queries[0]), rows)
	var parts []string
	for _, l := range losses {
		if l.Amount != 0 {
			parts = append(parts, fmt.Sprintf("%s %.4f", stageName(l.Stage, losses), l.Amount))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return score + " lost by " + strings.Join(parts, ", ")
}

// ceilingText returns the ceiling of a metric, "" if there is none.
func (r *Result) ceilingText(metric string) string {
	if c, ok := find(r.Ceilings, metric); ok {
		return fmt.Sprintf("%.4f", c)
	}
	if c, ok := find(r.CeilingBounds, metric); ok {
		return fmt.Sprintf("%.4f (bound)", c)
	}
	return ""
}

func (r *Result) verdict(metric string) string {
	var verdicts []string
	for _, t := range r.Thresholds {
		if t.Metric != metric {
			continue
		}
		verdict := t.Want + " ok"
		if !t.Pass {
			verdict = t.Want + " FAILED"
		}
		verdicts = append(verdicts, verdict)
	}
	return strings.Join(verdicts, ", ")
}

func count(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case what == "query":
		return fmt.Sprintf("%d queries", n)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// trimLines removes white space from the ends of lines.
func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

// passed reports whether all thresholds hold.
func (r *Result) passed() bool {
	return !slices.ContainsFunc(r.Thresholds, func(t ThresholdResult) bool { return !t.Pass })
}
