package cohere_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/rageval/rageval/ragtest/cohere"
)

// What the client itself costs for the most documents of one request.
func BenchmarkRerank1000(b *testing.B) {
	texts := make([]string, 1000)
	results := make([]map[string]any, len(texts))
	for i := range texts {
		texts[i] = fmt.Sprintf("chunk %d, some two hundred characters long, as chunks are, so that the request has a size that is near that of a real one, which matters, for it is written as JSON once for each attempt", i)
		results[i] = map[string]any{"index": i, "relevance_score": float64((i*7919)%1000) / 1000}
	}
	r := reranker{APIKey: "k", Transport: fixed(encode(map[string]any{"results": results}))}
	given := candidates(texts...)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Rerank(b.Context(), "q", given); err != nil {
			b.Fatal(err)
		}
	}
}

// What the client itself costs for the most texts of one request.
func BenchmarkEmbed96(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	vectors := make([][]float32, 96)
	for i := range vectors {
		vectors[i] = make([]float32, 1536)
		for j := range vectors[i] {
			vectors[i][j] = rng.Float32()
		}
	}
	e := cohere.Embedder{APIKey: "k", Transport: fixed(encode(map[string]any{"embeddings": map[string]any{"float": vectors}}))}
	texts := make([]string, len(vectors))
	for i := range texts {
		texts[i] = fmt.Sprintf("text %d", i)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Embed(b.Context(), texts); err != nil {
			b.Fatal(err)
		}
	}
}
