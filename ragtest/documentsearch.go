package ragtest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

// documentSearch retrieves documents by their chunks, each as its best chunk. It is
// both the retriever and the reranker of an engine over documents.
type documentSearch struct {
	chunks     *engine[chunkers.PositionAwareChunk] // chunks, indexes, retrieves and reranks; judges nothing
	outer      *tracer                              // of the engine over documents
	order      map[spans.DocumentID]int             // of the corpus
	candidates map[string][]ScoredChunk[chunkers.PositionAwareChunk]
}

// chunkSource is token level without ground truth.
type chunkSource struct {
	*tokenLevel
	lenient bool
}

// keepsFirst: a retriever of the user's may return a chunk twice, since a document
// counts once.
func (l chunkSource) keepsFirst() bool { return l.lenient }

// newDocumentSearch returns the search with a setup that is settled.
func newDocumentSearch(s *setup[chunkers.PositionAwareChunk], chunker chunkers.PositionAwareChunker) *documentSearch {
	n := len(s.queries)
	l := &tokenLevel{corpus: s.corpus, answers: make([][]answer, n), chosen: make([]int, n), chunker: chunker, k: s.k}
	if r, ok := chunker.(chunkers.Rewriter); ok {
		l.rewrites = r.RewritesText()
	}
	_, embeds := s.retriever.(*dense[chunkers.PositionAwareChunk])
	d := &documentSearch{
		chunks: &engine[chunkers.PositionAwareChunk]{setup: s, level: chunkSource{l, !embeds},
			trace: newTracer(map[string]int{"chunk": s.corpus.Len(), "embed queries": n, "retrieve": n, "rerank": n})},
		order: make(map[spans.DocumentID]int, s.corpus.Len()),
	}
	for doc := range s.corpus.All() {
		d.order[doc.ID()] = len(d.order)
	}
	return d
}

// Index chunks and indexes the corpus, and embeds the queries. What it is given are
// the documents, which it has.
func (d *documentSearch) Index(ctx context.Context, _ []chunkers.PositionAwareChunk) error {
	e := d.chunks
	e.trace.progress = d.outer.progress
	if e.chunker != nil {
		chunks, err := e.chunk(ctx)
		if err != nil {
			return err
		}
		if err := e.index(ctx, chunks); err != nil {
			return err
		}
	}
	if r, ok := e.retriever.(*dense[chunkers.PositionAwareChunk]); ok {
		var err error
		if e.vectors, err = r.embedQueries(ctx, e.texts(), e.trace); err != nil {
			return err
		}
	}
	e.trace.mark()
	return nil
}

// Retrieve returns the first k documents for each of the evaluation's queries.
func (d *documentSearch) Retrieve(ctx context.Context, queries []string, k int) ([][]ScoredChunk[chunkers.PositionAwareChunk], error) {
	d.chunks.trace.rewind()
	lists, err := d.fetch(ctx, k)
	if err != nil {
		return nil, err
	}
	d.candidates = make(map[string][]ScoredChunk[chunkers.PositionAwareChunk], len(lists))
	for i, list := range lists {
		list, _ = upTo(list, k)
		d.candidates[queries[i]] = list
		lists[i] = d.best(list)
	}
	return lists, nil
}

// fetch retrieves chunks of k documents for each query, or all there are.
func (d *documentSearch) fetch(ctx context.Context, k int) ([][]ScoredChunk[chunkers.PositionAwareChunk], error) {
	e := d.chunks
	k = min(k, e.corpus.Len())
	lists := make([][]ScoredChunk[chunkers.PositionAwareChunk], len(e.queries))
	open := make([]int, len(lists))
	for i := range open {
		open[i] = i
	}
	for size := k; len(open) > 0; size = 2 * min(size, math.MaxInt/2) {
		if e.known != nil {
			size = min(size, len(e.indexed))
		}
		found, full, err := d.fetchChunks(ctx, open, size)
		if err != nil {
			return nil, err
		}
		var short []int
		for j, i := range open {
			grown := len(found[j]) > len(lists[i])
			lists[i] = found[j]
			_, documents := upTo(found[j], k)
			if documents < k && full[j] && grown && !(e.known != nil && size == len(e.indexed)) {
				short = append(short, i)
			}
		}
		open = short
	}
	return lists, nil
}

// fetchChunks retrieves chunks for some of the queries, and tells for which it got as
// many as it asked for: there may be more.
func (d *documentSearch) fetchChunks(ctx context.Context, queries []int, size int) (found [][]ScoredChunk[chunkers.PositionAwareChunk], full []bool, err error) {
	all := d.chunks
	s := *all.setup
	s.fetchK = size
	s.queries = nil
	e := &engine[chunkers.PositionAwareChunk]{setup: &s, level: all.level, trace: all.trace, known: all.known, indexed: all.indexed}
	for _, i := range queries {
		s.queries = append(s.queries, all.queries[i])
		if all.vectors != nil {
			e.vectors = append(e.vectors, all.vectors[i])
		}
	}
	retrieved, err := e.retrieve(ctx)
	if err != nil {
		return nil, nil, err
	}
	full = make([]bool, len(retrieved))
	for j, list := range retrieved {
		full[j] = len(list) >= size
	}
	found, err = e.candidates(retrieved)
	return found, full, err
}

// upTo returns the chunks up to the first of the k-th document, and how many
// documents they are of.
func upTo(list []ScoredChunk[chunkers.PositionAwareChunk], k int) ([]ScoredChunk[chunkers.PositionAwareChunk], int) {
	seen := make(map[spans.DocumentID]bool, k)
	for i, h := range list {
		seen[h.Chunk.Span.Doc] = true
		if len(seen) == k {
			return list[:i+1], k
		}
	}
	return list, len(seen)
}

// best returns the best chunk of each document, the documents ranked by its score,
// ties by the order of the corpus.
func (d *documentSearch) best(list []ScoredChunk[chunkers.PositionAwareChunk]) []ScoredChunk[chunkers.PositionAwareChunk] {
	rows := make(map[spans.DocumentID]int, len(list))
	best := make([]ScoredChunk[chunkers.PositionAwareChunk], 0, len(list))
	for _, h := range list {
		row, ok := rows[h.Chunk.Span.Doc]
		switch {
		case !ok:
			rows[h.Chunk.Span.Doc] = len(best)
			best = append(best, h)
		case h.Score > best[row].Score:
			best[row] = h
		}
	}
	slices.SortFunc(best, func(a, b ScoredChunk[chunkers.PositionAwareChunk]) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(d.order[a.Chunk.Span.Doc], d.order[b.Chunk.Span.Doc]))
	})
	return best
}

// Rerank reranks the chunks that were retrieved for a query, of which it is given the
// best of each document.
func (d *documentSearch) Rerank(ctx context.Context, query string, _ []ScoredChunk[chunkers.PositionAwareChunk]) ([]ScoredChunk[chunkers.PositionAwareChunk], error) {
	candidates := d.candidates[query]
	reranked, err := d.chunks.reranker.Rerank(ctx, query, slices.Clone(candidates))
	if err != nil {
		return nil, err
	}
	if reranked, err = d.chunks.checkReranked(candidates, reranked); err != nil {
		return nil, fmt.Errorf("chunks: %w", err)
	}
	return d.best(reranked), nil
}
