package beam_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/sweep"
	"github.com/rageval/rageval/ragtest/sweep/beam"
	"github.com/rageval/rageval/spans"
)

// A command would call beamx.Run, which takes the runner from its flags, in place of
// prism.Execute.
func ExampleEvaluate() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "sweep")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	documents := `{"_id":"leave.md","text":"Employees accrue twenty days of leave. Notice is given two weeks before."}
{"_id":"lunch.md","text":"Lunch is free. The café opens at nine."}
`
	if err := os.WriteFile(filepath.Join(dir, "corpus.jsonl"), []byte(documents), 0o666); err != nil {
		log.Fatal(err)
	}

	p, scope := sdk.NewPipelineWithRoot()
	corpus, err := beam.Read(ctx, scope, filepath.Join(dir, "*.jsonl"))
	if err != nil {
		log.Fatal(err)
	}
	report, err := beam.Evaluate(scope, beam.Sweep{
		Queries: []ragtest.TokenQuery{
			{Query: ragtest.Query{Text: "how many days of leave"}, Relevant: []spans.Span{{Doc: "leave.md", Start: 0, End: 38}}},
		},
		Chunkers:  []string{"sentence/maxsize=80", "fixed/size=20"},
		Embedders: []string{"lexical"},
		K:         []int{1},
	}, corpus)
	if err != nil {
		log.Fatal(err)
	}
	if err := beam.Write(scope, filepath.Join(dir, "report.json"), report); err != nil {
		log.Fatal(err)
	}
	if _, err := prism.Execute(ctx, p); err != nil {
		log.Fatal(err)
	}

	r, err := sweep.Read(filepath.Join(dir, "report.json"))
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range r.Cells {
		fmt.Printf("%s: recall %.2f\n", c.Name, c.Metrics[0].Value)
	}
	// Output:
	// chunker=sentence/maxsize=80/embedder=lexical/k=1: recall 1.00
	// chunker=fixed/size=20/embedder=lexical/k=1: recall 0.47
}
