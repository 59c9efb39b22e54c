package onnx_test

import (
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/onnx"
)

// A test of retrieval with a model that was downloaded into models/e5-small-v2.
func ExampleEmbedder() {
	test := func(t *testing.T, c *fixtures.TokenCollection) {
		embedder := &onnx.Embedder{
			Model:    onnx.Model{Dir: "models/e5-small-v2"},
			Prefixes: &onnx.Prefixes{Query: "query: ", Passage: "passage: "},
		}
		t.Cleanup(func() { embedder.Close() })
		ragtest.RunTokenLevel(t, ragtest.TokenLevel{
			Corpus:   c.Corpus,
			Queries:  c.Queries,
			Chunker:  chunkers.RecursiveCharacter{Size: 800},
			Embedder: embedder,
		}, ragtest.SpanRecall.AtLeast(0.8))
	}
	_ = test
}

// The same with a reranker, which reads the query and each of 20 candidates
// together and of which the best 5 count.
func ExampleCrossEncoder() {
	test := func(t *testing.T, c *fixtures.TokenCollection) {
		embedder := &onnx.Embedder{Model: onnx.Model{Dir: "models/all-MiniLM-L6-v2"}}
		t.Cleanup(func() { embedder.Close() })
		reranker := &onnx.CrossEncoder[chunkers.PositionAwareChunk]{Model: onnx.Model{Dir: "models/ms-marco-MiniLM-L-6-v2"}}
		t.Cleanup(func() { reranker.Close() })
		ragtest.RunTokenLevel(t, ragtest.TokenLevel{
			Corpus:   c.Corpus,
			Queries:  c.Queries,
			Chunker:  chunkers.RecursiveCharacter{Size: 800},
			Embedder: embedder,
			Reranker: reranker,
			K:        5,
			FetchK:   20,
		}, ragtest.SpanRecall.AtLeast(0.85))
	}
	_ = test
}
