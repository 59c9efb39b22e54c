// Package robust checks that an evaluation's result does not hang on accidents: how
// a query is typed or phrased, in which order documents were added, which other
// documents there are, and the number K of chunks.
//
//	robust.RunTokenLevel(t, func() ragtest.TokenLevel { return evaluation },
//		robust.Typos().AtLeast(0.8),
//		robust.UpperCase().AtLeast(0.95),
//		robust.ShuffledDocuments().AtLeast(1))
//
// Each check evaluates the same queries again with one thing changed, and compares
// with the unchanged evaluation query by query. The stability is
//
//	1 - mean |score changed - score unchanged|
//
// by the evaluation's first metric: 1 if every query scores as before, whether or
// not that is well. It is stricter than the difference of the means, in which gains
// make up for losses. The overlap is the mean share of the retrieved chunks that are
// retrieved again: it shows changes that the ground truth does not.
//
// What a check changes is the same on every run.
package robust

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// Check is one change, with the least stability that is demanded, if any. Checks
// are immutable; the zero value changes nothing and is an error.
type Check struct {
	name      string
	rewrite   func(query string) string                        // nil: queries stay
	documents func(c *spans.Corpus) ([]*spans.Document, error) // nil: documents stay
	moreK     int
	least     float64
	demanded  bool
}

// Name returns the name of the check: "typos".
func (c Check) Name() string { return c.name }

// AtLeast returns the check with a demand: RunTokenLevel and RunChunkLevel fail the
// test if the stability is less than min, which is between 0 and 1.
func (c Check) AtLeast(min float64) Check {
	c.least, c.demanded = min, true
	return c
}

func (c Check) validate() error {
	switch {
	case c.name == "":
		return errors.New("a check without a name: want one made by a function of this package")
	case c.demanded && !(c.least >= 0 && c.least <= 1):
		return fmt.Errorf("check %s: at least %v: want a stability between 0 and 1", c.name, c.least)
	}
	return nil
}

// Report is what the checks found.
type Report struct {
	Metric  string // by which stability is judged
	Score   float64
	Queries int
	Checks  []Finding
}

// Finding is what one check found.
type Finding struct {
	Check     string
	Score     float64 // the mean with the change
	Stability float64 // see the package comment
	Overlap   float64
	Worse     []ragtest.QueryChange // the queries that score less, the greatest loss first
	Better    int                   // how many score more

	Least    float64 // the stability that is demanded
	Demanded bool
}

// Pass reports whether the check found the stability that is demanded of it.
func (f Finding) Pass() bool { return !f.Demanded || f.Stability >= f.Least }

// TokenLevel runs the checks. Each evaluation is made anew by fresh, with an empty
// store and a retriever that can be indexed.
func TokenLevel(ctx context.Context, fresh func() ragtest.TokenLevel, checks ...Check) (*Report, error) {
	return run(ctx, checks, func(ctx context.Context, c Check) (*ragtest.Result, int, error) {
		e := fresh()
		k := cmp.Or(e.K, 5)
		var err error
		if e.Corpus, err = c.corpus(e.Corpus); err != nil {
			return nil, 0, err
		}
		e.Queries = slices.Clone(e.Queries)
		for i := range e.Queries {
			e.Queries[i].Query = c.query(e.Queries[i].Query)
		}
		if c.moreK > 0 {
			metrics := e.Metrics
			if metrics == nil {
				metrics = []ragtest.TokenMetric{ragtest.SpanRecall}
			}
			e.Metrics = atK(metrics, k)
			e.K, e.FetchK = k+c.moreK, candidates(e.FetchK, k, c.moreK, e.Reranker != nil)
		}
		r, err := e.Evaluate(ctx)
		return r, k, err
	})
}

// ChunkLevel is [TokenLevel] for evaluations at chunk level.
func ChunkLevel(ctx context.Context, fresh func() ragtest.ChunkLevel, checks ...Check) (*Report, error) {
	return run(ctx, checks, func(ctx context.Context, c Check) (*ragtest.Result, int, error) {
		e := fresh()
		k := cmp.Or(e.K, 5)
		var err error
		if e.Corpus, err = c.corpus(e.Corpus); err != nil {
			return nil, 0, err
		}
		e.Queries = slices.Clone(e.Queries)
		for i := range e.Queries {
			e.Queries[i].Query = c.query(e.Queries[i].Query)
		}
		if c.moreK > 0 {
			metrics := e.Metrics
			if metrics == nil {
				metrics = []ragtest.ChunkMetric{ragtest.ChunkRecall}
			}
			e.Metrics = atK(metrics, k)
			e.K, e.FetchK = k+c.moreK, candidates(e.FetchK, k, c.moreK, e.Reranker != nil)
		}
		r, err := e.Evaluate(ctx)
		return r, k, err
	})
}

// RunTokenLevel runs the checks within a test: it logs the report, and fails the
// test for each demand that is not met.
func RunTokenLevel(tb testing.TB, fresh func() ragtest.TokenLevel, checks ...Check) *Report {
	tb.Helper()
	ctx, cancel := ragtest.TestContext(tb)
	defer cancel()
	r, err := TokenLevel(ctx, fresh, checks...)
	return settle(tb, r, err)
}

// RunChunkLevel is [RunTokenLevel] for evaluations at chunk level.
func RunChunkLevel(tb testing.TB, fresh func() ragtest.ChunkLevel, checks ...Check) *Report {
	tb.Helper()
	ctx, cancel := ragtest.TestContext(tb)
	defer cancel()
	r, err := ChunkLevel(ctx, fresh, checks...)
	return settle(tb, r, err)
}

func settle(tb testing.TB, r *Report, err error) *Report {
	tb.Helper()
	if err != nil {
		tb.Fatalf("robust: %v", err)
		return nil
	}
	tb.Logf("robust: %s", r)
	for _, f := range r.Checks {
		if !f.Pass() {
			tb.Errorf("robust: %s", f.failure(r))
		}
	}
	return r
}

// metric is a metric of either level.
type metric[M any] interface {
	Name() string
	At(k int) M
}

// atK returns the first metric, cut at k unless it has a cut-off of its own.
func atK[M metric[M]](metrics []M, k int) []M {
	first := slices.Clone(metrics[:min(1, len(metrics))])
	for i, m := range first {
		if !strings.Contains(m.Name(), "@") {
			first[i] = m.At(k)
		}
	}
	return first
}

// candidates returns the FetchK that leaves what is reranked as it is, if possible.
func candidates(fetchK, k, more int, reranked bool) int {
	switch {
	case fetchK > 0:
		return max(fetchK, k+more)
	case reranked:
		return max(4*k, k+more)
	}
	return 0
}

// query returns the query as it is asked. It keeps its ID.
func (c Check) query(q ragtest.Query) ragtest.Query {
	if q.ID == "" {
		q.ID = ragtest.NewQueryID(q.Text)
	}
	if c.rewrite != nil {
		q.Text = c.rewrite(q.Text)
	}
	return q
}

func (c Check) corpus(corpus *spans.Corpus) (*spans.Corpus, error) {
	if c.documents == nil || corpus == nil {
		return corpus, nil
	}
	docs, err := c.documents(corpus)
	if err != nil {
		return nil, err
	}
	return spans.NewCorpusWith(corpus.Metadata(), docs...)
}

func run(ctx context.Context, checks []Check, evaluate func(context.Context, Check) (*ragtest.Result, int, error)) (*Report, error) {
	for _, c := range checks {
		if err := c.validate(); err != nil {
			return nil, err
		}
	}
	base, k, err := evaluate(ctx, Check{})
	if err != nil {
		return nil, fmt.Errorf("evaluating unchanged: %w", err)
	}
	r := &Report{Metric: base.Metrics[0].Metric, Score: base.Metrics[0].Value, Queries: len(base.Queries)}
	for _, c := range checks {
		changed, _, err := evaluate(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("evaluating with %s: %w", c.name, err)
		}
		r.Checks = append(r.Checks, compare(base, changed, k, c))
	}
	return r, nil
}

// compare compares by the first metric of each; only the first k chunks count.
func compare(base, changed *ragtest.Result, k int, c Check) Finding {
	f := Finding{Check: c.name, Score: changed.Metrics[0].Value, Least: c.least, Demanded: c.demanded}
	moved, overlap := 0.0, 0.0
	for i, q := range base.Queries {
		p := changed.Queries[i]
		before, after := q.Scores[0].Value, p.Scores[0].Value
		moved += math.Abs(after - before)
		overlap += share(q.Hits, p.Hits, k)
		switch {
		case after < before:
			f.Worse = append(f.Worse, ragtest.QueryChange{ID: q.ID, Text: p.Text, Old: before, New: after})
		case after > before:
			f.Better++
		}
	}
	n := float64(len(base.Queries))
	f.Stability, f.Overlap = 1-moved/n, overlap/n
	slices.SortStableFunc(f.Worse, func(a, b ragtest.QueryChange) int { return cmp.Compare(a.New-a.Old, b.New-b.Old) })
	return f
}

// share returns the share of the chunks that are among the first k of the others.
func share(hits, others []ragtest.Hit, k int) float64 {
	if len(hits) == 0 {
		return 1
	}
	type place struct {
		id   string
		span spans.Span
	}
	left := map[place]int{}
	for _, h := range others[:min(k, len(others))] {
		left[place{h.ChunkID, h.Span}]++
	}
	again := 0
	for _, h := range hits {
		if p := (place{h.ChunkID, h.Span}); left[p] > 0 {
			left[p]--
			again++
		}
	}
	return float64(again) / float64(len(hits))
}

// String returns a table with a row for each check.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "stability of %s, which is %.4f over %d queries\n\n", r.Metric, r.Score, r.Queries)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  check\tscore\tstability\toverlap\tworse\tbetter\tthreshold")
	for _, f := range r.Checks {
		verdict := ""
		switch {
		case f.Demanded && f.Pass():
			verdict = fmt.Sprintf(">= %v ok", f.Least)
		case f.Demanded:
			verdict = fmt.Sprintf(">= %v FAILED", f.Least)
		}
		fmt.Fprintf(w, "  %s\t%.4f\t%.4f\t%.4f\t%d\t%d\t%s\n", f.Check, f.Score, f.Stability, f.Overlap, len(f.Worse), f.Better, verdict)
	}
	w.Flush()
	lines := strings.Split(b.String(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

const listedQueries = 5

// failure says what the check did to which queries.
func (f Finding) failure(r *Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: got a stability of %s of %.4f, want >= %v, over %d queries", f.Check, r.Metric, f.Stability, f.Least, r.Queries)
	for _, q := range f.Worse[:min(listedQueries, len(f.Worse))] {
		fmt.Fprintf(&b, "\n  %.4f, was %.4f  %s: %q", q.New, q.Old, q.ID, q.Text)
	}
	if more := len(f.Worse) - listedQueries; more > 0 {
		fmt.Fprintf(&b, "\n  and %d more", more)
	}
	return b.String()
}
