package ragtest

import (
	"cmp"
	"slices"

	"github.com/rageval/rageval/internal/discount"
	"github.com/rageval/rageval/spans"
)

// documentScorer scores the queries of an evaluation one after the other: load, then
// score for each metric. Memory is reused. It is not safe for concurrent use.
type documentScorer struct {
	k         int
	truth     map[spans.DocumentID]int
	seen      map[spans.DocumentID]bool
	ranked    []spans.DocumentID // the first k distinct documents that were retrieved
	grades    []int              // of ranked; 0: not relevant
	hits      []int              // hits[i]: the relevant ones of the first i ranked
	ideal     []int              // the grades of the relevant documents, the highest first
	firstHit  int                // the rank of the first relevant document; 0: none
	discounts discount.Table
}

// newDocumentScorer returns a scorer of evaluations with the given K.
func newDocumentScorer(k int) *documentScorer {
	return &documentScorer{k: k, seen: make(map[spans.DocumentID]bool)}
}

// load prepares the scores of one query.
func (s *documentScorer) load(o DocumentOutcome) {
	s.truth = o.Relevant
	s.ideal = s.ideal[:0]
	for _, grade := range o.Relevant {
		if grade >= 1 {
			s.ideal = append(s.ideal, grade)
		}
	}
	slices.SortFunc(s.ideal, func(a, b int) int { return cmp.Compare(b, a) })
	clear(s.seen)
	s.ranked, s.grades, s.hits, s.firstHit = s.ranked[:0], s.grades[:0], append(s.hits[:0], 0), 0
	found := 0
	for _, id := range o.Retrieved {
		if len(s.ranked) >= s.k {
			break
		}
		if s.seen[id] {
			continue
		}
		s.seen[id] = true
		s.ranked = append(s.ranked, id)
		grade := max(0, o.Relevant[id])
		if grade > 0 {
			found++
			if s.firstHit == 0 {
				s.firstHit = len(s.ranked)
			}
		}
		s.grades = append(s.grades, grade)
		s.hits = append(s.hits, found)
	}
}

// score returns the score of the query that was loaded last. It is an error if it is
// not between 0 and 1, as that of a custom metric may be.
func (s *documentScorer) score(m DocumentMetric) (float64, error) {
	score := s.of(m)
	if !inUnitRange(score) {
		return score, outOfRange(m.Name(), score)
	}
	return score, nil
}

func (s *documentScorer) of(m DocumentMetric) float64 {
	k := m.cut.of(s.k)
	if m.measure.custom != nil {
		return m.measure.custom(DocumentOutcome{Retrieved: slices.Clone(s.ranked[:min(k, len(s.ranked))]), Relevant: s.truth})
	}
	return m.measure.score(s, k)
}

// at returns how many of the first k documents are relevant, and how many documents
// they are.
func (s *documentScorer) at(k int) (hits, retrieved int) {
	retrieved = min(k, len(s.ranked))
	return s.hits[retrieved], retrieved
}

func (s *documentScorer) recall(k int) float64 {
	if len(s.ideal) == 0 {
		return 1
	}
	hits, _ := s.at(k)
	return float64(hits) / float64(len(s.ideal))
}

func (s *documentScorer) precision(k int) float64 { return precision(s.at(k)) }

func (s *documentScorer) hitRate(k int) float64 { return hitRate(s.firstHit, k) }

func (s *documentScorer) reciprocalRank(k int) float64 { return reciprocalRank(s.firstHit, k) }

// ndcg is at most 1 up to rounding, which the last step takes off: the grades at the
// first k ranks are never more than the ideal ones, but their sums are of different
// terms.
func (s *documentScorer) ndcg(k int) float64 {
	attainable := min(k, len(s.ideal))
	if attainable == 0 {
		return 0
	}
	d := s.discounts.UpTo(max(attainable, len(s.ranked)))
	gain, ideal := 0.0, 0.0
	for i, grade := range s.grades[:min(k, len(s.grades))] {
		gain += float64(float64(grade) * d[i+1])
	}
	for i, grade := range s.ideal[:attainable] {
		ideal += float64(float64(grade) * d[i+1])
	}
	return min(1, gain/ideal)
}

// averagePrecision divides last, so that rounding cannot take it beyond 1.
func (s *documentScorer) averagePrecision(k int) float64 {
	if len(s.ideal) == 0 {
		return 0
	}
	sum := 0.0
	for i := 1; i <= min(k, len(s.ranked)); i++ {
		if s.hits[i] > s.hits[i-1] {
			sum += float64(s.hits[i]) / float64(i)
		}
	}
	return sum / float64(len(s.ideal))
}
