package ragtest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// String returns the table that tests print: a row for each metric with its
// mean, its smallest value, the share of queries with the largest possible
// value, and the verdict of its thresholds; then the warnings.
func (r *Result) String() string {
	var b strings.Builder
	title := r.Level + "-level evaluation"
	if r.Name != "" {
		title += " " + r.Name
	}
	fmt.Fprintf(&b, "%s: %s, %s, K = %d", title, count(r.Diagnostics.Documents, "document"), count(len(r.Queries), "query"), r.K)
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
	fmt.Fprintln(w, "  metric\tmean\tmin\tqueries at 1\tthreshold")
	for m, s := range r.Metrics {
		low, full := s.Value, 0
		for i, q := range r.Queries {
			v := q.Scores[m].Value
			if i == 0 || v < low {
				low = v
			}
			if v == 1 {
				full++
			}
		}
		fmt.Fprintf(w, "  %s\t%.4f\t%.4f\t%d\t%s\n", s.Metric, s.Value, low, full, r.verdict(s.Metric))
	}
	w.Flush()
	for _, warning := range r.Diagnostics.Warnings {
		fmt.Fprintf(&b, "  warning: %s\n", warning)
	}
	return trimLines(b.String())
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

const (
	worstQueries   = 5
	missedPassages = 3
)

// failure explains why threshold t does not hold: the numbers, then the queries
// that are furthest from it with what they missed.
func (r *Result) failure(t ThresholdResult, reproduce string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: got %.4f, want %s, over %s", t.Metric, t.Got, t.Want, count(len(r.Queries), "query"))
	if shown := fmt.Sprintf("%.4f", t.Got); strings.HasSuffix(t.Want, " "+strings.TrimRight(shown, "0")) {
		fmt.Fprintf(&b, " (exactly %v)", t.Got)
	}
	worst := slices.Collect(func(yield func(QueryResult) bool) {
		for _, q := range r.Queries {
			if !yield(q) {
				return
			}
		}
	})
	atMost := strings.HasPrefix(t.Want, "<=")
	slices.SortStableFunc(worst, func(a, b QueryResult) int {
		x, _ := a.Score(t.Metric)
		y, _ := b.Score(t.Metric)
		if atMost {
			x, y = y, x
		}
		return cmp.Compare(x, y)
	})
	fmt.Fprintf(&b, "\nthe worst queries:")
	for _, q := range worst[:min(worstQueries, len(worst))] {
		score, _ := q.Score(t.Metric)
		fmt.Fprintf(&b, "\n  %.4f  %s: %q", score, q.ID, abbreviate(q.Text, 100))
		for _, p := range q.Missed[:min(missedPassages, len(q.Missed))] {
			place := p.ChunkID
			if place == "" {
				place = p.Span.String()
			}
			fmt.Fprintf(&b, "\n          missed %s", place)
			if p.Text != "" {
				fmt.Fprintf(&b, " %q", abbreviate(p.Text, 80))
			}
		}
		if more := len(q.Missed) - missedPassages; more > 0 {
			fmt.Fprintf(&b, "\n          and %d more", more)
		}
		if len(q.Hits) > 0 {
			fmt.Fprintf(&b, "\n          retrieved first %s %q", hitPlace(q.Hits[0]), abbreviate(q.Hits[0].Text, 80))
		}
	}
	if reproduce != "" {
		fmt.Fprintf(&b, "\nreproduce: %s", reproduce)
	}
	return b.String()
}

func hitPlace(h Hit) string {
	if h.Span != (Hit{}).Span {
		return h.Span.String()
	}
	return h.ChunkID
}
