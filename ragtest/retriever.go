package ragtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"unicode/utf8"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/parallel"
)

// callsAtOnce bounds how many calls of a component are under way at once. It
// does not follow GOMAXPROCS: such calls mostly wait for a network.
const callsAtOnce = 4

// RetrieverFunc is a [Retriever] that searches what is indexed already, such as
// a service in production: Index does nothing. The function returns up to k
// chunks, best first, and is called from several goroutines at once.
type RetrieverFunc[C any] func(ctx context.Context, query string, k int) ([]ScoredChunk[C], error)

// Index does nothing.
func (f RetrieverFunc[C]) Index(context.Context, []C) error { return nil }

// Retrieve calls f for each query, a bounded number at once.
func (f RetrieverFunc[C]) Retrieve(ctx context.Context, queries []string, k int) ([][]ScoredChunk[C], error) {
	return f.retrieve(ctx, queries, k, nil)
}

func (f RetrieverFunc[C]) retrieve(ctx context.Context, queries []string, k int, trace *tracer) ([][]ScoredChunk[C], error) {
	return each(ctx, queries, trace, func(ctx context.Context, i int) ([]ScoredChunk[C], error) { return f(ctx, queries[i], k) })
}

// each retrieves for one query after the other, several at once.
func each[C any](ctx context.Context, queries []string, trace *tracer, retrieve func(ctx context.Context, i int) ([]ScoredChunk[C], error)) ([][]ScoredChunk[C], error) {
	lists := make([][]ScoredChunk[C], len(queries))
	err := parallel.Do(ctx, callsAtOnce, len(queries), func(ctx context.Context, i int) (err error) {
		done := trace.start("retrieve", i, 1)
		if lists[i], err = retrieve(ctx, i); err != nil {
			return fmt.Errorf("query %d (%q): %w", i, abbreviate(queries[i], 60), err)
		}
		done()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return lists, nil
}

// Dense returns the retriever that embeds chunks and queries with e and
// searches s for the nearest. A nil s is [NewMemoryStore]; e must not be nil.
// An evaluation makes one itself of its Embedder and Store: Dense is for the
// places that take a retriever. Queries are embedded with EmbedQueries where e
// is a [QueryEmbedder]. Since stores only append, Index can be called once.
func Dense[C chunkers.Indexed](e Embedder, s VectorStore[C]) Retriever[C] {
	if e == nil || holdsNil(e) {
		panic("ragtest.Dense: nil Embedder")
	}
	if holdsNil(s) {
		panic(fmt.Sprintf("ragtest.Dense: the store holds a nil %T: pass nil for a MemoryStore", s))
	}
	return newDense(e, s)
}

const (
	embedBatch = 256  // texts in one call of an embedder
	addBatch   = 4096 // chunks in one call of a store's Add
)

type dense[C chunkers.Indexed] struct {
	embedder Embedder
	store    VectorStore[C]
	exact    *MemoryStore[C] // what the store is compared with; nil: it is exact itself, or nobody asks
	indexed  atomic.Bool
	chars    int          // of the distinct texts
	dim      int          // of the indexed vectors; 0: none
	pooled   *pooledTexts // stands for the store; nil: it does itself
}

func newDense[C chunkers.Indexed](e Embedder, s VectorStore[C]) *dense[C] {
	if s == nil {
		s = NewMemoryStore[C]()
	}
	return &dense[C]{embedder: e, store: s}
}

// compareWithExactSearch has Index keep the vectors in a MemoryStore too, unless the
// store is one.
func (d *dense[C]) compareWithExactSearch() {
	if _, exact := d.store.(*MemoryStore[C]); !exact {
		d.exact = NewMemoryStore[C]()
	}
}

func (d *dense[C]) String() string {
	return fmt.Sprintf("dense(%s,%s)", nameOf(d.embedder), nameOf(d.store))
}

// Validate returns the error of the embedder or the store, if they can tell one.
func (d *dense[C]) Validate() error {
	for _, component := range []any{d.embedder, d.store} {
		if v, ok := component.(chunkers.Validator); ok {
			if err := v.Validate(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Index embeds each distinct text once and adds the chunks to the store in
// order.
func (d *dense[C]) Index(ctx context.Context, chunks []C) error {
	_, err := d.index(ctx, chunks, nil)
	return err
}

// index returns the number of distinct texts. It goes through the chunks in
// blocks and keeps only the vectors of texts that come again, so that it needs
// little memory beside the store's.
func (d *dense[C]) index(ctx context.Context, chunks []C, trace *tracer) (distinct int, err error) {
	if d.indexed.Swap(true) {
		return 0, errors.New("the dense retriever was indexed before, and its store can only append: give each evaluation a fresh one")
	}
	uses := make(map[string]int, len(chunks))
	for _, c := range chunks {
		uses[c.IndexText()]++
	}
	distinct = len(uses)
	trace.expect("embed", distinct)
	vectorOf := map[string][]float32{}
	embedded := 0
	for start := 0; start < len(chunks); start += addBatch {
		block := chunks[start:min(start+addBatch, len(chunks))]
		var texts []string
		var firstUse []int // of texts[i], as an index of chunks
		for i, c := range block {
			text := c.IndexText()
			if _, ok := vectorOf[text]; !ok {
				vectorOf[text] = nil
				texts = append(texts, text)
				firstUse = append(firstUse, start+i)
			}
		}
		describe := func(i int) string { return describeChunk(chunks, firstUse[i]) }
		vectors, err := d.embed(ctx, trace, "embed", d.embedder.Embed, texts, embedded, describe)
		if err != nil {
			return 0, err
		}
		if d.dim, err = checkVectors(vectors, d.dim, describe); err != nil {
			return 0, err
		}
		embedded += len(texts)
		for i, text := range texts {
			vectorOf[text] = vectors[i]
			d.chars += utf8.RuneCountInString(text)
		}
		added := make([][]float32, len(block))
		for i, c := range block {
			text := c.IndexText()
			added[i] = vectorOf[text]
			if uses[text]--; uses[text] == 0 {
				delete(vectorOf, text)
			}
		}
		done := trace.start("index", start, len(block))
		if err := d.store.Add(ctx, block, added); err != nil {
			return 0, fmt.Errorf("adding chunks %d to %d to the store: %w", start, start+len(block)-1, err)
		}
		if d.exact != nil {
			if err := d.exact.Add(ctx, block, added); err != nil {
				return 0, fmt.Errorf("adding chunks %d to %d to the store for comparison: %w", start, start+len(block)-1, err)
			}
		}
		done()
	}
	return distinct, nil
}

// Retrieve embeds the queries and searches the store for each.
func (d *dense[C]) Retrieve(ctx context.Context, queries []string, k int) ([][]ScoredChunk[C], error) {
	vectors, err := d.embedQueries(ctx, queries, nil)
	if err != nil {
		return nil, err
	}
	return d.search(ctx, queries, vectors, k, nil)
}

func (d *dense[C]) embedQueries(ctx context.Context, queries []string, trace *tracer) ([][]float32, error) {
	call := d.embedder.Embed
	if q, ok := d.embedder.(QueryEmbedder); ok {
		call = q.EmbedQueries
	}
	describe := func(i int) string { return fmt.Sprintf("query %d (%q)", i, abbreviate(queries[i], 60)) }
	vectors, err := d.embed(ctx, trace, "embed queries", call, queries, 0, describe)
	if err != nil {
		return nil, err
	}
	_, err = checkVectors(vectors, d.dim, describe)
	return vectors, err
}

// embed embeds texts in batches, several at once. first is the number of texts
// of this stage that went before.
func (d *dense[C]) embed(ctx context.Context, trace *tracer, stage string, call func(context.Context, []string) ([][]float32, error),
	texts []string, first int, describe func(i int) string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	batches := (len(texts) + embedBatch - 1) / embedBatch
	err := parallel.Do(ctx, callsAtOnce, batches, func(ctx context.Context, b int) error {
		start := b * embedBatch
		batch := texts[start:min(start+embedBatch, len(texts))]
		done := trace.start(stage, first+start, len(batch))
		got, err := call(ctx, slices.Clone(batch))
		if err != nil {
			more := ""
			if len(batch) > 1 {
				more = fmt.Sprintf(" and %d more", len(batch)-1)
			}
			return fmt.Errorf("embedding %s%s: %w", describe(start), more, err)
		}
		if len(got) != len(batch) {
			return fmt.Errorf("embedding %s: got %d vectors for the %d texts of the batch", describe(start+min(len(got), len(batch)-1)), len(got), len(batch))
		}
		done()
		copy(vectors[start:], got)
		return nil
	})
	return vectors, err
}

// checkVectors returns the dimension of the vectors: dim, if it is not 0.
func checkVectors(vectors [][]float32, dim int, describe func(i int) string) (int, error) {
	for i, v := range vectors {
		switch {
		case len(v) == 0:
			return 0, fmt.Errorf("embedding %s: got an empty vector", describe(i))
		case dim == 0:
			dim = len(v)
		case len(v) != dim:
			return 0, fmt.Errorf("embedding %s: got a vector of dimension %d, want %d like the others", describe(i), len(v), dim)
		}
		if !finite(v) {
			j := slices.IndexFunc(v, func(x float32) bool { return x*0 != 0 })
			return 0, fmt.Errorf("embedding %s: component %d of the vector is %v, want a finite number", describe(i), j, v[j])
		}
	}
	return dim, nil
}

// finite reports whether no component of v is NaN or infinite: only those are
// not 0 when multiplied by 0. Four sums, since each waits for the last addition.
func finite(v []float32) bool {
	var a, b, c, d float32
	for ; len(v) >= 4; v = v[4:] {
		a += v[0] * 0
		b += v[1] * 0
		c += v[2] * 0
		d += v[3] * 0
	}
	for _, x := range v {
		a += x * 0
	}
	return a+b+c+d == 0
}

func (d *dense[C]) search(ctx context.Context, queries []string, vectors [][]float32, k int, trace *tracer) ([][]ScoredChunk[C], error) {
	b, ok := d.store.(BatchSearcher[C])
	if !ok {
		return each(ctx, queries, trace, func(ctx context.Context, i int) ([]ScoredChunk[C], error) { return d.store.Search(ctx, vectors[i], k) })
	}
	done := trace.start("retrieve", 0, len(queries))
	defer done()
	return b.SearchBatch(ctx, vectors, k)
}
