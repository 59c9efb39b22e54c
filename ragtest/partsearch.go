package ragtest

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/coverage"
	"github.com/rageval/rageval/internal/exact"
	"github.com/rageval/rageval/internal/parallel"
	"github.com/rageval/rageval/spans"
)

// Chunk chunks the document that has the given number in the corpus, as an evaluation
// with that chunker does. The part has everything but what comes from ranking. The
// errors are those of an evaluation.
func (s TokenSearch) Chunk(ctx context.Context, chunker chunkers.PositionAwareChunker, number int, doc *spans.Document) ([]PlacedChunk, *TokenPart, error) {
	if err := s.check(); err != nil {
		return nil, nil, err
	}
	chunks, count, err := s.chunk(ctx, chunker, number, doc)
	if err != nil {
		return nil, nil, err
	}
	p := s.empty()
	p.Documents = []NumberRange{{number, number + 1}}
	p.IDs = hashSetOf(1, func(int) string { return string(doc.ID()) })
	p.Chunks, p.Empty, p.Skipped = count.chunks, count.empty, count.skipped
	p.FirstSkipped, p.FirstSkippedIn = count.first, number
	p.Texts = hashSetOf(len(chunks), func(i int) string { return chunks[i].Chunk.Text })
	if _, relevant := slices.BinarySearch(s.Documents, number); !relevant && len(chunks) > 0 {
		p.Smallest = []DocumentSpans{s.smallest(chunks)}
	}
	return chunks, p, nil
}

// check returns an error for a search that no plan has.
func (s TokenSearch) check() error {
	if s.Depth < 1 || s.Depth > mostDepth || len(s.Queries) == 0 || len(s.Queries) != len(s.Relevant) {
		return fmt.Errorf("a search of %d queries, with relevant chunks of %d, to depth %d: want that of a TokenPlan", len(s.Queries), len(s.Relevant), s.Depth)
	}
	return nil
}

// empty returns a part of no document in which nothing was ranked.
func (s TokenSearch) empty() *TokenPart {
	p := &TokenPart{Plan: s.Plan, Depth: s.Depth, Hits: make([][]PlacedHit, len(s.Queries)), Behind: make([][]int, len(s.Queries))}
	for q := range s.Queries {
		p.Hits[q], p.Behind[q] = []PlacedHit{}, make([]int, len(s.Relevant[q]))
	}
	return p
}

func (s TokenSearch) chunk(ctx context.Context, chunker chunkers.PositionAwareChunker, number int, doc *spans.Document) ([]PlacedChunk, chunkCounts, error) {
	l := &tokenLevel{chunker: chunker}
	if r, ok := chunker.(chunkers.Rewriter); ok {
		l.rewrites = r.RewritesText()
	}
	cut, err := l.chunk(ctx, doc)
	if err != nil {
		return nil, chunkCounts{}, fmt.Errorf("chunking %s: %w", doc.ID(), err)
	}
	starts := lineStarts(doc.Text())
	chunks := make([]PlacedChunk, len(cut.chunks))
	for i, c := range cut.chunks {
		chunks[i] = PlacedChunk{Place: Place{number, i}, Chunk: c}
		chunks[i].Line, chunks[i].Column = position(doc, starts, c.Span)
	}
	return chunks, chunkCounts{len(chunks), cut.empty, cut.skipped, cut.first}, nil
}

// smallest describes the chunks of a document.
func (s TokenSearch) smallest(chunks []PlacedChunk) DocumentSpans {
	d := DocumentSpans{Document: chunks[0].Chunk.Span.Doc, Bounds: make([][2]int, len(chunks))}
	list := make([]spans.Span, len(chunks))
	for i, c := range chunks {
		list[i], d.Bounds[i] = c.Chunk.Span, [2]int{c.Chunk.Span.Start, c.Chunk.Span.End}
	}
	d.Unions, d.Overlapping, d.Nested = coverage.SmallestUnions(list, s.Depth)
	return d
}

// Rank ranks chunks, any of the corpus in any order, by their vectors. The part has only
// what comes from ranking. Neither argument is modified or kept.
func (s TokenSearch) Rank(ctx context.Context, chunks []PlacedChunk, vectors [][]float32) (*TokenPart, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if err := exact.ValidateVectors(s.Queries, 0); err != nil {
		return nil, fmt.Errorf("ranking chunks: of the queries, %w", err)
	}
	if err := exact.ValidateChunks(len(chunks), vectors, s.dim()); err != nil {
		return nil, fmt.Errorf("ranking chunks: %w", err)
	}
	order := make([]int, len(chunks))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return chunks[i].Place.compare(chunks[j].Place) })
	sorted, sortedVectors := make([]PlacedChunk, len(chunks)), make([][]float32, len(chunks))
	for i, j := range order {
		if i > 0 && sorted[i-1].Place == chunks[j].Place {
			return nil, fmt.Errorf("ranking chunks: two chunks are number %d of document number %d", chunks[j].Number, chunks[j].Document)
		}
		sorted[i], sortedVectors[i] = chunks[j], vectors[j]
	}
	var m exact.Matrix
	if err := m.Append(ctx, sortedVectors); err != nil {
		return nil, err
	}
	return s.rank(ctx, sorted, &m)
}

// dim returns the dimension of the queries' vectors.
func (s TokenSearch) dim() int { return len(s.Queries[0]) }

// rank ranks chunks in the order of their places, whose vectors are the rows of m.
func (s TokenSearch) rank(ctx context.Context, chunks []PlacedChunk, m *exact.Matrix) (*TokenPart, error) {
	rungs := make([][]exact.Hit, len(s.Queries))
	for q, relevant := range s.Relevant {
		rungs[q] = make([]exact.Hit, len(relevant))
		for i, r := range relevant {
			// The chunks of equal score that are before it have the lower indexes.
			index, _ := slices.BinarySearchFunc(chunks, r.Place, func(c PlacedChunk, p Place) int { return c.Place.compare(p) })
			rungs[q][i] = exact.Hit{Index: index, Score: r.Score}
		}
	}
	found, behind, err := m.SearchAndCount(ctx, s.Queries, s.Depth, rungs)
	if err != nil {
		return nil, err
	}
	p := s.empty()
	p.Dim, p.Ranked, p.Behind = m.Dim(), len(chunks), behind
	for q, hits := range found {
		for _, h := range hits {
			p.Hits[q] = append(p.Hits[q], PlacedHit{chunks[h.Index], h.Score})
		}
	}
	return p, nil
}

const (
	partBlock     = 16384   // chunks that are ranked at once
	partDocuments = 256     // documents that are chunked at once, at most
	partBytes     = 4 << 20 // of their texts, at which they are chunked
)

// partBuilder makes a part of documents that come one after the other.
type partBuilder struct {
	plan   *TokenPlan
	trace  *tracer
	usage  usageMeter
	merge  partMerger
	next   int // number of the next document
	first  int // number of docs[0]
	docs   []*spans.Document
	bytes  int // of their texts
	ranked int // chunks
	// chunks are those that wait to be ranked.
	chunks []PlacedChunk
}

func (b *partBuilder) add(ctx context.Context, doc *spans.Document) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	b.docs = append(b.docs, doc)
	b.bytes += len(doc.Text())
	b.next++
	if len(b.docs) < partDocuments && b.bytes < partBytes {
		return nil
	}
	return b.chunk(ctx)
}

// chunk chunks the documents that wait.
func (b *partBuilder) chunk(ctx context.Context) error {
	ctx = b.usage.context(ctx)
	done := b.trace.start("chunk", b.first, len(b.docs))
	chunks, parts := make([][]PlacedChunk, len(b.docs)), make([]*TokenPart, len(b.docs))
	err := parallel.Do(ctx, runtime.GOMAXPROCS(0), len(b.docs), func(ctx context.Context, i int) (err error) {
		chunks[i], parts[i], err = b.plan.search.Chunk(ctx, b.plan.given.Chunker, b.first+i, b.docs[i])
		return err
	})
	if err != nil {
		return err
	}
	done()
	for i, p := range parts {
		if err := b.join(p); err != nil {
			return fmt.Errorf("document %s: %w", b.docs[i].ID(), err)
		}
		b.chunks = append(b.chunks, chunks[i]...)
	}
	b.first, b.docs, b.bytes = b.next, b.docs[:0], 0
	clear(b.docs[:cap(b.docs)])
	for len(b.chunks) >= partBlock {
		if err := b.rank(ctx, partBlock); err != nil {
			return err
		}
	}
	return nil
}

func (b *partBuilder) join(p *TokenPart) error {
	if err := b.merge.add(p); err != nil {
		return err
	}
	sum := b.merge.part
	_, err := chunkCounts{sum.Chunks, sum.Empty, sum.Skipped, sum.FirstSkipped}.unlocated(b.plan.given.MaxUnlocated)
	return err
}

// rank embeds and ranks the first n chunks that wait.
func (b *partBuilder) rank(ctx context.Context, n int) error {
	ctx = b.usage.context(ctx)
	store := NewMemoryStore[chunkers.PositionAwareChunk]()
	embedder := newDense(b.plan.given.Embedder, store)
	embedder.dim = b.plan.search.dim()
	list := make([]chunkers.PositionAwareChunk, n)
	for i, c := range b.chunks[:n] {
		list[i] = c.Chunk
	}
	done := b.trace.start("embed", b.ranked, n)
	if _, err := embedder.index(ctx, list, nil); err != nil {
		return err
	}
	done()
	done = b.trace.start("index", b.ranked, n)
	p, err := b.plan.search.rank(ctx, b.chunks[:n], &store.vectors)
	if err != nil {
		return fmt.Errorf("ranking: %w", err)
	}
	done()
	b.ranked += n
	b.chunks = slices.Clone(b.chunks[n:]) // the others are garbage
	return b.join(p)
}

// finish returns the part.
func (b *partBuilder) finish(ctx context.Context) (*TokenPart, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := b.join(b.plan.search.empty()); err != nil {
		return nil, err
	}
	if err := b.chunk(ctx); err != nil {
		return nil, err
	}
	if len(b.chunks) > 0 {
		if err := b.rank(ctx, len(b.chunks)); err != nil {
			return nil, err
		}
	}
	p, err := b.merge.merged()
	if err != nil {
		return nil, err
	}
	p.Usage = b.usage.total()
	return p, nil
}
