package report

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/rageval/rageval/internal/wholefile"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// Page is what a report shows: one result; two side by side, the older first; or
// three and more, ranked. Results of three and more runs that are not over the
// same queries are ranked too, but which of them tie is then not said. Results that have
// no more of their queries than the scores, as those of a sweep's cells, are ranked and
// drawn; where there are others, the page opens the queries of those alone.
type Page struct {
	Title string // "": the names of the runs

	// Corpus is where the documents' text comes from. Without it, and for a run over
	// another corpus, the page shows of each document what was retrieved or relevant.
	Corpus  *spans.Corpus
	Results []*ragtest.Result // at least one, of one level; not modified
	RankBy  string            // a metric that all results have; "": the first such

	// Ties says of each of three and more results whether the queries do not tell it
	// from the best one; nil: the page finds out, of the best ones.
	Ties []bool

	// Curves are drawn in a figure, the five highest; nil: none. Those of a sweep say
	// how much recall its configurations have within budgets.
	Curves []Curve
}

// Curve is how much recall a configuration has within budgets of retrieved text.
type Curve struct {
	Name   string
	Unit   string // of the budgets, such as "characters"; that of all curves
	Points []CurvePoint
}

// CurvePoint is the mean recall within a budget.
type CurvePoint struct{ Budget, Recall float64 }

// HTML returns the page. Results that are nil, mixed levels, a query that is
// twice in one result, a score that is not a finite number, and a span outside
// its document are errors.
func (p Page) HTML() ([]byte, error) {
	c, err := p.contents()
	if err != nil {
		return nil, fmt.Errorf("reporting: %w", err)
	}
	page, err := c.html()
	if err != nil {
		return nil, fmt.Errorf("reporting: %w", err)
	}
	return page, nil
}

// WriteFile writes the page to a file, whole or not at all, and makes its folder
// where there is none.
func (p Page) WriteFile(path string) error {
	page, err := p.HTML()
	if err != nil {
		return err
	}
	return write(path, page)
}

func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return fmt.Errorf("reporting: %w", err)
	}
	if err := wholefile.Write(path, data); err != nil {
		return fmt.Errorf("reporting: %w", err)
	}
	return nil
}

// contents are the results of a page, checked and put in order.
type contents struct {
	title   string
	corpus  *spans.Corpus
	curves  []Curve
	runs    []*ragtest.Result
	labels  []string // of the runs: distinct, none empty
	metrics []string // that all runs have, that which ranks first
	queries []query
	paired  bool // whether all runs have the same queries

	comparison *ragtest.Comparison      // of two runs; nil for another number, or if they cannot be compared
	apart      string                   // why two runs cannot be compared
	ties       []tie                    // of three and more runs
	tied       map[*ragtest.Result]bool // what is known of them; nil: nothing
}

// query is a query with its place in each run: -1 where a run lacks it.
type query struct {
	id ragtest.QueryID
	in []int
}

func (p Page) contents() (*contents, error) {
	if len(p.Results) == 0 {
		return nil, errors.New("field Results: there is none, want at least one")
	}
	for i, r := range p.Results {
		if r == nil {
			return nil, fmt.Errorf("field Results: result %d is nil", i)
		}
		if err := check(r); err != nil {
			return nil, fmt.Errorf("result %d (%s): %w", i, r.Name, err)
		}
		if first := p.Results[0]; r.Level != first.Level {
			return nil, fmt.Errorf("result %d (%s) is %s-level, and the first %s-level", i, r.Name, r.Level, first.Level)
		}
	}
	if p.Ties != nil && len(p.Ties) != len(p.Results) {
		return nil, fmt.Errorf("field Ties: got %d for %d results", len(p.Ties), len(p.Results))
	}
	c := &contents{title: p.Title, corpus: p.Corpus, curves: p.Curves, runs: p.Results}
	for _, curve := range p.Curves {
		for _, point := range curve.Points {
			if math.IsNaN(point.Budget+point.Recall) || math.IsInf(point.Budget+point.Recall, 0) {
				return nil, fmt.Errorf("field Curves: %s: got the point %v, want finite numbers", curve.Name, point)
			}
		}
		if curve.Unit != p.Curves[0].Unit {
			return nil, fmt.Errorf("field Curves: %s is in %q, and %s in %q", p.Curves[0].Name, p.Curves[0].Unit, curve.Name, curve.Unit)
		}
	}
	for i, tied := range p.Ties {
		if c.tied == nil {
			c.tied = map[*ragtest.Result]bool{}
		}
		c.tied[p.Results[i]] = tied
	}
	if err := c.share(p.RankBy); err != nil {
		return nil, err
	}
	if len(c.runs) > 2 {
		c.rank()
	}
	c.label()
	if err := c.join(); err != nil {
		return nil, err
	}
	switch len(c.runs) {
	case 1:
	case 2:
		c.compare()
	default:
		c.tie()
	}
	if c.title == "" {
		c.title = c.defaultTitle()
	}
	return c, nil
}

func (c *contents) defaultTitle() string {
	switch len(c.labels) {
	case 1:
		return c.labels[0]
	case 2:
		return c.labels[0] + " and " + c.labels[1]
	}
	return fmt.Sprintf("%d runs by %s", len(c.labels), c.metrics[0])
}

// check returns an error for what no evaluation returns, but a file may hold.
func check(r *ragtest.Result) error {
	if r.Level != "token" && r.Level != "chunk" {
		return fmt.Errorf("level: got %q, want token or chunk", r.Level)
	}
	finite := func(what string, scores []ragtest.Score) error {
		for _, s := range scores {
			if math.IsNaN(s.Value) || math.IsInf(s.Value, 0) {
				return fmt.Errorf("%s of %s: got %v, want a finite number", what, s.Metric, s.Value)
			}
		}
		return nil
	}
	if err := errors.Join(finite("mean", r.Metrics), finite("ceiling", r.Ceilings)); err != nil {
		return err
	}
	for _, q := range r.Queries {
		if err := errors.Join(finite("score", q.Scores), finite("ceiling", q.Ceilings)); err != nil {
			return fmt.Errorf("query %s: %w", q.ID, err)
		}
	}
	return nil
}

// share finds the metrics that all runs have.
func (c *contents) share(first string) error {
	for _, s := range c.runs[0].Metrics {
		everywhere := true
		for _, r := range c.runs {
			_, ok := r.Score(s.Metric)
			everywhere = everywhere && ok
		}
		if !everywhere {
			continue
		}
		if s.Metric == first {
			c.metrics = append([]string{first}, c.metrics...)
		} else {
			c.metrics = append(c.metrics, s.Metric)
		}
	}
	if len(c.metrics) == 0 {
		return errors.New("the results have no metric in common")
	}
	if first != "" && c.metrics[0] != first {
		return fmt.Errorf("field RankBy: not all results have the metric %q, want one of %s", first, strings.Join(c.metrics, ", "))
	}
	return nil
}

// label gives each run a name that no other has.
func (c *contents) label() {
	taken := map[string]bool{}
	for i, r := range c.runs {
		label := r.Name
		if label == "" {
			label = fmt.Sprintf("run %d", i+1)
		}
		if len(c.runs) == 2 && c.runs[0].Name == c.runs[1].Name {
			label = strings.TrimSpace(r.Name + []string{" (old)", " (new)"}[i])
		}
		for n := 2; taken[label]; n++ {
			label = fmt.Sprintf("%s (%d)", r.Name, n)
		}
		taken[label] = true
		c.labels = append(c.labels, label)
	}
}

// join finds each query in all runs, in the order of the first run that has it.
func (c *contents) join() error {
	at := map[ragtest.QueryID]int{}
	for i, r := range c.runs {
		for j, q := range r.Queries {
			k, ok := at[q.ID]
			if !ok {
				k = len(c.queries)
				at[q.ID] = k
				in := make([]int, len(c.runs))
				for n := range in {
					in[n] = -1
				}
				c.queries = append(c.queries, query{q.ID, in})
			}
			if c.queries[k].in[i] >= 0 {
				return fmt.Errorf("result %s has the query %s twice", c.labels[i], q.ID)
			}
			c.queries[k].in[i] = j
		}
	}
	c.paired = true
	for _, r := range c.runs {
		c.paired = c.paired && len(r.Queries) == len(c.queries) && len(c.queries) > 0
	}
	return nil
}

// compare compares two runs, if their queries allow it.
func (c *contents) compare() {
	a, b := *c.runs[0], *c.runs[1]
	a.Name, b.Name = c.labels[0], c.labels[1]
	var err error
	if c.comparison, err = ragtest.Compare(&a, &b); err != nil {
		c.apart = strings.TrimPrefix(err.Error(), "comparing runs: ")
	}
}

// score returns the score of a query of a run: 0 if there is none, as for a mean.
func (c *contents) score(run, query int, metric string) float64 {
	at := c.queries[query].in[run]
	if at < 0 {
		return 0
	}
	s, _ := c.runs[run].Queries[at].Score(metric)
	return s
}
