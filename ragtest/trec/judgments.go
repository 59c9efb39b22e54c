package trec

import (
	"slices"
	"strings"

	"github.com/rageval/rageval/ragtest"
)

// JudgmentsOf returns the judgments that the ground truth of queries is, in the order
// of the queries, documents by ID. Queries without any grade are left out.
func JudgmentsOf(queries []ragtest.DocumentQuery) Judgments {
	var judgments Judgments
	for _, q := range queries {
		if len(q.Relevant) == 0 {
			continue
		}
		j := QueryJudgments{ID: q.ID}
		if j.ID == "" {
			j.ID = ragtest.NewQueryID(q.Text)
		}
		for doc, grade := range q.Relevant {
			j.Judged = append(j.Judged, Judgment{doc, grade})
		}
		slices.SortFunc(j.Judged, func(a, b Judgment) int { return strings.Compare(string(a.Doc), string(b.Doc)) })
		judgments = append(judgments, j)
	}
	return judgments
}
