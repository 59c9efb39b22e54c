package report_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/ragtest/report"
	"github.com/rageval/rageval/spans"
)

func handbook() (*spans.Corpus, []ragtest.TokenQuery) {
	const text = "Everybody has thirty days of leave. Unused days expire on 31 March."
	doc, err := spans.NewDocument("leave.md", text, nil)
	if err != nil {
		panic(err)
	}
	corpus, err := spans.NewCorpus(doc)
	if err != nil {
		panic(err)
	}
	return corpus, []ragtest.TokenQuery{{
		Query:    ragtest.Query{ID: "carry", Text: "When do unused days expire?"},
		Relevant: []spans.Span{{Doc: "leave.md", Start: 36, End: 67}},
	}}
}

func evaluate(size int) (*spans.Corpus, *ragtest.Result) {
	corpus, queries := handbook()
	r, err := ragtest.TokenLevel{
		Name: fmt.Sprintf("size %d", size), Corpus: corpus, Queries: queries,
		Chunker: chunkers.FixedSize{Size: size}, Embedder: lexical.Embedder{}, K: 1,
	}.Evaluate(context.Background())
	if err != nil {
		panic(err)
	}
	return corpus, r
}

// A test that keeps a report of its run among its artifacts, and adds a summary to
// that of a GitHub workflow.
func ExampleHTML() {
	_ = func(t *testing.T) {
		corpus, queries := handbook()
		ragtest.RunTokenLevel(t, ragtest.TokenLevel{
			Corpus:    corpus,
			Queries:   queries,
			Chunker:   chunkers.FixedSize{Size: 36},
			Embedder:  lexical.Embedder{},
			Reporters: []ragtest.Reporter{report.HTML{TB: t, Corpus: corpus}, report.Markdown{}},
		})
	}
}

func ExamplePage() {
	corpus, old := evaluate(20)
	_, now := evaluate(36)
	dir, err := os.MkdirTemp("", "report")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	page := report.Page{Corpus: corpus, Results: []*ragtest.Result{old, now}}
	if err := page.WriteFile(filepath.Join(dir, "report.html")); err != nil {
		panic(err)
	}
	plots, err := page.Plots()
	if err != nil {
		panic(err)
	}
	for _, plot := range plots {
		if err := plot.WriteFile(filepath.Join(dir, plot.Name+".svg")); err != nil {
			panic(err)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		panic(err)
	}
	for _, f := range files {
		fmt.Println(f.Name())
	}
	// Output:
	// changes.svg
	// metrics.svg
	// report.html
}

func ExamplePage_Markdown() {
	_, r := evaluate(36)
	text, err := report.Page{Results: []*ragtest.Result{r}}.Markdown()
	if err != nil {
		panic(err)
	}
	heading, _, _ := strings.Cut(text, "|")
	fmt.Print(heading)
	// Output:
	// ### size 36
	//
	// token level · 1 query · documents: 1 · chunks: 2 · K = 1
	//
	// **Metrics**
}
