package report

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/rageval/rageval/ragtest"
)

const (
	listedQueries = 10
	listedRuns    = 20
)

// Markdown returns a summary in GitHub-flavored Markdown: a heading, verdicts, a
// table, where recall was lost, and, folded, the queries that score worst or that
// lost most. It ends in an empty line. Errors are those of [Page.HTML].
func (p Page) Markdown() (string, error) {
	c, err := p.contents()
	if err != nil {
		return "", fmt.Errorf("reporting: %w", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n%s\n\n", escape(c.title), escape(strings.Join(c.facts(), " · ")))
	for _, v := range c.verdicts() {
		mark := map[string]string{"good": "✅", "bad": "❌", "warn": "⚠️"}[v.Kind]
		fmt.Fprintf(&b, "%s %s: %s  \n", mark, v.Word, escape(v.Text))
	}
	if len(c.verdicts()) > 0 {
		b.WriteString("\n")
	}
	for _, t := range c.tables() {
		if left := len(t.Rows) - listedRuns; left > 0 && t.Sortable {
			t.Rows = t.Rows[:listedRuns]
			t.Note += fmt.Sprintf(" %d more runs are not listed.", left)
		}
		writeTable(&b, t)
	}
	writeQueries(&b, c)
	return b.String(), nil
}

func writeTable(b *strings.Builder, t table) {
	fmt.Fprintf(b, "**%s**", escape(t.Title))
	if t.Note != "" {
		fmt.Fprintf(b, "  \n<sub>%s</sub>", escape(strings.TrimSpace(t.Note)))
	}
	b.WriteString("\n\n")
	rule := ""
	for _, h := range t.Head {
		fmt.Fprintf(b, "| %s ", escape(h.Text))
		if h.Number {
			rule += "| ---: "
		} else {
			rule += "| --- "
		}
	}
	b.WriteString("|\n" + rule + "|\n")
	for _, row := range t.Rows {
		for _, cell := range row {
			fmt.Fprintf(b, "| %s ", escape(cell.Text))
		}
		b.WriteString("|\n")
	}
	b.WriteString("\n")
}

// change is a query with the score that it is listed by.
type change struct {
	query    int // of contents
	old, now float64
}

// writeQueries lists the queries of one run that score worst, or of two those that
// lost most.
func writeQueries(b *strings.Builder, c *contents) {
	if len(c.runs) > 2 {
		return
	}
	last := len(c.runs) - 1
	var listed []change
	for q := range c.queries {
		if c.queries[q].in[0] < 0 || c.queries[q].in[last] < 0 {
			continue
		}
		x := change{q, c.score(0, q, c.metrics[0]), c.score(last, q, c.metrics[0])}
		if last == 0 && x.now < 1 || last == 1 && x.now < x.old {
			listed = append(listed, x)
		}
	}
	if len(listed) == 0 {
		return
	}
	slices.SortStableFunc(listed, func(x, y change) int {
		if last == 1 {
			return cmp.Compare(x.now-x.old, y.now-y.old)
		}
		return cmp.Compare(x.now, y.now)
	})
	n := min(listedQueries, len(listed))
	what := "score lowest"
	if last == 1 {
		what = "lost most"
	}
	fmt.Fprintf(b, "<details><summary>%s by %s</summary>\n\n", count(n, "query that "+strings.Replace(what, "score", "scores", 1), "queries that "+what), html.EscapeString(c.metrics[0]))
	for _, x := range listed[:n] {
		q := c.runs[last].Queries[c.queries[x.query].in[last]]
		score := decimals(x.now)
		if last == 1 {
			score += ", was " + decimals(x.old)
		}
		fmt.Fprintf(b, "- %s %s (%s)\n", score, escape(shorten(q.Text, 160)), escape(string(q.ID)))
		for i, m := range q.Missed {
			if i == 3 {
				fmt.Fprintf(b, "  - and %d more\n", len(q.Missed)-i)
				break
			}
			fmt.Fprintf(b, "  - %s\n", missedText(m))
		}
	}
	b.WriteString("\n</details>\n\n")
}

func missedText(m ragtest.Passage) string {
	place := m.ChunkID
	if m.Span.Len() > 0 {
		place = m.Span.String()
	}
	text := "missed " + escape(place)
	if m.Text != "" {
		text += " “" + escape(shorten(m.Text, 120)) + "”"
	}
	if m.Lost != "" {
		text += ", lost by " + escape(m.Lost)
	}
	if m.Rank > 0 {
		text += fmt.Sprintf(" at rank %d", m.Rank)
	}
	return text
}

// escape makes a text fit for a line of Markdown: no mark-up in it counts.
func escape(s string) string {
	var b strings.Builder
	for _, field := range strings.Fields(s) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		for _, r := range field {
			switch {
			case r == '<':
				b.WriteString("&lt;")
			case r == '&':
				b.WriteString("&amp;")
			case strings.ContainsRune("\\`*_{}[]#!|~>@$", r):
				b.WriteByte('\\')
				b.WriteRune(r)
			default:
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}
