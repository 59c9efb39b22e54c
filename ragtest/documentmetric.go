package ragtest

import (
	"errors"
	"math"
	"slices"

	"github.com/rageval/rageval/spans"
)

// DocumentOutcome is what a document-level metric judges: what was retrieved for one
// query, and what should have been.
type DocumentOutcome struct {
	Retrieved []spans.DocumentID       // best first
	Relevant  map[spans.DocumentID]int // grades: 1 or more is relevant, any other is not
}

// DocumentMetric judges retrieval by documents: which of those that are relevant to a
// query were retrieved. A score is between 0 and 1; an evaluation reports the mean
// over its queries.
//
// Metrics are the predeclared ones, such as [DocumentNDCG], and those made by
// [NewDocumentMetric]. They are immutable, safe for concurrent use, and compared
// with Equal. The zero value is no metric: its name is empty, Of returns NaN, and it
// is an error in an evaluation.
type DocumentMetric struct {
	measure *documentMeasure
	cut     cutoff
}

// documentMeasure is the identity of a metric without its cut-off. Either score or
// custom is set.
type documentMeasure struct {
	name   string
	ranked bool                                   // whether score depends on the order of the first k
	score  func(s *documentScorer, k int) float64 // of the first k documents; k >= 0
	custom func(DocumentOutcome) float64
}

// NewDocumentMetric returns a metric of your own. The name, which appears in results
// and as a unit of benchmarks, is made of the letters a-z, digits and underscores and
// begins with a letter; another name or a nil score panics.
// An evaluation refuses the names of the number of chunks and of budgets, which are
// units of benchmarks too.
//
// The function score judges one query: it is given at most K retrieved documents, or
// k after At(k), and the ground truth, no ID twice. It returns a number between 0 and
// 1; any other, and NaN, is an error of the evaluation. It must be a pure function and
// may be called from several goroutines at once. It must not modify the map.
func NewDocumentMetric(name string, score func(DocumentOutcome) float64) DocumentMetric {
	checkMetric("NewDocumentMetric", name, score != nil)
	return DocumentMetric{measure: &documentMeasure{name: name, ranked: true, custom: score}}
}

func documentMetric(name string, ranked bool, score func(s *documentScorer, k int) float64) DocumentMetric {
	return DocumentMetric{measure: &documentMeasure{name: name, ranked: ranked, score: score}}
}

// Name returns the name of m, with its cut-off where At was called:
// "document_ndcg", "document_ndcg@3".
func (m DocumentMetric) Name() string {
	if m.measure == nil {
		return ""
	}
	return m.measure.name + m.cut.suffix()
}

// At returns m judged on the first k retrieved documents only. The cut-off replaces
// that of an earlier At. A k that is less than 1 or greater than the K of an
// evaluation is an error of the evaluation; to Of it leaves nothing to judge if it is
// less than 1, and everything if it is greater than what was retrieved.
func (m DocumentMetric) At(k int) DocumentMetric {
	m.cut = cutoff{k: k, set: true}
	return m
}

// Equal reports whether both are the same metric with the same cut-off. A metric made
// by [NewDocumentMetric] is the same only as its copies.
func (m DocumentMetric) Equal(n DocumentMetric) bool { return m == n }

// Of returns the score of a single outcome: of all retrieved documents, or of the
// first k after At(k). Only the first of several equal IDs counts: the later ones are
// taken out before ranks are counted.
//
// Without At, the k of [DocumentNDCG] is the number of documents that were retrieved;
// in an evaluation it is K, even if fewer were.
func (m DocumentMetric) Of(o DocumentOutcome) float64 {
	if m.measure == nil {
		return math.NaN()
	}
	s := newDocumentScorer(len(o.Retrieved))
	s.load(o)
	s.k = len(s.ranked)
	return s.of(m)
}

func (m DocumentMetric) validate(k int) error {
	if m.measure == nil {
		return errors.New("metric without a name: want a predeclared one or one made by NewDocumentMetric")
	}
	if err := checkFree(m.measure.name, m.measure.custom != nil); err != nil {
		return err
	}
	return m.cut.validate(m.Name(), k)
}

// dependsOnRank reports whether, with the given K, reordering what was retrieved can
// change m. Of a custom metric it is assumed.
func (m DocumentMetric) dependsOnRank(k int) bool { return m.measure.ranked || m.cut.of(k) < k }

// The document-level metrics. Below, retrieved are the first k distinct documents
// that were retrieved, relevant are the documents whose grade is at least 1, |x| is a
// number of documents, rel(i) is 1 if the document at rank i is relevant, else 0, and
// grade(i) is its grade, 0 if it is not relevant. The cut-off k is K, or that of
// At(k).
var (
	// DocumentRecall, "document_recall", is the share of the relevant documents that
	// were retrieved (Manning, Raghavan & Schütze 2008, §8.3):
	//
	//	|retrieved ∩ relevant| / |relevant|
	//
	// It is 1 where nothing is relevant; the recall_k of trec_eval is 0 there.
	DocumentRecall DocumentMetric = documentMetric("document_recall", false, (*documentScorer).recall)

	// DocumentPrecision, "document_precision", is the share of the retrieved
	// documents that are relevant (Manning et al. 2008, §8.3):
	//
	//	|retrieved ∩ relevant| / |retrieved|
	//
	// It divides by the number that was retrieved, not by k (as the P_k of trec_eval
	// does), if that is less. It is 0 where nothing was retrieved.
	DocumentPrecision DocumentMetric = documentMetric("document_precision", false, (*documentScorer).precision)

	// DocumentHitRate, "document_hit_rate", is 1 if any of the first k documents is
	// relevant, else 0: the success_k of trec_eval.
	DocumentHitRate DocumentMetric = documentMetric("document_hit_rate", false, (*documentScorer).hitRate)

	// DocumentMRR, "document_mrr", is the reciprocal rank, whose mean over queries is
	// the MRR (Voorhees 1999, TREC-8 question answering), cut at k:
	//
	//	1 / rank of the first relevant document
	//
	// It is 0 where no relevant document is among the first k.
	DocumentMRR DocumentMetric = documentMetric("document_mrr", true, (*documentScorer).reciprocalRank)

	// DocumentNDCG, "document_ndcg", is the normalised discounted cumulative gain
	// (Järvelin & Kekäläinen 2002) at k, with grades as gains and the discount
	// d(i) = 1/log2(i+1), as the ndcg_cut_k of trec_eval:
	//
	//	Σ d(i) · grade(i)  for i = 1 … k   /   Σ d(i) · ideal(i)  for i = 1 … min(k, |relevant|)
	//
	// where ideal(i) is the i-th highest grade of the relevant documents. It is 0
	// where nothing is relevant.
	DocumentNDCG DocumentMetric = documentMetric("document_ndcg", true, (*documentScorer).ndcg)

	// DocumentMAP, "document_map", is the average precision, whose mean over queries
	// is the MAP (Manning et al. 2008, §8.4), cut at k:
	//
	//	Σ rel(i) · precision of the first i documents  for i = 1 … k   /   |relevant|
	//
	// It divides by the number of relevant documents even if that exceeds k, as the
	// map_cut of trec_eval does. It is 0 where nothing is relevant.
	DocumentMAP DocumentMetric = documentMetric("document_map", true, (*documentScorer).averagePrecision)
)

// DocumentThreshold is a demand on the mean of a document-level metric over all
// queries, made by [DocumentMetric.AtLeast] or [DocumentMetric.AtMost], or over some
// of them, made by [DocumentSlice.AtLeast] or [DocumentSlice.AtMost]. The zero value
// demands nothing and is an error in an evaluation. Thresholds are immutable and
// compared with Equal.
type DocumentThreshold struct {
	judged DocumentMetric
	where  conditions // of the queries that count
	bound  bound
}

// AtLeast returns the threshold that demands a mean of min or more. A min that is NaN
// or not between 0 and 1 is an error in an evaluation.
func (m DocumentMetric) AtLeast(min float64) DocumentThreshold {
	return DocumentThreshold{judged: m, bound: bound{limit: min}}
}

// AtMost returns the threshold that demands a mean of max or less. A max that is NaN
// or not between 0 and 1 is an error in an evaluation.
func (m DocumentMetric) AtMost(max float64) DocumentThreshold {
	return DocumentThreshold{judged: m, bound: bound{limit: max, upper: true}}
}

// WithConfidence returns the threshold that demands more of the queries than a mean:
// see [TokenThreshold.WithConfidence].
func (t DocumentThreshold) WithConfidence(confidence float64) DocumentThreshold {
	t.bound.confidence, t.bound.confident = confidence, true
	return t
}

// String returns t in the form "document_ndcg@3 >= 0.8", or "document_ndcg@3 >= 0.8
// with confidence 0.95".
func (t DocumentThreshold) String() string { return t.name() + " " + t.bound.String() }

// Equal reports whether both thresholds demand the same of equal metrics.
func (t DocumentThreshold) Equal(u DocumentThreshold) bool {
	return t.judged.Equal(u.judged) && slices.Equal(t.where, u.where) && t.bound.equal(u.bound)
}

func (t DocumentThreshold) metric() DocumentMetric { return t.judged }
func (t DocumentThreshold) want() bound            { return t.bound }
func (t DocumentThreshold) slice() conditions      { return t.where }
func (t DocumentThreshold) name() string           { return t.where.suffix(t.judged.Name()) }

// validate is that of TokenThreshold.
func (t DocumentThreshold) validate() error {
	if t.judged.measure == nil {
		return errors.New("threshold without a metric: want one made by DocumentMetric.AtLeast or DocumentMetric.AtMost")
	}
	return t.bound.validate(t.name())
}

// documentIDs returns the relevant documents, sorted.
func documentIDs(grades map[spans.DocumentID]int) []spans.DocumentID {
	var list []spans.DocumentID
	for id, grade := range grades {
		if grade >= 1 {
			list = append(list, id)
		}
	}
	slices.Sort(list)
	return list
}
