package ragtest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

// chunkLevel is the engine's view of a [ChunkLevel].
type chunkLevel struct {
	queries  []Query // of truth, with their IDs
	truth    []ChunkQuery
	chunker  chunkers.Chunker
	measured []ChunkMetric
	k        int

	chunks  map[chunkers.ChunkID]chunkers.Chunk // all; nil without a chunker
	rows    map[chunkers.ChunkID]int            // of the indexed chunks
	scorer  *chunkScorer
	scratch []chunkers.ChunkID
}

func (e ChunkLevel) engine(thresholds []ChunkThreshold) (*engine[chunkers.Chunk], error) {
	began := time.Now()
	s := &setup[chunkers.Chunk]{name: e.Name, corpus: e.Corpus, chunker: e.Chunker, embedder: e.Embedder, store: e.Store,
		retriever: e.Retriever, reranker: e.Reranker, k: e.K, fetchK: e.FetchK, times: e.Repeat}
	for _, q := range e.Queries {
		s.queries = append(s.queries, q.Query)
	}
	if err := s.settle(); err != nil {
		return nil, err
	}
	metrics := e.Metrics
	if metrics == nil {
		metrics = []ChunkMetric{ChunkRecall, ChunkPrecision, ChunkF1}
	}
	metrics, err := measure(metrics, thresholds, s.k)
	if err != nil {
		return nil, err
	}
	for i, q := range e.Queries {
		if j := slices.Index(q.Relevant, chunkers.ChunkID{}); j >= 0 {
			return nil, fmt.Errorf("%s: relevant chunk %d has no ID", s.query(i), j)
		}
	}
	l := &chunkLevel{queries: s.queries, truth: e.Queries, chunker: e.Chunker, measured: metrics, k: s.k, scorer: newChunkScorer(s.k)}
	return newEngine(s, l, began)
}

func (l *chunkLevel) name() string { return "chunk" }

func (l *chunkLevel) metrics() []string {
	names := make([]string, len(l.measured))
	for i, m := range l.measured {
		names[i] = m.Name()
	}
	return names
}

func (l *chunkLevel) ranked() bool {
	return slices.ContainsFunc(l.measured, func(m ChunkMetric) bool { return m.dependsOnRank(l.k) })
}

func (l *chunkLevel) chunk(ctx context.Context, doc *spans.Document) (documentChunks[chunkers.Chunk], error) {
	var out documentChunks[chunkers.Chunk]
	texts, err := l.chunker.Chunk(ctx, doc.Text())
	if err != nil {
		return out, err
	}
	out.chunks = make([]chunkers.Chunk, 0, len(texts))
	for i, text := range texts {
		if text == "" {
			out.empty++
			continue
		}
		if at := invalidUTF8(text); at >= 0 {
			return out, fmt.Errorf("chunk %d: its text is not valid UTF-8 at byte %d", i, at)
		}
		out.chunks = append(out.chunks, chunkers.Chunk{ID: chunkers.NewChunkID(text), Doc: doc.ID(), Text: text})
	}
	return out, nil
}

// index keeps the first of the chunks with equal texts.
func (l *chunkLevel) index(chunks []chunkers.Chunk, d *Diagnostics) ([]chunkers.Chunk, error) {
	l.chunks = make(map[chunkers.ChunkID]chunkers.Chunk, len(chunks))
	l.rows = make(map[chunkers.ChunkID]int, len(chunks))
	distinct := make([]chunkers.Chunk, 0, len(chunks))
	for i, c := range chunks {
		first, ok := l.chunks[c.ID]
		if !ok {
			l.chunks[c.ID] = c
			l.rows[c.ID] = len(distinct)
			distinct = append(distinct, c)
			continue
		}
		if first.Text != c.Text {
			return nil, fmt.Errorf("two different texts have the ID %s: %q of %s and %q, %s",
				c.ID, abbreviate(first.Text, 200), first.Doc, abbreviate(c.Text, 200), describeChunk(chunks, i))
		}
		d.DuplicateChunks++
	}
	return distinct, l.checkTruth()
}

// checkTruth returns an error if the ground truth names chunks that the chunker
// did not produce.
func (l *chunkLevel) checkTruth() error {
	named := map[chunkers.ChunkID]bool{} // whether the chunk exists
	unknown := 0
	first := ""
	for i, q := range l.truth {
		for _, id := range q.Relevant {
			if _, seen := named[id]; seen {
				continue
			}
			_, named[id] = l.chunks[id]
			if named[id] {
				continue
			}
			if unknown++; unknown == 1 {
				first = fmt.Sprintf("%s of query %s", id, l.queries[i].ID)
			}
		}
	}
	if unknown > 0 {
		return fmt.Errorf("the ground truth names %d chunks, of which the chunker %s did not produce %d (the first is %s): it belongs to another chunker or corpus",
			len(named), nameOf(l.chunker), unknown, first)
	}
	return nil
}

func (l *chunkLevel) identity(c chunkers.Chunk) identity { return identity{id: c.ID} }

func (l *chunkLevel) complete(c chunkers.Chunk, own bool) (chunkers.Chunk, error) {
	if c.ID == (chunkers.ChunkID{}) {
		return c, fmt.Errorf("the chunk %q has no ID", abbreviate(c.Text, 60))
	}
	if !own {
		c.Text = validText(c.Text)
	} else if c.Text == "" {
		c = l.chunks[c.ID]
	}
	return c, nil
}

func (l *chunkLevel) keepsFirst() bool { return true }

func (l *chunkLevel) score(query int, hits []ScoredChunk[chunkers.Chunk], scores []float64) error {
	l.scratch = l.scratch[:0]
	for _, h := range hits {
		l.scratch = append(l.scratch, h.Chunk.ID)
	}
	l.scorer.load(ChunkOutcome{Retrieved: l.scratch, Relevant: l.truth[query].Relevant})
	for i, m := range l.measured {
		var err error
		if scores[i], err = l.scorer.score(m); err != nil {
			return err
		}
	}
	return nil
}

func (l *chunkLevel) explain(query int, hits []ScoredChunk[chunkers.Chunk], r *QueryResult) error {
	got := make(map[chunkers.ChunkID]bool, len(hits))
	r.Hits = slices.Grow(r.Hits, len(hits))
	for i, h := range hits {
		got[h.Chunk.ID] = true
		r.Hits = append(r.Hits, Hit{Rank: i + 1, ChunkID: h.Chunk.ID.String(), Doc: h.Chunk.Doc, Score: h.Score, Text: h.Chunk.Text})
	}
	listed := map[chunkers.ChunkID]bool{}
	for _, id := range l.truth[query].Relevant {
		if listed[id] {
			continue
		}
		listed[id] = true
		c := l.chunks[id] // zero if nothing was chunked
		p := Passage{ChunkID: id.String(), Doc: c.Doc, Text: c.Text}
		r.Relevant = append(r.Relevant, p)
		if !got[id] {
			r.Missed = append(r.Missed, p)
		}
	}
	return nil
}

func (l *chunkLevel) recallName() string { return ChunkRecall.Name() }

func (l *chunkLevel) relevantText(query int) int {
	l.scorer.load(ChunkOutcome{Relevant: l.truth[query].Relevant})
	return len(l.scorer.relevant)
}

// inIndex: ground truth that names a chunk which is not indexed is an error.
func (l *chunkLevel) inIndex(query int) (all, best int) {
	all = l.relevantText(query)
	return all, min(all, l.k)
}

func (l *chunkLevel) in(query int, hits []ScoredChunk[chunkers.Chunk]) (all, best int) {
	for _, h := range hits {
		if slices.Contains(l.truth[query].Relevant, h.Chunk.ID) {
			all++
		}
	}
	return all, min(all, l.k)
}

func (l *chunkLevel) irrelevantText(query int, hits []ScoredChunk[chunkers.Chunk]) (beside, apart, all int) {
	found, _ := l.in(query, hits)
	return 0, len(hits) - found, len(hits)
}

func (l *chunkLevel) holders(p Passage) []int {
	id, err := chunkers.ParseChunkID(p.ChunkID)
	row, ok := l.rows[id]
	if err != nil || !ok {
		return nil
	}
	return []int{row}
}

func (l *chunkLevel) holder(p Passage) func(chunkers.Chunk) bool {
	id, err := chunkers.ParseChunkID(p.ChunkID)
	return func(c chunkers.Chunk) bool { return err == nil && c.ID == id }
}
