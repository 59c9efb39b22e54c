package ragtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/exact"
	"github.com/rageval/rageval/spans"
)

// TokenPlan is what the parts of a corpus must have in common so that they make up one
// evaluation, be they on several machines or one after the other on one:
//
//	TokenLevel.Plan -> TokenPlan.Part, for each part -> MergeTokenParts -> TokenPlan.Prepare
//
// Each part keeps the exact first depth chunks of each query with their scores, so that
// merging is a sort, equal scores in the order of the corpus. What follows on Prepare is
// what follows on [TokenLevel.Prepare], and its results are equal to those for the whole
// corpus, byte for byte. A plan is immutable, and safe for concurrent use.
//
// Beside the ground truth's own documents a plan holds, as does whoever makes one, the
// vectors of the queries and the scores of those chunks that hold relevant text: with
// them every part can count how many of its chunks are before those, and
// [Passage].Rank, too, is exact. They are embedded by everyone who makes a plan: an
// embedder that does not always give a text the same vector makes plans that differ, and
// their parts do not merge.
type TokenPlan struct {
	given       TokenLevel // its Corpus has at least the documents of chunks
	search      TokenSearch
	known       map[int]*spans.Document       // those with relevant text, by their numbers
	chunks      []chunkers.PositionAwareChunk // of documents with relevant text
	places      map[string][]spans.Span       // of relevant text, in the whole corpus
	rows        [][]int                       // of each query, which of chunks hold relevant text, ascending
	rungs       [][]int                       // where they are in search.Relevant
	documents   int                           // in the whole corpus
	fingerprint string                        // of the whole corpus
	usage       []Usage
}

// mostDepth keeps what is computed with a depth from overflowing.
const mostDepth = 1 << 20

// TokenSearch is what of a [TokenPlan] chunking and ranking need, for processes that do
// no more. Its JSON form reads back to an equal value.
type TokenSearch struct {
	Plan      string          `json:"plan"` // a hash of what must be the same for all parts
	Depth     int             `json:"depth"`
	Queries   [][]float32     `json:"queries"`   // their vectors
	Relevant  [][]PlacedScore `json:"relevant"`  // of each query, the chunks that hold relevant text, best first
	Documents []int           `json:"documents"` // the numbers of those with relevant text, ascending
}

// survey is what a plan must know of a corpus.
type survey struct {
	numbers     []int             // ascending, of
	documents   []*spans.Document // those that the ground truth names, or that have its texts and these count
	places      map[string][]spans.Span
	count       int
	fingerprint string
}

// Plan plans an evaluation of e.Corpus in parts, in which depth candidates are retrieved
// for each query. It chunks the documents that hold relevant text, and embeds the
// queries and those chunks of them that hold it. Name, Reranker, K, FetchK and Repeat of
// e are not used. A plan needs an Embedder and a Chunker, and no Store: it is an error if one
// is set, or a Retriever.
func (e TokenLevel) Plan(ctx context.Context, depth int) (*TokenPlan, error) {
	run, err := e.planner(depth)
	if err != nil {
		return nil, err
	}
	s := survey{count: e.Corpus.Len(), fingerprint: e.Corpus.Fingerprint(), places: map[string][]spans.Span{}}
	l := run.level.(*tokenLevel)
	texts, err := l.statedTexts()
	if err != nil {
		return nil, err
	}
	if err := newFinder(texts).addTo(ctx, s.places, slices.Collect(e.Corpus.All())); err != nil {
		return nil, run.stopped(ctx, err)
	}
	wanted := e.holding(s.places)
	number := 0
	for doc := range e.Corpus.All() {
		if number == 0 || wanted[doc.ID()] { // a corpus has at least one
			s.numbers, s.documents = append(s.numbers, number), append(s.documents, doc)
		}
		number++
	}
	return e.plan(ctx, run, depth, s)
}

// holding returns which documents hold relevant text that counts, whose places are
// given.
func (e TokenLevel) holding(places map[string][]spans.Span) map[spans.DocumentID]bool {
	holding := map[spans.DocumentID]bool{}
	for _, q := range e.Queries {
		for _, list := range append([][]spans.Span{q.Relevant}, q.Alternatives...) {
			for _, s := range list {
				holding[s.Doc] = true
			}
		}
	}
	if e.EquivalentText {
		for _, list := range places {
			for _, s := range list {
				holding[s.Doc] = true
			}
		}
	}
	return holding
}

// planner returns an engine that retrieves depth candidates, and is otherwise as
// [TokenLevel.Prepare] has it.
func (e TokenLevel) planner(depth int) (*engine[chunkers.PositionAwareChunk], error) {
	switch {
	case depth < 1 || depth > mostDepth:
		return nil, fmt.Errorf("planning an evaluation: the depth is %d, want between 1 and %d", depth, mostDepth)
	case e.Retriever != nil:
		return nil, errors.New("planning an evaluation: field Retriever: it is set, but only vectors can be ranked in parts: want an Embedder")
	case e.Store != nil:
		return nil, errors.New("planning an evaluation: field Store: it is set, but parts are ranked as by a MemoryStore: want nil")
	}
	e.Name, e.Reranker, e.K, e.FetchK, e.Metrics = "", nil, depth, 0, nil
	return e.engine(nil)
}

// plan plans with what is known of the corpus.
func (e TokenLevel) plan(ctx context.Context, run *engine[chunkers.PositionAwareChunk], depth int, s survey) (_ *TokenPlan, err error) {
	defer func() { err = run.stopped(ctx, err) }()
	meter := usageMeter{}
	ctx = meter.context(ctx)
	l := run.level.(*tokenLevel)
	if err := l.alias(s.places); err != nil {
		return nil, err
	}
	p := &TokenPlan{given: e, places: s.places, documents: s.count, fingerprint: s.fingerprint, known: map[int]*spans.Document{}}
	for i, doc := range s.documents {
		p.known[s.numbers[i]] = doc
	}
	p.search = TokenSearch{Depth: depth, Documents: slices.Clone(s.numbers)}
	var at []Place
	for i, doc := range s.documents {
		cut, err := l.chunk(ctx, doc)
		if err != nil {
			return nil, fmt.Errorf("chunking %s: %w", doc.ID(), err)
		}
		for j, c := range cut.chunks {
			p.chunks, at = append(p.chunks, c), append(at, Place{s.numbers[i], j})
		}
	}
	var d Diagnostics
	if _, err := l.index(p.chunks, &d); err != nil {
		return nil, err
	}
	rows := make([][]int, len(run.queries))
	var all []int
	for q := range rows {
		rows[q] = l.relevantRows(q)
		all = append(all, rows[q]...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	store := NewMemoryStore[chunkers.PositionAwareChunk]()
	embedder := newDense(e.Embedder, store)
	holders := make([]chunkers.PositionAwareChunk, len(all))
	for i, row := range all {
		holders[i] = p.chunks[row]
	}
	done := run.trace.start("embed", 0, len(holders))
	if _, err := embedder.index(ctx, holders, nil); err != nil {
		return nil, err
	}
	done()
	if p.search.Queries, err = embedder.embedQueries(ctx, run.texts(), run.trace); err != nil {
		return nil, err
	}
	dim := 0
	for i, v := range p.search.Queries {
		if i == 0 {
			dim = len(v)
		}
		if err := exact.ValidateVector(v, dim); err != nil {
			return nil, fmt.Errorf("embedding %s: the vector %w", run.query(i), err)
		}
	}
	p.rows, p.rungs, p.search.Relevant = rows, make([][]int, len(rows)), make([][]PlacedScore, len(rows))
	for q := range rows {
		inStore := make([]int, len(rows[q]))
		for i, row := range rows[q] {
			inStore[i], _ = slices.BinarySearch(all, row)
		}
		scores := make([]PlacedScore, len(rows[q]))
		for i, score := range store.vectors.Scores(p.search.Queries[q], inStore) {
			scores[i] = PlacedScore{at[rows[q][i]], score}
		}
		best := slices.SortedFunc(slices.Values(scores), PlacedScore.compare)
		p.rungs[q] = make([]int, len(scores))
		for i, s := range scores {
			p.rungs[q][i] = slices.Index(best, s)
		}
		p.search.Relevant[q] = append([]PlacedScore{}, best...)
	}
	p.usage = meter.total()
	p.search.Plan, err = p.hash(run.queries)
	return p, err
}

// hash identifies what must be the same for all parts.
func (p *TokenPlan) hash(queries []Query) (string, error) {
	type truth struct {
		ID           QueryID
		Text         string
		Relevant     []spans.Span
		Alternatives [][]spans.Span
	}
	content := struct {
		Version           int
		Corpus            string
		Documents         int
		Queries           []truth
		EquivalentText    bool
		Chunker, Embedder string
		Search            TokenSearch
		Spans             []spans.Span
		Texts             []chunkers.PositionAwareChunkID
	}{Version: partSchemaVersion, Corpus: p.fingerprint, Documents: p.documents, EquivalentText: p.given.EquivalentText,
		Chunker: nameOf(p.given.Chunker), Embedder: nameOf(p.given.Embedder), Search: p.search}
	for i, q := range queries {
		content.Queries = append(content.Queries, truth{q.ID, q.Text, p.given.Queries[i].Relevant, p.given.Queries[i].Alternatives})
	}
	for _, c := range p.chunks {
		content.Spans, content.Texts = append(content.Spans, c.Span), append(content.Texts, c.ID)
	}
	data, err := json.Marshal(content)
	if err != nil {
		return "", fmt.Errorf("planning an evaluation: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// Equal reports whether both are the same, not copies.
func (p *TokenPlan) Equal(q *TokenPlan) bool { return p == q }

// Search returns what chunking and ranking need of the plan. It must not be modified.
func (p *TokenPlan) Search() TokenSearch { return p.search }

// Documents returns how many documents the corpus has.
func (p *TokenPlan) Documents() int { return p.documents }

// Shard returns the part of the planned corpus that is one of count equal shards of
// consecutive documents: index is 0 to count-1.
func (p *TokenPlan) Shard(ctx context.Context, index, count int) (*TokenPart, error) {
	if count < 1 || index < 0 || index >= count {
		return nil, fmt.Errorf("ranking shard %d of %d: want an index from 0 to the number of shards less 1", index, count)
	}
	if p.given.Corpus.Len() != p.documents {
		return nil, errors.New("ranking a shard: the corpus of the plan was streamed: use Part")
	}
	first, end := index*p.documents/count, (index+1)*p.documents/count
	docs := slices.Collect(p.given.Corpus.All())[first:end]
	return p.Part(ctx, first, func(yield func(*spans.Document, error) bool) {
		for _, doc := range docs {
			if !yield(doc, nil) {
				return
			}
		}
	})
}

// Part chunks, embeds and ranks consecutive documents of the corpus, of which the first
// has the given number. They are read as they are needed: beside the part itself, which
// has 20 bytes for each distinct text, it holds a few MB of documents and the vectors of
// 16,384 chunks at a time. A text that comes again in other documents may be embedded
// again. An error that docs yields ends it, and so does a document with relevant text
// that is not the one of that number.
func (p *TokenPlan) Part(ctx context.Context, first int, docs iter.Seq2[*spans.Document, error]) (*TokenPart, error) {
	return p.part(ctx, first, docs, nil)
}

func (p *TokenPlan) part(ctx context.Context, first int, docs iter.Seq2[*spans.Document, error], trace *tracer) (*TokenPart, error) {
	b := &partBuilder{plan: p, trace: trace, next: first, first: first}
	for doc, err := range docs {
		if err == nil && doc == nil {
			err = errors.New("the document is nil")
		}
		if err != nil {
			return nil, fmt.Errorf("reading document number %d: %w", b.next, err)
		}
		if known, ok := p.known[b.next]; ok && (known.ID() != doc.ID() || known.Text() != doc.Text()) {
			return nil, fmt.Errorf("document number %d is %s, which is not the document %s that was planned for", b.next, doc.ID(), known.ID())
		}
		if err := b.add(ctx, doc); err != nil {
			return nil, err
		}
	}
	return b.finish(ctx)
}

// Usage returns what planning consumed of services.
func (p *TokenPlan) Usage() []Usage { return p.usage }

// Prepare returns what [TokenLevel.Prepare] would return for the whole corpus, of which
// part is the whole: what [MergeTokenParts] made of all parts. It is an error if
// documents are missing, or chunks that were not ranked.
func (p *TokenPlan) Prepare(part *TokenPart) (*PreparedTokenLevel, error) {
	run, err := p.given.planner(p.search.Depth)
	if err != nil {
		return nil, err
	}
	level := run.level.(*tokenLevel)
	if err := p.restore(run, part); err != nil {
		return nil, fmt.Errorf("preparing an evaluation of parts: %w", err)
	}
	prepared := &PreparedTokenLevel{given: p.given, run: run, level: *level, levels: map[int]*tokenLevel{}, depth: p.search.Depth, retrieved: run.whole.retrieved}
	run.diagnostics.Warnings = slices.Clip(run.diagnostics.Warnings) // finish appends to them
	return prepared, nil
}

// restore brings an engine into the state in which it would be, had it chunked, embedded
// and indexed the whole corpus.
func (p *TokenPlan) restore(run *engine[chunkers.PositionAwareChunk], part *TokenPart) error {
	if part == nil {
		return errors.New("the part is nil")
	}
	switch {
	case part.Plan != p.search.Plan:
		return fmt.Errorf("the part is of another plan, %.12s: want that of this one, %.12s", part.Plan, p.search.Plan)
	case part.Depth != p.search.Depth || len(part.Hits) != len(p.search.Queries) || len(part.Behind) != len(p.search.Queries):
		return fmt.Errorf("the part has hits of %d queries to depth %d, want %d to depth %d", len(part.Hits), part.Depth, len(p.search.Queries), p.search.Depth)
	case !slices.Equal(part.Documents, []NumberRange{{0, p.documents}}):
		return fmt.Errorf("the part is of the documents %v, want all %d: merge all parts first", part.Documents, p.documents)
	case part.Ranked != part.Chunks:
		return fmt.Errorf("the part has ranked %d chunks of %d: merge all parts first", part.Ranked, part.Chunks)
	case part.IDs.Texts != p.documents:
		return fmt.Errorf("the part has %d different document IDs for %d documents", part.IDs.Texts, p.documents)
	}
	l := run.level.(*tokenLevel)
	if err := l.alias(p.places); err != nil {
		return err
	}
	if err := run.count(chunkCounts{part.Chunks, part.Empty, part.Skipped, part.FirstSkipped}); err != nil {
		return err
	}
	known := slices.Clone(p.chunks)
	for _, d := range part.Smallest {
		for _, b := range d.Bounds {
			known = append(known, chunkers.PositionAwareChunk{Span: spans.Span{Doc: d.Document, Start: b[0], End: b[1]}})
		}
	}
	if _, err := l.index(known, &run.diagnostics); err != nil {
		return err
	}
	run.diagnostics.DuplicateChunks = part.Chunks - part.Texts.ChunkIDs
	run.diagnostics.EmbeddedTexts = part.Texts.Texts
	run.retriever.(*dense[chunkers.PositionAwareChunk]).chars = part.Texts.Chars
	run.indexed = known
	run.known = map[identity]int{}
	for _, c := range known {
		run.known[l.identity(c)]++
	}
	l.elsewhere = map[spans.Span]placedText{}
	retrieved := make([][]ScoredChunk[chunkers.PositionAwareChunk], len(part.Hits))
	for q, hits := range part.Hits {
		times := map[identity]int{}
		for _, h := range hits {
			id := l.identity(h.Chunk)
			times[id]++
			run.known[id] = max(run.known[id], times[id])
			l.elsewhere[h.Chunk.Span] = placedText{h.Line, h.Column, h.Chunk.Text}
			retrieved[q] = append(retrieved[q], ScoredChunk[chunkers.PositionAwareChunk]{Chunk: h.Chunk, Score: float64(h.Score)})
		}
	}
	run.wanted, run.ranks = p.rows, make([][]int, len(p.rows))
	for q, rungs := range p.rungs {
		if len(part.Behind[q]) != len(rungs) {
			return fmt.Errorf("the part counts before %d chunks of %s, want %d", len(part.Behind[q]), run.query(q), len(rungs))
		}
		ranks := make([]int, len(rungs))
		rank := 1
		for i, n := range part.Behind[q] {
			rank += n
			ranks[i] = rank
		}
		run.ranks[q] = make([]int, len(rungs))
		for i, rung := range rungs {
			run.ranks[q][i] = ranks[rung]
		}
	}
	run.whole = &whole[chunkers.PositionAwareChunk]{p.documents, part.Chunks, exact.Bytes(part.Ranked, part.Dim), p.fingerprint, retrieved}
	return nil
}
