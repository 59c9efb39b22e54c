package ragtest

import (
	"slices"
	"sort"
	"sync"

	"github.com/rageval/rageval/internal/coverage"
	"github.com/rageval/rageval/internal/discount"
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
	truth       truth        // of relevant
	retrieved   []spans.Span // the union so far: sorted, disjoint, not adjacent
	prefixes    []prefix     // prefixes[i]: of the first i chunks
	firstHit    int          // the rank of the first chunk with a relevant character; 0: none
	best        []int        // the curve of optimum
	bestKnown   bool
	optimum     coverage.Optimum
	onRetrieved coverage.Index // stands for an unknown index
	discounts   discount.Table
}

// prefix holds the numbers of characters of a ranking's first chunks.
type prefix struct {
	covered int // relevant ones
	union   int // each once
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
// first K are not judged. With n the number of those judged and r that of the
// relevant spans, it takes O(n·(log r + log n)) time, if chunks seldom reach
// over many relevant spans, and copies O(n²) spans at worst. What a chunk holds of
// aliases, which are sorted and disjoint, is the text that they stand for.
func (s *tokenScorer) load(relevant spans.Set, o TokenOutcome, aliases ...coverage.Alias) {
	s.outcome, s.aliases = o, aliases
	s.relevant = relevant
	s.truth = s.truth.reset(relevant)
	s.retrieved = s.retrieved[:0]
	s.firstHit = 0
	s.bestKnown = false
	var p prefix
	s.prefixes = append(s.prefixes[:0], p)
	for i, r := range o.Retrieved[:min(s.k, len(o.Retrieved))] {
		s.parts = append(s.parts[:0], r)
		if len(aliases) > 0 {
			s.parts = appendCanonical(s.parts[:0], r, aliases)
		}
		before := p.covered
		for _, part := range s.parts {
			covered, chars := s.add(part)
			p.covered += covered
			p.union += chars
		}
		p.summed += r.Len()
		s.prefixes = append(s.prefixes, p)
		if s.firstHit == 0 && p.covered > before {
			s.firstHit = i + 1
		}
	}
}

// add adds r to the union of what was retrieved, and returns how many relevant
// characters and how many characters in all it adds.
func (s *tokenScorer) add(r spans.Span) (covered, chars int) {
	if r.End <= r.Start {
		return 0, 0
	}
	// The spans that r overlaps or is adjacent to are retrieved[first:last]:
	// merged becomes their union with r, and r adds what lies between them.
	first := sort.Search(len(s.retrieved), func(i int) bool {
		t := &s.retrieved[i]
		return t.Doc > r.Doc || t.Doc == r.Doc && t.End >= r.Start
	})
	last := first
	merged := r
	from := r.Start
	for ; last < len(s.retrieved) && s.retrieved[last].Doc == r.Doc && s.retrieved[last].Start <= r.End; last++ {
		t := s.retrieved[last]
		if from < t.Start {
			covered += s.truth.charsIn(r.Doc, from, t.Start)
			chars += t.Start - from
		}
		from = t.End
		merged.Start = min(merged.Start, t.Start)
		merged.End = max(merged.End, t.End)
	}
	if from < r.End {
		covered += s.truth.charsIn(r.Doc, from, r.End)
		chars += r.End - from
	}
	s.retrieved = slices.Replace(s.retrieved, first, last, merged)
	return covered, chars
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
func (s *tokenScorer) at(k int) prefix { return s.prefixes[min(k, len(s.prefixes)-1)] }

func (s *tokenScorer) recall(k int) float64 {
	if s.relevant.Empty() {
		return 1
	}
	return float64(s.at(k).covered) / float64(s.relevant.Len())
}

func (s *tokenScorer) precision(k int) float64 {
	p := s.at(k)
	return precision(p.covered, p.union)
}

func (s *tokenScorer) precisionRedundant(k int) float64 {
	p := s.at(k)
	return precision(p.covered, p.summed)
}

func (s *tokenScorer) iou(k int) float64 {
	p := s.at(k)
	return s.overUnion(p.covered, p.union)
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

func (s *tokenScorer) hitRate(k int) float64 { return hitRate(s.firstHit, k) }

func (s *tokenScorer) reciprocalRank(k int) float64 { return reciprocalRank(s.firstHit, k) }

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
	k = min(k, max(len(s.prefixes)-1, len(best)))
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
	for i := 1; i <= min(k, len(s.prefixes)-1); i++ {
		p := s.prefixes[i]
		if added := p.covered - s.prefixes[i-1].covered; added > 0 {
			// The conversion forbids fused multiply-add.
			sum += float64(float64(added) * precision(p.covered, p.union))
		}
	}
	return sum / float64(s.relevant.Len())
}
