package ragtest

import (
	"slices"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/discount"
)

// chunkScorer scores the queries of an evaluation one after the other: load,
// then score for each metric. Memory is reused: once warm, neither call
// allocates, custom metrics aside. It is not safe for concurrent use.
type chunkScorer struct {
	k         int
	marks     map[chunkers.ChunkID]chunkMark
	ranked    []chunkers.ChunkID // the first k distinct chunks that were retrieved
	relevant  []chunkers.ChunkID // distinct
	hits      []int              // hits[i]: the relevant ones of the first i ranked
	firstHit  int                // the rank of the first relevant chunk; 0: none
	discounts discount.Table
}

type chunkMark struct{ relevant, retrieved bool }

// newChunkScorer returns a scorer of evaluations with the given K.
func newChunkScorer(k int) *chunkScorer {
	return &chunkScorer{k: k, marks: make(map[chunkers.ChunkID]chunkMark)}
}

// load prepares the scores of one query, in time linear in the outcome.
func (s *chunkScorer) load(o ChunkOutcome) {
	clear(s.marks)
	s.relevant = s.relevant[:0]
	for _, id := range o.Relevant {
		if !s.marks[id].relevant {
			s.marks[id] = chunkMark{relevant: true}
			s.relevant = append(s.relevant, id)
		}
	}
	s.ranked = s.ranked[:0]
	s.hits = append(s.hits[:0], 0)
	s.firstHit = 0
	hits := 0
	for _, id := range o.Retrieved {
		if len(s.ranked) >= s.k {
			break
		}
		mark := s.marks[id]
		if mark.retrieved {
			continue
		}
		mark.retrieved = true
		s.marks[id] = mark
		s.ranked = append(s.ranked, id)
		if mark.relevant {
			hits++
			if s.firstHit == 0 {
				s.firstHit = len(s.ranked)
			}
		}
		s.hits = append(s.hits, hits)
	}
}

// score returns the score of the query that was loaded last. It is an error if
// it is not between 0 and 1, as that of a custom metric may be.
func (s *chunkScorer) score(m ChunkMetric) (float64, error) {
	score := s.of(m)
	if !inUnitRange(score) {
		return score, outOfRange(m.Name(), score)
	}
	return score, nil
}

func (s *chunkScorer) of(m ChunkMetric) float64 {
	k := m.cut.of(s.k)
	if m.measure.custom != nil {
		return m.measure.custom(ChunkOutcome{
			Retrieved: slices.Clone(s.ranked[:min(k, len(s.ranked))]),
			Relevant:  slices.Clone(s.relevant),
		})
	}
	return m.measure.ranked(s, k)
}

// at returns how many of the first k chunks are relevant, and how many chunks
// they are.
func (s *chunkScorer) at(k int) (hits, retrieved int) {
	retrieved = min(k, len(s.ranked))
	return s.hits[retrieved], retrieved
}

func (s *chunkScorer) recall(k int) float64 {
	if len(s.relevant) == 0 {
		return 1
	}
	hits, _ := s.at(k)
	return float64(hits) / float64(len(s.relevant))
}

func (s *chunkScorer) precision(k int) float64 { return precision(s.at(k)) }

// f1 is 2·precision·recall/(precision+recall) with both written out.
func (s *chunkScorer) f1(k int) float64 {
	hits, retrieved := s.at(k)
	if hits == 0 {
		return 0
	}
	return float64(2*hits) / float64(retrieved+len(s.relevant))
}

func (s *chunkScorer) hitRate(k int) float64 { return hitRate(s.firstHit, k) }

func (s *chunkScorer) reciprocalRank(k int) float64 { return reciprocalRank(s.firstHit, k) }

// ndcg never exceeds 1: the discount of the i-th hit is at most that of rank i,
// and rounding never reverses an order.
func (s *chunkScorer) ndcg(k int) float64 {
	attainable := min(k, len(s.relevant))
	if attainable == 0 {
		return 0
	}
	d := s.discounts.UpTo(max(attainable, len(s.ranked)))
	gain, ideal := 0.0, 0.0
	for i := 1; i <= min(k, len(s.ranked)); i++ {
		if s.hits[i] > s.hits[i-1] {
			gain += d[i]
		}
	}
	for i := 1; i <= attainable; i++ {
		ideal += d[i]
	}
	return gain / ideal
}

// averagePrecision divides last, so that rounding cannot take it beyond 1.
func (s *chunkScorer) averagePrecision(k int) float64 {
	if len(s.relevant) == 0 {
		return 0
	}
	sum := 0.0
	for i := 1; i <= min(k, len(s.ranked)); i++ {
		if s.hits[i] > s.hits[i-1] {
			sum += float64(s.hits[i]) / float64(i)
		}
	}
	return sum / float64(len(s.relevant))
}
