package ragtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

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
	next   []*pooledTexts // that are not prepared yet
	texts  *textPool
}

// textPool are the distinct texts of several chunkings, by number.
type textPool struct {
	later   []int // how many chunkings that have the text are not prepared yet
	row     []int // of its scores; -1 if they are not known, or not needed any more
	most    int   // how many texts have scores at once
	scores  *exact.Scores
	spare   []int       // rows without scores
	dim     int         // of the vectors
	vectors [][]float32 // of the queries; nil: nothing is embedded yet
	queries *exact.Queries
	truth   *tokenLevel // one that has prepared; nil: none has yet
}

// pooledTexts are the texts of one chunking.
type pooledTexts struct {
	*textPool
	chunks *TokenChunks
	of     []int // the number of each chunk's text
	first  []int // the first chunk with each text
}

// NewTokenPool returns a pool for evaluations that are like e but for the chunker. The
// chunks are those of all chunkers, in the order in which they will be prepared. It is
// an error if e has no Embedder, or a Store.
func NewTokenPool(e TokenLevel, chunks ...*TokenChunks) (*TokenPool, error) {
	switch {
	case e.Embedder == nil:
		return nil, errors.New("pooling texts: field Embedder: nil, want one")
	case e.Store != nil:
		return nil, errors.New("pooling texts: field Store: set, want nil for a MemoryStore")
	}
	pool := &textPool{}
	p := &TokenPool{common: e, texts: pool}
	number := map[string]int{}
	var last []int // by text: the number of the chunking, from 1, that had it last
	for i, c := range chunks {
		if c == nil || c.corpus != e.Corpus {
			return nil, fmt.Errorf("pooling texts: chunks %d are none, or of another corpus", i)
		}
		t := &pooledTexts{textPool: pool, chunks: c, of: make([]int, len(c.all))}
		for j, chunk := range c.all {
			text := chunk.IndexText()
			n, ok := number[text]
			if !ok {
				n = len(number)
				number[text] = n
				last, pool.later = append(last, 0), append(pool.later, 0)
			}
			t.of[j] = n
			if last[n] != i+1 {
				last[n] = i + 1
				pool.later[n]++
				t.first = append(t.first, j)
			}
		}
		p.next = append(p.next, t)
	}
	pool.row = slices.Repeat([]int{-1}, len(number))
	pool.most = p.mostTexts()
	return p, nil
}

// mostTexts returns how many texts will have scores at once.
func (p *TokenPool) mostTexts() int {
	later := slices.Clone(p.texts.later)
	now, most := 0, 0
	for _, t := range p.next {
		for _, j := range t.first {
			if n := t.of[j]; later[n] == p.texts.later[n] {
				now++
			}
		}
		most = max(most, now)
		for _, j := range t.first {
			n := t.of[j]
			if later[n]--; later[n] == 0 {
				now--
			}
		}
	}
	return most
}

// Equal reports whether both are the same, not copies.
func (p *TokenPool) Equal(q *TokenPool) bool { return p == q }

// Bytes returns how much memory the scores take, in bytes.
func (p *TokenPool) Bytes() int64 { return exact.ScoresBytes(p.texts.most, len(p.common.Queries)) }

// Prepare returns what [TokenLevel.Prepare] does for the pool's evaluation with this
// chunker, which made the chunks. They must be those whose turn it is.
func (p *TokenPool) Prepare(ctx context.Context, chunker chunkers.PositionAwareChunker, chunks *TokenChunks, depth int) (*PreparedTokenLevel, error) {
	if len(p.next) == 0 || p.next[0].chunks != chunks {
		return nil, errors.New("preparing an evaluation: it is not the turn of these chunks in their pool")
	}
	t := p.next[0]
	p.next[0] = nil // lest they stay in memory
	p.next = p.next[1:]
	defer t.release()
	e := p.common
	e.Chunker = chunker
	return e.prepare(ctx, chunks, t, depth)
}

// release forgets the scores that no other chunking needs.
func (p *pooledTexts) release() {
	for _, j := range p.first {
		n := p.of[j]
		if p.later[n]--; p.later[n] == 0 && p.row[n] >= 0 {
			p.spare = append(p.spare, p.row[n])
			p.row[n] = -1
		}
	}
}

// missing returns the first chunks of the texts whose scores are not known.
func (p *pooledTexts) missing() []int {
	var list []int
	for _, j := range p.first {
		if p.row[p.of[j]] < 0 {
			list = append(list, j)
		}
	}
	return list
}

// compare sets the scores of the texts of some chunks, which have the vectors.
func (p *pooledTexts) compare(ctx context.Context, chunks []int, vectors [][]float32) error {
	rows := p.spare[len(p.spare)-len(chunks):]
	if err := p.queries.Compare(ctx, p.scores, rows, vectors); err != nil {
		return err
	}
	for i, j := range chunks {
		p.row[p.of[j]] = rows[i]
	}
	p.spare = p.spare[:len(p.spare)-len(chunks)]
	return nil
}

// search returns what a MemoryStore's searchAndRank does, with chunks by insertion
// order.
func (p *pooledTexts) search(ctx context.Context, k int, wanted [][]int) ([][]exact.Hit, [][]int, error) {
	rows := make([]int, len(p.of))
	for i, n := range p.of {
		rows[i] = p.row[n]
	}
	return p.scores.Search(ctx, rows, k, wanted)
}

// poolBatch is how many texts are embedded and compared at a time.
const poolBatch = 2048

// indexPooled does what index does, with the texts of a pool.
func (d *dense[C]) indexPooled(ctx context.Context, chunks []C, queries []string, trace *tracer) (distinct int, err error) {
	p := d.pooled
	d.dim = p.dim
	for _, j := range p.first {
		d.chars += utf8.RuneCountInString(chunks[j].IndexText())
	}
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
			p.scores = exact.NewScores(p.most, len(found))
			for row := range p.most {
				p.spare = append(p.spare, row)
			}
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
