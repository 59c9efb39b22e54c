package trec

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/rageval/rageval/internal/discount"
	"github.com/rageval/rageval/spans"
)

// unjudged is the grade of a document that no judgment names.
const unjudged = -1

// ranking is the ranking of one query with what its judgments say of it. It is
// loaded with one query after the other; memory is reused.
type ranking struct {
	level int // the least grade that is relevant

	grades      []int // of the documents, best first; negative: not judged
	hits        []int // hits[i]: the relevant ones of the first i
	ideal       []int // the positive grades of all judged documents, the highest first
	relevant    int   // judged documents that are
	notRelevant int   // judged documents that are not

	judged    map[spans.DocumentID]int
	order     []Document
	discounts discount.Table
}

func (q *ranking) load(documents []Document, judgments []Judgment, most int, judgedOnly bool) {
	clear(q.judged)
	q.ideal, q.relevant, q.notRelevant = q.ideal[:0], 0, 0
	for _, j := range judgments {
		q.judged[j.Doc] = j.Grade
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

	q.order = append(q.order[:0], documents...)
	slices.SortFunc(q.order, func(a, b Document) int {
		if a.Score != b.Score {
			return cmp.Compare(b.Score, a.Score)
		}
		return strings.Compare(string(b.ID), string(a.ID))
	})
	if most > 0 && len(q.order) > most {
		q.order = q.order[:most]
	}
	q.grades, q.hits = q.grades[:0], append(q.hits[:0], 0)
	found := 0
	for _, d := range q.order {
		grade, ok := q.judged[d.ID]
		if !ok {
			grade = unjudged
		}
		if judgedOnly && grade < 0 {
			continue
		}
		if grade >= q.level {
			found++
		}
		q.grades = append(q.grades, grade)
		q.hits = append(q.hits, found)
	}
}

// found returns how many of the first k documents are relevant.
func (q *ranking) found(k int) int { return q.hits[min(k, len(q.grades))] }

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
	for i, grade := range q.grades {
		if grade >= q.level {
			return 1 / float64(i+1)
		}
	}
	return 0
}

func (q *ranking) averagePrecision(k int) float64 {
	if q.relevant == 0 {
		return 0
	}
	sum := 0.0
	for i := 1; i <= min(k, len(q.grades)); i++ {
		if q.hits[i] > q.hits[i-1] {
			sum += float64(q.hits[i]) / float64(i)
		}
	}
	return sum / float64(q.relevant)
}

// ndcg takes grades as gains; the level of relevance plays no part.
func (q *ranking) ndcg(k int) float64 {
	ideal := min(k, len(q.ideal))
	if ideal == 0 {
		return 0
	}
	retrieved := min(k, len(q.grades))
	d := q.discounts.UpTo(max(ideal, retrieved))
	gain, best := 0.0, 0.0
	for i, grade := range q.grades[:retrieved] {
		if grade > 0 {
			gain += float64(grade) * d[i+1]
		}
	}
	for i, grade := range q.ideal[:ideal] {
		best += float64(grade) * d[i+1]
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
	for _, grade := range q.grades {
		switch {
		case grade < 0:
		case grade < q.level:
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
// number of documents.
func (q *ranking) interpolated(level float64) float64 {
	wanted := int(math.Round(level * float64(q.relevant)))
	best := 0.0
	for i := len(q.grades); i >= 1 && q.hits[i] >= wanted; i-- {
		best = max(best, float64(q.hits[i])/float64(i))
	}
	return best
}
