package ragtest_test

import (
	"context"
	"fmt"
	"log"
	"slices"
	"strings"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/spans"
)

// policy is a corpus of one document with three lines, and a query that the
// second of them answers.
func policy() (*spans.Corpus, []ragtest.TokenQuery) {
	const text = "Travel is booked by the office.\nReceipts are due within 30 days.\nMeals are paid up to 40 euros a day.\n"
	doc, err := spans.NewDocument("expenses.md", text, nil)
	if err != nil {
		log.Fatal(err)
	}
	corpus, err := spans.NewCorpus(doc)
	if err != nil {
		log.Fatal(err)
	}
	relevant, err := chunkers.Locate(doc, "Receipts are due within 30 days.")
	if err != nil {
		log.Fatal(err)
	}
	return corpus, []ragtest.TokenQuery{{
		Query:    ragtest.Query{ID: "deadline", Text: "When must I hand in receipts?"},
		Relevant: []spans.Span{relevant},
	}}
}

// A test fails when retrieval falls below its thresholds.
func ExampleRunTokenLevel() {
	_ = func(t *testing.T) {
		corpus, queries := policy()
		ragtest.RunTokenLevel(t, ragtest.TokenLevel{
			Corpus:   corpus,
			Queries:  queries,
			Chunker:  chunkers.RecursiveCharacter{Size: 40},
			Embedder: lexical.Embedder{},
			K:        2,
		}, ragtest.SpanRecall.AtLeast(0.9), ragtest.SpanMRR.AtLeast(0.5))
	}
}

// The relevant chunks are named by what they say. They are bound to the chunker:
// with another one the run ends with an error.
func ExampleRunChunkLevel() {
	_ = func(t *testing.T) {
		corpus, _ := policy()
		ragtest.RunChunkLevel(t, ragtest.ChunkLevel{
			Corpus: corpus,
			Queries: []ragtest.ChunkQuery{{
				Query:    ragtest.Query{Text: "When must I hand in receipts?"},
				Relevant: []chunkers.ChunkID{chunkers.NewChunkID("\nReceipts are due within 30 days.")},
			}},
			Chunker:  chunkers.RecursiveCharacter{Size: 40},
			Embedder: lexical.Embedder{},
		}, ragtest.ChunkRecall.AtLeast(0.9))
	}
}

// Outside of a test, Evaluate returns the result.
func ExampleTokenLevel_Evaluate() {
	corpus, queries := policy()
	result, err := ragtest.TokenLevel{
		Name:     "policy",
		Corpus:   corpus,
		Queries:  queries,
		Chunker:  chunkers.RecursiveCharacter{Size: 40},
		Embedder: lexical.Embedder{},
		K:        1,
	}.Evaluate(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	recall, _ := result.Score("span_recall")
	precision, _ := result.Score("span_precision")
	fmt.Printf("recall %.2f, precision %.2f\n", recall, precision)
	fmt.Printf("%q\n", result.Queries[0].Hits[0].Text)
	// Output:
	// recall 1.00, precision 0.97
	// "\nReceipts are due within 30 days."
}

func ExampleChunkLevel_Evaluate() {
	corpus, _ := policy()
	lines := chunkers.Func(func(_ context.Context, text string) ([]string, error) {
		return strings.Split(strings.TrimSpace(text), "\n"), nil
	})
	result, err := ragtest.ChunkLevel{
		Corpus: corpus,
		Queries: []ragtest.ChunkQuery{{
			Query:    ragtest.Query{Text: "When must I hand in receipts?"},
			Relevant: []chunkers.ChunkID{chunkers.NewChunkID("Receipts are due within 30 days.")},
		}},
		Chunker:  lines,
		Embedder: lexical.Embedder{},
		K:        2,
	}.Evaluate(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, score := range result.Metrics {
		fmt.Printf("%s %.2f\n", score.Metric, score.Value)
	}
	// Output:
	// chunk_recall 1.00
	// chunk_precision 0.50
	// chunk_f1 0.67
}

// A search that exists already is evaluated without chunker, embedder or store:
// it only has to say which spans it found.
func ExampleRetrieverFunc() {
	corpus, queries := policy()
	doc, _ := corpus.Document("expenses.md")
	search := func(_ context.Context, query string, k int) ([]ragtest.ScoredChunk[chunkers.PositionAwareChunk], error) {
		answer := "Receipts are due within 30 days." // what the service returned
		span, err := chunkers.Locate(doc, answer)
		if err != nil {
			return nil, err
		}
		return []ragtest.ScoredChunk[chunkers.PositionAwareChunk]{{
			Chunk: chunkers.PositionAwareChunk{Span: span, Text: answer},
			Score: 0.9,
		}}, nil
	}
	result, err := ragtest.TokenLevel{
		Corpus:    corpus,
		Queries:   queries,
		Retriever: ragtest.RetrieverFunc[chunkers.PositionAwareChunk](search),
	}.Evaluate(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Score("span_iou"))
	// Output: 1 true
}

// Dense makes a retriever of an embedder and a store, here for hybrid search.
func ExampleDense() {
	corpus, queries := policy()
	hybrid := lexical.Fuse(
		lexical.NewBM25[chunkers.PositionAwareChunk](),
		ragtest.Dense(lexical.Embedder{}, ragtest.NewMemoryStore[chunkers.PositionAwareChunk]()),
	)
	result, err := ragtest.TokenLevel{
		Corpus:    corpus,
		Queries:   queries,
		Chunker:   chunkers.RecursiveCharacter{Size: 40},
		Retriever: hybrid,
		K:         1,
	}.Evaluate(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Score("span_recall"))
	// Output: 1 true
}

// The conformance checks belong in the tests of your own components.
func ExampleCheckEmbedder() {
	fmt.Println(ragtest.CheckEmbedder(context.Background(), lexical.Embedder{}))
	// Output: <nil>
}

// byLength is a reranker that prefers short chunks.
type byLength struct{}

func (byLength) Rerank(ctx context.Context, query string, chunks []ragtest.ScoredChunk[chunkers.Chunk]) ([]ragtest.ScoredChunk[chunkers.Chunk], error) {
	slices.SortStableFunc(chunks, func(a, b ragtest.ScoredChunk[chunkers.Chunk]) int { return len(a.Chunk.Text) - len(b.Chunk.Text) })
	return chunks, ctx.Err()
}

// This reranker sorts in place what belongs to its caller.
func ExampleCheckReranker() {
	err := ragtest.CheckReranker(context.Background(), byLength{})
	rule, _, _ := strings.Cut(err.Error(), " to [")
	fmt.Println(rule)
	// Output: arguments: the candidates were modified
}
