package lexical

import (
	"testing"

	"github.com/rageval/rageval/chunkers"
)

func indexTexts[C chunkers.Indexed](chunks []C) []string {
	texts := make([]string, len(chunks))
	for i, c := range chunks {
		texts[i] = c.IndexText()
	}
	return texts
}

func embedAll(tb testing.TB, e Embedder, texts []string) [][]float32 {
	tb.Helper()
	vectors, err := e.Embed(tb.Context(), texts)
	if err != nil {
		tb.Fatal(err)
	}
	return vectors
}
