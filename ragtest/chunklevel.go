package ragtest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/invalid"
	"github.com/rageval/rageval/spans"
)

// chunkLevel is the engine's view of a [ChunkLevel].
type chunkLevel struct {
	queries  []Query                // with their IDs
	answers  [][][]chunkers.ChunkID // of each query, that of Relevant first, without repetitions
	chosen   []int                  // which of them is scored
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
		retriever: e.Retriever, reranker: e.Reranker, k: e.K, fetchK: e.FetchK, times: e.Repeat, tokens: newTokenCounter(e.Tokens)}
	for _, q := range e.Queries {
		s.queries = append(s.queries, q.Query)
	}
	metrics, err := settle(s, e.Metrics, []ChunkMetric{ChunkRecall, ChunkPrecision, ChunkF1}, thresholds, e.SliceBy)
	if err != nil {
		return nil, err
	}
	l := &chunkLevel{queries: s.queries, answers: make([][][]chunkers.ChunkID, len(e.Queries)), chosen: make([]int, len(e.Queries)),
		chunker: e.Chunker, measured: metrics, k: s.k, scorer: newChunkScorer(s.k)}
	for i, q := range e.Queries {
		for j, stated := range append([][]chunkers.ChunkID{q.Relevant}, q.Alternatives...) {
			if at := slices.Index(stated, chunkers.ChunkID{}); at >= 0 {
				what := "relevant chunk"
				if j > 0 {
					what = fmt.Sprintf("alternative %d: chunk", j-1)
				}
				return nil, fmt.Errorf("%s: %s %d has no ID", s.query(i), what, at)
			}
			if len(stated) == 0 && len(q.Alternatives) > 0 {
				return nil, fmt.Errorf("%s: %s", s.query(i), emptyAnswer(j))
			}
			l.answers[i] = append(l.answers[i], distinct(stated))
		}
	}
	return newEngine(s, l, began)
}

// distinct returns the IDs without repetitions.
func distinct(ids []chunkers.ChunkID) []chunkers.ChunkID {
	seen := make(map[chunkers.ChunkID]bool, len(ids))
	var list []chunkers.ChunkID
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			list = append(list, id)
		}
	}
	return list
}

// relevant returns the answer of a query that is scored: after a round, the one that
// the retrieved chunks hold most of.
func (l *chunkLevel) relevant(query int) []chunkers.ChunkID {
	return l.answers[query][l.chosen[query]]
}

func (l *chunkLevel) name() string { return "chunk" }

func (l *chunkLevel) metrics() []string { return namesOf(l.measured) }

func (l *chunkLevel) prepare(context.Context) error { return nil }

func (l *chunkLevel) describe([][]ScoredChunk[chunkers.Chunk], *Result) {}

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
		if at := invalid.UTF8(text); at >= 0 {
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
	for i, answers := range l.answers {
		for _, id := range slices.Concat(answers...) {
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
		return truthError{fmt.Errorf("the ground truth names %d chunks, of which the chunker %s did not produce %d (the first is %s): it belongs to another chunker or corpus",
			len(named), nameOf(l.chunker), unknown, first)}
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
	var best bestAnswer
	for i, relevant := range l.answers[query] {
		l.scorer.load(ChunkOutcome{Retrieved: l.scratch, Relevant: relevant})
		best.offer(i, l.scorer.recall(l.k), l.scorer.f1(l.k))
		if err := keepBest(scores, i, l.measured, l.scorer.score); err != nil {
			return err
		}
	}
	l.chosen[query] = best.chosen
	return nil
}

func (l *chunkLevel) explain(query int, hits []ScoredChunk[chunkers.Chunk], r *QueryResult) error {
	got := make(map[chunkers.ChunkID]bool, len(hits))
	r.Hits = slices.Grow(r.Hits, len(hits))
	for i, h := range hits {
		got[h.Chunk.ID] = true
		r.Hits = append(r.Hits, Hit{Rank: i + 1, ChunkID: h.Chunk.ID.String(), Doc: h.Chunk.Doc, Score: h.Score, Text: h.Chunk.Text})
	}
	r.Alternative = l.chosen[query]
	for _, id := range l.relevant(query) {
		c := l.chunks[id] // zero if nothing was chunked
		p := Passage{ChunkID: id.String(), Doc: c.Doc, Text: c.Text}
		r.Relevant = append(r.Relevant, p)
		if !got[id] {
			r.Missed = append(r.Missed, p)
		}
	}
	return nil
}

// ceilings returns those of recall, precision and F1. Of several answers the best
// counts.
func (l *chunkLevel) ceilings(query, retrieved int) []ceiling {
	metrics := []ChunkMetric{ChunkRecall}
	for _, m := range l.measured {
		if of := m.measure; !m.Equal(ChunkRecall) && (of == ChunkRecall.measure || of == ChunkPrecision.measure || of == ChunkF1.measure) {
			metrics = append(metrics, m)
		}
	}
	list := make([]ceiling, len(metrics))
	for j, m := range metrics {
		list[j].metric = m.Name()
		k := m.cut.of(l.k)
		n := min(k, retrieved)
		for _, relevant := range l.answers[query] {
			all := len(relevant)
			value := 0.0
			switch {
			case m.measure == ChunkRecall.measure && all == 0:
				value = 1
			case m.measure == ChunkRecall.measure:
				value = float64(min(all, k)) / float64(all)
			case m.measure == ChunkPrecision.measure:
				value = precision(min(all, n), n)
			case all > 0 && n > 0:
				value = float64(2*min(all, n)) / float64(n+all)
			}
			list[j].value = max(list[j].value, value)
		}
	}
	return list
}

func (l *chunkLevel) relevantText(query int) int { return len(l.relevant(query)) }

// inIndex: ground truth that names a chunk which is not indexed is an error.
func (l *chunkLevel) inIndex(query int) (all, best int) {
	all = l.relevantText(query)
	return all, min(all, l.k)
}

func (l *chunkLevel) in(query int, hits []ScoredChunk[chunkers.Chunk]) (all, best int) {
	for _, h := range hits {
		if slices.Contains(l.relevant(query), h.Chunk.ID) {
			all++
		}
	}
	return all, min(all, l.k)
}

func (l *chunkLevel) irrelevantText(query int, hits []ScoredChunk[chunkers.Chunk]) (beside, apart, all int) {
	found, _ := l.in(query, hits)
	return 0, len(hits) - found, len(hits)
}

func (l *chunkLevel) relevantRows(query int) []int {
	var rows []int
	for _, id := range slices.Concat(l.answers[query]...) {
		rows = append(rows, l.rows[id])
	}
	slices.Sort(rows)
	return slices.Compact(rows)
}

func (l *chunkLevel) holders(_ int, p Passage) []int {
	id, err := chunkers.ParseChunkID(p.ChunkID)
	row, ok := l.rows[id]
	if err != nil || !ok {
		return nil
	}
	return []int{row}
}

func (l *chunkLevel) holder(_ int, p Passage) func(chunkers.Chunk) bool {
	id, err := chunkers.ParseChunkID(p.ChunkID)
	return func(c chunkers.Chunk) bool { return err == nil && c.ID == id }
}
