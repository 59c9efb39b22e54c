package ragtest

import (
	"context"
	"fmt"
	"slices"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

// tokenLevel is the engine's view of a [TokenLevel].
type tokenLevel struct {
	*engine[chunkers.PositionAwareChunk]
	truth        []TokenQuery
	chunker      chunkers.PositionAwareChunker
	rewrites     bool
	maxUnlocated int
	thresholds   []TokenThreshold

	measured []TokenMetric
	relevant []spans.Set // of each query, merged
	scorer   *tokenScorer
	scratch  []spans.Span
}

func (e TokenLevel) engine(thresholds []TokenThreshold) (*engine[chunkers.PositionAwareChunk], error) {
	queries := make([]Query, len(e.Queries))
	for i, q := range e.Queries {
		queries[i] = q.Query
	}
	l := &tokenLevel{truth: e.Queries, chunker: e.Chunker, maxUnlocated: e.MaxUnlocated, thresholds: thresholds, measured: slices.Clone(e.Metrics)}
	if e.Metrics == nil {
		l.measured = []TokenMetric{SpanRecall, SpanPrecision, SpanIoU}
	}
	if r, ok := e.Chunker.(chunkers.Rewriter); ok {
		l.rewrites = r.RewritesText()
	}
	var chunker any
	if e.Chunker != nil {
		chunker = e.Chunker
	}
	var err error
	l.engine, err = newEngine(l, e.Name, e.Corpus, queries, chunker, e.Embedder, e.Store, e.Retriever, e.Reranker, e.K, e.FetchK)
	if err != nil {
		return nil, err
	}
	l.scorer = newTokenScorer(nil, l.k) // until the chunks are known, if ever
	return l.engine, l.engine.validate()
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

func (l *tokenLevel) validate() error {
	if l.maxUnlocated < 0 {
		return fmt.Errorf("field MaxUnlocated: got %d, want at least 0", l.maxUnlocated)
	}
	var err error
	if l.measured, err = measure(l.measured, l.thresholds, l.k); err != nil {
		return err
	}
	l.relevant = make([]spans.Set, len(l.truth))
	for i, q := range l.truth {
		for j, s := range q.Relevant {
			if err := within(l.corpus, s); err != nil {
				return fmt.Errorf("query %s (%q): relevant span %d: %w", l.queries[i].ID, abbreviate(q.Text, 60), j, err)
			}
		}
		l.relevant[i] = spans.Union(q.Relevant...)
	}
	return nil
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
	text := doc.Text()
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
		if !l.rewrites && text[p.Start:p.End] != p.Text {
			return out, fmt.Errorf("piece %d: its text %q is not the document's bytes [%d:%d], %q: positions are in bytes, and a chunker that rewrites texts says so with RewritesText",
				i, abbreviate(p.Text, 60), p.Start, p.End, abbreviate(text[p.Start:p.End], 60))
		}
		out.chunks = append(out.chunks, chunkers.PositionAwareChunk{
			ID: chunkers.NewPositionAwareChunkID(p.Text), Span: span, Text: p.Text, Metadata: p.Metadata})
	}
	return out, nil
}

func (l *tokenLevel) index(chunks []chunkers.PositionAwareChunk, d *Diagnostics) ([]chunkers.PositionAwareChunk, error) {
	d.PositionAdapter = chunkers.IsAdapted(l.chunker)
	if d.SkippedChunks > l.maxUnlocated {
		return nil, fmt.Errorf("%s; at most MaxUnlocated = %d may", d.Warnings[0], l.maxUnlocated)
	}
	texts := make(map[chunkers.PositionAwareChunkID]string, len(chunks))
	for i, c := range chunks {
		if other, ok := texts[c.ID]; ok {
			d.DuplicateChunks++
			if other != c.Text {
				return nil, sameIDError(c.ID, other, c.Text, describeChunk(chunks, i))
			}
		}
		texts[c.ID] = c.Text
	}
	all := make([]spans.Span, len(chunks))
	for i, c := range chunks {
		all[i] = c.Span
	}
	l.scorer = newTokenScorer(all, l.k)
	return chunks, nil
}

func sameIDError(id fmt.Stringer, a, b string, where string) error {
	return fmt.Errorf("two different texts have the ID %s: %q and, %s, %q", id, abbreviate(a, 200), where, abbreviate(b, 200))
}

func (l *tokenLevel) identity(c chunkers.PositionAwareChunk) identity {
	return identity{span: c.Span}
}

func (l *tokenLevel) distinct(hits []ScoredChunk[chunkers.PositionAwareChunk], known map[identity]int) ([]ScoredChunk[chunkers.PositionAwareChunk], error) {
	times := make(map[identity]int, len(hits))
	for i, h := range hits {
		if known == nil {
			if err := within(l.corpus, h.Chunk.Span); err != nil {
				return nil, fmt.Errorf("rank %d: %w", i+1, err)
			}
		}
		id := l.identity(h.Chunk)
		// A chunker may index one span twice, under two texts.
		if times[id]++; times[id] > max(1, known[id]) {
			return nil, fmt.Errorf("rank %d: the chunk %v was returned twice; the store already held chunks: give each evaluation a fresh one", i+1, h.Chunk.Span)
		}
	}
	return hits, nil
}

func (l *tokenLevel) score(query int, hits []ScoredChunk[chunkers.PositionAwareChunk], scores []float64) error {
	l.scratch = l.scratch[:0]
	for _, h := range hits {
		l.scratch = append(l.scratch, h.Chunk.Span)
	}
	l.scorer.load(l.relevant[query], TokenOutcome{Retrieved: l.scratch, Relevant: l.truth[query].Relevant})
	for i, m := range l.measured {
		var err error
		if scores[i], err = l.scorer.score(m); err != nil {
			return err
		}
	}
	return nil
}

func (l *tokenLevel) explain(query int, hits []ScoredChunk[chunkers.PositionAwareChunk], r *QueryResult) error {
	retrieved := make([]spans.Span, len(hits))
	for i, h := range hits {
		c := h.Chunk
		retrieved[i] = c.Span
		hit := Hit{Rank: i + 1, ChunkID: c.ID.String(), Doc: c.Span.Doc, Span: c.Span, Score: h.Score, Text: c.Text}
		if c.Text == "" || c.ID == (chunkers.PositionAwareChunkID{}) {
			text, err := l.slice(c.Span)
			if err != nil {
				return err
			}
			if c.Text == "" {
				hit.Text = text
			}
			if c.ID == (chunkers.PositionAwareChunkID{}) {
				hit.ChunkID = chunkers.NewPositionAwareChunkID(hit.Text).String()
			}
		}
		r.Hits = append(r.Hits, hit)
	}
	passages := func(s spans.Set) (list []Passage, err error) {
		for span := range s.All() {
			text, err := l.slice(span)
			if err != nil {
				return nil, err
			}
			list = append(list, Passage{Doc: span.Doc, Span: span, Text: text})
		}
		return list, nil
	}
	var err error
	if r.Relevant, err = passages(l.relevant[query]); err != nil {
		return err
	}
	r.Missed, err = passages(l.relevant[query].Subtract(spans.Union(retrieved...)))
	return err
}

func (l *tokenLevel) slice(s spans.Span) (string, error) {
	if err := within(l.corpus, s); err != nil {
		return "", err
	}
	doc, _ := l.corpus.Document(s.Doc)
	return doc.Slice(s)
}
