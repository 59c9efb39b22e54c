package lexical_test

import (
	"context"
	"fmt"
	"log"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/spans"
)

var handbook = []string{
	"To reset your password, open Settings and choose Forgot password.",
	"Invoices are sent on the first working day of each month.",
	"Employees accrue two days of paid leave for each month worked.",
}

func handbookChunks() []chunkers.Chunk {
	var chunks []chunkers.Chunk
	for _, text := range handbook {
		chunks = append(chunks, chunkers.Chunk{ID: chunkers.NewChunkID(text), Doc: "handbook.md", Text: text})
	}
	return chunks
}

func ExampleEmbedder() {
	var embedder lexical.Embedder // ready for use
	vectors, err := embedder.Embed(context.Background(), append(handbook, "resetting a forgotten password"))
	if err != nil {
		log.Fatal(err)
	}
	query := vectors[len(handbook)]
	for i, text := range handbook {
		var cosine float64 // vectors have length 1
		for j, x := range vectors[i] {
			cosine += float64(x) * float64(query[j])
		}
		fmt.Printf("%5.2f  %s\n", cosine, text)
	}
	// Output:
	//  0.64  To reset your password, open Settings and choose Forgot password.
	// -0.03  Invoices are sent on the first working day of each month.
	// -0.02  Employees accrue two days of paid leave for each month worked.
}

func ExampleEmbedder_Fit() {
	var docs []*spans.Document
	for i, text := range handbook {
		doc, err := spans.NewDocument(spans.DocumentID(fmt.Sprintf("page-%d.md", i)), text, nil)
		if err != nil {
			log.Fatal(err)
		}
		docs = append(docs, doc)
	}
	corpus, err := spans.NewCorpus(docs...)
	if err != nil {
		log.Fatal(err)
	}
	embedder := lexical.Embedder{Dim: 1024}.Fit(corpus) // for chunks and queries alike
	fmt.Println(embedder)
	// Output:
	// lexical/dim=1024/fitted=5597c08a3b8f
}

func ExampleNewBM25() {
	ctx := context.Background()
	index := lexical.NewBM25[chunkers.Chunk]()
	if err := index.Index(ctx, handbookChunks()); err != nil {
		log.Fatal(err)
	}
	found, err := index.Retrieve(ctx, []string{"When are invoices sent?"}, 2)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range found[0] {
		fmt.Printf("%.2f  %s\n", c.Score, c.Chunk.Text)
	}
	// Output:
	// 2.15  Invoices are sent on the first working day of each month.
	// 0.00  To reset your password, open Settings and choose Forgot password.
}

// frontPage stands for a second retriever, for instance a search in production.
type frontPage struct{ chunks []chunkers.Chunk }

func (f *frontPage) Index(_ context.Context, chunks []chunkers.Chunk) error {
	f.chunks = chunks
	return nil
}

func (f *frontPage) Retrieve(_ context.Context, queries []string, k int) ([][]ragtest.ScoredChunk[chunkers.Chunk], error) {
	lists := make([][]ragtest.ScoredChunk[chunkers.Chunk], len(queries))
	for i := range lists {
		for _, c := range f.chunks[:min(k, len(f.chunks))] {
			lists[i] = append(lists[i], ragtest.ScoredChunk[chunkers.Chunk]{Chunk: c})
		}
	}
	return lists, nil
}

func ExampleFuse() {
	ctx := context.Background()
	hybrid := lexical.Fuse[chunkers.Chunk](lexical.NewBM25[chunkers.Chunk](), &frontPage{})
	if err := hybrid.Index(ctx, handbookChunks()); err != nil {
		log.Fatal(err)
	}
	found, err := hybrid.Retrieve(ctx, []string{"paid leave"}, 2)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range found[0] {
		fmt.Printf("%.4f  %s\n", c.Score, c.Chunk.Text)
	}
	// Output:
	// 0.0323  Employees accrue two days of paid leave for each month worked.
	// 0.0164  To reset your password, open Settings and choose Forgot password.
}
