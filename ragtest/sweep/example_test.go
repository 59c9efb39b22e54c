package sweep_test

import (
	"context"
	"fmt"

	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/ragtest/sweep"
	"github.com/rageval/rageval/spans"
)

func ExampleGrid_Evaluate() {
	doc, _ := spans.NewDocument("leave.md", "Everybody has 30 days of leave. Ask your manager.\nLeave that is not taken by March expires.\nSick leave is not limited. Call before nine.\n", nil)
	corpus, _ := spans.NewCorpus(doc)
	report, err := sweep.Grid{
		Name:   "leave",
		Corpus: corpus,
		Queries: []ragtest.TokenQuery{
			{Query: ragtest.Query{Text: "When does leave expire?"}, Relevant: []spans.Span{{Doc: "leave.md", Start: 50, End: 91}}},
			{Query: ragtest.Query{Text: "How many days of leave have I?"}, Relevant: []spans.Span{{Doc: "leave.md", Start: 0, End: 31}}},
		},
		ChunkerNames: []string{"recursive/size=50", "recursive/size=150"},
		Embedders:    []ragtest.Embedder{lexical.Embedder{}},
		K:            []int{1, 2},
	}.Evaluate(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range report.Standings() {
		c := report.Cells[s.Cell]
		fmt.Printf("%d. %.2f %s, %.0f characters\n", s.Rank, s.Mean, c.Name, c.RetrievedChars)
	}
	fmt.Println(report.Work)
	// Output:
	// 1. 1.00 chunker=recursive/size=50/embedder=lexical/k=1, 46 characters
	// 1. 1.00 chunker=recursive/size=50/embedder=lexical/k=2, 90 characters
	// 1. 1.00 chunker=recursive/size=150/embedder=lexical/k=1, 137 characters
	// 1. 1.00 chunker=recursive/size=150/embedder=lexical/k=2, 137 characters
	// 4 cells; chunked 2 documents instead of 4; embedded 4 texts instead of 8; embedded 2 queries instead of 8; retrieved for 4 queries instead of 8
}
