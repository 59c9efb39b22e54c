// Package chunklevel evaluates against chunk-level ground truth: which chunks
// are relevant to each query, by ID.
//
// An ID is the hash of a chunk's text, so the ground truth is bound to the
// chunker that made the chunks. It is cheap to write down, and has to be made
// again when the chunker changes:
//
//	RAGTEST_UPDATE=1 go test ./examples/chunklevel
//
// To compare chunkers, use token-level ground truth: see the quickstart.
package chunklevel

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/spans"
	"github.com/stretchr/testify/require"
)

// chunker is the production chunker. Every ID in the golden file depends on it.
var chunker = chunkers.RecursiveCharacter{Size: 500, Trim: true}

func TestHandbookChunks(t *testing.T) {
	corpus, err := fixtures.ReadDir("../quickstart/testdata/handbook")
	require.NoError(t, err)
	queries := fixtures.GoldenChunk(t, "testdata/handbook.chunks.jsonl", false,
		func(ctx context.Context) ([]ragtest.ChunkQuery, error) { return label(ctx, corpus) })
	require.Len(t, queries, len(questions))

	result := ragtest.RunChunkLevel(t, ragtest.ChunkLevel{
		Corpus:    corpus,
		Queries:   queries,
		Chunker:   chunker,
		Retriever: lexical.NewBM25[chunkers.Chunk](),
		K:         5,
		Metrics:   []ragtest.ChunkMetric{ragtest.ChunkRecall, ragtest.ChunkPrecision, ragtest.ChunkMRR, ragtest.ChunkNDCG},
	}, ragtest.ChunkRecall.AtLeast(0.8), ragtest.ChunkMRR.AtLeast(0.6))

	// What a test wants to know beyond thresholds is in the result.
	for _, query := range result.Queries {
		for _, missed := range query.Missed {
			t.Logf("%s missed a chunk of %s: %.60q", query.ID, missed.Doc, missed.Text)
		}
	}
}

// Ground truth of another chunker is not silently scored 0: it is an error.
func TestGroundTruthIsBoundToItsChunker(t *testing.T) {
	corpus, err := fixtures.ReadDir("../quickstart/testdata/handbook")
	require.NoError(t, err)
	queries, err := label(t.Context(), corpus)
	require.NoError(t, err)
	_, err = ragtest.ChunkLevel{
		Corpus:   corpus,
		Queries:  queries,
		Chunker:  chunkers.RecursiveCharacter{Size: 300, Trim: true},
		Embedder: lexical.Embedder{},
	}.Evaluate(t.Context())
	require.ErrorContains(t, err, "another chunker or corpus")
}

// questions pairs each query with a phrase that its relevant chunks contain.
var questions = []struct{ id, query, phrase string }{
	{"api-limit-v2", "How many requests per minute does version 2 of the API allow?", "600 requests per minute"},
	{"claim-deadline", "How long do I have to hand in a receipt?", "within 60 days of the purchase"},
	{"cfo-approval", "When does the CFO have to approve a purchase?", "**and** the CFO"},
	{"hotel-cap", "What is the most I may spend on a hotel?", "up to €130 per night"},
	{"idempotency", "For how long does the server remember an idempotency key?", "remembers keys for 24 hours"},
	{"kilometre-rate", "What do I get per kilometre in my own car?", "€0.30 per kilometre"},
	{"lost-receipt", "I lost the receipt, which form do I fill in?", "Eigenbeleg"},
	{"old-observations", "Are observations from two months ago accepted?", "older than 30 days"},
	{"token-expiry", "When does an API token expire?", "expire after 180 days"},
}

// label marks as relevant the chunks that contain a query's phrase: here a
// stand-in for the people or the model who label chunks in earnest.
func label(ctx context.Context, corpus *spans.Corpus) ([]ragtest.ChunkQuery, error) {
	queries := make([]ragtest.ChunkQuery, len(questions))
	for i, q := range questions {
		queries[i].Query = ragtest.Query{ID: ragtest.QueryID(q.id), Text: q.query, Metadata: map[string]string{"chunker": chunker.String()}}
		for doc := range corpus.All() {
			texts, err := chunker.Chunk(ctx, doc.Text())
			if err != nil {
				return nil, err
			}
			for _, text := range texts {
				if strings.Contains(text, q.phrase) {
					queries[i].Relevant = append(queries[i].Relevant, chunkers.NewChunkID(text))
				}
			}
		}
		if len(queries[i].Relevant) == 0 {
			return nil, fmt.Errorf("query %s: no chunk contains %q", q.id, q.phrase)
		}
	}
	return queries, nil
}
