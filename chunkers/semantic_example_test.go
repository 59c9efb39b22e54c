package chunkers_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest/lexical"
)

const guide = `Annual leave is 28 days.
Leave that you do not take by March is lost.
Printers are on every floor.
A printer that jams is not yours to open.`

// How similar is similar enough depends on the embedder.
func ExampleSemantic() {
	c := chunkers.Semantic{Embedder: lexical.Embedder{}, Rule: chunkers.Threshold(0.1)}
	chunks, err := c.Chunk(context.Background(), guide)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c)
	for _, chunk := range chunks {
		fmt.Printf("%q\n", chunk)
	}
	// Output:
	// semantic/threshold=0.1/embedder=lexical
	// "Annual leave is 28 days.\nLeave that you do not take by March is lost.\n"
	// "Printers are on every floor.\nA printer that jams is not yours to open."
}

// Sizes are in words here; with a tokenizer they would be in tokens.
func ExampleCluster() {
	c := chunkers.Semantic{
		Embedder: lexical.Embedder{},
		Rule:     chunkers.Cluster{MaxSize: 30, UnitSize: 10},
		Length:   chunkers.Length{Name: "words", Of: func(s string) int { return len(strings.Fields(s)) }},
	}
	chunks, err := c.Chunk(context.Background(), guide)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c)
	for _, chunk := range chunks {
		fmt.Printf("%q\n", chunk)
	}
	// Output:
	// semantic/cluster=30/unitsize=10/length=words/embedder=lexical
	// "Annual leave is 28 days.\nLeave that you do not take by March is lost."
	// "\nPrinters are on every floor.\nA printer that jams is not yours to open."
}
