package ragtest

import (
	"context"
	"fmt"
	"slices"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

// chunkLevel is the engine's view of a [ChunkLevel].
type chunkLevel struct {
	*engine[chunkers.Chunk]
	truth      []ChunkQuery
	chunker    chunkers.Chunker
	thresholds []ChunkThreshold

	measured []ChunkMetric
	texts    map[chunkers.ChunkID]chunkers.Chunk // all chunks; nil without a chunker
	scorer   *chunkScorer
	scratch  []chunkers.ChunkID
}

func (e ChunkLevel) engine(thresholds []ChunkThreshold) (*engine[chunkers.Chunk], error) {
	queries := make([]Query, len(e.Queries))
	for i, q := range e.Queries {
		queries[i] = q.Query
	}
	l := &chunkLevel{truth: e.Queries, chunker: e.Chunker, thresholds: thresholds, measured: slices.Clone(e.Metrics)}
	if e.Metrics == nil {
		l.measured = []ChunkMetric{ChunkRecall, ChunkPrecision, ChunkF1}
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
	l.scorer = newChunkScorer(l.k)
	return l.engine, l.engine.validate()
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

func (l *chunkLevel) validate() error {
	var err error
	if l.measured, err = measure(l.measured, l.thresholds, l.k); err != nil {
		return err
	}
	for i, q := range l.truth {
		for j, id := range q.Relevant {
			if id == (chunkers.ChunkID{}) {
				return fmt.Errorf("query %s (%q): relevant chunk %d has no ID", l.queries[i].ID, abbreviate(q.Text, 60), j)
			}
		}
	}
	return nil
}

func (l *chunkLevel) chunk(ctx context.Context, doc *spans.Document) (documentChunks[chunkers.Chunk], error) {
	var out documentChunks[chunkers.Chunk]
	texts, err := l.chunker.Chunk(ctx, doc.Text())
	if err != nil {
		return out, err
	}
	out.chunks = make([]chunkers.Chunk, 0, len(texts))
	for _, text := range texts {
		if text == "" {
			out.empty++
			continue
		}
		out.chunks = append(out.chunks, chunkers.Chunk{ID: chunkers.NewChunkID(text), Doc: doc.ID(), Text: text})
	}
	return out, nil
}

// index keeps the first of the chunks with equal texts.
func (l *chunkLevel) index(chunks []chunkers.Chunk, d *Diagnostics) ([]chunkers.Chunk, error) {
	l.texts = make(map[chunkers.ChunkID]chunkers.Chunk, len(chunks))
	distinct := make([]chunkers.Chunk, 0, len(chunks))
	for i, c := range chunks {
		if other, ok := l.texts[c.ID]; ok {
			d.DuplicateChunks++
			if other.Text != c.Text {
				return nil, sameIDError(c.ID, other.Text, c.Text, describeChunk(chunks, i))
			}
			continue
		}
		l.texts[c.ID] = c
		distinct = append(distinct, c)
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
			_, named[id] = l.texts[id]
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
			len(named), l.components.Chunker, unknown, first)
	}
	return nil
}

func (l *chunkLevel) identity(c chunkers.Chunk) identity { return identity{id: c.ID} }

func (l *chunkLevel) distinct(hits []ScoredChunk[chunkers.Chunk], _ map[identity]int) ([]ScoredChunk[chunkers.Chunk], error) {
	distinct := make([]ScoredChunk[chunkers.Chunk], 0, len(hits))
	seen := make(map[chunkers.ChunkID]bool, len(hits))
	for i, h := range hits {
		if h.Chunk.ID == (chunkers.ChunkID{}) {
			return nil, fmt.Errorf("rank %d: the chunk %q has no ID", i+1, abbreviate(h.Chunk.Text, 60))
		}
		if !seen[h.Chunk.ID] {
			seen[h.Chunk.ID] = true
			distinct = append(distinct, h)
		}
	}
	return distinct, nil
}

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
		c := l.texts[id] // zero if nothing was chunked
		p := Passage{ChunkID: id.String(), Doc: c.Doc, Text: c.Text}
		r.Relevant = append(r.Relevant, p)
		if !got[id] {
			r.Missed = append(r.Missed, p)
		}
	}
	return nil
}
