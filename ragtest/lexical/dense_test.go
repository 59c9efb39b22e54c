package lexical

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
)

// dense is a retriever that compares the vectors of an embedder one by one.
type dense struct {
	embedder Embedder
	chunks   []chunkers.PositionAwareChunk
	vectors  [][]float32
}

func (d *dense) Index(ctx context.Context, chunks []chunkers.PositionAwareChunk) (err error) {
	d.chunks = slices.Clone(chunks)
	d.vectors, err = d.embedder.Embed(ctx, indexTexts(chunks))
	return err
}

func (d *dense) Retrieve(ctx context.Context, queries []string, k int) ([][]ragtest.ScoredChunk[chunkers.PositionAwareChunk], error) {
	vectors, err := d.embedder.Embed(ctx, queries)
	if err != nil {
		return nil, err
	}
	found := make([][]ragtest.ScoredChunk[chunkers.PositionAwareChunk], len(queries))
	for i, v := range vectors {
		order, scores := nearest(d.vectors, v, k)
		for _, j := range order {
			found[i] = append(found[i], ragtest.ScoredChunk[chunkers.PositionAwareChunk]{Chunk: d.chunks[j], Score: scores[j]})
		}
	}
	return found, nil
}

// nearest returns the indices of the k vectors with the highest dot product
// with query, best first, ties in order, and the products of all.
func nearest(vectors [][]float32, query []float32, k int) (order []int, scores []float64) {
	var nonzero []int
	for i, x := range query {
		if x != 0 {
			nonzero = append(nonzero, i)
		}
	}
	order, scores = make([]int, len(vectors)), make([]float64, len(vectors))
	for i, v := range vectors {
		var sum float32
		for _, j := range nonzero {
			sum += float32(query[j] * v[j])
		}
		order[i], scores[i] = i, float64(sum)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order[:min(k, len(order))], scores
}

func indexTexts[C chunkers.Indexed](chunks []C) []string {
	texts := make([]string, len(chunks))
	for i, c := range chunks {
		texts[i] = c.IndexText()
	}
	return texts
}

func embedAll(tb testing.TB, e Embedder, texts []string) [][]float32 {
	tb.Helper()
	vectors, err := e.Embed(tb.Context(), texts)
	if err != nil {
		tb.Fatal(err)
	}
	return vectors
}
