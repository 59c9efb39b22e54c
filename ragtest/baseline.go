package ragtest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/update"
	"github.com/rageval/rageval/internal/wholefile"
	"github.com/rageval/rageval/spans"
)

// Severity is what a test does about an outcome that is not a failed threshold.
type Severity int

const (
	Fail Severity = iota // fail the test
	Warn                 // log it
	Skip                 // skip the test, with whatever it failed before
)

// Severities says what a test does about each outcome.
type Severities struct {
	Regressed       Severity // the run is worse than its baseline
	LabelsStale     Severity // the corpus is not that of the baseline: the scores cannot be compared
	CouldNotMeasure Severity // a component failed, or the baseline is missing or unreadable
}

// The outcomes of a comparison with a baseline.
const (
	OutcomeHeld        = "held"
	OutcomeRegressed   = "regressed"
	OutcomeLabelsStale = "labels stale"
)

// BaselineResult is the verdict of the comparison with a baseline.
//
// In simulations over 10,000 pairs of runs of which none is the better one, by three
// metrics, with 50, 200 and 472 queries of which a twentieth, three tenths or all
// changed, up to 3.1 % raised an alarm. Of runs that lost recall, by queries
// that lost all of theirs while another tenth of the queries changed by chance, the
// alarm was raised in
//
//	mean loss   50 queries   200 queries   472 queries
//	0.01            4 %          21 %          39 %
//	0.02            8 %          46 %          80 %
//	0.03           14 %          71 %          95 %
//	0.05           32 %          94 %         100 %
//	0.08           59 %         100 %         100 %
//	0.12           86 %         100 %         100 %
type BaselineResult struct {
	Path       string      `json:"path"`
	Outcome    string      `json:"outcome"` // OutcomeHeld, OutcomeRegressed or OutcomeLabelsStale
	Margin     float64     `json:"margin"`
	Comparison *Comparison `json:"comparison,omitempty"` // of the baseline with this run; nil if the labels are stale
	Regressed  []string    `json:"regressed,omitempty"`  // metrics

	// Passages is how many relevant passages the baseline has, and Surviving how
	// many of their texts are still in their documents, if the labels are stale. At
	// document level a text is the beginning of its document.
	Passages  int `json:"passages,omitempty"`
	Surviving int `json:"surviving,omitempty"`
}

// gate compares a run with its baseline.
type gate struct {
	path       string
	margin     float64
	budgets    []BudgetThreshold
	tokens     chunkers.Length
	severities Severities
	corpus     *spans.Corpus
	streamed   string // the fingerprint of the corpus, if it was streamed: corpus has only some of it
}

func (g gate) fingerprint() string {
	if g.streamed != "" {
		return g.streamed
	}
	return g.corpus.Fingerprint()
}

func (g gate) validate() error {
	if !(g.margin >= 0 && g.margin <= 1) {
		return fmt.Errorf("field Margin: got %v, want a mean loss between 0 and 1", g.margin)
	}
	if g.margin > 0 && g.path == "" {
		return errors.New("field Margin: set without a Baseline to lose against")
	}
	for i, t := range g.budgets {
		if err := t.validate(); err != nil {
			return fmt.Errorf("field Budgets: threshold %d: %w", i, err)
		}
		if t.budget == RetrievedTokens && g.tokens.Of == nil {
			return fmt.Errorf("field Budgets: threshold %d: %s: the field Tokens is not set, which says how to count them", i, t)
		}
	}
	for _, s := range []struct {
		name string
		got  Severity
	}{{"Regressed", g.severities.Regressed}, {"LabelsStale", g.severities.LabelsStale}, {"CouldNotMeasure", g.severities.CouldNotMeasure}} {
		if s.got < Fail || s.got > Skip {
			return fmt.Errorf("field Severities.%s: got %d, want Fail, Warn or Skip", s.name, s.got)
		}
	}
	return nil
}

// do does what a severity asks for.
func (s Severity) do(tb testing.TB, format string, args ...any) {
	tb.Helper()
	switch s {
	case Warn:
		tb.Logf(format, args...)
	case Skip:
		tb.Skipf(format, args...)
	default:
		tb.Errorf(format, args...)
	}
}

// settle compares r with the baseline, or makes it the baseline if that is asked
// for. The function it returns, if any, reports the verdict.
func (g gate) settle(tb testing.TB, r *Result) (verdict func(), err error) {
	if g.path == "" {
		return nil, nil
	}
	renew, err := update.Switch(update.Env)
	if err != nil {
		return nil, err
	}
	if renew {
		if err := writeBaseline(g.path, r); err != nil {
			return nil, err
		}
		return func() {
			tb.Helper()
			tb.Logf("ragtest: baseline %s: wrote the scores of %s", g.path, count(len(r.Queries), "query"))
		}, nil
	}
	old, err := readBaseline(tb, g.path)
	if err != nil {
		return nil, err
	}
	r.Baseline = &BaselineResult{Path: g.path, Margin: g.margin}
	if old.CorpusFingerprint != r.CorpusFingerprint {
		g.stale(old, r.Baseline)
		return func() {
			tb.Helper()
			g.severities.LabelsStale.do(tb, "ragtest: %s", staleText(tb, old, r))
		}, nil
	}
	old.Name = "the baseline"
	current := *r
	current.Name = cmp.Or(r.Name, "this run")
	c, err := compare(g.margin, []*Result{old, &current})
	if err != nil {
		return nil, fmt.Errorf("baseline %s: %w; accept this run as the baseline with\n\t%s", g.path, err, update.Command(tb))
	}
	r.Baseline.Comparison, r.Baseline.Outcome = c, OutcomeHeld
	for _, m := range c.Metrics {
		if change := m.Changes[0]; -change.Difference > g.margin && change.Adjusted <= regressionLevel {
			r.Baseline.Regressed = append(r.Baseline.Regressed, m.Metric)
			r.Baseline.Outcome = OutcomeRegressed
		}
	}
	return func() {
		tb.Helper()
		if r.Baseline.Outcome == OutcomeHeld {
			tb.Logf("ragtest: baseline %s: %s\n%s", g.path, r.Baseline.Outcome, c)
			return
		}
		g.severities.Regressed.do(tb, "ragtest: %s", r.regressionText(tb, old, newAtlas(g.corpus)))
	}, nil
}

// stale counts which relevant passages are still where the baseline has them.
func (g gate) stale(old *Result, b *BaselineResult) {
	b.Outcome = OutcomeLabelsStale
	for _, q := range old.Queries {
		for _, p := range q.Relevant {
			b.Passages++
			doc, ok := g.corpus.Document(p.Doc)
			switch {
			case !ok:
			case old.Level == "document" && abbreviate(doc.Text(), passageLen) == p.Text:
				b.Surviving++
			case old.Level != "document" && strings.Contains(doc.Text(), p.Text):
				b.Surviving++
			}
		}
	}
}

// truthError says that ground truth does not fit the corpus, or its chunks.
type truthError struct{ error }

func (e truthError) Unwrap() error { return e.error }

// staleTruth reports ground truth that does not fit a corpus which is not that of the
// baseline: labels that are stale. It is not ok for any other error.
func (g gate) staleTruth(tb testing.TB, name string, err error) (_ *Result, ok bool) {
	tb.Helper()
	if !errors.As(err, new(truthError)) || g.path == "" {
		return nil, false
	}
	old, unread := readBaseline(tb, g.path)
	if unread != nil || old.CorpusFingerprint == g.fingerprint() {
		return nil, false
	}
	r := &Result{Name: name, Level: old.Level, CorpusFingerprint: g.fingerprint(), Baseline: &BaselineResult{Path: g.path, Margin: g.margin}}
	g.stale(old, r.Baseline)
	text := fmt.Sprintf("ragtest: %s\nthe ground truth does not fit the corpus: %v", staleText(tb, old, r), err)
	if g.severities.LabelsStale == Fail {
		tb.Fatalf("%s", text)
		return nil, true
	}
	g.severities.LabelsStale.do(tb, "%s", text)
	return r, true
}

// baselineDocuments returns the documents that have the relevant text of the baseline
// at path, if there is one.
func baselineDocuments(tb testing.TB, path string) (list []spans.DocumentID) {
	if path == "" {
		return nil
	}
	old, err := readBaseline(tb, path)
	if err != nil {
		return nil // whoever compares with it says so
	}
	for _, q := range old.Queries {
		for _, p := range q.Relevant {
			list = append(list, p.Doc)
		}
	}
	return list
}

func staleText(tb testing.TB, old, r *Result) string {
	b := r.Baseline
	survival := ""
	if b.Passages > 0 {
		survival = fmt.Sprintf(": of its %s, %d (%.1f %%) are still in their documents", count(b.Passages, "relevant passage"), b.Surviving, 100*float64(b.Surviving)/float64(b.Passages))
	}
	return fmt.Sprintf("labels stale: the corpus is not that of the baseline %s (fingerprint %.12s, was %.12s)%s\ncheck the ground truth, then accept this run as the baseline with\n\t%s",
		b.Path, r.CorpusFingerprint, old.CorpusFingerprint, survival, update.Command(tb))
}

const listedChanges = 5

// regressionText says by which metrics the run is worse, and for which queries.
func (r *Result) regressionText(tb testing.TB, old *Result, a atlas) string {
	var b strings.Builder
	fmt.Fprintf(&b, "regressed against the baseline %s", r.Baseline.Path)
	if r.Baseline.Margin > 0 {
		fmt.Fprintf(&b, " by more than the margin of %v", r.Baseline.Margin)
	}
	for _, change := range changedComponents(old, r) {
		b.WriteString("\n  " + change)
	}
	queries := make(map[QueryID]*QueryResult, len(r.Queries))
	for i := range r.Queries {
		queries[r.Queries[i].ID] = &r.Queries[i]
	}
	for _, m := range r.Baseline.Comparison.Metrics {
		if !slices.Contains(r.Baseline.Regressed, m.Metric) {
			continue
		}
		d := m.Changes[0]
		fmt.Fprintf(&b, "\n%s: got %.4f, was %.4f: a loss of %.4f (95 %% interval %.4f to %.4f, p = %.2g after Holm); %s got worse, %d better:",
			m.Metric, m.Means[1], m.Means[0], -d.Difference, -d.High, -d.Low, d.Adjusted, count(len(d.Worse), "query"), len(d.Better))
		listChanges(&b, d.Worse, func(q QueryChange) string { return a.missed(queries[q.ID].Missed) })
		if len(d.Better) > 0 {
			b.WriteString("\nof those that got better:")
			listChanges(&b, d.Better, func(QueryChange) string { return "" })
		}
	}
	fmt.Fprintf(&b, "\naccept this run as the baseline with\n\t%s", update.Command(tb))
	return b.String()
}

// listChanges lists the first of the queries that changed, each with what more there
// is to say.
func listChanges(b *strings.Builder, changes []QueryChange, more func(QueryChange) string) {
	for _, q := range changes[:min(listedChanges, len(changes))] {
		fmt.Fprintf(b, "\n  %.4f, was %.4f  %s: %q%s", q.New, q.Old, q.ID, abbreviate(q.Text, 100), more(q))
	}
	if left := len(changes) - listedChanges; left > 0 {
		fmt.Fprintf(b, "\n  and %d more", left)
	}
}

// changedComponents lists what differs from the run of the baseline.
func changedComponents(old, r *Result) []string {
	number := func(n int) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprint(n)
	}
	var changes []string
	for _, c := range []struct{ name, was, is string }{
		{"chunker", old.Components.Chunker, r.Components.Chunker}, {"embedder", old.Components.Embedder, r.Components.Embedder},
		{"store", old.Components.Store, r.Components.Store}, {"retriever", old.Components.Retriever, r.Components.Retriever},
		{"reranker", old.Components.Reranker, r.Components.Reranker}, {"K", fmt.Sprint(old.K), fmt.Sprint(r.K)},
		{"token budget", number(old.TokenBudget), number(r.TokenBudget)},
	} {
		if c.was != c.is {
			changes = append(changes, fmt.Sprintf("%s %s, was %s", c.name, cmp.Or(c.is, "none"), cmp.Or(c.was, "none")))
		}
	}
	return changes
}

// writeBaseline writes what later runs are compared with: a result without hits,
// one query a line, so that a change shows as the lines of the queries it concerns.
func writeBaseline(path string, r *Result) error {
	head, err := json.Marshal(Result{Name: r.Name, Level: r.Level, K: r.K, TokenBudget: r.TokenBudget, Chunks: r.Chunks, Metrics: r.Metrics,
		Components: r.Components, CorpusFingerprint: r.CorpusFingerprint, Queries: []QueryResult{}})
	if err != nil {
		return fmt.Errorf("baseline %s: encoding: %w", path, err)
	}
	var b strings.Builder
	b.WriteString(strings.TrimSuffix(string(head), "]}"))
	for i, q := range r.Queries {
		line, err := json.Marshal(QueryResult{ID: q.ID, Text: q.Text, Scores: q.Scores, Relevant: q.Relevant})
		if err != nil {
			return fmt.Errorf("baseline %s: encoding query %s: %w", path, q.ID, err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		b.Write(line)
	}
	b.WriteString("\n]}\n")
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return fmt.Errorf("baseline %s: %w", path, err)
	}
	if err := wholefile.Write(path, []byte(b.String())); err != nil {
		return fmt.Errorf("baseline: %w", err)
	}
	return nil
}

func readBaseline(tb testing.TB, path string) (*Result, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("baseline %s does not exist; create it with\n\t%s", path, update.Command(tb))
	}
	if err != nil {
		return nil, fmt.Errorf("reading the baseline: %w", err)
	}
	r := new(Result)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("baseline %s: %w", path, err)
	}
	for _, q := range r.Queries {
		for _, s := range q.Scores {
			if !inUnitRange(s.Value) {
				return nil, fmt.Errorf("baseline %s: query %s: %s is %v, want a score between 0 and 1", path, q.ID, s.Metric, s.Value)
			}
		}
	}
	return r, nil
}
