// Package trec scores rankings of documents as NIST's trec_eval does, to the
// digits that it prints: for results that are to stand beside published ones, and
// for runs that other systems made.
//
// A [Run] is what a system retrieved, [Judgments] say what is relevant, and a
// [Scorer] compares the two. Files of both are read by fixtures.ReadRun and
// fixtures.ReadQrels, and written by fixtures.WriteRun and fixtures.WriteQrels. [RunOf]
// and [JudgmentsOf] make them of an evaluation, so that trec_eval itself, or ranx, can
// score it again.
//
// The measures are those of trec_eval 10 (github.com/usnistgov/trec_eval); those of
// package ragtest differ in places that its documentation names. So does the order
// of ties: here documents of equal score are ordered by ID, descending, as
// trec_eval does, and neither the order of a run nor its ranks count. trec_eval 9
// and older compare scores as 32-bit numbers, so that they see more ties.
package trec

import (
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// Run is what a system retrieved for a set of queries.
type Run struct {
	Tag     string     // names the system; the last column of a run file
	Queries []QueryRun // in any order; their IDs differ
}

// QueryRun is what was retrieved for one query.
type QueryRun struct {
	ID        ragtest.QueryID
	Documents []Document // in any order; their IDs differ
}

// Document is a retrieved document. A higher score is better.
type Document struct {
	ID    spans.DocumentID
	Score float64 // finite
}

// Judgments say which documents are relevant to which queries: the qrels of TREC,
// in any order.
type Judgments []QueryJudgments

// QueryJudgments are the judged documents of one query.
type QueryJudgments struct {
	ID     ragtest.QueryID
	Judged []Judgment // in any order; their documents differ
}

// Judgment is the relevance of a document to a query: 0 is judged and not
// relevant, 1 or more is a grade. A negative grade is a document of the pool that
// was not judged, which counts as one that no judgment names.
type Judgment struct {
	Doc   spans.DocumentID
	Grade int
}

// RunOf returns the run that a result is: for each query its hits, best first, as
// documents. Where several hits are of one document, the first counts. The tag is
// the result's name without white space, or "ragtest" if that is empty.
//
// Documents of equal score change places when the run is scored, see the package
// documentation. To keep the order, whatever the scores, set byRank: the score is
// then 1/rank.
func RunOf(r *ragtest.Result, byRank bool) Run {
	run := Run{Tag: tag(r.Name), Queries: make([]QueryRun, len(r.Queries))}
	seen := make(map[spans.DocumentID]bool)
	for i, q := range r.Queries {
		clear(seen)
		out := QueryRun{ID: q.ID}
		for _, h := range q.Hits {
			if seen[h.Doc] {
				continue
			}
			seen[h.Doc] = true
			d := Document{ID: h.Doc, Score: h.Score}
			if byRank {
				d.Score = 1 / float64(len(out.Documents)+1)
			}
			out.Documents = append(out.Documents, d)
		}
		run.Queries[i] = out
	}
	return run
}
