package ragtest

import (
	"fmt"
	"math"

	"github.com/rageval/rageval/chunkers"
)

// ChunkOutcome is what a chunk-level metric judges: what was retrieved for one
// query, and what should have been.
type ChunkOutcome struct {
	Retrieved []chunkers.ChunkID // best first
	Relevant  []chunkers.ChunkID // ground truth, in any order
}

// ChunkMetric judges retrieval by chunks: which of those that are relevant to a
// query were retrieved. A score is between 0 and 1; an evaluation reports the
// mean over its queries.
//
// Metrics are the predeclared ones, such as [ChunkRecall], and those made by
// [NewChunkMetric]. They are immutable, safe for concurrent use, and compared
// with Equal. The zero value is no metric: its name is empty, Of returns NaN,
// and it is an error in an evaluation.
type ChunkMetric struct {
	measure *chunkMeasure
	cut     cutoff
}

// chunkMeasure is the identity of a metric without its cut-off. Either ranked or
// custom is set.
type chunkMeasure struct {
	name   string
	ranked func(s *chunkScorer, k int) float64 // of the first k chunks; k >= 0
	custom func(ChunkOutcome) float64
}

// NewChunkMetric returns a metric of your own. The name, which appears in
// results and as a unit of benchmarks, is made of the letters a-z, digits and
// underscores and begins with a letter; another name or a nil score panics.
// An evaluation refuses the names of the number of chunks and of budgets, which are
// units of benchmarks too.
//
// The function score judges one query: it is given at most K retrieved chunks,
// or k after At(k), and the ground truth, no ID twice in either. It returns a
// number between 0 and 1; any other, and NaN, is an error of the evaluation. It
// must be a pure function and may be called from several goroutines at once. The
// slices are its own.
func NewChunkMetric(name string, score func(ChunkOutcome) float64) ChunkMetric {
	checkMetric("NewChunkMetric", name, score != nil)
	return ChunkMetric{measure: &chunkMeasure{name: name, custom: score}}
}

func rankedChunkMetric(name string, ranked func(s *chunkScorer, k int) float64) ChunkMetric {
	return ChunkMetric{measure: &chunkMeasure{name: name, ranked: ranked}}
}

// Name returns the name of m, with its cut-off where At was called:
// "chunk_recall", "chunk_recall@3".
func (m ChunkMetric) Name() string {
	if m.measure == nil {
		return ""
	}
	return m.measure.name + m.cut.suffix()
}

// At returns m judged on the first k retrieved chunks only. The cut-off replaces
// that of an earlier At. A k that is less than 1 or greater than the K of an
// evaluation is an error of the evaluation; to Of it leaves nothing to judge if
// it is less than 1, and everything if it is greater than what was retrieved.
func (m ChunkMetric) At(k int) ChunkMetric {
	m.cut = cutoff{k: k, set: true}
	return m
}

// Equal reports whether both are the same metric with the same cut-off. A metric
// made by [NewChunkMetric] is the same only as its copies.
func (m ChunkMetric) Equal(n ChunkMetric) bool { return m == n }

// Of returns the score of a single outcome: of all retrieved chunks, or of the
// first k after At(k). Only the first of several equal IDs counts: the later
// ones are taken out before ranks are counted.
//
// Without At, the k of [ChunkNDCG] is the number of chunks that were retrieved;
// in an evaluation it is K, even if fewer were.
func (m ChunkMetric) Of(o ChunkOutcome) float64 {
	if m.measure == nil {
		return math.NaN()
	}
	s := newChunkScorer(len(o.Retrieved))
	s.load(o)
	s.k = len(s.ranked)
	return s.of(m)
}

// validate reports the zero metric, and a cut-off that an evaluation with the
// given K cannot judge.
func (m ChunkMetric) validate(k int) error {
	if m.measure == nil {
		return fmt.Errorf("metric without a name: want a predeclared one or one made by NewChunkMetric")
	}
	if err := checkFree(m.measure.name, m.measure.custom != nil); err != nil {
		return err
	}
	return m.cut.validate(m.Name(), k)
}

// The chunk-level metrics. Below, retrieved are the first k distinct chunks that
// were retrieved, relevant are the relevant chunks, |x| is a number of distinct
// chunks, and rel(i) is 1 if the chunk at rank i is relevant, else 0. The
// cut-off k is K, or that of At(k).
var (
	// ChunkRecall, "chunk_recall", is the share of the relevant chunks that were
	// retrieved (Manning, Raghavan & Schütze 2008, §8.3):
	//
	//	|retrieved ∩ relevant| / |relevant|
	//
	// It is 1 where nothing is relevant.
	ChunkRecall ChunkMetric = rankedChunkMetric("chunk_recall", (*chunkScorer).recall)

	// ChunkPrecision, "chunk_precision", is the share of the retrieved chunks
	// that are relevant (Manning et al. 2008, §8.3):
	//
	//	|retrieved ∩ relevant| / |retrieved|
	//
	// It divides by the number that was retrieved, not by k (as the P_k of
	// trec_eval does), if that is less. It is 0 where nothing was retrieved.
	ChunkPrecision ChunkMetric = rankedChunkMetric("chunk_precision", (*chunkScorer).precision)

	// ChunkF1, "chunk_f1", is the harmonic mean of precision and recall
	// (Manning et al. 2008, §8.3, with β = 1) of each query:
	//
	//	2 · precision · recall / (precision + recall)
	//
	// It is 0 where either is 0.
	ChunkF1 ChunkMetric = rankedChunkMetric("chunk_f1", (*chunkScorer).f1)

	// ChunkHitRate, "chunk_hit_rate", is 1 if any of the first k chunks is
	// relevant, else 0. It is 0 where nothing is relevant.
	ChunkHitRate ChunkMetric = rankedChunkMetric("chunk_hit_rate", (*chunkScorer).hitRate)

	// ChunkMRR, "chunk_mrr", is the reciprocal rank, whose mean over queries is
	// the MRR (Voorhees 1999, TREC-8 question answering), cut at k:
	//
	//	1 / rank of the first relevant chunk
	//
	// It is 0 where no relevant chunk is among the first k, so also where
	// nothing is relevant.
	ChunkMRR ChunkMetric = rankedChunkMetric("chunk_mrr", (*chunkScorer).reciprocalRank)

	// ChunkNDCG, "chunk_ndcg", is the normalised discounted cumulative gain
	// (Järvelin & Kekäläinen 2002) at k, with binary gains and the discount
	// d(i) = 1/log2(i+1):
	//
	//	Σ d(i) · rel(i)  for i = 1 … k   /   Σ d(i)  for i = 1 … min(k, |relevant|)
	//
	// It is 0 where nothing is relevant.
	ChunkNDCG ChunkMetric = rankedChunkMetric("chunk_ndcg", (*chunkScorer).ndcg)

	// ChunkMAP, "chunk_map", is the average precision, whose mean over queries is
	// the MAP (Manning et al. 2008, §8.4), cut at k:
	//
	//	Σ rel(i) · precision of the first i chunks  for i = 1 … k   /   |relevant|
	//
	// It divides by the number of relevant chunks even if that exceeds k, as the
	// map_cut of trec_eval does. It is 0 where nothing is relevant.
	ChunkMAP ChunkMetric = rankedChunkMetric("chunk_map", (*chunkScorer).averagePrecision)
)
