package ragtest

import (
	"context"
	"errors"
	"fmt"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/exact"
)

// TokenPool prepares evaluations that differ in their chunker alone and search a
// [MemoryStore]. What the chunkers have in common is done once: each distinct text is
// embedded once, and compared with all queries once.
//
//	TokenLevel.Chunk -> NewTokenPool -> TokenPool.Prepare -> PreparedTokenLevel.Rank -> TokenRanking.Judge
//
// It is not safe for concurrent use.
//
// Note: of a text that several chunkers make it keeps the scores, not the vector.
// They take less memory while there are fewer queries than the vectors have
// components, and always less time.
type TokenPool struct {
	common TokenLevel
	of     map[*TokenChunks]*pooledTexts // those that are not prepared yet
	texts  *textPool
	most   int64
}

// textPool are the distinct texts of several chunkings, by number.
type textPool struct {
	later   []int32     // how many chunkings that have the text are not prepared yet
	scores  [][]float32 // with each query; nil if not known, or not needed any more
	spare   [][]float32 // to use again
	dim     int         // of the vectors; 0: not known yet
	vectors [][]float32 // of the queries; nil: not embedded yet
	queries *exact.Queries
}

// pooledTexts are the texts of one chunking.
type pooledTexts struct {
	*textPool
	of    []int32 // the number of each chunk's text
	first []int   // the first chunk with each text
}

// NewTokenPool returns a pool for evaluations that are like e but for the chunker. The
// chunks are those of all chunkers, each once, in the order in which they will be
// prepared. It is an error if e has no Embedder, or a Store.
func NewTokenPool(e TokenLevel, chunks ...*TokenChunks) (*TokenPool, error) {
	switch {
	case e.Embedder == nil:
		return nil, errors.New("pooling texts: field Embedder: nil, want one")
	case e.Store != nil:
		return nil, errors.New("pooling texts: field Store: set, want nil for a MemoryStore")
	}
	p := &TokenPool{common: e, of: make(map[*TokenChunks]*pooledTexts, len(chunks)), texts: &textPool{}}
	number := map[string]int32{}
	seen := []int{} // by text: the chunking, from 1, that had it last
	for i, c := range chunks {
		if c == nil || c.corpus != e.Corpus {
			return nil, fmt.Errorf("pooling texts: chunks %d are none, or of another corpus", i)
		}
		if p.of[c] != nil {
			return nil, fmt.Errorf("pooling texts: chunks %d are there twice", i)
		}
		texts := &pooledTexts{textPool: p.texts, of: make([]int32, len(c.all))}
		for j, chunk := range c.all {
			text := chunk.IndexText()
			n, ok := number[text]
			if !ok {
				n = int32(len(number))
				number[text] = n
				seen, p.texts.later = append(seen, 0), append(p.texts.later, 0)
			}
			texts.of[j] = n
			if seen[n] != i+1 {
				seen[n] = i + 1
				p.texts.later[n]++
				texts.first = append(texts.first, j)
			}
		}
		p.of[c] = texts
	}
	p.texts.scores = make([][]float32, len(number))
	p.most = 4 * int64(len(e.Queries)) * p.mostTexts(chunks)
	return p, nil
}

// mostTexts returns how many texts have scores at once, at most.
func (p *TokenPool) mostTexts(chunks []*TokenChunks) (most int64) {
	left := make([]int32, len(p.texts.later))
	copy(left, p.texts.later)
	now := int64(0)
	for _, c := range chunks {
		texts := p.of[c]
		for _, j := range texts.first {
			if n := texts.of[j]; left[n] == p.texts.later[n] {
				now++
			}
		}
		most = max(most, now)
		for _, j := range texts.first {
			n := texts.of[j]
			if left[n]--; left[n] == 0 {
				now--
			}
		}
	}
	return most
}

// Equal reports whether both are the same, not copies.
func (p *TokenPool) Equal(q *TokenPool) bool { return p == q }

// MostBytes returns how much memory the scores take at most, in bytes.
func (p *TokenPool) MostBytes() int64 { return p.most }

// Prepare returns what [TokenLevel.Prepare] does for the pool's evaluation with this
// chunker, which made the chunks. Each of the chunks can be prepared once.
func (p *TokenPool) Prepare(ctx context.Context, chunker chunkers.PositionAwareChunker, chunks *TokenChunks, depth int) (*PreparedTokenLevel, error) {
	texts := p.of[chunks]
	if texts == nil {
		return nil, errors.New("preparing an evaluation: the chunks are not of this pool, or prepared already")
	}
	delete(p.of, chunks)
	defer texts.release()
	e := p.common
	e.Chunker = chunker
	return e.prepare(ctx, chunks, texts, depth)
}

// release forgets the scores that no other chunking needs.
func (p *pooledTexts) release() {
	for _, j := range p.first {
		n := p.of[j]
		if p.later[n]--; p.later[n] == 0 && p.scores[n] != nil {
			p.spare = append(p.spare, p.scores[n])
			p.scores[n] = nil
		}
	}
}

// missing returns the first chunks of the texts whose scores are not known.
func (p *pooledTexts) missing() []int {
	var list []int
	for _, j := range p.first {
		if p.scores[p.of[j]] == nil {
			list = append(list, j)
		}
	}
	return list
}

// compare sets the scores of the texts of some chunks, which have the vectors.
func (p *pooledTexts) compare(ctx context.Context, chunks []int, vectors [][]float32) error {
	rows := make([][]float32, len(chunks))
	for i := range rows {
		if last := len(p.spare) - 1; last >= 0 {
			rows[i], p.spare = p.spare[last], p.spare[:last]
		} else {
			rows[i] = make([]float32, p.queries.Len())
		}
	}
	if err := p.queries.Compare(ctx, rows, vectors); err != nil {
		return err
	}
	for i, j := range chunks {
		p.scores[p.of[j]] = rows[i]
	}
	return nil
}

// search returns what a MemoryStore's searchAndRank does, with chunks by insertion
// order.
func (p *pooledTexts) search(ctx context.Context, k int, wanted [][]int) ([][]exact.Hit, [][]int, error) {
	rows := make([][]float32, len(p.of))
	for i, n := range p.of {
		rows[i] = p.scores[n]
	}
	return exact.Select(ctx, rows, p.queries.Len(), k, wanted)
}

// poolBatch is how many texts are embedded and compared at a time.
const poolBatch = 2048

// indexPooled does what index does, with the texts of a pool.
func (d *dense[C]) indexPooled(ctx context.Context, chunks []C, queries []string, trace *tracer) (distinct int, err error) {
	p := d.pooled
	d.dim = p.dim
	missing := p.missing()
	trace.expect("embed", len(missing))
	for start := 0; start < len(missing); start += poolBatch {
		batch := missing[start:min(start+poolBatch, len(missing))]
		texts := make([]string, len(batch))
		for i, j := range batch {
			texts[i] = chunks[j].IndexText()
		}
		describe := func(i int) string { return describeChunk(chunks, batch[i]) }
		vectors, err := d.embed(ctx, trace, "embed", d.embedder.Embed, texts, start, describe)
		if err != nil {
			return 0, err
		}
		if d.dim, err = checkVectors(vectors, d.dim, describe); err != nil {
			return 0, err
		}
		if p.vectors == nil {
			found, err := d.embedQueries(ctx, queries, trace)
			if err != nil {
				return 0, err
			}
			p.dim, p.vectors, p.queries = d.dim, found, exact.NewQueries(found)
		}
		done := trace.start("index", start, len(batch))
		if err := p.compare(ctx, batch, vectors); err != nil {
			return 0, fmt.Errorf("comparing %d texts with the queries: %w", len(batch), err)
		}
		done()
	}
	return len(p.first), nil
}

// searchPooled does what search does, with the texts of a pool, and also returns the
// ranks of the chunks wanted.
func (d *dense[C]) searchPooled(ctx context.Context, chunks []C, k int, wanted [][]int) ([][]ScoredChunk[C], [][]int, error) {
	hits, ranks, err := d.pooled.search(ctx, k, wanted)
	if err != nil {
		return nil, nil, err
	}
	found := make([][]ScoredChunk[C], len(hits))
	for i := range hits {
		found[i] = make([]ScoredChunk[C], len(hits[i]))
		for j, h := range hits[i] {
			found[i][j] = ScoredChunk[C]{Chunk: chunks[h.Index], Score: float64(h.Score)}
		}
	}
	return found, ranks, nil
}
