package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

const (
	// pageBudget is how many bytes the data of a page may have where leaving texts
	// out can bring that about.
	pageBudget = 17 << 20
	// textBudget is how many of them texts may have in any case.
	textBudget = 2 << 20
	// queriesBudget is how many bytes the queries may have of which not all fit.
	queriesBudget = pageBudget - textBudget
	// detailedQueries is how many queries of all runs together the page can open.
	detailedQueries = 20_000
)

// pageData is what the page's script draws its tables from. Field names are short
// where there is one for each query or chunk.
type pageData struct {
	Level   string      `json:"level"`
	Runs    []runData   `json:"runs"`
	Queries []queryData `json:"queries"`
	Docs    []docData   `json:"docs"`
	Texts   []string    `json:"texts"`
}

// runData is a run whose queries the page can open.
type runData struct {
	Name    string   `json:"name"`
	Metrics []string `json:"metrics"`
	Recall  []string `json:"recallStages"`
	Kinds   []string `json:"precisionKinds"`
}

type docData struct {
	ID    spans.DocumentID `json:"id"`
	Len   int              `json:"len"` // in characters; 0 if it is not known
	Parts []segment        `json:"parts"`
}

type queryData struct {
	ID       ragtest.QueryID   `json:"id"`
	Text     string            `json:"q"`
	Metadata map[string]string `json:"meta,omitempty"`
	Relevant []passageData     `json:"rel"`
	Runs     []*foundData      `json:"runs"` // null where a run lacks the query
}

// foundData is what a run found for a query.
type foundData struct {
	Scores    []float64        `json:"s"`
	Hits      []hitData        `json:"h"`
	Missed    []passageData    `json:"m,omitempty"`
	Relevant  *[]passageData   `json:"rel,omitempty"` // if it differs from that of the query
	Recall    []float64        `json:"rl,omitempty"`  // lost by each stage
	Precision []float64        `json:"pl,omitempty"`  // lost by each kind
	Ceilings  []*ragtest.Score `json:"c,omitempty"`
}

type hitData struct {
	Rank  int     `json:"r"`
	Chunk string  `json:"c"`
	Doc   int     `json:"d"` // -1: none
	Start int     `json:"s,omitempty"`
	End   int     `json:"e,omitempty"`
	Score float64 `json:"v"`
	Text  *int    `json:"t,omitempty"` // of pageData.Texts, if it is not the document's
}

type passageData struct {
	Chunk string `json:"c,omitempty"`
	Doc   int    `json:"d"`
	Start int    `json:"s,omitempty"`
	End   int    `json:"e,omitempty"`
	Text  *int   `json:"t,omitempty"`
	Lost  string `json:"l,omitempty"`
	Rank  int    `json:"r,omitempty"`
}

// detailed returns the runs of which the page can open queries: the best of those
// that have more of them than scores or, if none has, of all.
func (c *contents) detailed() []int {
	summaries := 0
	for _, r := range c.runs {
		if isSummary(r) {
			summaries++
		}
	}
	var runs []int
	queries := 0
	for i, r := range c.runs {
		if isSummary(r) && summaries < len(c.runs) {
			continue
		}
		queries += len(r.Queries)
		if len(runs) >= 2 && queries > detailedQueries {
			break
		}
		runs = append(runs, i)
	}
	return runs
}

// isSummary reports whether a result has no more of its queries than their scores.
func isSummary(r *ragtest.Result) bool {
	return len(r.Queries) > 0 && !slices.ContainsFunc(r.Queries, func(q ragtest.QueryResult) bool {
		return q.Text != "" || len(q.Hits)+len(q.Relevant) > 0
	})
}

// omitted is what the page leaves out to stay small.
type omitted struct {
	runs       int // of which no query is shown
	summaries  int // those of them that have no more than scores
	queries    int // those with the highest scores
	characters int // of texts
}

// data returns the data of the page, and what was left out of it.
func (c *contents) data() (encoded []byte, out omitted, err error) {
	d := pageData{Level: c.runs[0].Level, Runs: []runData{}, Texts: []string{}, Docs: []docData{}, Queries: []queryData{}}
	runs := c.detailed()
	out.runs = len(c.runs) - len(runs)
	for i, r := range c.runs {
		if isSummary(r) && !slices.Contains(runs, i) {
			out.summaries++
		}
	}
	for _, i := range runs {
		r := c.runs[i]
		run := runData{Name: c.labels[i], Metrics: []string{}, Recall: stages(r.RecallLosses), Kinds: stages(r.PrecisionLosses)}
		for _, s := range r.Metrics {
			run.Metrics = append(run.Metrics, s.Metric)
		}
		d.Runs = append(d.Runs, run)
	}
	library := newLibrary(c.corpus)
	queries, left, err := c.small(runs)
	if err != nil {
		return nil, out, err
	}
	out.queries = left
	for _, i := range queries {
		shown, err := c.query(library, c.queries[i], runs)
		if err != nil {
			return nil, out, err
		}
		d.Queries = append(d.Queries, *shown)
	}
	bare, err := encode(d)
	if err != nil {
		return nil, out, err
	}
	kept, texts, left := library.segments(max(pageBudget-len(bare), textBudget))
	out.characters = left
	for i, doc := range library.docs {
		shown := docData{ID: doc.id, Parts: kept[i]}
		if doc.source != nil {
			shown.Len = doc.source.Len()
		}
		d.Docs = append(d.Docs, shown)
	}
	d.Texts = append(d.Texts, texts...)
	encoded, err = encode(d)
	return encoded, out, err
}

// small returns the queries of the runs, in their order, that the page
// shows, and how many it does not: all that fit or, if not all do, those that the
// first run scores lowest or, of two, the second.
func (c *contents) small(runs []int) (shown []int, left int, err error) {
	var all []int
	sizes := make([]int, len(c.queries))
	total := 0
	library := newLibrary(nil)
	for i, q := range c.queries {
		found, err := c.query(library, q, runs)
		if err != nil {
			return nil, 0, err
		}
		if found == nil {
			continue
		}
		data, err := encode(found)
		if err != nil {
			return nil, 0, err
		}
		all, sizes[i] = append(all, i), len(data)
		total += len(data)
	}
	if total <= queriesBudget {
		return all, 0, nil
	}
	last := runs[0]
	if len(c.runs) == 2 {
		last = runs[len(runs)-1]
	}
	slices.SortStableFunc(all, func(i, j int) int {
		return cmp.Compare(c.score(last, i, c.metrics[0]), c.score(last, j, c.metrics[0]))
	})
	total = 0
	for _, i := range all {
		if total += sizes[i]; total > queriesBudget {
			break
		}
		shown = append(shown, i)
	}
	slices.Sort(shown)
	return shown, len(all) - len(shown), nil
}

// encode returns v in a form of JSON that may stand in an HTML script element:
// without "<" no tag or comment can begin in it.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, fmt.Errorf("encoding the data: %w", err)
	}
	return bytes.ReplaceAll(bytes.TrimSpace(b.Bytes()), []byte("<"), []byte(`\u003c`)), nil
}

func stages(losses []ragtest.Loss) []string {
	names := []string{}
	for _, l := range losses {
		names = append(names, l.Stage)
	}
	return names
}

// query returns what the page shows of a query in some runs: nil if none of them has
// it.
func (c *contents) query(l *library, q query, runs []int) (*queryData, error) {
	var shown *queryData
	of := make([]*foundData, len(runs))
	for i, run := range runs {
		at := q.in[run]
		if at < 0 {
			continue
		}
		r := c.runs[run]
		found, relevant, err := show(l, r, &r.Queries[at])
		if err != nil {
			return nil, fmt.Errorf("%s: query %s: %w", c.labels[run], q.id, err)
		}
		if shown == nil {
			shown = &queryData{ID: q.id, Text: r.Queries[at].Text, Metadata: r.Queries[at].Metadata, Relevant: relevant, Runs: of}
		} else if !reflect.DeepEqual(relevant, shown.Relevant) {
			found.Relevant = &relevant
		}
		of[i] = found
	}
	return shown, nil
}

func show(l *library, r *ragtest.Result, q *ragtest.QueryResult) (found *foundData, relevant []passageData, err error) {
	found = &foundData{Scores: make([]float64, len(r.Metrics)), Hits: []hitData{}}
	for i, m := range r.Metrics {
		found.Scores[i], _ = q.Score(m.Metric)
	}
	for _, h := range q.Hits {
		hit := hitData{Rank: h.Rank, Chunk: h.ChunkID, Score: h.Score}
		hit.Doc, hit.Start, hit.End, hit.Text, err = l.place(r, h.Doc, h.Span, h.Text)
		if err != nil {
			return nil, nil, fmt.Errorf("rank %d: %w", h.Rank, err)
		}
		found.Hits = append(found.Hits, hit)
	}
	if relevant, err = l.passages(r, q.Relevant); err != nil {
		return nil, nil, fmt.Errorf("relevant %w", err)
	}
	if found.Missed, err = l.passages(r, q.Missed); err != nil {
		return nil, nil, fmt.Errorf("missed %w", err)
	}
	for i := range q.Ceilings {
		found.Ceilings = append(found.Ceilings, &q.Ceilings[i])
	}
	found.Recall, found.Precision = byStage(q.RecallLosses, r.RecallLosses), byStage(q.PrecisionLosses, r.PrecisionLosses)
	return found, relevant, nil
}

// byStage returns the amounts of a query's losses in the order of its run's.
func byStage(losses, of []ragtest.Loss) []float64 {
	amounts := make([]float64, len(of))
	lost := false
	for i, o := range of {
		for _, l := range losses {
			if l.Stage == o.Stage {
				amounts[i] = l.Amount
				lost = lost || l.Amount != 0
			}
		}
	}
	if !lost {
		return nil
	}
	return amounts
}

func (l *library) passages(r *ragtest.Result, passages []ragtest.Passage) ([]passageData, error) {
	list := []passageData{}
	for i, p := range passages {
		shown := passageData{Chunk: p.ChunkID, Lost: p.Lost, Rank: p.Rank}
		var err error
		if shown.Doc, shown.Start, shown.End, shown.Text, err = l.place(r, p.Doc, p.Span, p.Text); err != nil {
			return nil, fmt.Errorf("passage %d: %w", i, err)
		}
		list = append(list, shown)
	}
	return list, nil
}

// place returns where the page finds a text: in a document, or among the texts.
func (l *library) place(r *ragtest.Result, doc spans.DocumentID, s spans.Span, text string) (at, start, end int, own *int, err error) {
	at = -1
	if doc != "" {
		at = l.document(r.CorpusFingerprint, doc)
	}
	same := false
	if r.Level == "token" && at >= 0 {
		if same, err = l.want(at, s, text); err != nil {
			return 0, 0, 0, nil, err
		}
	}
	if !same && text != "" {
		i := l.text(text)
		own = &i
	}
	return at, s.Start, s.End, own, nil
}
