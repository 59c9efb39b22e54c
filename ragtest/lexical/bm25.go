package lexical

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/parallel"
	"github.com/rageval/rageval/ragtest"
)

// BM25 is a [ragtest.Retriever] that ranks chunks by Okapi BM25 (Robertson &
// Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond").
//
// The score of a chunk is the sum, over the terms of the query, each as often as
// the query holds it, of
//
//	idf · f·(K1+1) / (f + K1·(1 - B + B·length/average))
//
// where f is how often the chunk holds the term, length is the number of the
// chunk's terms and average the mean of that over all chunks. The inverse
// document frequency is that of Lucene, ln(1 + (n-df+0.5)/(df+0.5)) for a term in
// df of n chunks, which is never negative. Terms are those of the package
// documentation: stemmed, and without stop words, unless Plain is set.
//
// Every chunk is ranked: those that share no term with the query have the score
// 0 and follow in the order in which they were indexed, as chunks of equal score
// do. Scores are the same on every machine: each term's part is rounded to 32
// bits and they are added in the order of the query's terms.
//
// Retrieve may be called from several goroutines at once, but not during Index.
// Indexing takes time linear in the texts; a query takes time linear in the
// occurrences of its terms and in the number of chunks.
type BM25[C chunkers.Indexed] struct {
	// K1 is how slowly repetitions of a term lose their effect, from 0: they have
	// none. B is how much long chunks are penalised, from 0: not at all, to 1: in
	// proportion to their length. Index reads both. Zero is a value of its own,
	// not a default: NewBM25 sets 1.2 and 0.75.
	K1, B float64

	// Plain takes tokens as terms as they are, neither stemmed nor without stop
	// words, as many published baselines do. Index reads it.
	Plain bool

	plain    bool // of what is indexed
	chunks   []C
	terms    map[string]int32
	starts   []int // where the postings of each term start, and the end
	postings []posting
}

// posting is a chunk that holds a term, and what the term adds to its score.
type posting struct {
	chunk int32
	score float32
}

// NewBM25 returns an empty index with K1 = 1.2 and B = 0.75, the usual values.
func NewBM25[C chunkers.Indexed]() *BM25[C] { return &BM25[C]{K1: 1.2, B: 0.75} }

// Validate returns an error if K1 is negative or not finite, or B not within
// [0, 1].
func (r *BM25[C]) Validate() error {
	const largest = 1e6 // far above any use: such K1 leave frequencies as they are
	if !(r.K1 >= 0 && r.K1 <= largest) {
		return fmt.Errorf("lexical.BM25: K1 is %v: want 0 <= K1 <= %v", r.K1, largest)
	}
	if !(r.B >= 0 && r.B <= 1) {
		return fmt.Errorf("lexical.BM25: B is %v: want 0 <= B <= 1", r.B)
	}
	return nil
}

// String returns the name of the retriever and its options, such as
// "bm25/k1=1.2/b=0.75".
func (r *BM25[C]) String() string {
	name := fmt.Sprintf("bm25/k1=%v/b=%v", r.K1, r.B)
	if r.Plain {
		name += "/plain"
	}
	return name
}

// Index replaces what the index held by the chunks. If it fails, because
// Validate does or the context is done, the index is left as it was.
func (r *BM25[C]) Index(ctx context.Context, chunks []C) error {
	if err := r.Validate(); err != nil {
		return err
	}
	parts, err := countChunks(ctx, chunks, r.Plain)
	if err != nil {
		return fmt.Errorf("indexing %d chunks: %w", len(chunks), err)
	}

	terms := make(map[string]int32)
	var df []int
	total := 0
	for _, p := range parts {
		p.global = make([]int32, len(p.terms))
		for i, text := range p.terms {
			term, ok := terms[text]
			if !ok {
				term = int32(len(df))
				terms[text] = term
				df = append(df, 0)
			}
			p.global[i] = term
		}
		for _, c := range p.counts {
			df[p.global[c.term]]++
		}
		for _, n := range p.lengths {
			total += n
		}
	}

	starts := make([]int, len(df)+1)
	idf := make([]float32, len(df))
	for term, n := range df {
		starts[term+1] = starts[term] + n
		idf[term] = inverseFrequency(len(chunks), n)
	}
	average := float64(total) / float64(max(len(chunks), 1))
	postings := make([]posting, starts[len(df)])
	next := slices.Clone(starts)
	chunk := int32(0)
	for _, p := range parts {
		counts := p.counts
		for i, n := range p.lengths {
			longer := 1.0
			if average > 0 {
				longer = float64(n) / average
			}
			norm := float64(r.K1 * (float64(1-r.B) + float64(r.B*longer)))
			for _, c := range counts[:p.distinct[i]] {
				f := float64(c.n)
				saturated := float64(f*(r.K1+1)) / (f + norm)
				term := p.global[c.term]
				postings[next[term]] = posting{chunk, float32(float64(idf[term]) * saturated)}
				next[term]++
			}
			counts = counts[p.distinct[i]:]
			chunk++
		}
	}
	r.plain, r.chunks, r.terms, r.starts, r.postings = r.Plain, slices.Clone(chunks), terms, starts, postings
	return nil
}

// part is a sequence of chunks whose terms were counted together.
type part struct {
	terms    []string    // by the part's own numbers
	global   []int32     // the index's number of each
	counts   []termCount // of one chunk after the other
	distinct []int       // how many of them belong to each chunk
	lengths  []int       // the number of terms of each chunk
}

type termCount struct{ term, n int32 }

// countChunks counts the terms of all chunks, one part of them on each
// processor.
func countChunks[C chunkers.Indexed](ctx context.Context, chunks []C, plain bool) ([]*part, error) {
	parts := make([]*part, min(runtime.GOMAXPROCS(0), len(chunks)))
	err := parallel.Do(ctx, len(parts), len(parts), func(ctx context.Context, i int) error {
		l, p := newLexicon(), new(part)
		l.plain = plain
		for _, chunk := range chunks[i*len(chunks)/len(parts) : (i+1)*len(chunks)/len(parts)] {
			if err := ctx.Err(); err != nil {
				return err
			}
			p.lengths = append(p.lengths, l.count(chunk.IndexText()))
			p.distinct = append(p.distinct, len(l.distinct))
			for _, term := range l.distinct {
				p.counts = append(p.counts, termCount{term, l.counts[term]})
			}
		}
		p.terms = l.terms
		parts[i] = p
		return nil
	})
	return parts, err
}

// Retrieve returns the k best chunks for each query, or all if there are fewer.
// A negative k is an error.
func (r *BM25[C]) Retrieve(ctx context.Context, queries []string, k int) ([][]ragtest.ScoredChunk[C], error) {
	return r.retrieve(ctx, queries, k, true)
}

// retrieveMatches is Retrieve without chunks that share no term with the query.
func (r *BM25[C]) retrieveMatches(ctx context.Context, queries []string, k int) ([][]ragtest.ScoredChunk[C], error) {
	return r.retrieve(ctx, queries, k, false)
}

func (r *BM25[C]) retrieve(ctx context.Context, queries []string, k int, fill bool) ([][]ragtest.ScoredChunk[C], error) {
	if k < 0 {
		return nil, fmt.Errorf("retrieving %d chunks: want 0 or more", k)
	}
	found := make([][]ragtest.ScoredChunk[C], len(queries))
	parts := min(runtime.GOMAXPROCS(0), len(queries))
	err := parallel.Do(ctx, parts, parts, func(ctx context.Context, i int) error {
		s := &searcher{lexicon: newLexicon(), scores: make([]float64, len(r.chunks))}
		s.lexicon.plain = r.plain
		for q := i * len(queries) / parts; q < (i+1)*len(queries)/parts; q++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			best := s.search(queries[q], r.terms, r.starts, r.postings, k, fill)
			found[q] = make([]ragtest.ScoredChunk[C], len(best))
			for j, b := range best {
				found[q][j] = ragtest.ScoredChunk[C]{Chunk: r.chunks[b.chunk], Score: b.score}
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("retrieving for %d queries: %w", len(queries), err)
	}
	return found, nil
}
