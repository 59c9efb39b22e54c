package ragtest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

// DocumentQuery is a query with document-level ground truth: the grades of judged
// documents. A grade of 1 or more is relevant, the higher the more; any other is not,
// as is a document without a grade. There may be none.
type DocumentQuery struct {
	Query
	Relevant map[spans.DocumentID]int
}

// DocumentLevel is an evaluation against document-level ground truth: which of the
// relevant documents were retrieved, as in BEIR and TREC. Corpus, Queries and either
// Embedder or Retriever are required; every other field has a useful zero value.
//
// Chunks are what is indexed and retrieved, documents what is judged: the score of a
// document is that of its best chunk, ties are broken by the order of the corpus, and
// K and FetchK count documents. For each query chunks are retrieved, in their
// ranking, up to the first of the document that completes K, or FetchK; retrievers are
// asked for more chunks until there are as many documents, or no more chunks. A
// reranker is given these chunks, and a document has the score of the best of those
// that it returns.
//
// It tells nothing about chunkers that cut alike well: for those, see [TokenLevel].
// Nor is its store compared with exact search, since how many chunks that would be of
// depends on what is found.
type DocumentLevel struct {
	Name    string          // "": the name of the test; names table, artifact and experiment
	Corpus  *spans.Corpus   // at least one document
	Queries []DocumentQuery // at least one; their IDs differ
	// Chunker is nil for whole documents. A [RetrieverFunc] searches what is indexed
	// already: without a Chunker, nothing is chunked or indexed for it. The spans of
	// the chunks that it returns need only name documents of the corpus.
	Chunker   chunkers.PositionAwareChunker
	Embedder  Embedder                                 // set this, and Store if you like, or Retriever
	Store     VectorStore[chunkers.PositionAwareChunk] // nil: NewMemoryStore; must be empty
	Retriever Retriever[chunkers.PositionAwareChunk]
	Reranker  Reranker[chunkers.PositionAwareChunk] // nil: none
	K         int                                   // how many documents are judged; 0: 5
	FetchK    int                                   // how many candidates are retrieved; 0: 4*K with a Reranker, K without
	Metrics   []DocumentMetric                      // nil: DocumentRecall, DocumentPrecision, DocumentNDCG; empty: only those of thresholds

	// These are as those of [TokenLevel]. What is retrieved, in budgets, is the best
	// chunk of each document.
	SliceBy      []string
	MaxUnlocated int
	Repeat       int
	Baseline     string
	Margin       float64
	Budgets      []BudgetThreshold
	Tokens       chunkers.Length
	Severities   Severities
	Reporters    []Reporter // called by RunDocumentLevel
}

// Evaluate runs the evaluation in the steps of [TokenLevel.Evaluate]. A hit of the
// result is a document with its best chunk, a passage a document with the beginning
// of its text.
func (e DocumentLevel) Evaluate(ctx context.Context) (*Result, error) {
	run, err := e.engine(nil)
	if err != nil {
		return nil, err
	}
	return run.evaluate(ctx)
}

// RunDocumentLevel evaluates e within a test or a benchmark, as [RunTokenLevel] does.
func RunDocumentLevel(tb testing.TB, e DocumentLevel, thresholds ...DocumentThreshold) *Result {
	tb.Helper()
	name := e.Name
	e.Name = cmp.Or(e.Name, tb.Name())
	g := gate{e.Baseline, e.Margin, e.Budgets, e.Tokens, e.Severities, e.Corpus, ""}
	return run(tb, name, g, e.Reporters, thresholds, func() (*engine[chunkers.PositionAwareChunk], error) { return e.engine(thresholds) })
}

// wholeDocuments is the chunker that makes one chunk of each document.
type wholeDocuments struct{}

func (wholeDocuments) ChunkWithPositions(_ context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
	if doc.Text() == "" {
		return nil, nil
	}
	return []chunkers.Piece{{Text: doc.Text(), End: len(doc.Text())}}, nil
}

func (wholeDocuments) String() string { return "whole documents" }

// engine returns an engine that retrieves documents. Its retriever, and reranker if
// there is one, are a documentSearch, which retrieves chunks.
func (e DocumentLevel) engine(thresholds []DocumentThreshold) (*engine[chunkers.PositionAwareChunk], error) {
	began := time.Now()
	chunker := e.Chunker
	if _, indexed := e.Retriever.(RetrieverFunc[chunkers.PositionAwareChunk]); chunker == nil && !indexed {
		chunker = wholeDocuments{}
	}
	s := &setup[chunkers.PositionAwareChunk]{name: e.Name, corpus: e.Corpus, chunker: chunker, embedder: e.Embedder, store: e.Store,
		retriever: e.Retriever, reranker: e.Reranker, k: e.K, fetchK: e.FetchK, maxUnlocated: e.MaxUnlocated, times: e.Repeat, tokens: newTokenCounter(e.Tokens)}
	for _, q := range e.Queries {
		s.queries = append(s.queries, q.Query)
	}
	metrics, err := settle(s, e.Metrics, []DocumentMetric{DocumentRecall, DocumentPrecision, DocumentNDCG}, thresholds, e.SliceBy)
	if err != nil {
		return nil, err
	}
	relevant := make([][]spans.DocumentID, len(e.Queries))
	for i, q := range e.Queries {
		for id := range q.Relevant {
			if _, ok := e.Corpus.Document(id); !ok {
				return nil, truthError{fmt.Errorf("%s: the corpus has no document %q", s.query(i), smallestUnknown(e.Corpus, q.Relevant))}
			}
		}
		relevant[i] = documentIDs(q.Relevant)
	}
	search := newDocumentSearch(s, chunker)
	l := &documentLevel{corpus: e.Corpus, truth: e.Queries, relevant: relevant, search: search, measured: metrics, k: s.k, scorer: newDocumentScorer(s.k)}
	documents := &setup[chunkers.PositionAwareChunk]{name: e.Name, corpus: e.Corpus, queries: s.queries, chunker: wholeDocuments{}, retriever: search, k: s.k, fetchK: s.fetchK,
		slices: s.slices, times: s.times, tokens: s.tokens}
	if s.reranker != nil {
		documents.reranker = search
	}
	run, err := newEngine(documents, l, began)
	if err == nil {
		search.outer = run.trace
	}
	return run, err
}

// smallestUnknown returns the first of the judged documents, by ID, that the corpus
// lacks.
func smallestUnknown(corpus *spans.Corpus, grades map[spans.DocumentID]int) spans.DocumentID {
	var unknown []spans.DocumentID
	for id := range grades {
		if _, ok := corpus.Document(id); !ok {
			unknown = append(unknown, id)
		}
	}
	return slices.Min(unknown)
}

// documentLevel is the engine's view of a [DocumentLevel]. Its chunks stand for their
// documents: that which is indexed is the whole document, that which is retrieved the
// best chunk.
type documentLevel struct {
	corpus   *spans.Corpus
	truth    []DocumentQuery
	relevant [][]spans.DocumentID // of each query
	search   *documentSearch
	measured []DocumentMetric
	k        int

	rows    map[spans.DocumentID]int // of the corpus
	scorer  *documentScorer
	scratch []spans.DocumentID
}

func (l *documentLevel) name() string { return "document" }

func (l *documentLevel) metrics() []string { return namesOf(l.measured) }

func (l *documentLevel) prepare(context.Context) error { return nil }

func (l *documentLevel) ranked() bool {
	return slices.ContainsFunc(l.measured, func(m DocumentMetric) bool { return m.dependsOnRank(l.k) })
}

func (l *documentLevel) chunk(_ context.Context, doc *spans.Document) (documentChunks[chunkers.PositionAwareChunk], error) {
	span := spans.Span{Doc: doc.ID(), End: doc.Len()}
	return documentChunks[chunkers.PositionAwareChunk]{chunks: []chunkers.PositionAwareChunk{{Span: span, Text: doc.Text()}}}, nil
}

func (l *documentLevel) index(chunks []chunkers.PositionAwareChunk, _ *Diagnostics) ([]chunkers.PositionAwareChunk, error) {
	l.rows = make(map[spans.DocumentID]int, len(chunks))
	for i, c := range chunks {
		l.rows[c.Span.Doc] = i
	}
	return chunks, nil
}

func (l *documentLevel) identity(c chunkers.PositionAwareChunk) identity {
	return identity{span: spans.Span{Doc: c.Span.Doc}}
}

// complete: the search completed it.
func (l *documentLevel) complete(c chunkers.PositionAwareChunk, _ bool) (chunkers.PositionAwareChunk, error) {
	return c, nil
}

func (l *documentLevel) keepsFirst() bool { return false }

func (l *documentLevel) score(query int, hits []ScoredChunk[chunkers.PositionAwareChunk], scores []float64) error {
	l.scratch = l.scratch[:0]
	for _, h := range hits {
		l.scratch = append(l.scratch, h.Chunk.Span.Doc)
	}
	l.scorer.load(DocumentOutcome{Retrieved: l.scratch, Relevant: l.truth[query].Relevant})
	return keepBest(scores, 0, l.measured, l.scorer.score)
}

// passageLen is how many characters of a document a passage shows.
const passageLen = 200

func (l *documentLevel) explain(query int, hits []ScoredChunk[chunkers.PositionAwareChunk], r *QueryResult) error {
	got := make(map[spans.DocumentID]bool, len(hits))
	r.Hits = slices.Grow(r.Hits, len(hits))
	for i, h := range hits {
		c := h.Chunk
		got[c.Span.Doc] = true
		r.Hits = append(r.Hits, Hit{Rank: i + 1, ChunkID: c.ID.String(), Doc: c.Span.Doc, Span: c.Span, Score: h.Score, Text: c.Text})
	}
	for _, id := range l.relevant[query] {
		doc, _ := l.corpus.Document(id)
		p := Passage{Doc: id, Span: spans.Span{Doc: id, End: doc.Len()}, Text: abbreviate(doc.Text(), passageLen), Grade: l.truth[query].Relevant[id]}
		r.Relevant = append(r.Relevant, p)
		if !got[id] {
			r.Missed = append(r.Missed, p)
		}
	}
	return nil
}

func (l *documentLevel) describe([][]ScoredChunk[chunkers.PositionAwareChunk], *Result) {}

// ceilings returns that of recall.
func (l *documentLevel) ceilings(query, _ int) []ceiling {
	all, best := l.inIndex(query)
	value := 1.0
	if n := len(l.relevant[query]); n > 0 {
		value = float64(min(all, best)) / float64(n)
	}
	return []ceiling{{metric: DocumentRecall.Name(), value: value}}
}

// amend adds to a result what the search of chunks knows.
func (l *documentLevel) amend(r *Result) {
	chunks := l.search.chunks
	d, inner := &r.Diagnostics, chunks.diagnostics
	d.EmbeddedTexts, d.SkippedChunks, d.EmptyChunks = inner.EmbeddedTexts, inner.SkippedChunks, inner.EmptyChunks
	d.DuplicateChunks, d.PositionAdapter = inner.DuplicateChunks, inner.PositionAdapter
	d.Warnings = append(d.Warnings, inner.Warnings...)
	d.IndexBytes = chunks.indexBytes()
	r.Chunks, r.Components = len(chunks.indexed), chunks.components()
	r.Trace = joined(r.Trace, chunks.trace.trace())
}

func (l *documentLevel) relevantText(query int) int { return len(l.relevant[query]) }

func (l *documentLevel) inIndex(query int) (all, best int) {
	all = len(l.relevantRows(query))
	return all, min(all, l.k)
}

// relevantRows returns the relevant documents, in the order of the corpus.
func (l *documentLevel) relevantRows(query int) []int {
	var rows []int
	for _, id := range l.relevant[query] {
		if row, ok := l.rows[id]; ok {
			rows = append(rows, row)
		}
	}
	slices.Sort(rows)
	return rows
}

func (l *documentLevel) in(query int, hits []ScoredChunk[chunkers.PositionAwareChunk]) (all, best int) {
	for _, h := range hits {
		if l.truth[query].Relevant[h.Chunk.Span.Doc] >= 1 {
			all++
		}
	}
	return all, min(all, l.k)
}

func (l *documentLevel) irrelevantText(query int, hits []ScoredChunk[chunkers.PositionAwareChunk]) (beside, apart, all int) {
	found, _ := l.in(query, hits)
	return 0, len(hits) - found, len(hits)
}

func (l *documentLevel) holders(_ int, p Passage) []int {
	row, ok := l.rows[p.Doc]
	if !ok {
		return nil
	}
	return []int{row}
}

func (l *documentLevel) holder(_ int, p Passage) func(chunkers.PositionAwareChunk) bool {
	return func(c chunkers.PositionAwareChunk) bool { return c.Span.Doc == p.Doc }
}
