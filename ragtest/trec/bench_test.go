package trec

import (
	"fmt"
	"slices"
	"testing"

	"github.com/rageval/rageval/internal/cputime"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// BenchmarkMeasures scores a run of 1,000 queries with 100 documents each by all
// measures. The aligned grades are the same queries once their documents are in order
// and each has its grade: what is left are the measures. The unit cpu-ns/op is the
// time of all processors.
func BenchmarkMeasures(b *testing.B) {
	const queries, n = 1000, 100
	run := Run{Tag: "t"}
	var judgments Judgments
	var aligned [][]int
	for i := range queries {
		id := ragtest.QueryID(fmt.Sprint("q", i))
		q, j := QueryRun{ID: id}, QueryJudgments{ID: id}
		grades := slices.Repeat([]int{unjudged}, n)
		for rank := range n {
			doc := spans.DocumentID(fmt.Sprintf("passage_%07d", (i*7919+rank*104_729)%5_000_000))
			q.Documents = append(q.Documents, Document{doc, float64(n - rank)})
			if rank%5 == i%5 {
				grades[rank] = rank / 5 % 3
				j.Judged = append(j.Judged, Judgment{doc, grades[rank]})
			}
		}
		run.Queries, judgments, aligned = append(run.Queries, q), append(judgments, j), append(aligned, grades)
	}
	measures, err := measuresOf(DefaultMeasures())
	if err != nil {
		b.Fatal(err)
	}
	values := make([]float64, 0, queries*len(measures))
	each := func(name string, load func(q *ranking, i int) error) {
		b.Run("impl="+name, func(b *testing.B) {
			cpu := cputime.Used(b)
			q := ranking{level: 1}
			for b.Loop() {
				values = values[:0]
				for i := range queries {
					if err := load(&q, i); err != nil {
						b.Fatal(err)
					}
					for _, m := range measures {
						if m.of != nil {
							values = append(values, m.of(&q))
						}
					}
				}
			}
			b.ReportMetric(float64(cputime.Used(b)-cpu)/float64(b.N), "cpu-ns/op")
		})
	}
	each("ids", func(q *ranking, i int) error {
		if err := q.judge(judgments[i].Judged); err != nil {
			return err
		}
		return q.rank(run.Queries[i].Documents, 0, false)
	})
	each("aligned", func(q *ranking, i int) error {
		q.align(aligned[i])
		return nil
	})
}

// align sets what judge and rank find, if all judged documents were retrieved.
func (q *ranking) align(grades []int) {
	q.ideal, q.relevant, q.notRelevant = q.ideal[:0], 0, 0
	q.retrieved, q.hits, q.gains, q.judgedAt = len(grades), q.hits[:0], q.gains[:0], q.judgedAt[:0]
	for i, grade := range grades {
		if grade < 0 {
			continue
		}
		q.judgedAt = append(q.judgedAt, grade >= q.level)
		if grade >= q.level {
			q.relevant++
			q.hits = append(q.hits, i+1)
		} else {
			q.notRelevant++
		}
		if grade > 0 {
			q.gains = append(q.gains, graded{i + 1, grade})
			q.ideal = append(q.ideal, grade)
		}
	}
	slices.SortFunc(q.ideal, func(a, b int) int { return b - a })
}
