package ragtest

import (
	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/discount"
)

// chunkScorer scores the queries of an evaluation one after the other: load,
// then score for each metric. An ID becomes a number when it is first met, in any
// query: what follows only marks numbers. Memory is reused: once warm, neither call
// allocates, custom metrics aside. It is not safe for concurrent use.
type chunkScorer struct {
	k         int
	numbers   map[chunkers.ChunkID]int
	ids       []chunkers.ChunkID // by number
	marks     []chunkMark        // by number
	round     uint               // of the marks that count
	given     []int              // what load numbers
	ranked    []int              // the first k distinct chunks that were retrieved
	relevant  []int              // distinct
	hits      []int              // hits[i]: the relevant ones of the first i ranked
	firstHit  int                // the rank of the first relevant chunk; 0: none
	discounts discount.Table
}

// chunkMark holds the rounds in which a chunk was last relevant and last retrieved.
type chunkMark struct{ relevant, retrieved uint }

// newChunkScorer returns a scorer of evaluations with the given K.
func newChunkScorer(k int) *chunkScorer {
	return &chunkScorer{k: k, numbers: make(map[chunkers.ChunkID]int)}
}

// load prepares the scores of one query, in time linear in the outcome. Chunks that
// follow the first k distinct ones are not looked at.
func (s *chunkScorer) load(o ChunkOutcome) {
	s.given = s.given[:0]
	for _, id := range o.Relevant {
		s.given = append(s.given, s.number(id))
	}
	s.judge(s.given)
	for _, id := range o.Retrieved {
		if !s.rank(s.number(id)) {
			break
		}
	}
}

func (s *chunkScorer) number(id chunkers.ChunkID) int {
	n, ok := s.numbers[id]
	if !ok {
		n = len(s.ids)
		s.numbers[id] = n
		s.ids, s.marks = append(s.ids, id), append(s.marks, chunkMark{})
	}
	return n
}

// judge begins a query, of which chunks are relevant.
func (s *chunkScorer) judge(relevant []int) {
	s.round++
	s.relevant = s.relevant[:0]
	for _, n := range relevant {
		if s.marks[n].relevant != s.round {
			s.marks[n].relevant = s.round
			s.relevant = append(s.relevant, n)
		}
	}
	s.ranked, s.hits, s.firstHit = s.ranked[:0], append(s.hits[:0], 0), 0
}

// rank adds the next chunk that was retrieved, unless it was before, and reports
// whether there is room for more.
func (s *chunkScorer) rank(n int) (more bool) {
	if len(s.ranked) >= s.k {
		return false
	}
	mark := &s.marks[n]
	if mark.retrieved == s.round {
		return true
	}
	mark.retrieved = s.round
	s.ranked = append(s.ranked, n)
	hits := s.hits[len(s.hits)-1]
	if mark.relevant == s.round {
		hits++
		if s.firstHit == 0 {
			s.firstHit = len(s.ranked)
		}
	}
	s.hits = append(s.hits, hits)
	return true
}

// named returns the IDs of numbers.
func (s *chunkScorer) named(numbers []int) []chunkers.ChunkID {
	ids := make([]chunkers.ChunkID, len(numbers))
	for i, n := range numbers {
		ids[i] = s.ids[n]
	}
	return ids
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
			Retrieved: s.named(s.ranked[:min(k, len(s.ranked))]),
			Relevant:  s.named(s.relevant),
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
