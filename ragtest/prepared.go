package ragtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

// Validate returns the error that [TokenLevel.Evaluate] returns before it chunks
// anything, if any.
func (e TokenLevel) Validate() error {
	_, err := e.engine(nil)
	return err
}

// TokenChunks are the chunks of a corpus, made by [TokenLevel.Chunk]. They are
// immutable, and safe for concurrent use.
type TokenChunks struct {
	corpus *spans.Corpus
	of     map[spans.DocumentID]documentChunks[chunkers.PositionAwareChunk]
	all    []chunkers.PositionAwareChunk
	usage  []Usage
}

// Chunk chunks the corpus of e. It is the first of the steps that [TokenLevel.Evaluate]
// consists of, for those who evaluate many configurations that have steps in common,
// as package sweep does:
//
//	TokenLevel.Chunk -> TokenLevel.Prepare -> PreparedTokenLevel.Rank -> TokenRanking.Judge
//
// Any number of the later can follow one of the earlier. All fields of e must be
// valid, as for Evaluate, whichever of them a step needs.
func (e TokenLevel) Chunk(ctx context.Context) (*TokenChunks, error) {
	run, err := e.engine(nil)
	if err != nil {
		return nil, err
	}
	if run.chunker == nil {
		return nil, errors.New("field Chunker: nil, want one")
	}
	c := &TokenChunks{corpus: e.Corpus, of: map[spans.DocumentID]documentChunks[chunkers.PositionAwareChunk]{}}
	docs := slices.Collect(e.Corpus.All())
	kept := make([]documentChunks[chunkers.PositionAwareChunk], len(docs))
	at := make(map[spans.DocumentID]int, len(docs))
	for i, doc := range docs {
		at[doc.ID()] = i
	}
	run.level = keepingLevel{run.level, func(doc *spans.Document, chunks documentChunks[chunkers.PositionAwareChunk]) {
		kept[at[doc.ID()]] = chunks
	}}
	c.all, err = run.cut(run.usage.context(ctx))
	if err := run.stopped(ctx, err); err != nil {
		return nil, err
	}
	first := 0
	for i, doc := range docs {
		last := first + len(kept[i].chunks)
		kept[i].chunks = c.all[first:last:last] // not twice in memory
		c.of[doc.ID()] = kept[i]
		first = last
	}
	c.usage = run.usage.total()
	return c, nil
}

// Equal reports whether both are the same, not copies.
func (c *TokenChunks) Equal(d *TokenChunks) bool { return c == d }

// Chunks returns all chunks, in the order of corpus and document. They must not be
// modified.
func (c *TokenChunks) Chunks() []chunkers.PositionAwareChunk { return c.all }

// Usage returns what chunking consumed of services.
func (c *TokenChunks) Usage() []Usage { return c.usage }

// keepingLevel hands on what is chunked.
type keepingLevel struct {
	level[chunkers.PositionAwareChunk]
	keep func(*spans.Document, documentChunks[chunkers.PositionAwareChunk]) // for several documents at once
}

func (l keepingLevel) chunk(ctx context.Context, doc *spans.Document) (documentChunks[chunkers.PositionAwareChunk], error) {
	chunks, err := l.level.chunk(ctx, doc)
	if err == nil {
		l.keep(doc, chunks)
	}
	return chunks, err
}

// chunkedLevel has its documents chunked already.
type chunkedLevel struct {
	level[chunkers.PositionAwareChunk]
	of map[spans.DocumentID]documentChunks[chunkers.PositionAwareChunk]
}

func (l chunkedLevel) chunk(_ context.Context, doc *spans.Document) (documentChunks[chunkers.PositionAwareChunk], error) {
	return l.of[doc.ID()], nil
}

// PreparedTokenLevel is an evaluation that has retrieved, made by
// [TokenLevel.Prepare]. It is not safe for concurrent use, nor are its rankings.
type PreparedTokenLevel struct {
	given     TokenLevel
	run       *engine[chunkers.PositionAwareChunk]
	level     tokenLevel          // as prepared; has judged nothing
	levels    map[int]*tokenLevel // those that judge, by K
	retrieved [][]ScoredChunk[chunkers.PositionAwareChunk]
	depth     int
}

// Prepare embeds and indexes the chunks, which [TokenLevel.Chunk] made with the
// corpus and the chunker of e, embeds the queries and retrieves depth candidates for
// each of them. The chunks may be nil: then it also chunks the corpus, if e has a
// Chunker. Name, Reranker, K, FetchK and Repeat of e are not used.
func (e TokenLevel) Prepare(ctx context.Context, chunks *TokenChunks, depth int) (*PreparedTokenLevel, error) {
	return e.prepare(ctx, chunks, nil, depth)
}

// prepare is Prepare, with the pool that has the texts of the chunks unless it is nil.
func (e TokenLevel) prepare(ctx context.Context, chunks *TokenChunks, texts *pooledTexts, depth int) (*PreparedTokenLevel, error) {
	e.Name, e.Reranker, e.K, e.FetchK = "", nil, depth, 0
	if depth < 1 {
		return nil, fmt.Errorf("preparing an evaluation: the depth is %d, want at least 1", depth)
	}
	metrics := e.Metrics
	e.Metrics = nil // A cut-off within the depth may be beyond K: Judge knows.
	run, err := e.engine(nil)
	if err != nil {
		return nil, err
	}
	e.Metrics = metrics
	p := &PreparedTokenLevel{given: e, run: run, levels: map[int]*tokenLevel{}, depth: depth}
	l := run.level.(*tokenLevel)
	if chunks != nil {
		if chunks.corpus != e.Corpus {
			return nil, errors.New("preparing an evaluation: the chunks are of another corpus")
		}
		if e.Chunker == nil {
			return nil, errors.New("field Chunker: nil, want the one that made the chunks")
		}
		run.level = chunkedLevel{run.level, chunks.of}
	}
	if texts != nil {
		run.retriever.(*dense[chunkers.PositionAwareChunk]).pooled = texts
		if known := texts.truth; known != nil {
			l.answers, l.recurring, l.prepared = known.answers, known.recurring, true
		}
	}
	if err := run.prepare(ctx); err != nil {
		return nil, err
	}
	if texts != nil {
		texts.truth = l
	}
	run.level, p.level = l, *l
	run.diagnostics.Warnings = slices.Clip(run.diagnostics.Warnings) // finish appends to them
	p.retrieved, err = run.retrieve(run.usage.context(ctx))
	if err := run.stopped(ctx, err); err != nil {
		return nil, err
	}
	run.usage.mark()
	run.trace.mark()
	return p, nil
}

// Equal reports whether both are the same, not copies.
func (p *PreparedTokenLevel) Equal(q *PreparedTokenLevel) bool { return p == q }

// Usage returns what embedding, indexing, retrieving and reranking consumed of
// services so far.
func (p *PreparedTokenLevel) Usage() []Usage { return p.run.usage.total() }

// EmbeddedCharacters returns the number of characters of the distinct texts that the
// index consists of; 0 with a Retriever of your own.
func (p *PreparedTokenLevel) EmbeddedCharacters() int {
	d, ok := p.run.retriever.(*dense[chunkers.PositionAwareChunk])
	if !ok {
		return 0
	}
	return d.chars
}

// TokenRanking are the candidates of each query in their final order, made by
// [PreparedTokenLevel.Rank].
type TokenRanking struct {
	prepared      *PreparedTokenLevel
	reranker      Reranker[chunkers.PositionAwareChunk]
	fetchK        int
	found, ranked [][]ScoredChunk[chunkers.PositionAwareChunk]
}

// Rank takes the first fetchK candidates of each query, no more than the depth of
// [TokenLevel.Prepare], and has the reranker reorder them; nil leaves them.
func (p *PreparedTokenLevel) Rank(ctx context.Context, reranker Reranker[chunkers.PositionAwareChunk], fetchK int) (*TokenRanking, error) {
	if fetchK < 1 || fetchK > p.depth {
		return nil, fmt.Errorf("ranking %d candidates: want between 1 and %d, which were retrieved", fetchK, p.depth)
	}
	e := p.given
	e.Reranker, e.K, e.FetchK, e.Metrics = reranker, 1, fetchK, []TokenMetric{SpanMRR}
	if err := e.Validate(); err != nil {
		return nil, err
	}
	p.run.fetchK, p.run.reranker = fetchK, reranker
	found, err := p.run.candidates(p.retrieved)
	if err != nil {
		return nil, err
	}
	r := &TokenRanking{p, reranker, fetchK, found, slices.Clone(found)}
	if reranker != nil {
		err := p.run.rerank(p.run.usage.context(ctx), r.ranked)
		if err := p.run.stopped(ctx, err); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Equal reports whether both are the same, not copies.
func (r *TokenRanking) Equal(s *TokenRanking) bool { return r == s }

// Candidates returns what the reranker was given for each query. They must not be
// modified.
func (r *TokenRanking) Candidates() [][]ScoredChunk[chunkers.PositionAwareChunk] { return r.found }

// Ranked returns the chunks of each query, best first. They must not be modified.
func (r *TokenRanking) Ranked() [][]ScoredChunk[chunkers.PositionAwareChunk] { return r.ranked }

// Recall returns how much of the relevant text of a query, by number, the chunks hold:
// the span_recall that they have as all that was retrieved.
func (r *TokenRanking) Recall(query int, chunks []ScoredChunk[chunkers.PositionAwareChunk]) float64 {
	l := &r.prepared.level
	return l.recallOf(query, chunks, l.equivalent)
}

// Judge scores the first k chunks of each query. The result is equal to that of
// [TokenLevel.Evaluate] with this name, K, reranker and, if there is a reranker, the
// FetchK of the ranking, provided that the retriever's first chunks do not depend on
// how many it is asked for, except that there is no Usage, in Diagnostics or Budgets,
// since what several evaluations share belongs to none. Trace and Elapsed are those of all steps so far.
func (r *TokenRanking) Judge(ctx context.Context, name string, k int) (*Result, error) {
	e := r.prepared.given
	e.Name, e.K, e.Reranker = name, k, r.reranker
	fetchK := k
	if r.reranker != nil {
		fetchK = r.fetchK
	}
	e.FetchK = fetchK
	settled, err := e.engine(nil)
	if err != nil {
		return nil, err
	}
	if k > r.fetchK {
		return nil, fmt.Errorf("judging %d chunks: only %d were ranked", k, r.fetchK)
	}
	run := r.prepared.run
	run.name, run.k, run.fetchK, run.reranker, run.metrics = name, settled.k, fetchK, r.reranker, settled.metrics
	run.level = r.prepared.levelOf(settled.level.(*tokenLevel))
	run.found = firstOf(r.found, fetchK)
	ranked := firstOf(r.ranked, fetchK)
	if err := run.stopped(ctx, run.score(ctx, ranked)); err != nil {
		return nil, err
	}
	result, err := run.finish(ctx)
	if err != nil {
		return nil, err
	}
	result.Diagnostics.Usage = nil
	result.Budgets = result.measureBudgets()
	return result, nil
}

// levelOf returns what judges as settled does, which has not seen the chunks.
func (p *PreparedTokenLevel) levelOf(settled *tokenLevel) *tokenLevel {
	l, ok := p.levels[settled.k]
	if !ok {
		c := p.level
		l = &c
		l.k, l.measured, l.scorer = settled.k, settled.measured, newTokenScorer(nil, settled.k)
		l.scorer.index = p.level.scorer.index
		p.levels[settled.k] = l
	}
	return l
}

// SumUsage returns the sums of usages by component and model, sorted by both.
func SumUsage(lists ...[]Usage) []Usage {
	m := usageMeter{counts: slices.Concat(lists...)}
	return m.total()
}

// TestContext returns the context that [RunTokenLevel] gives its evaluation: the
// test's, with a deadline a little before that of the test binary.
func TestContext(tb testing.TB) (context.Context, context.CancelFunc) { return withDeadline(tb) }

// firstOf returns the first n of each list.
func firstOf[T any](lists [][]T, n int) [][]T {
	first := make([][]T, len(lists))
	for i, list := range lists {
		first[i] = list[:min(n, len(list)):min(n, len(list))]
	}
	return first
}
