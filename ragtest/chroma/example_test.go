package chroma_test

import (
	"context"
	"fmt"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest/chroma"
	"github.com/rageval/rageval/spans"
)

// In a test, call Close with t.Cleanup, and give the store to the Store field of
// an evaluation. The zero Config means the server that CHROMA_ENDPOINT names,
// else the one that "chroma run" starts.
func Example() {
	server := startServer() // stands for yours, so that the example runs anywhere
	defer server.Close()

	ctx := context.Background()
	store, err := chroma.New[chunkers.PositionAwareChunk](ctx, chroma.Config{Endpoint: server.URL, HNSW: chroma.HNSW{EFSearch: 400}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() {
		if err := store.Close(); err != nil {
			fmt.Println(err)
		}
	}()
	err = store.Add(ctx, []chunkers.PositionAwareChunk{
		{Span: spans.Span{Doc: "compass.md", Start: 0, End: 4}, Text: "east"},
		{Span: spans.Span{Doc: "compass.md", Start: 5, End: 10}, Text: "north"},
	}, [][]float32{{1, 0}, {0, 1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	found, err := store.Search(ctx, []float32{0.6, 0.8}, 5)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(store)
	for _, f := range found {
		fmt.Printf("%.2f %v %s\n", f.Score, f.Chunk.Span, f.Chunk.Text)
	}
	// Output:
	// chroma/ef_search=400
	// 0.80 compass.md[5:10] north
	// 0.60 compass.md[0:4] east
}
