package model2vec_test

import (
	"context"
	"fmt"
	"os"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/chunkers/tokens"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/model2vec"
	"github.com/rageval/rageval/spans"
)

// The model of this example is written by it, with a vocabulary of ten tokens
// and pseudo-random rows. A real one, such as potion-base-2M, is a directory with
// the same three files.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "model2vec")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := newTinyModel(3).write(dir); err != nil {
		fmt.Println(err)
		return
	}
	e, err := model2vec.Open(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	vectors, err := e.Embed(context.Background(), []string{"The cat sat on the mat.", "Cats!", "?"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Dimension(), "dimensions")
	for _, v := range vectors {
		fmt.Printf("%.3f\n", v)
	}
	// Output:
	// 3 dimensions
	// [0.114 -0.447 -0.887]
	// [0.456 -0.549 -0.701]
	// [0.000 0.000 0.000]
}

// A real model measures the chunks, embeds them, and decides where their meaning
// changes.
func ExampleEmbedder() {
	e, err := model2vec.Open("testdata/potion-base-2M")
	if err != nil {
		fmt.Println(err)
		return
	}
	var corpus *spans.Corpus         // of your documents
	var queries []ragtest.TokenQuery // with the spans that answer them
	for _, chunker := range []chunkers.PositionAwareChunker{
		chunkers.RecursiveCharacter{Size: 200, Length: tokens.Length(e.Tokenizer())},
		chunkers.Semantic{Embedder: e, Rule: chunkers.Cluster{MaxSize: 800}},
	} {
		r, err := ragtest.TokenLevel{Corpus: corpus, Queries: queries, Chunker: chunker, Embedder: e}.Evaluate(context.Background())
		if err != nil {
			fmt.Println(err)
			return
		}
		recall, _ := r.Score("span_recall")
		fmt.Println(r.Components.Chunker, recall)
	}
}
