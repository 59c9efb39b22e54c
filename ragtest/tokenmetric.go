package ragtest

import (
	"fmt"
	"math"

	"github.com/rageval/rageval/spans"
)

// TokenOutcome is what a token-level metric judges: what was retrieved for one
// query, and what should have been.
type TokenOutcome struct {
	Retrieved []spans.Span // of the retrieved chunks, best first; they may overlap
	Relevant  []spans.Span // ground truth, in any order; the spans may overlap
}

// TokenMetric judges retrieval by characters: which of those that are relevant
// to a query were retrieved. A score is between 0 and 1; an evaluation reports
// the mean over its queries.
//
// Metrics are the predeclared ones, such as [SpanRecall], and those made by
// [NewTokenMetric]. They are immutable, safe for concurrent use, and compared
// with Equal. The zero value is no metric: its name is empty, Of returns NaN,
// and it is an error in an evaluation.
type TokenMetric struct {
	measure *tokenMeasure
	cut     cutoff
}

// tokenMeasure is the identity of a metric without its cut-off. Either ranked or
// custom is set.
type tokenMeasure struct {
	name   string
	ranked func(s *tokenScorer, k int) float64 // of the first k chunks; k >= 0
	custom func(TokenOutcome) float64
}

// NewTokenMetric returns a metric of your own. The name, which appears in
// results and as a unit of benchmarks, is made of the letters a-z, digits and
// underscores and begins with a letter; another name or a nil score panics.
// An evaluation refuses the names of the number of chunks and of budgets, which are
// units of benchmarks too.
//
// The function score judges one query: it is given the spans of at most K
// retrieved chunks, or of k after At(k), as they were retrieved, and the ground
// truth as it was stated, neither merged. It returns a number between 0 and 1;
// any other, and NaN, is an error of the evaluation. It must be a pure function
// and may be called from several goroutines at once. The slices are its own.
func NewTokenMetric(name string, score func(TokenOutcome) float64) TokenMetric {
	checkMetric("NewTokenMetric", name, score != nil)
	return TokenMetric{measure: &tokenMeasure{name: name, custom: score}}
}

func rankedTokenMetric(name string, ranked func(s *tokenScorer, k int) float64) TokenMetric {
	return TokenMetric{measure: &tokenMeasure{name: name, ranked: ranked}}
}

// Name returns the name of m, with its cut-off where At was called:
// "span_recall", "span_recall@3".
func (m TokenMetric) Name() string {
	if m.measure == nil {
		return ""
	}
	return m.measure.name + m.cut.suffix()
}

// At returns m judged on the first k retrieved chunks only. The cut-off replaces
// that of an earlier At. A k that is less than 1 or greater than the K of an
// evaluation is an error of the evaluation; to Of it leaves nothing to judge if
// it is less than 1, and everything if it is greater than what was retrieved.
func (m TokenMetric) At(k int) TokenMetric {
	m.cut = cutoff{k: k, set: true}
	return m
}

// Equal reports whether both are the same metric with the same cut-off. A metric
// made by [NewTokenMetric] is the same only as its copies.
func (m TokenMetric) Equal(n TokenMetric) bool { return m == n }

// Of returns the score of a single outcome: of all retrieved chunks, or of the
// first k after At(k). An evaluation does the same for each query, except that
// [SpanNDCG] then knows the other chunks that there were to choose from.
//
// A chunk that is retrieved twice counts as any chunk that overlaps an earlier
// one: it takes up a rank, and only what is new in it adds to what is covered.
func (m TokenMetric) Of(o TokenOutcome) float64 {
	if m.measure == nil {
		return math.NaN()
	}
	s := newTokenScorer(nil, len(o.Retrieved))
	s.load(spans.Union(o.Relevant...), o)
	return s.of(m)
}

// validate reports the zero metric, and a cut-off that an evaluation with the
// given K cannot judge.
func (m TokenMetric) validate(k int) error {
	if m.measure == nil {
		return fmt.Errorf("metric without a name: want a predeclared one or one made by NewTokenMetric")
	}
	if err := checkFree(m.measure.name, m.measure.custom != nil); err != nil {
		return err
	}
	return m.cut.validate(m.Name(), k)
}

// The token-level metrics. Below, retrieved is the set of the characters of the
// first k retrieved chunks, each counted once however many chunks hold it;
// relevant is the set of the relevant characters; |x| is a number of characters.
// The cut-off k is K, or that of At(k). Chunks or relevant spans without a
// character contribute nothing.
var (
	// SpanRecall, "span_recall", is the share of the relevant characters that
	// were retrieved (Manning, Raghavan & Schütze 2008, §8.3, over characters):
	//
	//	|retrieved ∩ relevant| / |relevant|
	//
	// It is 1 where nothing is relevant.
	SpanRecall TokenMetric = rankedTokenMetric("span_recall", (*tokenScorer).recall)

	// SpanPrecision, "span_precision", is the share of the retrieved characters
	// that are relevant (Manning et al. 2008, §8.3, over characters):
	//
	//	|retrieved ∩ relevant| / |retrieved|
	//
	// It is 0 where nothing was retrieved.
	SpanPrecision TokenMetric = rankedTokenMetric("span_precision", (*tokenScorer).precision)

	// SpanIoU, "span_iou", is the intersection over union, or Jaccard index:
	//
	//	|retrieved ∩ relevant| / |retrieved ∪ relevant|
	//
	// It is 1 where both are empty and 0 where exactly one is.
	SpanIoU TokenMetric = rankedTokenMetric("span_iou", (*tokenScorer).iou)

	// SpanPrecisionRedundant, "span_precision_redundant", is the precision of
	// Chroma's chunking evaluation (Smith & Troynikov 2024), in which characters
	// that several retrieved chunks hold count once above the line and once for
	// each chunk below it:
	//
	//	|retrieved ∩ relevant| / Σ |chunk|
	//
	// It is 0 where nothing was retrieved.
	SpanPrecisionRedundant TokenMetric = rankedTokenMetric("span_precision_redundant", (*tokenScorer).precisionRedundant)

	// SpanIoURedundant, "span_iou_redundant", is the intersection over union of
	// Chroma's chunking evaluation (Smith & Troynikov 2024), with the redundancy
	// of [SpanPrecisionRedundant]:
	//
	//	|retrieved ∩ relevant| / (Σ |chunk| + |relevant \ retrieved|)
	//
	// It is 1 where both are empty and 0 where exactly one is.
	SpanIoURedundant TokenMetric = rankedTokenMetric("span_iou_redundant", (*tokenScorer).iouRedundant)

	// SpanHitRate, "span_hit_rate", is 1 if any of the first k chunks holds a
	// relevant character, else 0. It is 0 where nothing is relevant.
	SpanHitRate TokenMetric = rankedTokenMetric("span_hit_rate", (*tokenScorer).hitRate)

	// SpanMRR, "span_mrr", is the reciprocal rank, whose mean over queries is the
	// MRR (Voorhees 1999, TREC-8 question answering), cut at k:
	//
	//	1 / rank of the first chunk that holds a relevant character
	//
	// It is 0 where no such chunk is among the first k, so also where nothing is
	// relevant.
	SpanMRR TokenMetric = rankedTokenMetric("span_mrr", (*tokenScorer).reciprocalRank)

	// SpanNDCG, "span_ndcg", is the normalised discounted cumulative gain
	// (Järvelin & Kekäläinen 2002) at k. The gain new(i) of the chunk at rank i is
	// the number of its relevant characters that no chunk before it holds, the
	// discount d(i) is 1/log2(i+1) up to rank k and 0 beyond:
	//
	//	Σ d(i) · new(i)  /  Σ (d(i) - d(i+1)) · U(i)        both for i = 1 … k
	//
	// U(i) is the largest number of relevant characters that any i chunks of the
	// index cover together. The normaliser is what a ranking would score that is
	// the best choice of i chunks at every i at once, the upper bound of all
	// rankings. Where chunks do not overlap, it is the score of the chunks ordered
	// by what they hold; where they do, there may be no such ranking and the best
	// one may score less than 1, but none scores more. (Taking the chunk that
	// adds most, again and again, is no bound: it can be beaten.)
	//
	// It is 0 where nothing is relevant, and where no chunk of the index holds a
	// relevant character. Of knows no index and takes all the retrieved chunks
	// for it, as does an evaluation whose retriever was not given its chunks.
	SpanNDCG TokenMetric = rankedTokenMetric("span_ndcg", (*tokenScorer).ndcg)

	// SpanMAP, "span_map", is the average precision, whose mean over queries is
	// the MAP, cut at k and counted in characters throughout, as in the focused
	// retrieval of INEX (Kamps, Pehcevski, Kazai, Lalmas & Robertson 2007), with
	// no interpolation. new(i) is as in [SpanNDCG]:
	//
	//	Σ new(i) / |relevant| · precision of the first i chunks        for i = 1 … k
	//
	// No number of chunks appears in it, so that it compares chunks of different
	// sizes. It is 0 where nothing is relevant.
	SpanMAP TokenMetric = rankedTokenMetric("span_map", (*tokenScorer).averagePrecision)
)
