package pgvector_test

import (
	"context"
	"os"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/ragtest/pgvector"
	"github.com/rageval/rageval/spans"
)

// In a test: the evaluation of a corpus, which skips itself where there is no
// server.
func ExampleOpen() {
	var (
		t       *testing.T // of the test
		corpus  *spans.Corpus
		queries []ragtest.TokenQuery
	)
	_ = func() {
		dsn := os.Getenv("RAGTEST_PG_DSN")
		if dsn == "" {
			t.Skip("RAGTEST_PG_DSN is not set")
		}
		store, err := pgvector.Open[chunkers.PositionAwareChunk](t.Context(), dsn, pgvector.Options{
			HNSW: &pgvector.HNSW{EfSearch: 100}, // as in production; without: exact search
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := store.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
		ragtest.RunTokenLevel(t, ragtest.TokenLevel{
			Corpus:   corpus,
			Queries:  queries,
			Chunker:  chunkers.RecursiveCharacter{Size: 400},
			Embedder: lexical.Embedder{},
			Store:    store,
		}, ragtest.SpanRecall.AtLeast(0.8))
	}
	// Output:
}
