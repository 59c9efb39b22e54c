package ragtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/parallel"
	"github.com/rageval/rageval/spans"
)

const defaultK = 5

// engine runs an evaluation of either level. What differs between the levels
// is behind level.
type engine[C chunkers.Indexed] struct {
	level     level[C]
	name      string
	corpus    *spans.Corpus
	queries   []Query
	chunked   bool // whether there is a chunker
	validator any  // the chunker
	retriever Retriever[C]
	dense     *dense[C] // the retriever, if it is one; nil otherwise
	reranker  Reranker[C]
	k, fetchK int

	components Components
	trace      *tracer
	began      time.Time
	result     Result
	known      map[identity]int // how often each chunk was indexed; nil if nothing was
	vectors    [][]float32      // of the queries, for dense retrieval
	hits       [][]ScoredChunk[C]
	scores     [][]float64 // of each query, by metric
}

// level is what token level and chunk level do differently.
type level[C chunkers.Indexed] interface {
	name() string
	// validate checks metrics, thresholds and ground truth.
	validate() error
	metrics() []string
	// ranked reports whether any metric depends on the order of the chunks.
	ranked() bool
	// chunk cuts one document. It is called from several goroutines at once.
	chunk(ctx context.Context, doc *spans.Document) (documentChunks[C], error)
	// index is told all the chunks of the corpus, and returns those to index.
	index(chunks []C, d *Diagnostics) ([]C, error)
	identity(c C) identity
	// distinct returns the retrieved chunks without repetitions, or an error
	// where a repetition is one.
	distinct(hits []ScoredChunk[C], known map[identity]int) ([]ScoredChunk[C], error)
	// score scores the retrieved chunks of a query by every metric.
	score(query int, hits []ScoredChunk[C], scores []float64) error
	// explain fills in what was retrieved and missed.
	explain(query int, hits []ScoredChunk[C], r *QueryResult) error
}

// identity tells the chunks of one run apart: by place or by text.
type identity struct {
	span spans.Span
	id   chunkers.ChunkID
}

type documentChunks[C any] struct {
	chunks  []C
	empty   int // chunks without text
	skipped int // chunks without a place
	// first describes the first skipped chunk.
	first string
}

// newEngine validates the fields that both levels have.
func newEngine[C chunkers.Indexed](l level[C], name string, corpus *spans.Corpus, queries []Query, chunker any,
	embedder Embedder, store VectorStore[C], retriever Retriever[C], reranker Reranker[C], k, fetchK int) (*engine[C], error) {
	e := &engine[C]{level: l, name: name, corpus: corpus, queries: slices.Clone(queries), chunked: chunker != nil,
		validator: chunker, retriever: retriever, reranker: reranker, k: k, fetchK: fetchK, began: time.Now()}
	switch {
	case corpus == nil || corpus.Len() == 0:
		return nil, errors.New("field Corpus: want at least one document")
	case len(queries) == 0:
		return nil, errors.New("field Queries: want at least one query")
	case embedder == nil && retriever == nil:
		return nil, errors.New("fields Embedder and Retriever: both are nil, want one of them set")
	case embedder != nil && retriever != nil:
		return nil, errors.New("fields Embedder and Retriever: both are set, want one of them")
	case store != nil && retriever != nil:
		return nil, errors.New("fields Store and Retriever: both are set; a Retriever brings its own store")
	case chunker == nil && retriever == nil:
		return nil, errors.New("field Chunker: nil, which only a Retriever that is indexed already allows")
	case k < 0:
		return nil, fmt.Errorf("field K: got %d, want at least 1, or 0 for %d", k, defaultK)
	}
	if e.k == 0 {
		e.k = defaultK
	}
	switch {
	case e.fetchK == 0 && reranker != nil:
		e.fetchK = 4 * e.k
	case e.fetchK == 0:
		e.fetchK = e.k
	case e.fetchK < e.k:
		return nil, fmt.Errorf("field FetchK: got %d, want at least K = %d, or 0", fetchK, e.k)
	}
	if err := e.nameQueries(); err != nil {
		return nil, err
	}
	if v, ok := chunker.(chunkers.Validator); ok {
		if err := v.Validate(); err != nil {
			return nil, fmt.Errorf("field Chunker: %w", err)
		}
	}
	if retriever == nil {
		e.retriever = newDense(embedder, store)
	}
	e.dense, _ = e.retriever.(*dense[C])
	e.components = Components{Chunker: nameOf(chunker), Reranker: nameOf(reranker)}
	if e.dense != nil {
		e.components.Embedder, e.components.Store = nameOf(e.dense.embedder), nameOf(e.dense.store)
	} else {
		e.components.Retriever = nameOf(retriever)
	}
	e.trace = &tracer{done: map[string]int{}, total: map[string]int{
		"chunk": corpus.Len(), "embed queries": len(queries), "retrieve": len(queries), "rerank": len(queries), "score": len(queries)}}
	return e, nil
}

// validate is called once the level knows what newEngine settled.
func (e *engine[C]) validate() error {
	if err := e.level.validate(); err != nil {
		return err
	}
	if e.reranker != nil && e.fetchK == e.k && !e.level.ranked() {
		return fmt.Errorf("field Reranker: with FetchK = K = %d it can only reorder, which none of the metrics %v would show: raise FetchK, or add a rank metric or one At a smaller k", e.k, e.level.metrics())
	}
	return nil
}

func (e *engine[C]) nameQueries() error {
	first := make(map[QueryID]int, len(e.queries))
	for i := range e.queries {
		q := &e.queries[i]
		if q.Text == "" {
			return fmt.Errorf("query %d (ID %q): the text is empty", i, q.ID)
		}
		if q.ID == "" {
			q.ID = NewQueryID(q.Text)
		}
		if j, ok := first[q.ID]; ok {
			return fmt.Errorf("queries %d (%q) and %d (%q) have the same ID %s", j, abbreviate(e.queries[j].Text, 60), i, abbreviate(q.Text, 60), q.ID)
		}
		first[q.ID] = i
	}
	return nil
}

// evaluate runs all stages.
func (e *engine[C]) evaluate(ctx context.Context) (*Result, error) {
	if err := e.prepare(ctx); err != nil {
		return nil, e.stopped(ctx, err)
	}
	if err := e.round(ctx); err != nil {
		return nil, e.stopped(ctx, err)
	}
	return e.finish()
}

// stopped returns the error of a run: where err only says that ctx is done, one
// that says why and at which stage.
func (e *engine[C]) stopped(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if cause == nil || !errors.Is(err, cause) && !errors.Is(err, ctx.Err()) {
		return err
	}
	return fmt.Errorf("stopped at stage %q: %w", e.trace.stage(), cause)
}

// prepare does what is done once: it chunks, embeds and indexes the corpus, and
// embeds the queries.
func (e *engine[C]) prepare(ctx context.Context) error {
	if e.chunked {
		chunks, err := e.chunk(ctx)
		if err != nil {
			return err
		}
		e.known = make(map[identity]int, len(chunks))
		for _, c := range chunks {
			e.known[e.level.identity(c)]++
		}
		e.result.Chunks = len(chunks)
		e.trace.total["index"] = len(chunks)
		if e.dense != nil {
			e.dense.trace = e.trace
			if err := e.dense.Index(ctx, chunks); err != nil {
				return err
			}
			e.result.Diagnostics.EmbeddedTexts = e.dense.distinct
		} else {
			done := e.trace.start("index", 0, len(chunks))
			if err := e.retriever.Index(ctx, chunks); err != nil {
				return fmt.Errorf("indexing %d chunks: %w", len(chunks), err)
			}
			done()
		}
	}
	if e.dense != nil {
		e.dense.trace = e.trace
		vectors, err := e.dense.embedQueries(ctx, e.texts())
		if err != nil {
			return err
		}
		e.vectors = vectors
	}
	return nil
}

func (e *engine[C]) texts() []string {
	texts := make([]string, len(e.queries))
	for i, q := range e.queries {
		texts[i] = q.Text
	}
	return texts
}

func (e *engine[C]) chunk(ctx context.Context) ([]C, error) {
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
	d := &e.result.Diagnostics
	var all []C
	first := ""
	for _, c := range of {
		all = append(all, c.chunks...)
		d.EmptyChunks += c.empty
		d.SkippedChunks += c.skipped
		if first == "" {
			first = c.first
		}
	}
	if d.SkippedChunks > 0 {
		d.warn("%d of %d chunks could not be located in their document and were skipped; the first is %s", d.SkippedChunks, len(all)+d.SkippedChunks, first)
	}
	if d.EmptyChunks > 0 {
		d.warn("%d chunks without text were skipped", d.EmptyChunks)
	}
	all, err = e.level.index(all, d)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("the chunker %s produced no chunk from %d documents", e.components.Chunker, len(docs))
	}
	return all, nil
}

// round retrieves, reranks and scores all queries, as often as it is called.
func (e *engine[C]) round(ctx context.Context) error {
	e.trace.forget("retrieve", "rerank", "score")
	done := e.trace.start("retrieve", 0, len(e.queries))
	lists, err := e.retrieve(ctx)
	if err != nil {
		return err
	}
	if len(lists) != len(e.queries) {
		return fmt.Errorf("retrieving: got %d lists of chunks for %d queries", len(lists), len(e.queries))
	}
	done()
	for i := range lists {
		if lists[i], err = e.candidates(lists[i]); err != nil {
			return fmt.Errorf("retrieving for query %s (%q): %w", e.queries[i].ID, abbreviate(e.queries[i].Text, 60), err)
		}
	}
	if e.reranker != nil {
		if err := e.rerank(ctx, lists); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	defer e.trace.start("score", 0, len(lists))()
	return e.score(lists)
}

func (e *engine[C]) retrieve(ctx context.Context) ([][]ScoredChunk[C], error) {
	if e.dense != nil {
		return e.dense.search(ctx, e.vectors, e.fetchK)
	}
	lists, err := e.retriever.Retrieve(ctx, e.texts(), e.fetchK)
	if err != nil {
		return nil, fmt.Errorf("retrieving: %w", err)
	}
	return lists, nil
}

// candidates checks what was retrieved for one query.
func (e *engine[C]) candidates(list []ScoredChunk[C]) ([]ScoredChunk[C], error) {
	list = list[:min(len(list), e.fetchK)]
	for i := range list {
		if math.IsNaN(list[i].Score) || math.IsInf(list[i].Score, 0) {
			return nil, fmt.Errorf("rank %d: the score is %v", i+1, list[i].Score)
		}
		if e.known != nil && e.known[e.level.identity(list[i].Chunk)] == 0 {
			return nil, fmt.Errorf("rank %d: this run did not add the chunk %s (%q); the store already held chunks: give each evaluation a fresh one", i+1, describeIdentity(e.level.identity(list[i].Chunk)), abbreviate(list[i].Chunk.IndexText(), 60))
		}
	}
	return e.level.distinct(list, e.known)
}

func (e *engine[C]) rerank(ctx context.Context, lists [][]ScoredChunk[C]) error {
	return parallel.Do(ctx, callsAtOnce, len(lists), func(ctx context.Context, i int) error {
		if len(lists[i]) == 0 {
			return nil
		}
		q := e.queries[i]
		done := e.trace.start("rerank", i, 1)
		reranked, err := e.reranker.Rerank(ctx, q.Text, slices.Clone(lists[i]))
		if err != nil {
			return fmt.Errorf("reranking for query %s (%q): %w", q.ID, abbreviate(q.Text, 60), err)
		}
		done()
		given := make(map[identity]int, len(lists[i]))
		for _, h := range lists[i] {
			given[e.level.identity(h.Chunk)]++
		}
		left := maps.Clone(given)
		for rank, h := range reranked {
			id := e.level.identity(h.Chunk)
			what := ""
			switch {
			case given[id] == 0:
				what = "that it was not given"
			case left[id] == 0:
				what = "twice"
			case math.IsNaN(h.Score) || math.IsInf(h.Score, 0):
				what = fmt.Sprintf("with the score %v", h.Score)
			}
			if what != "" {
				return fmt.Errorf("reranking for query %s (%q): rank %d: the reranker returned the chunk %s %s", q.ID, abbreviate(q.Text, 60), rank+1, describeIdentity(id), what)
			}
			left[id]--
		}
		lists[i] = reranked
		return nil
	})
}

func (e *engine[C]) score(lists [][]ScoredChunk[C]) error {
	if e.scores == nil {
		n := len(e.level.metrics())
		all := make([]float64, len(lists)*n)
		e.scores = make([][]float64, len(lists))
		for i := range e.scores {
			e.scores[i] = all[i*n : (i+1)*n : (i+1)*n]
		}
	}
	for i := range lists {
		lists[i] = lists[i][:min(len(lists[i]), e.k)]
		if err := e.level.score(i, lists[i], e.scores[i]); err != nil {
			return fmt.Errorf("scoring query %s: %w", e.queries[i].ID, err)
		}
	}
	e.hits = lists
	return nil
}

// finish makes the result of the last round.
func (e *engine[C]) finish() (*Result, error) {
	r := e.result
	r.Name, r.Level, r.K = e.name, e.level.name(), e.k
	r.Components = e.components
	r.CorpusFingerprint = e.corpus.Fingerprint()
	r.Diagnostics.Documents = e.corpus.Len()
	metrics := e.level.metrics()
	r.Metrics = make([]Score, len(metrics))
	for m, name := range metrics {
		sum := 0.0
		for _, scores := range e.scores {
			sum += scores[m]
		}
		r.Metrics[m] = Score{name, sum / float64(len(e.scores))}
	}
	r.Queries = make([]QueryResult, len(e.queries))
	for i, q := range e.queries {
		out := &r.Queries[i]
		*out = QueryResult{ID: q.ID, Text: q.Text, Metadata: q.Metadata, Scores: make([]Score, len(metrics))}
		for m, name := range metrics {
			out.Scores[m] = Score{name, e.scores[i][m]}
		}
		if err := e.level.explain(i, e.hits[i], out); err != nil {
			return nil, err
		}
		if len(out.Relevant) == 0 {
			r.Diagnostics.QueriesWithoutRelevant++
		}
	}
	r.Trace = e.trace.trace()
	r.Elapsed = time.Since(e.began)
	return &r, nil
}

// describeChunk names chunk i by its document and its number within it.
func describeChunk[C chunkers.Indexed](chunks []C, i int) string {
	doc := docOf(chunks[i])
	n := 0
	for n < i && docOf(chunks[i-n-1]) == doc {
		n++
	}
	return fmt.Sprintf("chunk %d of %s", n, doc)
}

func docOf[C chunkers.Indexed](c C) spans.DocumentID {
	switch c := any(c).(type) {
	case chunkers.PositionAwareChunk:
		return c.Span.Doc
	case chunkers.Chunk:
		return c.Doc
	}
	panic("unreachable: Indexed has two members")
}

func describeIdentity(id identity) string {
	if id.id != (chunkers.ChunkID{}) {
		return id.id.String()
	}
	return id.span.String()
}

// nameOf returns what a component calls itself, or its type; "" for nil.
func nameOf(component any) string {
	switch c := component.(type) {
	case nil:
		return ""
	case fmt.Stringer:
		return c.String()
	}
	return fmt.Sprintf("%T", component)
}

// abbreviate returns the first n characters of s on one line.
func abbreviate(s string, n int) string {
	short := make([]rune, 0, n)
	for _, r := range s {
		if len(short) == n {
			return string(short[:n-1]) + "…"
		}
		if r == '\n' || r == '\r' || r == '\t' {
			r = ' '
		}
		short = append(short, r)
	}
	return string(short)
}
