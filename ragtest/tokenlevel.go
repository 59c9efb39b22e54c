package ragtest

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/coverage"
	"github.com/rageval/rageval/internal/invalid"
	"github.com/rageval/rageval/spans"
)

// tokenLevel is the engine's view of a [TokenLevel].
type tokenLevel struct {
	corpus     *spans.Corpus
	answers    [][]answer // of each query, that of Relevant first
	chosen     []int      // which of them is scored
	recurring  int        // relevant spans whose text is elsewhere too
	prepared   bool       // answers and recurring are known
	equivalent bool       // whether that text counts
	chunker    chunkers.PositionAwareChunker
	rewrites   bool
	measured   []TokenMetric
	k          int

	indexed []chunkers.PositionAwareChunk // nil without a chunker
	places  places                        // of the indexed chunks; nil without a chunker
	spanOf  []spans.Span                  // theirs, by insertion order
	lines   map[spans.DocumentID][]int
	// elsewhere are chunks of documents that corpus may not have; nil: it has all.
	elsewhere map[spans.Span]placedText

	tokens      *tokenCounter
	tokenBudget int
	bounded     bool // whether of some query only a bound is known of what chunks can hold

	scorer   *tokenScorer
	scratch  []spans.Span
	optimum  coverage.Optimum
	ceiling  *coverage.Ceilings
	highest  highest
	hitIndex coverage.Index
}

// placedText is the text of a span, and where that begins.
type placedText struct {
	line, column int
	text         string
}

func (e TokenLevel) engine(thresholds []TokenThreshold) (*engine[chunkers.PositionAwareChunk], error) {
	began := time.Now()
	s := &setup[chunkers.PositionAwareChunk]{name: e.Name, corpus: e.Corpus, chunker: e.Chunker, embedder: e.Embedder, store: e.Store,
		retriever: e.Retriever, reranker: e.Reranker, k: e.K, fetchK: e.FetchK, times: e.Repeat, maxUnlocated: e.MaxUnlocated, tokens: newTokenCounter(e.Tokens), tokenBudget: e.TokenBudget}
	for _, q := range e.Queries {
		s.queries = append(s.queries, q.Query)
	}
	metrics, err := settle(s, e.Metrics, []TokenMetric{SpanRecall, SpanPrecision, SpanIoU}, thresholds, e.SliceBy)
	if err != nil {
		return nil, err
	}
	l := &tokenLevel{corpus: e.Corpus, answers: make([][]answer, len(e.Queries)), chosen: make([]int, len(e.Queries)),
		equivalent: e.EquivalentText, chunker: e.Chunker, measured: metrics, k: s.k, lines: map[spans.DocumentID][]int{},
		tokens: s.tokens, tokenBudget: s.tokenBudget}
	for i, q := range e.Queries {
		for j, stated := range append([][]spans.Span{q.Relevant}, q.Alternatives...) {
			what := "relevant span"
			if j > 0 {
				what = fmt.Sprintf("alternative %d: span", j-1)
			}
			for at, r := range stated {
				if err := within(e.Corpus, r); err != nil {
					return nil, truthError{fmt.Errorf("%s: %s %d: %w", s.query(i), what, at, err)}
				}
			}
			set := spans.Union(stated...)
			if set.Empty() && len(q.Alternatives) > 0 {
				return nil, fmt.Errorf("%s: %s", s.query(i), emptyAnswer(j))
			}
			l.answers[i] = append(l.answers[i], answer{stated: stated, set: set})
		}
	}
	if r, ok := e.Chunker.(chunkers.Rewriter); ok {
		l.rewrites = r.RewritesText()
	}
	l.scorer = newTokenScorer(nil, l.k) // until the chunks are known, if ever
	return newEngine(s, l, began)
}

func (l *tokenLevel) name() string { return "token" }

func (l *tokenLevel) metrics() []string { return namesOf(l.measured) }

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
	if at := invalid.UTF8(p.Text); l.rewrites && at >= 0 {
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
	l.places, l.spanOf, l.indexed = newPlaces(chunks), places, chunks
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
	var best bestAnswer
	for i := range l.answers[query] {
		a := &l.answers[query][i]
		l.scorer.load(a.set, TokenOutcome{Retrieved: l.spansOf(hits), Relevant: a.stated}, l.counted(a)...)
		best.offer(i, l.scorer.recall(l.k), l.scorer.iou(l.k))
		if err := keepBest(scores, i, l.measured, l.scorer.score); err != nil {
			return err
		}
	}
	l.chosen[query] = best.chosen
	return nil
}

func (l *tokenLevel) explain(query int, hits []ScoredChunk[chunkers.PositionAwareChunk], r *QueryResult) error {
	a := l.answer(query)
	r.Alternative = l.chosen[query]
	r.Hits = slices.Grow(r.Hits, len(hits))
	for i, h := range hits {
		c := h.Chunk
		hit := Hit{Rank: i + 1, ChunkID: c.ID.String(), Doc: c.Span.Doc, Span: c.Span, Score: h.Score, Text: c.Text}
		hit.Line, hit.Column = l.position(c.Span)
		hit.Aliased = slices.ContainsFunc(l.counted(a), func(x coverage.Alias) bool { return x.From.Overlaps(c.Span) })
		r.Hits = append(r.Hits, hit)
	}
	var err error
	if r.Relevant, err = l.passages(a.set); err != nil {
		return err
	}
	r.Missed, err = l.passages(a.set.Subtract(spans.Union(l.canonical(hits, l.counted(a))...)))
	return err
}

func (l *tokenLevel) passages(set spans.Set) ([]Passage, error) {
	var list []Passage
	for s := range set.All() {
		text, err := l.slice(s)
		if err != nil {
			return nil, err
		}
		p := Passage{Doc: s.Doc, Span: s, Text: text}
		p.Line, p.Column = l.position(s)
		list = append(list, p)
	}
	return list, nil
}

// position returns the line and the column, in characters, at which a span begins,
// both from 1.
func (l *tokenLevel) position(s spans.Span) (line, column int) {
	if at, ok := l.elsewhere[s]; ok {
		return at.line, at.column
	}
	doc, _ := l.corpus.Document(s.Doc)
	starts, ok := l.lines[s.Doc]
	if !ok {
		starts = lineStarts(doc.Text())
		l.lines[s.Doc] = starts
	}
	return position(doc, starts, s)
}

// position returns the line and the column of a span of doc, whose lines begin at
// starts.
func position(doc *spans.Document, starts []int, s spans.Span) (line, column int) {
	at, _, err := doc.ByteRange(s)
	if err != nil {
		return 0, 0
	}
	line = sort.Search(len(starts), func(i int) bool { return starts[i] > at })
	before, err := doc.CharSpan(starts[line-1], at)
	if err != nil {
		return 0, 0
	}
	return line, before.Len() + 1
}

// lineStarts returns where the lines of a text start, in bytes.
func lineStarts(text string) []int {
	starts := []int{0}
	for at := 0; ; {
		n := strings.IndexByte(text[at:], '\n')
		if n < 0 {
			return starts
		}
		at += n + 1
		starts = append(starts, at)
	}
}

// slice returns the text of a span within the corpus, or of a chunk elsewhere.
func (l *tokenLevel) slice(s spans.Span) (string, error) {
	if doc, ok := l.corpus.Document(s.Doc); ok {
		return doc.Slice(s)
	}
	if text := l.elsewhere[s].text; text != "" {
		return text, nil
	}
	return "", fmt.Errorf("the text of %v is not known", s)
}

func (l *tokenLevel) relevantText(query int) int { return l.answer(query).set.Len() }

func (l *tokenLevel) inIndex(query int) (all, best int) {
	a := l.answer(query)
	all, best = l.optimum.Reach(l.scorer.index(), a.set, l.k, l.counted(a)...)
	l.bounded = l.bounded || l.optimum.Bound()
	if l.tokenBudget > 0 {
		best = min(best, l.within(a, l.chunksOf(a)))
		l.bounded = true
	}
	return all, best
}

func (l *tokenLevel) in(query int, hits []ScoredChunk[chunkers.PositionAwareChunk]) (all, best int) {
	a := l.answer(query)
	l.hitIndex.Reset(l.spansOf(hits))
	all, best = l.optimum.Reach(&l.hitIndex, a.set, l.k, l.counted(a)...)
	l.bounded = l.bounded || l.optimum.Bound()
	if l.tokenBudget > 0 {
		chunks := make([]chunkers.PositionAwareChunk, len(hits))
		for i, h := range hits {
			chunks[i] = h.Chunk
		}
		best = min(best, l.within(a, chunks))
		l.bounded = true
	}
	return all, best
}

// spansOf is valid until the next call.
func (l *tokenLevel) spansOf(hits []ScoredChunk[chunkers.PositionAwareChunk]) []spans.Span {
	return l.canonical(hits, nil)
}

// canonical returns the spans of chunks, with what they hold of aliases replaced by
// what that stands for. It is valid until the next call.
func (l *tokenLevel) canonical(hits []ScoredChunk[chunkers.PositionAwareChunk], counted []coverage.Alias) []spans.Span {
	l.scratch = l.scratch[:0]
	for _, h := range hits {
		if len(counted) > 0 {
			l.scratch = appendCanonical(l.scratch, h.Chunk.Span, counted)
		} else {
			l.scratch = append(l.scratch, h.Chunk.Span)
		}
	}
	return l.scratch
}

func (l *tokenLevel) irrelevantText(query int, hits []ScoredChunk[chunkers.PositionAwareChunk]) (beside, apart, all int) {
	a := l.answer(query)
	counted := l.counted(a)
	retrieved := spans.Union(l.canonical(hits, counted)...)
	var touching []spans.Span
	for i := range hits {
		if chunk := spans.Union(l.canonical(hits[i:i+1], counted)...); spans.OverlapLen(chunk, a.set) > 0 {
			touching = slices.AppendSeq(touching, chunk.All())
		}
	}
	covered := spans.OverlapLen(retrieved, a.set)
	near := spans.Union(touching...).Len()
	return near - covered, retrieved.Len() - near, retrieved.Len()
}

func (l *tokenLevel) relevantRows(query int) []int {
	var rows []int
	for i := range l.answers[query] {
		a := &l.answers[query][i]
		rows = append(rows, l.rowsOf(a.set, l.counted(a))...)
	}
	slices.Sort(rows)
	return slices.Compact(rows)
}

func (l *tokenLevel) holders(query int, p Passage) []int {
	var rows []int
	for _, s := range sources(p.Span, l.counted(l.answer(query))) {
		rows = l.places.touching(rows, s)
	}
	return rows
}

func (l *tokenLevel) holder(query int, p Passage) func(chunkers.PositionAwareChunk) bool {
	list := sources(p.Span, l.counted(l.answer(query)))
	return func(c chunkers.PositionAwareChunk) bool { return slices.ContainsFunc(list, c.Span.Overlaps) }
}
