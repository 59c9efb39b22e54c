package ragtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/parallel"
	"github.com/rageval/rageval/internal/stats"
	"github.com/rageval/rageval/spans"
)

// engine runs an evaluation of either level: prepare once, round as often as one
// likes, finish. What differs between the levels is behind level.
type engine[C chunkers.Indexed] struct {
	*setup[C]
	level   level[C]
	metrics []string
	trace   *tracer
	usage   usageMeter
	began   time.Time

	diagnostics Diagnostics
	indexed     []C                // all chunks, in order
	known       map[identity]int   // how often each chunk was indexed; nil if nothing was
	vectors     [][]float32        // of the queries, for dense retrieval
	wanted      [][]int            // of each query, the rows of the chunks that hold relevant text; nil without vectors
	ranks       [][]int            // theirs in the last round, where the store is exact; nil if the round left them out
	looping     bool               // rounds are timed: they do what a search needs and no more
	found       [][]ScoredChunk[C] // of each query in the last round, the FetchK candidates
	ranked      [][]ScoredChunk[C] // of each query in the last round, the candidates that the reranker left, in its order
	hits        [][]ScoredChunk[C] // of each query in the last round, the K best
	scores      [][]float64        // of each query in the last round, by metric
	repeated    int                // how many chunks were retrieved twice for a query in the last round
}

// level is what token level and chunk level do differently.
type level[C chunkers.Indexed] interface {
	name() string
	metrics() []string
	// prepare prepares what scores depend on beside the chunks.
	prepare(ctx context.Context) error
	// ranked reports whether any metric depends on the order of the chunks.
	ranked() bool
	// chunk cuts one document. It is called from several goroutines at once.
	chunk(ctx context.Context, doc *spans.Document) (documentChunks[C], error)
	// index is told all the chunks of the corpus, and returns those to index.
	index(chunks []C, d *Diagnostics) ([]C, error)
	identity(c C) identity
	// complete returns a retrieved chunk with what the retriever left out, or an
	// error if it cannot be judged. Its own are the chunks that the run indexed.
	complete(c C, own bool) (C, error)
	// keepsFirst reports whether a chunk that was retrieved twice keeps its
	// first rank. Otherwise it is an error.
	keepsFirst() bool
	// score scores the retrieved chunks of a query by every metric.
	score(query int, hits []ScoredChunk[C], scores []float64) error
	// explain fills in what was retrieved and missed.
	explain(query int, hits []ScoredChunk[C], r *QueryResult) error
	// describe fills in diagnostics of the whole.
	describe(hits [][]ScoredChunk[C], r *Result)
	evidence[C]
}

// amender is implemented by levels that know more of a run than the engine does.
type amender interface{ amend(r *Result) }

// identity tells the chunks of one run apart: by place or by text.
type identity struct {
	span spans.Span
	id   chunkers.ChunkID
}

func (i identity) String() string {
	if i.id != (chunkers.ChunkID{}) {
		return i.id.String()
	}
	return i.span.String()
}

type documentChunks[C any] struct {
	chunks  []C
	empty   int    // chunks without text
	skipped int    // chunks without a place
	first   string // describes the first skipped chunk
}

// newEngine returns the engine of a setup that is settled.
func newEngine[C chunkers.Indexed](s *setup[C], l level[C], began time.Time) (*engine[C], error) {
	e := &engine[C]{setup: s, level: l, metrics: l.metrics(), began: began}
	if e.reranker != nil && e.fetchK == e.k && !l.ranked() {
		return nil, fmt.Errorf("field Reranker: with FetchK = K = %d it can only reorder, which none of the metrics %v would show: raise FetchK, or add a rank metric or one At a smaller k", e.k, e.metrics)
	}
	n := len(e.queries)
	e.trace = newTracer(map[string]int{"chunk": e.corpus.Len(), "embed queries": n, "retrieve": n, "rerank": n, "score": n})
	return e, nil
}

// evaluate runs all stages.
func (e *engine[C]) evaluate(ctx context.Context) (*Result, error) {
	if err := e.prepare(ctx); err != nil {
		return nil, err
	}
	return e.repeat(ctx)
}

// prepare does what is done once: it chunks, embeds and indexes the corpus, and
// embeds the queries.
func (e *engine[C]) prepare(ctx context.Context) (err error) {
	defer func() { err = e.stopped(ctx, err) }()
	ctx = e.usage.context(ctx)
	if err := e.level.prepare(ctx); err != nil {
		return err
	}
	d, embeds := e.retriever.(*dense[C])
	if embeds {
		d.compareWithExactSearch()
	}
	if e.chunker != nil {
		chunks, err := e.chunk(ctx)
		if err != nil {
			return err
		}
		if err := e.index(ctx, chunks); err != nil {
			return err
		}
	}
	if embeds {
		if d.pooled != nil {
			e.vectors = d.pooled.vectors
		} else if e.vectors, err = d.embedQueries(ctx, e.texts(), e.trace); err != nil {
			return err
		}
		e.wanted = make([][]int, len(e.queries))
		for i := range e.wanted {
			e.wanted[i] = e.level.relevantRows(i)
		}
	}
	e.trace.mark()
	e.usage.mark()
	return nil
}

// stopped returns the error of a run: once ctx is done, one that says why and at
// which stage. It wraps both the error of ctx and its cause.
func (e *engine[C]) stopped(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	at := "before the first stage"
	if stage := e.trace.stage(); stage != "" {
		at = fmt.Sprintf("at stage %q", stage)
	}
	cause := context.Cause(ctx)
	if errors.Is(cause, ctx.Err()) {
		return fmt.Errorf("stopped %s: %w", at, cause)
	}
	return fmt.Errorf("stopped %s: %w: %w", at, ctx.Err(), cause)
}

// chunk returns the chunks to index.
func (e *engine[C]) chunk(ctx context.Context) ([]C, error) {
	all, err := e.cut(ctx)
	if err != nil {
		return nil, err
	}
	return e.level.index(all, &e.diagnostics)
}

// cut returns the chunks of all documents, in their order.
func (e *engine[C]) cut(ctx context.Context) ([]C, error) {
	docs := slices.Collect(e.corpus.All())
	of := make([]documentChunks[C], len(docs))
	err := parallel.Do(ctx, runtime.GOMAXPROCS(0), len(docs), func(ctx context.Context, i int) (err error) {
		done := e.trace.start("chunk", i, 1)
		if of[i], err = e.level.chunk(ctx, docs[i]); err != nil {
			return fmt.Errorf("chunking %s: %w", docs[i].ID(), err)
		}
		done()
		return nil
	})
	if err != nil {
		return nil, err
	}
	d := &e.diagnostics
	first := ""
	total := 0
	for _, c := range of {
		total += len(c.chunks)
		d.EmptyChunks += c.empty
		d.SkippedChunks += c.skipped
		if first == "" {
			first = c.first
		}
	}
	if d.SkippedChunks > 0 {
		skipped := fmt.Sprintf("%d of %d chunks could not be located in their document and were skipped; the first is %s", d.SkippedChunks, total+d.SkippedChunks, first)
		if d.SkippedChunks > e.maxUnlocated {
			return nil, fmt.Errorf("%s; at most MaxUnlocated = %d may", skipped, e.maxUnlocated)
		}
		d.warn("%s", skipped)
	}
	if d.EmptyChunks > 0 {
		d.warn("%d chunks without text were skipped", d.EmptyChunks)
	}
	if total == 0 {
		return nil, fmt.Errorf("the chunker %s produced no chunk from %d documents", nameOf(e.chunker), len(docs))
	}
	all := make([]C, 0, total)
	for _, c := range of {
		all = append(all, c.chunks...)
	}
	return all, nil
}

func (e *engine[C]) index(ctx context.Context, chunks []C) error {
	e.indexed = chunks
	e.known = make(map[identity]int, len(chunks))
	for _, c := range chunks {
		e.known[e.level.identity(c)]++
	}
	e.trace.expect("index", len(chunks))
	if d, ok := e.retriever.(*dense[C]); ok {
		var err error
		if d.pooled != nil {
			e.diagnostics.EmbeddedTexts, err = d.indexPooled(ctx, chunks, e.texts(), e.trace)
		} else {
			e.diagnostics.EmbeddedTexts, err = d.index(ctx, chunks, e.trace)
		}
		return err
	}
	done := e.trace.start("index", 0, len(chunks))
	if err := e.retriever.Index(ctx, chunks); err != nil {
		return fmt.Errorf("indexing %d chunks: %w", len(chunks), err)
	}
	done()
	return nil
}

// finish makes the result of the last round.
func (e *engine[C]) finish(ctx context.Context) (_ *Result, err error) {
	defer func() { err = e.stopped(ctx, err) }()
	r := &Result{
		Name:              e.name,
		Level:             e.level.name(),
		K:                 e.k,
		TokenBudget:       e.tokenBudget,
		Chunks:            len(e.indexed),
		Metrics:           make([]Score, len(e.metrics)),
		Queries:           make([]QueryResult, len(e.queries)),
		Diagnostics:       e.diagnostics,
		Components:        e.components(),
		CorpusFingerprint: e.corpus.Fingerprint(),
	}
	r.Diagnostics.Warnings = slices.Clip(r.Diagnostics.Warnings)
	r.Diagnostics.Documents = e.corpus.Len()
	r.Diagnostics.Usage = e.usage.total()
	r.Diagnostics.IndexBytes = e.indexBytes()
	if _, ok := e.retriever.(*dense[C]); ok && e.repeated > 0 {
		r.Diagnostics.warn("the store returned %d chunks twice, which counted once: it seems to have held chunks before; give each evaluation a fresh one", e.repeated)
	}
	columns := make([][]float64, len(e.metrics))
	for m, name := range e.metrics {
		columns[m] = column(e.scores, m)
		r.Metrics[m] = Score{name, stats.Mean(columns[m])}
	}
	var bootstrapping sync.WaitGroup
	defer bootstrapping.Wait()
	bootstrapping.Go(func() { r.Intervals = intervals(r.Metrics, columns) })
	for i, q := range e.queries {
		out := &r.Queries[i]
		*out = QueryResult{ID: q.ID, Text: q.Text, Metadata: maps.Clone(q.Metadata), Scores: make([]Score, len(e.metrics))}
		for m, name := range e.metrics {
			out.Scores[m] = Score{name, e.scores[i][m]}
		}
		if err := e.level.explain(i, e.hits[i], out); err != nil {
			return nil, fmt.Errorf("%s: %w", e.query(i), err)
		}
		if len(out.Relevant) == 0 {
			r.Diagnostics.QueriesWithoutRelevant++
		}
	}
	if err := e.diagnose(ctx, r); err != nil {
		return nil, err
	}
	bootstrapping.Wait()
	r.Trace = e.trace.trace()
	if l, ok := any(e.level).(amender); ok {
		l.amend(r)
	}
	e.summarise(r)
	r.Elapsed = time.Since(e.began)
	return r, nil
}

// indexBytes returns the size of the store, nil if it does not tell.
func (e *engine[C]) indexBytes() *int64 {
	if d, ok := e.retriever.(*dense[C]); ok {
		if d.pooled != nil {
			return new(d.pooled.queries.MatrixBytes(len(e.indexed)))
		}
		if sized, ok := d.store.(SizedStore); ok {
			return new(sized.IndexBytes())
		}
	}
	return nil
}

// summarise sets what follows from the rest of a result.
func (e *engine[C]) summarise(r *Result) {
	e.countTokens(r)
	r.Budgets = r.measureBudgets()
	r.Slices = nil
	for _, c := range e.slices {
		r.Slices = append(r.Slices, r.summary(c))
	}
}

// column returns the scores of all queries by one metric.
func column(rows [][]float64, i int) []float64 {
	values := make([]float64, len(rows))
	for j, row := range rows {
		values[j] = row[i]
	}
	return values
}
