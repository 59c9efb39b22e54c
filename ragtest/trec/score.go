package trec

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"github.com/rageval/rageval/internal/intern"
	"github.com/rageval/rageval/internal/parallel"
	"github.com/rageval/rageval/ragtest"
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
// is not finite. Neither argument is modified. Large runs are scored on all processors;
// the result does not depend on their number.
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
	todo, scored, err := s.plan(run, judgments)
	if err != nil {
		return nil, err
	}
	var perQuery []measure
	for _, m := range measures {
		if m.of != nil && m.total != geometricMean {
			perQuery = append(perQuery, m)
		}
	}
	if scored == 0 {
		return nil, fmt.Errorf("scoring run %q: none of its %d queries has judgments", run.Tag, len(run.Queries))
	}

	out := &Scores{Tag: run.Tag, Queries: make([]QueryScores, scored)}
	values := make([][]float64, len(measures))
	for m := range values {
		values[m] = make([]float64, scored)
	}
	scores := make([]ragtest.Score, scored*len(perQuery))
	blocks := slices.Collect(slices.Chunk(todo, blockSize))
	err = parallel.Do(context.Background(), runtime.GOMAXPROCS(0), len(blocks), func(_ context.Context, b int) error {
		q := ranking{level: max(s.Level, 1)}
		for _, t := range blocks[b] {
			if err := q.judge(t.judged); err != nil {
				return fmt.Errorf("judgments: query %s: %w", t.id, err)
			}
			if err := q.rank(t.documents, s.MaxRetrieved, s.JudgedOnly); err != nil {
				return fmt.Errorf("scoring run %q: query %s: %w", run.Tag, t.id, err)
			}
			if t.row < 0 {
				continue
			}
			own := scores[t.row*len(perQuery):][:0:len(perQuery)]
			for m, measure := range measures {
				value := 1.0 // num_q
				if measure.of != nil {
					value = measure.of(&q)
				}
				values[m][t.row] = value
				if measure.of != nil && measure.total != geometricMean {
					own = append(own, ragtest.Score{Metric: measure.name, Value: value})
				}
			}
			out.Queries[t.row] = QueryScores{t.id, own}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for m, measure := range measures {
		out.Overall = append(out.Overall, ragtest.Score{Metric: measure.name, Value: measure.overall(values[m])})
	}
	return out, nil
}

// blockSize is how many queries one processor scores before it takes the next.
const blockSize = 256

// task is a query to check, and to score if it has a row in the result.
type task struct {
	id        ragtest.QueryID
	documents []Document
	judged    []Judgment
	row       int // -1: none
}

// plan pairs the queries of a run with their judgments, and counts those to score.
// The tasks are in the order of the run, and then of the judgments of other queries.
func (s Scorer) plan(run Run, judgments Judgments) (todo []task, scored int, err error) {
	var ids intern.Table[ragtest.QueryID]
	ids.Reset(len(run.Queries) + len(judgments))
	todo = make([]task, 0, len(run.Queries)+len(judgments))
	for _, q := range run.Queries {
		if _, twice := ids.Number(q.ID); twice {
			return nil, 0, fmt.Errorf("scoring run %q: query %s is there twice", run.Tag, q.ID)
		}
		todo = append(todo, task{id: q.ID, documents: q.Documents, row: -1})
	}
	judged := make([]bool, len(run.Queries), cap(todo))
	var counted []int // of todo
	for _, j := range judgments {
		i, known := ids.Number(j.ID)
		if !known {
			todo, judged = append(todo, task{id: j.ID, row: -1}), append(judged, false)
		}
		if judged[i] {
			return nil, 0, fmt.Errorf("judgments: query %s is there twice", j.ID)
		}
		judged[i] = true
		todo[i].judged = j.Judged
		if len(j.Judged) > 0 && (i < len(run.Queries) || s.Complete) {
			counted = append(counted, i)
		}
	}
	slices.SortFunc(counted, func(a, b int) int { return cmp.Compare(todo[a].id, todo[b].id) })
	for row, i := range counted {
		todo[i].row = row
	}
	return todo, len(counted), nil
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
