package beam

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/sweep"
	"github.com/rageval/rageval/spans"
)

func init() {
	register.DoFn2x1[int, tally, error](&checkFn{})
	register.DoFn3x2[context.Context, []byte, func(*int, *ranking) bool, wanted, error](&wantFn{})
	register.DoFn3x0[Document, wanted, func(Document)](&selectFn{})
	register.DoFn8x2[context.Context, int, func(*[]byte) bool, func(*Document) bool, func(*int, *ranking) bool, func(*int, *tally) bool, func(*vectors) bool, string, []byte, error](&scoreFn{})
	register.Iter1[[]byte]()
	register.Iter1[Document]()
	register.Iter2[int, ranking]()
	register.Iter2[int, tally]()
}

// checkFn refuses a corpus that a chunker could not cut as it must, before all of it is
// embedded where the runner lets it.
type checkFn struct {
	Chunkers     []string
	MaxUnlocated int
}

func (fn *checkFn) ProcessElement(chunker int, t tally) error {
	if err := t.check(fn.MaxUnlocated); err != nil {
		return fmt.Errorf("chunker %s: %w", fn.Chunkers[chunker], err)
	}
	return nil
}

// wantFn finds out which documents scoring needs.
type wantFn struct{}

func (*wantFn) ProcessElement(_ context.Context, description []byte, rankings func(*int, *ranking) bool) (wanted, error) {
	s, err := decodeSweep(description)
	if err != nil {
		return wanted{}, err
	}
	var w wanted
	for _, q := range s.Queries {
		for _, answer := range append([][]spans.Span{q.Relevant}, q.Alternatives...) {
			for _, r := range answer {
				w.ids = append(w.ids, string(r.Doc))
			}
		}
	}
	var number int
	var r ranking
	for rankings(&number, &r) {
		for _, h := range r.hits {
			w.places = append(w.places, h.at.doc)
		}
	}
	slices.Sort(w.ids)
	slices.SortFunc(w.places, place.compare)
	w.ids, w.places = slices.Compact(w.ids), slices.Compact(w.places)
	return w, nil
}

// selectFn hands on the documents that are wanted.
type selectFn struct{}

func (*selectFn) ProcessElement(d Document, w wanted, emit func(Document)) {
	_, hit := slices.BinarySearchFunc(w.places, d.place(), place.compare)
	_, relevant := slices.BinarySearch(w.ids, d.ID)
	if hit || relevant {
		emit(d)
	}
}

// scoreFn scores the rankings and returns the JSON form of the report. It has the
// documents that the queries and the rankings refer to, chunks them again and evaluates
// the sweep on them with embedders and stores that repeat what was found: what a score
// depends on beside is the chunks with relevant text, which are among theirs.
type scoreFn struct{}

func (*scoreFn) ProcessElement(ctx context.Context, _ int, sweeps func(*[]byte) bool, documents func(*Document) bool, rankings func(*int, *ranking) bool, tallies func(*int, *tally) bool, queries func(*vectors) bool, fingerprint string) ([]byte, error) {
	var description []byte
	sweeps(&description)
	s, err := decodeSweep(description)
	if err != nil {
		return nil, err
	}
	g, err := s.Grid()
	if err != nil {
		return nil, err
	}
	f := &findings{sweep: s, rankings: map[int]ranking{}, tallies: make([]tally, len(s.Chunkers)), chunkBytes: make([]int64, len(s.Embedders)), places: map[spans.DocumentID]place{}}
	var n int
	var r ranking
	for rankings(&n, &r) {
		f.rankings[n] = r
	}
	var t tally
	for tallies(&n, &t) {
		f.tallies[n] = t
	}
	var v vectors
	for queries(&v) {
		one := ragtest.NewMemoryStore[int]()
		if err := one.Add(ctx, []int{0}, v.of[:1]); err != nil {
			return nil, fmt.Errorf("embedder %s: %w", s.Embedders[v.embedder], err)
		}
		f.chunkBytes[v.embedder] = one.IndexBytes()
	}
	var docs []Document
	var d Document
	for documents(&d) {
		docs = append(docs, d)
		f.places[spans.DocumentID(d.ID)] = d.place()
	}
	if g.Corpus, err = corpusOf(docs); err != nil {
		return nil, err
	}
	report, err := f.evaluate(ctx, g)
	if err != nil {
		return nil, err
	}
	report.CorpusFingerprint = fingerprint
	data, err := json.Marshal(report)
	if err != nil {
		return nil, fmt.Errorf("encoding the report: %w", err)
	}
	return append(data, '\n'), nil
}

func corpusOf(docs []Document) (*spans.Corpus, error) {
	slices.SortFunc(docs, func(a, b Document) int { return a.place().compare(b.place()) })
	list := make([]*spans.Document, len(docs))
	for i, d := range docs {
		var err error
		if list[i], err = spans.NewDocument(spans.DocumentID(d.ID), d.Text, d.Metadata); err != nil {
			return nil, err
		}
	}
	return spans.NewCorpus(list...)
}

// findings are what the pipeline found out about the whole corpus.
type findings struct {
	sweep    Sweep
	rankings map[int]ranking
	tallies  []tally // by chunker
	places   map[spans.DocumentID]place

	chunkBytes []int64 // that a vector takes in a store, by embedder
}

// evaluate evaluates a grid whose corpus is part of the whole.
func (f *findings) evaluate(ctx context.Context, g sweep.Grid) (*sweep.Report, error) {
	queries := map[string]int{}
	for i, q := range g.Queries {
		if _, ok := queries[q.Text]; !ok {
			queries[q.Text] = i
		}
	}
	for i, e := range g.Embedders {
		g.Embedders[i] = &recordedEmbedder{nameOf(e), queries}
	}
	stores := 0 // Grid asks for them by chunker, then by embedder.
	g.NewStore = func() (ragtest.VectorStore[chunkers.PositionAwareChunk], error) {
		s := &recordedStore{findings: f, group: stores, at: map[chunkPlace]chunkers.PositionAwareChunk{}}
		stores++
		return s, nil
	}
	report, err := g.Evaluate(ctx)
	if err != nil {
		return nil, err
	}
	for i := range report.Cells {
		c := &report.Cells[i]
		at := slices.IndexFunc(g.Chunkers, func(x chunkers.PositionAwareChunker) bool { return nameOf(x) == c.Chunker })
		t := f.tallies[at]
		c.Chunks, c.EmbeddedTexts, c.EmbeddedChars, c.Warnings = t.chunks, t.texts, t.chars, t.warnings()
		c.Cost = float64(c.EmbeddedChars + c.RerankedChars)
	}
	return report, nil
}

// recordedEmbedder stands for an embedder that has embedded. The vector of a query is
// its number.
type recordedEmbedder struct {
	name    string
	queries map[string]int // the first with a text
}

func (e *recordedEmbedder) String() string { return e.name }

func (e *recordedEmbedder) Embed(_ context.Context, texts []string) ([][]float32, error) {
	return slices.Repeat([][]float32{{1, 0}}, len(texts)), nil
}

func (e *recordedEmbedder) EmbedQueries(_ context.Context, queries []string) ([][]float32, error) {
	list := make([][]float32, len(queries))
	for i, q := range queries {
		list[i] = []float32{1, float32(e.queries[q])}
	}
	return list, nil
}

// recordedStore returns the rankings of a group: of one chunker and embedder.
type recordedStore struct {
	*findings
	group int
	at    map[chunkPlace]chunkers.PositionAwareChunk
	last  chunkPlace
}

// IndexBytes returns the size of the vectors of the whole corpus.
func (s *recordedStore) IndexBytes() int64 {
	n := len(s.sweep.Embedders)
	return int64(s.tallies[s.group/n].chunks) * s.chunkBytes[s.group%n]
}

func (s *recordedStore) Add(_ context.Context, chunks []chunkers.PositionAwareChunk, _ [][]float32) error {
	for _, c := range chunks {
		at := chunkPlace{doc: s.places[c.Span.Doc]}
		if len(s.at) > 0 && at.doc == s.last.doc {
			at.index = s.last.index + 1
		}
		s.at[at] = c
		s.last = at
	}
	return nil
}

func (s *recordedStore) Search(_ context.Context, query []float32, k int) ([]ragtest.ScoredChunk[chunkers.PositionAwareChunk], error) {
	hits := s.rankings[s.group*len(s.sweep.Queries)+int(query[1])].hits
	var list []ragtest.ScoredChunk[chunkers.PositionAwareChunk]
	for _, h := range hits[:min(k, len(hits))] {
		c, ok := s.at[h.at]
		if !ok || hashOf(c.IndexText()) != h.hash {
			name := s.sweep.Chunkers[s.group/len(s.sweep.Embedders)]
			return nil, fmt.Errorf("chunk %d of the document at %d of file %d is not what it was when it was embedded: the chunker %s does not cut a document the same way each time, or the corpus has changed", h.at.index, h.at.doc.offset, h.at.doc.file, name)
		}
		list = append(list, ragtest.ScoredChunk[chunkers.PositionAwareChunk]{Chunk: c, Score: float64(h.score)})
	}
	return list, nil
}
