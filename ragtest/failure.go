package ragtest

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rageval/rageval/spans"
)

const (
	worstQueries   = 5
	missedPassages = 3
)

// atlas names places in the documents of a corpus so that editors open them:
// file:line:column, the file relative to the working directory, which in a test is
// the folder of its package.
type atlas struct {
	corpus *spans.Corpus // nil: unknown
	folder string        // of the documents' files; "" if it is not known
}

func newAtlas(corpus *spans.Corpus) atlas {
	a := atlas{corpus: corpus}
	if corpus == nil {
		return a
	}
	a.folder = corpus.Metadata()["source_dir"]
	if here, err := filepath.Abs("."); err == nil && a.folder != "" {
		if relative, err := filepath.Rel(here, a.folder); err == nil {
			a.folder = relative
		}
	}
	return a
}

// file returns the path of a document's file.
func (a atlas) file(doc spans.DocumentID) string {
	if a.folder == "" {
		return string(doc)
	}
	return filepath.Join(a.folder, filepath.FromSlash(string(doc)))
}

// place names where a text is: by file, line and column, or by what else is known.
// A chunk without a position is where its document first has its text.
func (a atlas) place(doc spans.DocumentID, line, column int, span spans.Span, chunkID, text string) string {
	if line == 0 && a.corpus != nil && span == (spans.Span{}) && text != "" {
		if d, ok := a.corpus.Document(doc); ok {
			if at := strings.Index(d.Text(), text); at >= 0 {
				before := d.Text()[:at]
				line = strings.Count(before, "\n") + 1
				if s, err := d.CharSpan(strings.LastIndexByte(before, '\n')+1, at); err == nil {
					column = s.Len() + 1
				}
			}
		}
	}
	switch {
	case line > 0:
		return fmt.Sprintf("%s:%d:%d", a.file(doc), line, column)
	case span != (spans.Span{}):
		return span.String()
	case doc != "":
		return fmt.Sprintf("%s of %s", chunkID, a.file(doc))
	}
	return chunkID
}

// failure explains why a threshold does not hold: the numbers, then the queries of
// its slice that are furthest from it with what they missed.
func (r *Result) failure(t ThresholdResult, metric string, want bound, queries []QueryResult, a atlas) string {
	got := fmt.Sprintf("%.4f", t.Got)
	if rounded, err := strconv.ParseFloat(got, 64); err == nil && want.holds(rounded) && !want.confident {
		got = strconv.FormatFloat(t.Got, 'g', -1, 64)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: got %s, want %s, over %s", t.Metric, got, want, count(len(queries), "query"))
	if want.confident {
		fmt.Fprintf(&b, ", which only show %s %.4f; %s", want.relation(), t.Bound, want.needed(scoresBy(queries, metric)))
	}
	if ceiling := r.ceilingText(metric); ceiling != "" && !strings.HasPrefix(ceiling, "1.0000") && len(queries) == len(r.Queries) && !want.upper {
		fmt.Fprintf(&b, " (no ranking of these chunks has more than %s)", ceiling)
	}
	if lost := r.lossText(metric, queries); lost != "" && !want.upper {
		b.WriteString("\n" + lost)
	}
	for i, q := range worst(queries, metric, want) {
		if i == 0 {
			b.WriteString("\nthe worst queries:")
		}
		score, _ := q.Score(metric)
		fmt.Fprintf(&b, "\n  %.4f  %s: %q", score, q.ID, abbreviate(q.Text, 100))
		if !want.upper { // else too much was found, not too little
			// One stage alone is what the missed passages say.
			if lost := r.lossText(metric, []QueryResult{q}); strings.Contains(lost, ", ") {
				b.WriteString("\n          " + lost)
			}
			b.WriteString(a.missed(q.Missed))
		}
		if len(q.Hits) > 0 {
			h := q.Hits[0]
			fmt.Fprintf(&b, "\n          retrieved first %s %q", a.place(h.Doc, h.Line, h.Column, h.Span, h.ChunkID, h.Text), abbreviate(h.Text, 80))
		}
	}
	return b.String()
}

// missed lists the first of the passages that were missed.
func (a atlas) missed(missed []Passage) string {
	var b strings.Builder
	for _, p := range missed[:min(missedPassages, len(missed))] {
		fmt.Fprintf(&b, "\n          missed %s", a.place(p.Doc, p.Line, p.Column, p.Span, p.ChunkID, p.Text))
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
func worst(queries []QueryResult, metric string, want bound) []QueryResult {
	score := func(q QueryResult) float64 {
		s, _ := q.Score(metric)
		return s
	}
	short := slices.DeleteFunc(slices.Clone(queries), func(q QueryResult) bool { return want.holds(score(q)) })
	slices.SortStableFunc(short, func(a, b QueryResult) int {
		if want.upper {
			a, b = b, a
		}
		return cmp.Compare(score(a), score(b))
	})
	return short[:min(worstQueries, len(short))]
}
