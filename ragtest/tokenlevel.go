package ragtest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/coverage"
	"github.com/rageval/rageval/spans"
)

// tokenLevel is the engine's view of a [TokenLevel].
type tokenLevel struct {
	corpus   *spans.Corpus
	truth    []TokenQuery
	relevant []spans.Set // of each query, merged
	chunker  chunkers.PositionAwareChunker
	rewrites bool
	measured []TokenMetric
	k        int

	chunks []chunkers.PositionAwareChunk // all, document by document
	rows   map[spans.DocumentID]rowRange // of chunks

	scorer   *tokenScorer
	scratch  []spans.Span
	optimum  coverage.Optimum
	hitIndex coverage.Index
}

// rowRange is a range of indexed chunks: [first, end).
type rowRange struct{ first, end int }

func (e TokenLevel) engine(thresholds []TokenThreshold) (*engine[chunkers.PositionAwareChunk], error) {
	began := time.Now()
	s := &setup[chunkers.PositionAwareChunk]{name: e.Name, corpus: e.Corpus, chunker: e.Chunker, embedder: e.Embedder, store: e.Store,
		retriever: e.Retriever, reranker: e.Reranker, k: e.K, fetchK: e.FetchK, times: e.Repeat, maxUnlocated: e.MaxUnlocated}
	for _, q := range e.Queries {
		s.queries = append(s.queries, q.Query)
	}
	if err := s.settle(); err != nil {
		return nil, err
	}
	metrics := e.Metrics
	if metrics == nil {
		metrics = []TokenMetric{SpanRecall, SpanPrecision, SpanIoU}
	}
	metrics, err := measure(metrics, thresholds, s.k)
	if err != nil {
		return nil, err
	}
	l := &tokenLevel{corpus: e.Corpus, truth: e.Queries, relevant: make([]spans.Set, len(e.Queries)), chunker: e.Chunker, measured: metrics, k: s.k}
	for i, q := range e.Queries {
		for j, r := range q.Relevant {
			if err := within(e.Corpus, r); err != nil {
				return nil, fmt.Errorf("%s: relevant span %d: %w", s.query(i), j, err)
			}
		}
		l.relevant[i] = spans.Union(q.Relevant...)
	}
	if r, ok := e.Chunker.(chunkers.Rewriter); ok {
		l.rewrites = r.RewritesText()
	}
	l.scorer = newTokenScorer(nil, l.k) // until the chunks are known, if ever
	return newEngine(s, l, began)
}

func (l *tokenLevel) name() string { return "token" }

func (l *tokenLevel) metrics() []string {
	names := make([]string, len(l.measured))
	for i, m := range l.measured {
		names[i] = m.Name()
	}
	return names
}

func (l *tokenLevel) ranked() bool {
	return slices.ContainsFunc(l.measured, func(m TokenMetric) bool { return m.dependsOnRank(l.k) })
}

// within returns an error unless s lies within a document of the corpus.
func within(corpus *spans.Corpus, s spans.Span) error {
	doc, ok := corpus.Document(s.Doc)
	if !ok {
		return fmt.Errorf("%v: the corpus has no document %q", s, s.Doc)
	}
	if s.Start < 0 || s.End < s.Start || s.End > doc.Len() {
		return fmt.Errorf("%v: want 0 <= start <= end <= %d, the length of the document in characters", s, doc.Len())
	}
	return nil
}

func (l *tokenLevel) chunk(ctx context.Context, doc *spans.Document) (documentChunks[chunkers.PositionAwareChunk], error) {
	var out documentChunks[chunkers.PositionAwareChunk]
	pieces, err := l.chunker.ChunkWithPositions(ctx, doc)
	if err != nil {
		return out, err
	}
	out.chunks = make([]chunkers.PositionAwareChunk, 0, len(pieces))
	for i, p := range pieces {
		if p.Text == "" {
			out.empty++
			continue
		}
		if p.Start == -1 {
			out.skipped++
			if out.first == "" {
				out.first = fmt.Sprintf("chunk %d of %s, %q", i, doc.ID(), abbreviate(p.Text, 80))
			}
			continue
		}
		span, err := doc.CharSpan(p.Start, p.End)
		if err != nil {
			return out, fmt.Errorf("piece %d: %w", i, err)
		}
		if err := l.checkText(p, doc.Text()[p.Start:p.End]); err != nil {
			return out, fmt.Errorf("piece %d: %w", i, err)
		}
		out.chunks = append(out.chunks, chunkers.PositionAwareChunk{
			ID: chunkers.NewPositionAwareChunkID(p.Text), Span: span, Text: p.Text, Metadata: p.Metadata})
	}
	return out, nil
}

// checkText returns an error unless p may stand for part of the document.
func (l *tokenLevel) checkText(p chunkers.Piece, part string) error {
	if !l.rewrites && p.Text != part {
		return fmt.Errorf("its text %q is not the document's bytes [%d:%d], %q: positions are in bytes, and a chunker that rewrites texts says so with RewritesText",
			abbreviate(p.Text, 60), p.Start, p.End, abbreviate(part, 60))
	}
	if at := invalidUTF8(p.Text); l.rewrites && at >= 0 {
		return fmt.Errorf("its text is not valid UTF-8 at byte %d", at)
	}
	return nil
}

func (l *tokenLevel) index(chunks []chunkers.PositionAwareChunk, d *Diagnostics) ([]chunkers.PositionAwareChunk, error) {
	d.PositionAdapter = chunkers.IsAdapted(l.chunker)
	texts := make(map[chunkers.PositionAwareChunkID]bool, len(chunks))
	places := make([]spans.Span, len(chunks))
	for i, c := range chunks {
		texts[c.ID] = true
		places[i] = c.Span
	}
	d.DuplicateChunks = len(chunks) - len(texts)
	l.scorer = newTokenScorer(places, l.k)
	l.chunks, l.rows = chunks, map[spans.DocumentID]rowRange{}
	for i, c := range chunks {
		of, ok := l.rows[c.Span.Doc]
		if !ok {
			of.first = i
		}
		of.end = i + 1
		l.rows[c.Span.Doc] = of
	}
	return chunks, nil
}

func (l *tokenLevel) identity(c chunkers.PositionAwareChunk) identity { return identity{span: c.Span} }

func (l *tokenLevel) complete(c chunkers.PositionAwareChunk, own bool) (chunkers.PositionAwareChunk, error) {
	if !own {
		if err := within(l.corpus, c.Span); err != nil {
			return c, err
		}
		c.Text = validText(c.Text)
	}
	if c.Text == "" {
		var err error
		if c.Text, err = l.slice(c.Span); err != nil {
			return c, err
		}
	}
	if c.ID == (chunkers.PositionAwareChunkID{}) {
		c.ID = chunkers.NewPositionAwareChunkID(c.Text)
	}
	return c, nil
}

func (l *tokenLevel) keepsFirst() bool { return false }

func (l *tokenLevel) score(query int, hits []ScoredChunk[chunkers.PositionAwareChunk], scores []float64) error {
	l.scorer.load(l.relevant[query], TokenOutcome{Retrieved: l.spansOf(hits), Relevant: l.truth[query].Relevant})
	for i, m := range l.measured {
		var err error
		if scores[i], err = l.scorer.score(m); err != nil {
			return err
		}
	}
	return nil
}

func (l *tokenLevel) explain(query int, hits []ScoredChunk[chunkers.PositionAwareChunk], r *QueryResult) error {
	r.Hits = slices.Grow(r.Hits, len(hits))
	for i, h := range hits {
		c := h.Chunk
		r.Hits = append(r.Hits, Hit{Rank: i + 1, ChunkID: c.ID.String(), Doc: c.Span.Doc, Span: c.Span, Score: h.Score, Text: c.Text})
	}
	var err error
	if r.Relevant, err = l.passages(l.relevant[query]); err != nil {
		return err
	}
	r.Missed, err = l.passages(l.relevant[query].Subtract(spans.Union(l.spansOf(hits)...)))
	return err
}

func (l *tokenLevel) passages(set spans.Set) ([]Passage, error) {
	var list []Passage
	for s := range set.All() {
		text, err := l.slice(s)
		if err != nil {
			return nil, err
		}
		list = append(list, Passage{Doc: s.Doc, Span: s, Text: text})
	}
	return list, nil
}

// slice returns the text of a span within the corpus.
func (l *tokenLevel) slice(s spans.Span) (string, error) {
	doc, _ := l.corpus.Document(s.Doc)
	return doc.Slice(s)
}

func (l *tokenLevel) recallName() string { return SpanRecall.Name() }

func (l *tokenLevel) relevantText(query int) int { return l.relevant[query].Len() }

func (l *tokenLevel) inIndex(query int) (all, best int) {
	return l.optimum.Reach(l.scorer.index(), l.relevant[query], l.k)
}

func (l *tokenLevel) in(query int, hits []ScoredChunk[chunkers.PositionAwareChunk]) (all, best int) {
	l.hitIndex.Reset(l.spansOf(hits))
	return l.optimum.Reach(&l.hitIndex, l.relevant[query], l.k)
}

// spansOf is valid until the next call.
func (l *tokenLevel) spansOf(hits []ScoredChunk[chunkers.PositionAwareChunk]) []spans.Span {
	l.scratch = l.scratch[:0]
	for _, h := range hits {
		l.scratch = append(l.scratch, h.Chunk.Span)
	}
	return l.scratch
}

func (l *tokenLevel) irrelevantText(query int, hits []ScoredChunk[chunkers.PositionAwareChunk]) (beside, apart, all int) {
	retrieved := spans.Union(l.spansOf(hits)...)
	touching := l.scratch[:0]
	for _, h := range hits {
		if s := h.Chunk.Span; spans.OverlapLen(spans.Union(s), l.relevant[query]) > 0 {
			touching = append(touching, s)
		}
	}
	covered := spans.OverlapLen(retrieved, l.relevant[query])
	near := spans.Union(touching...).Len()
	return near - covered, retrieved.Len() - near, retrieved.Len()
}

func (l *tokenLevel) holders(p Passage) []int {
	var rows []int
	holds := l.holder(p)
	of := l.rows[p.Doc]
	for i, c := range l.chunks[of.first:of.end] {
		if holds(c) {
			rows = append(rows, of.first+i)
		}
	}
	return rows
}

func (l *tokenLevel) holder(p Passage) func(chunkers.PositionAwareChunk) bool {
	return func(c chunkers.PositionAwareChunk) bool { return c.Span.Overlaps(p.Span) }
}
