package ragtest

import (
	"slices"
	"sync"

	"github.com/rageval/rageval/internal/coverage"
	"github.com/rageval/rageval/internal/discount"
	"github.com/rageval/rageval/internal/intern"
	"github.com/rageval/rageval/spans"
)

// tokenScorer scores the queries of an evaluation one after the other: load,
// then score for each metric. One pass over the ranked chunks yields all metrics
// at every cut-off. Memory is reused: once warm, neither call allocates, custom
// metrics aside. It is not safe for concurrent use.
type tokenScorer struct {
	k     int
	index func() *coverage.Index // nil: unknown

	outcome     TokenOutcome
	aliases     []coverage.Alias
	parts       []spans.Span // of one chunk
	relevant    spans.Set
	truth       truth    // of relevant
	prefixes    []prefix // prefixes[i]: of the first i chunks; empty: not known yet
	found       ranges   // of the truth, so far
	firstHit    int      // the rank of the first chunk with a relevant character; 0: none
	unions      []int    // unions[i]: the characters of the first i chunks, each once; empty: not known yet
	docs        intern.Table[spans.DocumentID]
	byDoc       []ranges // of the characters of each document that were retrieved so far
	best        []int    // the curve of optimum
	bestKnown   bool
	optimum     coverage.Optimum
	onRetrieved coverage.Index // stands for an unknown index
	discounts   discount.Table
}

// prefix holds the numbers of characters of a ranking's first chunks.
type prefix struct {
	covered int // relevant ones
	summed  int // once for each chunk that holds it
}

// newTokenScorer returns a scorer of evaluations with the given K. The index
// holds the spans of all chunks there are to retrieve, in any order; it must not
// be modified later. Nil means unknown: then the retrieved chunks of each query
// stand for it.
func newTokenScorer(index []spans.Span, k int) *tokenScorer {
	s := &tokenScorer{k: k}
	if index != nil {
		s.index = sync.OnceValue(func() *coverage.Index { return coverage.NewIndex(index) })
	}
	return s
}

// load prepares the scores of one query. The relevant set is the union of
// o.Relevant, which the caller merges once for many runs. Chunks beyond the
// first K are not judged. What a chunk holds of aliases, which are sorted and
// disjoint, is the text that they stand for.
//
// Nothing is computed that no metric asks for. Each chunk is clipped to the relevant
// spans, and only what hits is put in order; the union of whole chunks, which
// precision and IoU need, has to put all in order. With n the number of chunks judged
// and r that of the relevant spans, either takes O(n·(log r + log n)) time; the former
// copies O(n²) ranges at worst, if so many lie apart.
func (s *tokenScorer) load(relevant spans.Set, o TokenOutcome, aliases ...coverage.Alias) {
	s.outcome, s.aliases = o, aliases
	s.relevant = relevant
	s.truth.reset(relevant)
	s.prefixes, s.unions = s.prefixes[:0], s.unions[:0]
	s.bestKnown = false
}

// judged returns the chunks that are judged.
func (s *tokenScorer) judged() []spans.Span {
	return s.outcome.Retrieved[:min(s.k, len(s.outcome.Retrieved))]
}

// cover fills in prefixes and firstHit. Once all relevant characters are found, what
// is left are sums.
func (s *tokenScorer) cover() {
	s.found, s.firstHit = s.found[:0], 0
	retrieved := s.judged()
	s.prefixes = slices.Grow(s.prefixes, len(retrieved)+1)[:len(retrieved)+1]
	var p prefix
	s.prefixes[0] = p
	for i := range retrieved {
		if p.covered < s.relevant.Len() {
			if added := s.newIn(&retrieved[i]); added > 0 {
				p.covered += added
				if s.firstHit == 0 {
					s.firstHit = i + 1
				}
			}
		}
		p.summed += max(0, retrieved[i].End-retrieved[i].Start)
		s.prefixes[i+1] = p
	}
}

// newIn returns how many relevant characters r holds that were not found before: now
// they were.
func (s *tokenScorer) newIn(r *spans.Span) (added int) {
	if len(s.aliases) == 0 {
		if from, to := s.truth.clip(r); from < to {
			return s.found.add(from, to)
		}
		return 0
	}
	s.parts = appendCanonical(s.parts[:0], *r, s.aliases)
	for i := range s.parts {
		if from, to := s.truth.clip(&s.parts[i]); from < to {
			added += s.found.add(from, to)
		}
	}
	return added
}

// unite fills in unions.
func (s *tokenScorer) unite() {
	retrieved := s.judged()
	s.docs.Reset(len(retrieved))
	s.unions = slices.Grow(s.unions, len(retrieved)+1)[:len(retrieved)+1]
	n := 0
	s.unions[0] = n
	for i := range retrieved {
		if len(s.aliases) == 0 {
			n += s.newOf(&retrieved[i])
		} else {
			s.parts = appendCanonical(s.parts[:0], retrieved[i], s.aliases)
			for j := range s.parts {
				n += s.newOf(&s.parts[j])
			}
		}
		s.unions[i+1] = n
	}
}

// newOf returns how many characters of r were not retrieved before: now they were.
func (s *tokenScorer) newOf(r *spans.Span) (added int) {
	if r.Start >= r.End {
		return 0
	}
	doc, known := s.docs.Number(r.Doc)
	if !known {
		if doc == len(s.byDoc) {
			s.byDoc = append(s.byDoc, nil)
		}
		s.byDoc[doc] = s.byDoc[doc][:0]
	}
	return s.byDoc[doc].add(r.Start, r.End)
}

// score returns the score of the query that was loaded last. It is an error if
// the score of a custom metric is not between 0 and 1; and also if that of a
// predeclared metric is not, as happens to [SpanNDCG] if a chunk was retrieved
// that is not of the index.
func (s *tokenScorer) score(m TokenMetric) (float64, error) {
	score := s.of(m)
	if !inUnitRange(score) {
		return score, outOfRange(m.Name(), score)
	}
	return score, nil
}

func (s *tokenScorer) of(m TokenMetric) float64 {
	k := m.cut.of(s.k)
	if m.measure.custom != nil {
		retrieved := s.outcome.Retrieved
		return m.measure.custom(TokenOutcome{
			Retrieved: slices.Clone(retrieved[:min(k, len(retrieved))]),
			Relevant:  slices.Clone(s.outcome.Relevant),
		})
	}
	return m.measure.ranked(s, k)
}

// at returns the numbers of the first k chunks.
func (s *tokenScorer) at(k int) prefix {
	if len(s.prefixes) == 0 {
		s.cover()
	}
	return s.prefixes[min(k, len(s.prefixes)-1)]
}

// unionAt returns the number of characters of the first k chunks, each once.
func (s *tokenScorer) unionAt(k int) int {
	if len(s.unions) == 0 {
		s.unite()
	}
	return s.unions[min(k, len(s.unions)-1)]
}

// hit returns the rank of the first chunk with a relevant character, 0 if there is
// none.
func (s *tokenScorer) hit() int {
	s.at(0)
	return s.firstHit
}

func (s *tokenScorer) recall(k int) float64 {
	if s.relevant.Empty() {
		return 1
	}
	return float64(s.at(k).covered) / float64(s.relevant.Len())
}

func (s *tokenScorer) precision(k int) float64 {
	return precision(s.at(k).covered, s.unionAt(k))
}

func (s *tokenScorer) precisionRedundant(k int) float64 {
	p := s.at(k)
	return precision(p.covered, p.summed)
}

func (s *tokenScorer) iou(k int) float64 {
	return s.overUnion(s.at(k).covered, s.unionAt(k))
}

func (s *tokenScorer) iouRedundant(k int) float64 {
	p := s.at(k)
	return s.overUnion(p.covered, p.summed)
}

func (s *tokenScorer) overUnion(covered, retrieved int) float64 {
	if retrieved == 0 && s.relevant.Empty() {
		return 1
	}
	return float64(covered) / float64(retrieved+s.relevant.Len()-covered)
}

func (s *tokenScorer) hitRate(k int) float64 { return hitRate(s.hit(), k) }

func (s *tokenScorer) reciprocalRank(k int) float64 { return reciprocalRank(s.hit(), k) }

// ndcg sums the gains by parts, Σ d(i)·new(i) = Σ (d(i)-d(i+1))·covered(i), so
// that it is Σ weight·covered over Σ weight·U with the same weights. Since
// covered(i) <= U(i) and rounding never reverses an order, the quotient never
// exceeds 1, and is exactly 1 for an ideal ranking.
func (s *tokenScorer) ndcg(k int) float64 {
	best := s.bestCoverage()
	if len(best) == 0 || k == 0 {
		return 0
	}
	// Beyond that rank neither covered nor U grows: the weights of all further
	// ranks add up to that of the last.
	k = min(k, max(len(s.judged()), len(best)))
	d := s.discounts.UpTo(k)
	gain, ideal := 0.0, 0.0
	for i := 1; i <= k; i++ {
		weight := d[i]
		if i < k {
			weight -= d[i+1]
		}
		// The conversions forbid fused multiply-add.
		gain += float64(weight * float64(s.at(i).covered))
		ideal += float64(weight * float64(best[min(i, len(best))-1]))
	}
	return gain / ideal
}

// bestCoverage returns U(i) at index i-1, up to where it stops growing.
func (s *tokenScorer) bestCoverage() []int {
	if !s.bestKnown {
		index := &s.onRetrieved
		if s.index != nil {
			index = s.index()
		} else {
			index.Reset(s.outcome.Retrieved)
		}
		s.best = s.optimum.Curve(index, s.relevant, s.k, s.aliases...)
		s.bestKnown = true
	}
	return s.best
}

// averagePrecision divides last: rounding cannot take the sum of new(i) times a
// precision beyond the number of relevant characters, nor the score beyond 1.
func (s *tokenScorer) averagePrecision(k int) float64 {
	if s.relevant.Empty() {
		return 0
	}
	sum := 0.0
	for i := 1; i <= min(k, len(s.judged())); i++ {
		covered := s.at(i).covered
		if added := covered - s.at(i-1).covered; added > 0 {
			// The conversion forbids fused multiply-add.
			sum += float64(float64(added) * precision(covered, s.unionAt(i)))
		}
	}
	return sum / float64(s.relevant.Len())
}
