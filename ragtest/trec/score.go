package trec

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// Scorer scores runs. The zero value does what trec_eval does without options.
type Scorer struct {
	// Measures are names of trec_eval: a measure as it is printed, "map",
	// "ndcg_cut_10", "iprec_at_recall_0.10", or a family, "P", "ndcg_cut", for all
	// its usual cut-offs. nil: DefaultMeasures(). The families are P, recall,
	// ndcg_cut, map_cut and success, with any cut-off of at least 1, and
	// iprec_at_recall; the others are num_q, num_ret, num_rel, num_rel_ret, map,
	// gm_map, Rprec, bpref, recip_rank and ndcg.
	Measures []string

	// Complete scores every judged query: one that the run lacks has retrieved
	// nothing (trec_eval -c). Otherwise only those count that both have.
	Complete bool

	// Level is the least grade that is relevant; 0: 1 (trec_eval -l). nDCG takes
	// grades as gains, whatever the level.
	Level int

	// MaxRetrieved is how many documents of each query count; 0: all (trec_eval
	// -M). JudgedOnly drops documents without a judgment first (trec_eval -J).
	MaxRetrieved int
	JudgedOnly   bool
}

// Scores are the values of all measures.
type Scores struct {
	Tag     string          // of the run
	Overall []ragtest.Score // in the order of the measures: means over the queries; of counts, sums
	Queries []QueryScores   // in order of ID
}

// QueryScores are the values of all measures for one query, in their order. The
// measures num_q and gm_map are overall only.
type QueryScores struct {
	ID     ragtest.QueryID
	Scores []ragtest.Score
}

// Score returns the overall value of a measure, and whether there is one.
func (s *Scores) Score(measure string) (float64, bool) {
	for _, m := range s.Overall {
		if m.Metric == measure {
			return m.Value, true
		}
	}
	return 0, false
}

// Score scores a run. Queries that have no judgments do not count. It is an error
// if no query remains, a query or a document of a query is there twice, or a score
// is not finite. Neither argument is modified.
func (s Scorer) Score(run Run, judgments Judgments) (*Scores, error) {
	names := s.Measures
	if names == nil {
		names = DefaultMeasures()
	}
	measures, err := measuresOf(names)
	if err != nil {
		return nil, err
	}
	switch {
	case s.Level < 0:
		return nil, fmt.Errorf("field Level: got %d, want at least 1, or 0 for 1", s.Level)
	case s.MaxRetrieved < 0:
		return nil, fmt.Errorf("field MaxRetrieved: got %d, want at least 1, or 0 for all", s.MaxRetrieved)
	}
	retrieved, err := checkRun(run)
	if err != nil {
		return nil, err
	}
	if err := checkJudgments(judgments); err != nil {
		return nil, err
	}
	judgments = slices.DeleteFunc(slices.Clone(judgments), func(j QueryJudgments) bool {
		_, ok := retrieved[j.ID]
		return !ok && !s.Complete || len(j.Judged) == 0
	})
	if len(judgments) == 0 {
		return nil, fmt.Errorf("scoring run %q: none of its %d queries has judgments", run.Tag, len(run.Queries))
	}
	slices.SortFunc(judgments, func(a, b QueryJudgments) int { return cmp.Compare(a.ID, b.ID) })

	out := &Scores{Tag: run.Tag, Queries: make([]QueryScores, len(judgments))}
	values := make([][]float64, len(measures))
	q := ranking{level: max(s.Level, 1), judged: make(map[spans.DocumentID]int)}
	for i, j := range judgments {
		q.load(retrieved[j.ID], j.Judged, s.MaxRetrieved, s.JudgedOnly)
		scores := make([]ragtest.Score, 0, len(measures))
		for m, measure := range measures {
			value := 1.0 // num_q
			if measure.of != nil {
				value = measure.of(&q)
			}
			values[m] = append(values[m], value)
			if measure.of != nil && measure.total != geometricMean {
				scores = append(scores, ragtest.Score{Metric: measure.name, Value: value})
			}
		}
		out.Queries[i] = QueryScores{j.ID, scores}
	}
	for m, measure := range measures {
		out.Overall = append(out.Overall, ragtest.Score{Metric: measure.name, Value: measure.overall(values[m])})
	}
	return out, nil
}

// checkRun returns the documents of each query.
func checkRun(run Run) (map[ragtest.QueryID][]Document, error) {
	of := make(map[ragtest.QueryID][]Document, len(run.Queries))
	seen := make(map[spans.DocumentID]bool)
	for _, q := range run.Queries {
		if _, ok := of[q.ID]; ok {
			return nil, fmt.Errorf("scoring run %q: query %s is there twice", run.Tag, q.ID)
		}
		of[q.ID] = q.Documents
		clear(seen)
		for _, d := range q.Documents {
			if seen[d.ID] {
				return nil, fmt.Errorf("scoring run %q: query %s: document %s is there twice", run.Tag, q.ID, d.ID)
			}
			seen[d.ID] = true
			if math.IsNaN(d.Score) || math.IsInf(d.Score, 0) {
				return nil, fmt.Errorf("scoring run %q: query %s: document %s: the score is %v, want a finite number", run.Tag, q.ID, d.ID, d.Score)
			}
		}
	}
	return of, nil
}

func checkJudgments(judgments Judgments) error {
	queries := make(map[ragtest.QueryID]bool, len(judgments))
	docs := make(map[spans.DocumentID]bool)
	for _, j := range judgments {
		if queries[j.ID] {
			return fmt.Errorf("judgments: query %s is there twice", j.ID)
		}
		queries[j.ID] = true
		clear(docs)
		for _, d := range j.Judged {
			if docs[d.Doc] {
				return fmt.Errorf("judgments: query %s: document %s is there twice", j.ID, d.Doc)
			}
			docs[d.Doc] = true
		}
	}
	return nil
}

// Write writes the scores as trec_eval prints them, with those of each query
// (trec_eval -q) before those over all queries if perQuery is set.
func (s *Scores) Write(w io.Writer, perQuery bool) error {
	b := bufio.NewWriter(w)
	line := func(query ragtest.QueryID, m ragtest.Score) {
		if strings.HasPrefix(m.Metric, "num_") {
			fmt.Fprintf(b, "%-22s\t%s\t%d\n", m.Metric, query, int64(m.Value))
		} else {
			fmt.Fprintf(b, "%-22s\t%s\t%6.4f\n", m.Metric, query, m.Value)
		}
	}
	if perQuery {
		for _, q := range s.Queries {
			for _, m := range q.Scores {
				line(q.ID, m)
			}
		}
	}
	fmt.Fprintf(b, "%-22s\tall\t%s\n", "runid", s.Tag)
	for _, m := range s.Overall {
		line("all", m)
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("writing scores: %w", err)
	}
	return nil
}

// tag makes a name fit for a column of a run file.
func tag(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return '_'
		}
		return r
	}, name)
	return cmp.Or(name, "ragtest")
}
