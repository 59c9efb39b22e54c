package ragtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/rageval/rageval/spans"
)

// Result is what an evaluation found. Its JSON form has a schema version, reads
// back to an equal value and is the same, byte for byte, for equal runs: Trace
// and Elapsed, which no two runs share, are not part of it.
type Result struct {
	Name              string            `json:"name"`
	Level             string            `json:"level"` // "token", "chunk" or "document"
	K                 int               `json:"k"`
	TokenBudget       int               `json:"tokenBudget,omitempty"`     // of the K chunks together; 0: none
	Chunks            int               `json:"chunks"`                    // indexed; 0 if the retriever brought its own
	Metrics           []Score           `json:"metrics"`                   // means over the queries, in the order of the evaluation's metrics
	Intervals         []ScoreInterval   `json:"intervals,omitempty"`       // of the means, in the order of Metrics; none for a single query, and for a metric that is 0 for all
	Spreads           []Spread          `json:"spreads,omitempty"`         // between repetitions, in the order of Metrics; none if there was one
	Ceilings          []Score           `json:"ceilings,omitempty"`        // the means of the queries'
	CeilingBounds     []Score           `json:"ceilingBounds,omitempty"`   // the means of the queries' ceilings of other metrics, of which some are bounds
	RecallLosses      []Loss            `json:"recallLosses,omitempty"`    // the means of the queries'
	LossBounds        bool              `json:"lossBounds,omitempty"`      // whether RecallLosses rest on bounds for what chunks could hold: see [LossBudget]
	PrecisionLosses   []Loss            `json:"precisionLosses,omitempty"` // the means of the queries'
	Slices            []Slice           `json:"slices,omitempty"`          // those of SliceBy, then those of thresholds
	Budgets           []Score           `json:"budgets,omitempty"`         // those that are known and not 0: see Budget
	Thresholds        []ThresholdResult `json:"thresholds,omitempty"`      // of metrics, then of budgets
	Baseline          *BaselineResult   `json:"baseline,omitempty"`        // nil if there is none to compare with
	Diagnostics       Diagnostics       `json:"diagnostics"`
	Components        Components        `json:"components"`
	CorpusFingerprint string            `json:"corpusFingerprint"`       // of spans.Corpus.Fingerprint
	ExperimentURL     string            `json:"experimentURL,omitempty"` // set by a Reporter that records experiments
	Queries           []QueryResult     `json:"queries"`                 // in the order of the evaluation's queries
	Repetitions       []Repetition      `json:"repetitions,omitempty"`   // if there were several; scores, ceilings and losses above are then their means, and the rest of a query is that of the first

	Trace   Trace         `json:"-"`
	Elapsed time.Duration `json:"-"` // of the whole evaluation
}

// Score is the value of one metric.
type Score struct {
	Metric string  `json:"metric"`
	Value  float64 `json:"value"`
}

// ScoreInterval is a confidence interval for the mean of a metric over all the
// queries that those evaluated stand for: two-sided, of 95 %, by the bias-corrected
// and accelerated bootstrap (Efron, "Better bootstrap confidence intervals", JASA
// 1987) of 2,000 samples. The low end is that of the scores and one more, of 0: so
// few queries may not show a failure that is rare (Gaffke 2005, Mathematical Methods
// of Statistics; Learned-Miller & Thomas 2019).
//
// Of 2,000 simulated evaluations each, so many percent had an interval that covers
// the true mean, where each query scores 0 or 1 and, behind the stroke, where half of
// them score in between; the last rows are of the recalls of Chroma's questions by
// BM25 and, behind the stroke, by the lexical embedder.
//
//	mean                      50 queries    200 queries   472 queries
//	0.5                       96.7 / 95.7   95.8 / 96.0   95.5 / 94.7
//	0.6                       97.5 / 96.3   95.9 / 95.6   94.3 / 94.7
//	0.7                       97.4 / 96.8   95.8 / 96.1   95.3 / 94.7
//	0.8                       96.8 / 97.2   96.1 / 96.3   95.3 / 95.3
//	0.9                       98.6 / 97.6   96.6 / 97.0   96.6 / 96.4
//	0.95                      97.9 / 98.3   98.0 / 97.6   96.4 / 96.5
//	0.98                      99.7 / 99.0   97.1 / 97.8   96.8 / 97.9
//	Chroma, 400 characters    96.5 / 95.5   95.9 / 95.5   94.9 / 93.9
//	Chroma, 800 characters    96.9 / 96.6   96.2 / 95.8   95.2 / 95.5
//
// To claim that a mean is high enough, use WithConfidence: of 2,000 simulated
// evaluations each, with the same distributions, at most 1.5 % with a confidence of
// 0.95 claimed more than the true mean.
type ScoreInterval struct {
	Metric string  `json:"metric"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// ThresholdResult is the verdict on one threshold.
type ThresholdResult struct {
	Metric string  `json:"metric"` // with its slice, if any: "span_recall[type=multi-hop]"
	Want   string  `json:"want"`   // such as ">= 0.8", ">= 0.8 with confidence 0.95"
	Got    float64 `json:"got"`    // the mean
	// Bound is what the mean is at least, with the confidence that the threshold
	// asks for, or at most if it is an upper one; 0 if it asks for none.
	Bound float64 `json:"bound,omitempty"`
	Pass  bool    `json:"pass"`
}

// Components names what was evaluated: what each component's String method
// returns, else its type; "" for what was not used.
type Components struct {
	Chunker   string `json:"chunker,omitempty"`
	Embedder  string `json:"embedder,omitempty"`
	Store     string `json:"store,omitempty"`
	Retriever string `json:"retriever,omitempty"`
	Reranker  string `json:"reranker,omitempty"`
}

// Diagnostics are facts about a run that explain its scores.
type Diagnostics struct {
	Documents              int      `json:"documents"`
	EmbeddedTexts          int      `json:"embeddedTexts"`             // distinct; 0 with a Retriever of the user's
	SkippedChunks          int      `json:"skippedChunks"`             // without a place in their document, so not indexed
	EmptyChunks            int      `json:"emptyChunks"`               // without text, so not indexed
	DuplicateChunks        int      `json:"duplicateChunks"`           // with the text of an earlier chunk; chunk level does not index them
	QueriesWithoutRelevant int      `json:"queriesWithoutRelevant"`    // for which recall is 1 and every rank metric 0
	PositionAdapter        bool     `json:"positionAdapter"`           // whether places were found by chunkers.WithPositions
	IndexRecall            *float64 `json:"indexRecall,omitempty"`     // of a store that is not a MemoryStore: the share of the FetchK chunks of exact search that it found
	IndexBytes             *int64   `json:"indexBytes,omitempty"`      // of a SizedStore
	RetrievedTokens        *float64 `json:"retrievedTokens,omitempty"` // mean over the queries; nil unless the evaluation has Tokens to count them with
	Tokenizer              string   `json:"tokenizer,omitempty"`       // the name of those Tokens
	Usage                  []Usage  `json:"usage,omitempty"`           // of paid or limited services, by component and model

	// The means over the queries of [PrecisionOmega] and [PrecisionOmegaEdges] of
	// the indexed chunks; token level only, nil if nothing was indexed.
	PrecisionOmega      *float64 `json:"precisionOmega,omitempty"`
	PrecisionOmegaEdges *float64 `json:"precisionOmegaEdges,omitempty"`

	EquivalentText *EquivalentText `json:"equivalentText,omitempty"` // token level only; nil if no relevant text recurs
	Warnings       []string        `json:"warnings,omitempty"`
}

func (d *Diagnostics) warn(format string, args ...any) {
	d.Warnings = append(d.Warnings, fmt.Sprintf(format, args...))
}

// QueryResult is what was found for one query.
type QueryResult struct {
	ID       QueryID           `json:"id"`
	Text     string            `json:"text"`
	Metadata map[string]string `json:"metadata,omitempty"`
	Scores   []Score           `json:"scores"`         // in the order of Result.Metrics
	Hits     []Hit             `json:"hits,omitempty"` // best first, at most K
	// Alternative is 0 if the query is scored by what it says is Relevant, else i+1
	// for its alternative i: see TokenQuery.
	Alternative int       `json:"alternative,omitempty"`
	Relevant    []Passage `json:"relevant,omitempty"` // spans merged; chunk IDs without repetition
	Missed      []Passage `json:"missed,omitempty"`   // the part of Relevant that no hit covers

	// Ceilings has the best recall, precision and IoU that any ranking of the indexed
	// chunks has: any K chunks for recall, and for the others any choice of as many
	// chunks as were retrieved. CeilingBounds has those that are only known to be no
	// higher than that, and perhaps lower, as all are under a token budget. Both are
	// empty if nothing was indexed.
	Ceilings        []Score `json:"ceilings,omitempty"`
	CeilingBounds   []Score `json:"ceilingBounds,omitempty"`
	RecallLosses    []Loss  `json:"recallLosses,omitempty"`    // by stage, in the order of the pipeline; they add up to 1 - recall
	PrecisionLosses []Loss  `json:"precisionLosses,omitempty"` // by kind; they add up to 1 - precision where anything was retrieved
}

// Score returns the query's score by the named metric, and whether there is one.
func (q QueryResult) Score(metric string) (float64, bool) { return find(q.Scores, metric) }

// Hit is one retrieved chunk; at document level, the best of a document, with its span.
type Hit struct {
	Rank    int              `json:"rank"` // from 1
	ChunkID string           `json:"chunkID"`
	Doc     spans.DocumentID `json:"doc,omitempty"`
	Span    spans.Span       `json:"span,omitzero"`     // token level only
	Line    int              `json:"line,omitempty"`    // where Span begins, from 1; token level only
	Column  int              `json:"column,omitempty"`  // in characters, from 1; token level only
	Aliased bool             `json:"aliased,omitempty"` // it holds the text of relevant text elsewhere, and that counted
	Score   float64          `json:"score"`             // of the retriever or, after it, the reranker
	Text    string           `json:"text"`
}

// Passage is relevant text: a span at token level, a chunk at chunk level, a document
// at document level, whose span is all of it and whose text is its beginning.
type Passage struct {
	ChunkID string           `json:"chunkID,omitempty"` // chunk level only
	Doc     spans.DocumentID `json:"doc,omitempty"`
	Span    spans.Span       `json:"span,omitzero"`    // token level only
	Line    int              `json:"line,omitempty"`   // where Span begins, from 1; token level only
	Column  int              `json:"column,omitempty"` // in characters, from 1; token level only
	Text    string           `json:"text,omitempty"`   // "" for a chunk that the run did not make

	// Of a missed passage: the stage that lost it, such as [LossRetriever], and the
	// best rank of a chunk that holds part of it, which K must reach for it to be
	// found. The rank is that of the final ranking or, where that has no such
	// chunk, of exact search; 0 if neither knows it.
	Lost string `json:"lost,omitempty"`
	Rank int    `json:"rank,omitempty"`

	Grade int `json:"grade,omitempty"` // document level only
}

// Score returns the mean score by the named metric, such as "span_recall@3",
// and whether there is one.
func (r *Result) Score(metric string) (float64, bool) { return find(r.Metrics, metric) }

// scoresBy returns the scores of queries by a metric.
func scoresBy(queries []QueryResult, metric string) []float64 {
	scores := make([]float64, len(queries))
	for i, q := range queries {
		scores[i], _ = q.Score(metric)
	}
	return scores
}

func find(scores []Score, metric string) (float64, bool) {
	for _, s := range scores {
		if s.Metric == metric {
			return s.Value, true
		}
	}
	return 0, false
}

// Equal reports whether both results are the same but for Trace and Elapsed.
func (r Result) Equal(s Result) bool {
	a, errA := json.Marshal(r)
	b, errB := json.Marshal(s)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

const resultSchemaVersion = 1

// resultFields has the fields of Result without its methods.
type resultFields Result

type versionedResult struct {
	SchemaVersion int `json:"schemaVersion"`
	resultFields
}

// MarshalJSON returns the JSON form of r.
func (r Result) MarshalJSON() ([]byte, error) {
	return json.Marshal(versionedResult{resultSchemaVersion, resultFields(r)})
}

// UnmarshalJSON reads what MarshalJSON returned. A schema version that is
// missing or unknown is an error. Unknown fields are ignored.
func (r *Result) UnmarshalJSON(data []byte) error {
	var read versionedResult
	if err := json.Unmarshal(data, &read); err != nil {
		return fmt.Errorf("reading a result: %w", err)
	}
	if read.SchemaVersion != resultSchemaVersion {
		return fmt.Errorf("reading a result: schemaVersion: got %d, want %d", read.SchemaVersion, resultSchemaVersion)
	}
	*r = Result(read.resultFields)
	return nil
}

// Reporter records results somewhere. Report is called once, after thresholds
// were judged, whether they passed or not; it may set r.ExperimentURL. An error
// is logged, and fails the test only if the reporter, or the error, is a
// [RequiredReporter] that says so.
type Reporter interface {
	Report(ctx context.Context, r *Result) error
}

// RequiredReporter is implemented by reporters whose failure may fail the test, or by
// their errors.
type RequiredReporter interface {
	Required() bool
}
