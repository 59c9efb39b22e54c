package ragtest_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/spans"
)

// Two machines share a corpus: each writes the part of its shard to a file, and one of
// them, which has both files, finds what it would have found alone.
func ExampleTokenLevel_Plan() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "parts")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	var docs []*spans.Document
	for i, text := range []string{"Travel is booked by the office.\n", "Receipts are due within 30 days.\n", "Meals are paid up to 40 euros a day.\n"} {
		doc, err := spans.NewDocument(spans.DocumentID(fmt.Sprintf("%d.md", i)), text, nil)
		if err != nil {
			log.Fatal(err)
		}
		docs = append(docs, doc)
	}
	corpus, err := spans.NewCorpus(docs...)
	if err != nil {
		log.Fatal(err)
	}
	e := ragtest.TokenLevel{Corpus: corpus, Chunker: chunkers.RecursiveCharacter{Size: 40}, Embedder: lexical.Embedder{}, Queries: []ragtest.TokenQuery{{
		Query: ragtest.Query{Text: "When are receipts due?"}, Relevant: []spans.Span{{Doc: "1.md", Start: 0, End: 32}},
	}}}

	for shard := range 2 { // each on its machine
		plan, err := e.Plan(ctx, 3)
		if err != nil {
			log.Fatal(err)
		}
		part, err := plan.Shard(ctx, shard, 2)
		if err != nil {
			log.Fatal(err)
		}
		if err := part.Write(filepath.Join(dir, fmt.Sprintf("%d.json", shard))); err != nil {
			log.Fatal(err)
		}
	}

	var parts []*ragtest.TokenPart
	for shard := range 2 {
		part, err := ragtest.ReadTokenPart(filepath.Join(dir, fmt.Sprintf("%d.json", shard)))
		if err != nil {
			log.Fatal(err)
		}
		parts = append(parts, part)
	}
	all, err := ragtest.MergeTokenParts(parts...)
	if err != nil {
		log.Fatal(err)
	}
	plan, err := e.Plan(ctx, 3)
	if err != nil {
		log.Fatal(err)
	}
	prepared, err := plan.Prepare(all)
	if err != nil {
		log.Fatal(err)
	}
	ranking, err := prepared.Rank(ctx, nil, 3)
	if err != nil {
		log.Fatal(err)
	}
	for _, k := range []int{1, 3} {
		r, err := ranking.Judge(ctx, "shared", k)
		if err != nil {
			log.Fatal(err)
		}
		recall, _ := r.Score("span_recall")
		fmt.Printf("K = %d: recall %.2f in %d chunks\n", k, recall, r.Chunks)
	}
	// Output:
	// K = 1: recall 1.00 in 3 chunks
	// K = 3: recall 1.00 in 3 chunks
}

// The documents are read from where they are, three times, and never all in memory.
func ExampleRunTokenLevelStream() {
	_ = func(t *testing.T) {
		documents := func(yield func(*spans.Document, error) bool) {
			files, err := filepath.Glob("testdata/handbook/*.md") // in the order of their names
			if err != nil {
				yield(nil, err)
				return
			}
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					yield(nil, err)
					return
				}
				if !yield(spans.NewDocument(spans.DocumentID(filepath.Base(file)), string(text), nil)) {
					return
				}
			}
		}
		_, queries := policy()
		ragtest.RunTokenLevelStream(t, ragtest.TokenLevel{
			Queries:  queries,
			Chunker:  chunkers.RecursiveCharacter{Size: 400},
			Embedder: lexical.Embedder{},
		}, documents, ragtest.SpanRecall.AtLeast(0.8))
	}
}
