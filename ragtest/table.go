package ragtest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/rageval/rageval/spans"
)

// String returns the table that tests print: a row for each metric with its
// mean and the interval that it is known to, its ceiling where that is known, its smallest value, the number of queries
// with the largest possible value, and the verdict of its thresholds; then how much
// means varied between repetitions, at which stages recall was lost, the usage of services, and the warnings.
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
		ceiling := ""
		if c, ok := find(r.Ceilings, s.Metric); ok {
			ceiling = fmt.Sprintf("%.4f", c)
		}
		interval := ""
		if i := slices.IndexFunc(r.Intervals, func(i ScoreInterval) bool { return i.Metric == s.Metric }); i >= 0 {
			interval = fmt.Sprintf("%.4f to %.4f", r.Intervals[i].Low, r.Intervals[i].High)
		}
		fmt.Fprintf(w, "  %s\t%.4f\t%s\t%s\t%.4f\t%d\t%s\n", s.Metric, s.Value, interval, ceiling, low, full, r.verdict(s.Metric))
	}
	w.Flush()
	for _, s := range r.Spreads {
		if s.Low < s.High {
			fmt.Fprintf(&b, "  %s varied from %.4f to %.4f over %s, with a deviation of %.4f\n", s.Metric, s.Low, s.High, count(len(r.Repetitions), "repetition"), s.Deviation)
		}
	}
	b.WriteString(r.lossTable())
	if recall := r.Diagnostics.IndexRecall; recall != nil {
		fmt.Fprintf(&b, "  the store found %.4f of what exact search finds\n", *recall)
	}
	for _, u := range r.Diagnostics.Usage {
		fmt.Fprintf(&b, "  usage: %s\n", u)
	}
	for _, warning := range r.Diagnostics.Warnings {
		fmt.Fprintf(&b, "  warning: %s\n", warning)
	}
	return trimLines(b.String())
}

// lossTable returns a waterfall: from a recall of 1 through what each stage lost
// to what is left.
func (r *Result) lossTable() string {
	if !slices.ContainsFunc(r.RecallLosses, func(l Loss) bool { return l.Amount != 0 }) {
		return ""
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	left := 1.0
	head, amounts := "  recall lost by", "  "
	for _, l := range r.RecallLosses {
		head += "\t" + l.Stage
		amounts += fmt.Sprintf("\t%.4f", l.Amount)
		left -= l.Amount
	}
	fmt.Fprintf(w, "%s\tleft\n%s\t%.4f\n", head, amounts, max(left, 0))
	w.Flush()
	return "\n" + b.String()
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

const (
	worstQueries   = 5
	missedPassages = 3
)

// failure explains why a threshold does not hold: the numbers, then the queries
// that are furthest from it with what they missed.
func (r *Result) failure(t ThresholdResult, want bound) string {
	got := fmt.Sprintf("%.4f", t.Got)
	if rounded, err := strconv.ParseFloat(got, 64); err == nil && want.holds(rounded) && !want.confident {
		got = strconv.FormatFloat(t.Got, 'g', -1, 64)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: got %s, want %s, over %s", t.Metric, got, want, count(len(r.Queries), "query"))
	if want.confident {
		fmt.Fprintf(&b, ", which only show %s %.4f; %s", want.relation(), t.Bound, want.needed(r.queryScores(t.Metric)))
	}
	for i, q := range r.worst(t.Metric, want) {
		if i == 0 {
			b.WriteString("\nthe worst queries:")
		}
		score, _ := q.Score(t.Metric)
		fmt.Fprintf(&b, "\n  %.4f  %s: %q", score, q.ID, abbreviate(q.Text, 100))
		missed := q.Missed
		if want.upper { // too much was found, not too little
			missed = nil
		}
		b.WriteString(describeMissed(missed))
		if len(q.Hits) > 0 {
			first := q.Hits[0]
			fmt.Fprintf(&b, "\n          retrieved first %s %q", place(first.Span, first.ChunkID), abbreviate(first.Text, 80))
		}
	}
	return b.String()
}

// describeMissed lists what was missed, the first passages of it.
func describeMissed(missed []Passage) string {
	var b strings.Builder
	for _, p := range missed[:min(missedPassages, len(missed))] {
		fmt.Fprintf(&b, "\n          missed %s", place(p.Span, p.ChunkID))
		if p.Text != "" {
			fmt.Fprintf(&b, " %q", abbreviate(p.Text, 80))
		}
		fmt.Fprintf(&b, ", lost by %s", p.Lost)
		if p.Rank > 0 {
			fmt.Fprintf(&b, " at rank %d", p.Rank)
		}
	}
	if more := len(missed) - missedPassages; more > 0 {
		fmt.Fprintf(&b, "\n          and %d more", more)
	}
	return b.String()
}

// worst returns the queries that are furthest from holding the threshold, of
// those that do not by themselves.
func (r *Result) worst(metric string, want bound) []QueryResult {
	score := func(q QueryResult) float64 {
		s, _ := q.Score(metric)
		return s
	}
	short := slices.DeleteFunc(slices.Clone(r.Queries), func(q QueryResult) bool { return want.holds(score(q)) })
	slices.SortStableFunc(short, func(a, b QueryResult) int {
		if want.upper {
			a, b = b, a
		}
		return cmp.Compare(score(a), score(b))
	})
	return short[:min(worstQueries, len(short))]
}

func place(span spans.Span, chunkID string) string {
	if span == (spans.Span{}) {
		return chunkID
	}
	return span.String()
}
