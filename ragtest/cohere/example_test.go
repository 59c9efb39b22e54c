package cohere_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/cohere"
)

// Ten candidates of the retriever for every chunk that is judged, put in order by
// Cohere. This example is compiled, not run: it needs CO_API_KEY.
func Example() {
	evaluation := ragtest.TokenLevel{
		// Corpus, Queries and Chunker as in any evaluation.
		Embedder: cohere.Embedder{PricePerMillion: 0.12},
		Reranker: cohere.Reranker[chunkers.PositionAwareChunk]{
			Model:            "rerank-v3.5",
			PricePerThousand: 2,
		},
		K:      5,
		FetchK: 50,
	}
	result, err := evaluation.Evaluate(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Diagnostics.Usage)
}

// A local server of Text Embeddings Inference, here one that counts the words of
// the query.
func ExampleReranker() {
	tei := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			Query string
			Texts []string
		}
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		type rank struct {
			Index int     `json:"index"`
			Score float64 `json:"score"`
		}
		var ranks []rank
		for i, text := range request.Texts {
			score := 0.0
			for word := range strings.FieldsSeq(request.Query) {
				if strings.Contains(text, word) {
					score += 0.5
				}
			}
			ranks = append(ranks, rank{i, score})
		}
		json.NewEncoder(w).Encode(ranks)
	}))
	defer tei.Close()

	var candidates []ragtest.ScoredChunk[chunkers.Chunk]
	for _, text := range []string{"Invoices are sent monthly.", "Passwords expire.", "To reset passwords, open Settings."} {
		candidates = append(candidates, ragtest.ScoredChunk[chunkers.Chunk]{Chunk: chunkers.Chunk{ID: chunkers.NewChunkID(text), Text: text}})
	}
	reranker := cohere.Reranker[chunkers.Chunk]{API: cohere.TEI, BaseURL: tei.URL}
	reranked, err := reranker.Rerank(context.Background(), "reset passwords", candidates)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range reranked {
		fmt.Println(c.Score, c.Chunk.Text)
	}
	// Output:
	// 1 To reset passwords, open Settings.
	// 0 Invoices are sent monthly.
	// 0 Passwords expire.
}

// Chunks and queries of an asymmetric model are embedded differently. This
// example is compiled, not run: it needs CO_API_KEY.
func ExampleEmbedder() {
	ctx := context.Background()
	embedder := cohere.Embedder{Dimensions: 512}
	chunks, err := embedder.Embed(ctx, []string{"To reset your password, open Settings."})
	if err != nil {
		log.Fatal(err)
	}
	queries, err := embedder.EmbedQueries(ctx, []string{"I forgot my password"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(chunks[0]), len(queries[0]))
}
