package ragtest

import (
	"context"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

// TokenLevel is an evaluation against token-level ground truth: how much of the
// relevant text of the documents was retrieved, in characters. It does not
// depend on the chunker, so chunkers can be compared by it. Corpus, Queries and
// either Embedder or Retriever are required, Chunker too unless Retriever is
// set; every other field has a useful zero value.
//
// The components are called from several goroutines at once: see the contract
// of each interface. The evaluation neither empties nor closes them.
type TokenLevel struct {
	Name      string                                   // "": the name of the test; names table, artifact and experiment
	Corpus    *spans.Corpus                            // at least one document
	Queries   []TokenQuery                             // at least one; their IDs differ
	Chunker   chunkers.PositionAwareChunker            // chunkers.WithPositions makes one of a plain Chunker
	Embedder  Embedder                                 // set this, and Store if you like, or Retriever
	Store     VectorStore[chunkers.PositionAwareChunk] // nil: NewMemoryStore; must be empty
	Retriever Retriever[chunkers.PositionAwareChunk]   // with it Chunker may be nil: then nothing is chunked or indexed
	Reranker  Reranker[chunkers.PositionAwareChunk]    // nil: none
	K         int                                      // how many chunks are judged; 0: 5
	FetchK    int                                      // how many candidates are retrieved; 0: 4*K with a Reranker, K without
	Metrics   []TokenMetric                            // nil: SpanRecall, SpanPrecision, SpanIoU; empty: only those of thresholds

	// SliceBy has keys of the queries' metadata: the result has the means over the
	// queries that share a value, for each value. Nil: none. To demand something of
	// a slice, use [TokenMetric.Where].
	SliceBy []string

	// MaxUnlocated is how many chunks may lack a position in their document.
	// They are not indexed; more of them fail the run.
	MaxUnlocated int

	// EquivalentText counts a retrieved passage as relevant if relevant text of the
	// query is elsewhere in the corpus and the passage has that text. Its characters
	// are then the relevant ones: retrieving both counts once, in precision too. A
	// character that is relevant itself stands for itself. Short relevant texts, such
	// as names or years, are found in many places that answer nothing. Metrics of your
	// own see the chunks as they are. Whether it is set or not, Diagnostics says how
	// much it changes.
	EquivalentText bool

	// TokenBudget is how many tokens, as Tokens counts them, the chunks that are judged
	// may have together, each counted by itself: of the K chunks the first ones up to
	// that which does not fit any more, as a prompt of limited size has room for. 0: any
	// number. Set K to more than fit.
	TokenBudget int

	// Repeat is how often all queries are run, for pipelines that do not always
	// retrieve the same; 0: once. Scores are then means over the repetitions, and
	// [Result.Spreads] says how much they vary. Set-up is done once,
	// embedding the queries included. A benchmark repeats as long as it runs, and
	// ignores this field.
	Repeat int

	// Baseline is the path of a file with the scores of an earlier run, relative to
	// the folder of the test, that RunTokenLevel compares with, query by query; "":
	// none. The test fails if a metric's mean fell by more than Margin and the loss is
	// no chance: the one-sided paired sign-flip test, adjusted for the number of
	// metrics (Holm), has p <= 0.05. It says what would have been noticed. With
	// RAGTEST_UPDATE=1 in the environment the file is written instead.
	Baseline string
	Margin   float64

	// Budgets has thresholds for what the evaluation costs, such as
	// RetrievedCharacters.AtMost(4000), that RunTokenLevel judges. Tokens, such as
	// tokens.Length(tokens.CL100K) of package chunkers/tokens, is what
	// [RetrievedTokens] counts with; zero: tokens are not counted.
	Budgets []BudgetThreshold
	Tokens  chunkers.Length

	Severities Severities // what RunTokenLevel does about each outcome; zero: fail
	Reporters  []Reporter // called by RunTokenLevel
}

// ChunkLevel is an evaluation against chunk-level ground truth: which of the
// relevant chunks were retrieved. The ground truth is bound to the chunker that
// made the chunks. The fields are those of [TokenLevel] over chunks without a
// position.
//
// Chunks with equal texts share an ID and are indexed once, so that K counts
// distinct evidence; a retriever that returns an ID twice keeps its first rank.
type ChunkLevel struct {
	Name      string
	Corpus    *spans.Corpus
	Queries   []ChunkQuery
	Chunker   chunkers.Chunker
	Embedder  Embedder
	Store     VectorStore[chunkers.Chunk]
	Retriever Retriever[chunkers.Chunk]
	Reranker  Reranker[chunkers.Chunk]
	K         int
	FetchK    int
	Metrics   []ChunkMetric // nil: ChunkRecall, ChunkPrecision, ChunkF1
	SliceBy   []string
	Repeat    int

	Baseline   string
	Margin     float64
	Budgets    []BudgetThreshold
	Tokens     chunkers.Length
	Severities Severities
	Reporters  []Reporter // called by RunChunkLevel
}

// Evaluate runs the evaluation, in these steps:
//
//  1. Every field is validated, the ground truth against the corpus: nothing is
//     chunked or embedded for an evaluation that cannot be judged.
//  2. Documents are chunked, several at once; chunks keep the order of corpus
//     and document.
//  3. Each distinct text is embedded once, in batches, and all chunks are added
//     to the store in order; or Retriever.Index receives them.
//  4. All queries are embedded once, and FetchK candidates retrieved for each.
//  5. Reranker reorders the candidates of each query; the first K remain, as many of
//     them as TokenBudget has room for.
//  6. Each query is scored by each metric; a metric's score is its mean over
//     the queries.
//  7. Retrieving, reranking and scoring are done Repeat times.
//
// The result is the same at every GOMAXPROCS. An error names the stage and the
// document or query. When ctx is done Evaluate returns its cause promptly, and
// no goroutine stays behind. Reporters are not called: see [RunTokenLevel].
func (e TokenLevel) Evaluate(ctx context.Context) (*Result, error) {
	run, err := e.engine(nil)
	if err != nil {
		return nil, err
	}
	return run.evaluate(ctx)
}

// Evaluate runs the evaluation in the steps of [TokenLevel.Evaluate].
func (e ChunkLevel) Evaluate(ctx context.Context) (*Result, error) {
	run, err := e.engine(nil)
	if err != nil {
		return nil, err
	}
	return run.evaluate(ctx)
}
