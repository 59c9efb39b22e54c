package trec

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rageval/rageval/internal/discount"
	"github.com/rageval/rageval/internal/intern"
	"github.com/rageval/rageval/spans"
)

// unjudged is the grade of a document that no judgment names.
const unjudged = -1

// ranking is the ranking of one query with what its judgments say of it. It is
// loaded with one query after the other; memory is reused.
//
// IDs become numbers as they are met, the judged documents first, so that one look
// into a table tells the grade of a retrieved document and whether it was there
// before. Of the ranks only those with a relevant or graded document are kept: most
// measures sum over these.
type ranking struct {
	level int // the least grade that is relevant

	retrieved   int      // documents
	hits        []int    // the ranks of the relevant ones, from 1
	gains       []graded // the documents with a positive grade, best first
	judgedAt    []bool   // of the judged documents that were retrieved, best first: relevant?
	ideal       []int    // the positive grades of all judged documents, the highest first
	relevant    int      // judged documents that are
	notRelevant int      // judged documents that are not

	ids       intern.Table[spans.DocumentID]
	grades    []int  // of the judged documents, by number
	seen      []bool // whether they were retrieved, by number
	order     []Document
	discounts discount.Table
}

type graded struct{ rank, grade int }

// judge sets the judgments. It is an error if a document is there twice.
func (q *ranking) judge(judgments []Judgment) error {
	q.ids.Reset(len(judgments))
	q.grades, q.seen = q.grades[:0], q.seen[:0]
	q.ideal, q.relevant, q.notRelevant = q.ideal[:0], 0, 0
	for _, j := range judgments {
		if _, twice := q.ids.Number(j.Doc); twice {
			return fmt.Errorf("document %s is there twice", j.Doc)
		}
		q.grades, q.seen = append(q.grades, j.Grade), append(q.seen, false)
		switch {
		case j.Grade < 0:
		case j.Grade >= q.level:
			q.relevant++
		default:
			q.notRelevant++
		}
		if j.Grade > 0 {
			q.ideal = append(q.ideal, j.Grade)
		}
	}
	slices.SortFunc(q.ideal, func(a, b int) int { return cmp.Compare(b, a) })
	return nil
}

// rank sets the retrieved documents, of which the first most count if that is not 0.
// It is an error if one is there twice, or has a score that is not finite.
func (q *ranking) rank(documents []Document, most int, judgedOnly bool) error {
	sorted := true
	for i := range documents {
		d := &documents[i]
		if d.Score-d.Score != 0 {
			return fmt.Errorf("document %s: the score is %v, want a finite number", d.ID, d.Score)
		}
		if i > 0 && !(documents[i-1].Score > d.Score) {
			sorted = sorted && bestFirst(documents[i-1], *d) <= 0
		}
	}
	if !sorted {
		q.order = append(q.order[:0], documents...)
		slices.SortFunc(q.order, bestFirst)
		documents = q.order
	}
	if most <= 0 {
		most = len(documents)
	}
	q.retrieved, q.hits, q.gains, q.judgedAt = 0, q.hits[:0], q.gains[:0], q.judgedAt[:0]
	for i := range documents {
		number, known := q.ids.Number(documents[i].ID)
		grade := unjudged
		if number < len(q.grades) {
			grade = q.grades[number]
			known, q.seen[number] = q.seen[number], true
		}
		if known {
			return fmt.Errorf("document %s is there twice", documents[i].ID)
		}
		if i >= most || judgedOnly && grade < 0 {
			continue
		}
		q.retrieved++
		if grade < 0 {
			continue
		}
		q.judgedAt = append(q.judgedAt, grade >= q.level)
		if grade >= q.level {
			q.hits = append(q.hits, q.retrieved)
		}
		if grade > 0 {
			q.gains = append(q.gains, graded{q.retrieved, grade})
		}
	}
	return nil
}

// bestFirst orders as trec_eval does.
func bestFirst(a, b Document) int {
	if a.Score != b.Score {
		return cmp.Compare(b.Score, a.Score)
	}
	return strings.Compare(string(b.ID), string(a.ID))
}

// found returns how many of the first k documents are relevant.
func (q *ranking) found(k int) int {
	n, there := slices.BinarySearch(q.hits, k)
	if there {
		n++
	}
	return n
}

// precision divides by k even if fewer were retrieved.
func (q *ranking) precision(k int) float64 { return float64(q.found(k)) / float64(k) }

func (q *ranking) recall(k int) float64 {
	if q.relevant == 0 {
		return 0
	}
	return float64(q.found(k)) / float64(q.relevant)
}

func (q *ranking) success(k int) float64 {
	if q.found(k) == 0 {
		return 0
	}
	return 1
}

func (q *ranking) reciprocalRank() float64 {
	if len(q.hits) == 0 {
		return 0
	}
	return 1 / float64(q.hits[0])
}

func (q *ranking) averagePrecision(k int) float64 {
	if q.relevant == 0 {
		return 0
	}
	sum := 0.0
	for i, rank := range q.hits[:q.found(k)] {
		sum += float64(i+1) / float64(rank)
	}
	return sum / float64(q.relevant)
}

// ndcg takes grades as gains; the level of relevance plays no part.
func (q *ranking) ndcg(k int) float64 {
	ideal := min(k, len(q.ideal))
	if ideal == 0 {
		return 0
	}
	d := q.discounts.UpTo(max(ideal, min(k, q.retrieved)))
	gain, best := 0.0, 0.0
	// The conversions forbid fused multiply-add.
	for _, g := range q.gains {
		if g.rank > k {
			break
		}
		gain += float64(float64(g.grade) * d[g.rank])
	}
	for i, grade := range q.ideal[:ideal] {
		best += float64(float64(grade) * d[i+1])
	}
	return gain / best
}

// bpref is the share of the judged documents that are not relevant which are ranked
// below the relevant ones, of the first R of either (Buckley & Voorhees 2004).
func (q *ranking) bpref() float64 {
	if q.relevant == 0 {
		return 0
	}
	most := min(q.notRelevant, q.relevant)
	sum := 0.0
	above := 0 // judged documents so far that are not relevant
	for _, relevant := range q.judgedAt {
		switch {
		case !relevant:
			above++
		case above == 0:
			sum++
		default:
			sum += 1 - float64(min(above, q.relevant))/float64(most)
		}
	}
	return sum / float64(q.relevant)
}

// interpolated is the largest precision at any rank where at least that share of
// the relevant documents was found. trec_eval 10 rounds the share to the nearest
// number of documents. The precision is largest at the rank of a relevant one.
func (q *ranking) interpolated(level float64) float64 {
	wanted := int(math.Round(level * float64(q.relevant)))
	best := 0.0
	for i := len(q.hits); i >= max(1, wanted); i-- {
		best = max(best, float64(i)/float64(q.hits[i-1]))
	}
	return best
}
