// Package quickstart evaluates retrieval over an embedded knowledge base: the
// handbook of a company that makes weather stations. It needs no key, no server
// and no download:
//
//	go test -v -run TestHandbook ./examples/quickstart
//
// The golden file testdata/handbook.golden.jsonl holds, for each query, the
// spans of the documents that answer it. Some queries need two documents, some
// must tell near-duplicate passages apart, and some are asked in one language
// and answered in another, which a lexical embedder cannot bridge.
package quickstart

import (
	"embed"
	"io/fs"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
)

//go:embed testdata
var testdata embed.FS

func TestHandbook(t *testing.T) {
	handbook, err := fs.Sub(testdata, "testdata/handbook")
	if err != nil {
		t.Fatal(err)
	}
	corpus, err := fixtures.ReadCorpus(handbook)
	if err != nil {
		t.Fatal(err)
	}
	queries, err := fixtures.ReadTokenTruth(testdata, "testdata/handbook.golden.jsonl", corpus)
	if err != nil {
		t.Fatal(err)
	}
	ragtest.RunTokenLevel(t, ragtest.TokenLevel{
		Corpus:   corpus,
		Queries:  queries,
		Chunker:  chunkers.RecursiveCharacter{Size: 800, Overlap: 400},
		Embedder: lexical.Embedder{},
		K:        5,
	}, ragtest.SpanRecall.AtLeast(0.7))
}
