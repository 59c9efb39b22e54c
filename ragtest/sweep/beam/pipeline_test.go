package beam

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/spans"
)

func init() {
	RegisterEmbedder("lexical", func(settings string) (ragtest.Embedder, error) {
		var e lexical.Embedder
		if settings != "" {
			if _, err := fmt.Sscanf(settings, "dim=%d", &e.Dim); err != nil {
				return nil, err
			}
		}
		return e, nil
	})
}

func TestMain(m *testing.M) {
	sdk.Init()
	os.Exit(m.Run())
}

// local returns the report of the sweep without Beam.
func local(tb testing.TB, s Sweep, c *spans.Corpus) []byte {
	tb.Helper()
	g, err := s.Grid()
	if err != nil {
		tb.Fatal(err)
	}
	g.Corpus = c
	r, err := g.Evaluate(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	data, err := json.Marshal(r)
	if err != nil {
		tb.Fatal(err)
	}
	return append(data, '\n')
}

// run returns the report of the sweep as the pipeline writes it.
func run(tb testing.TB, s Sweep, corpus func(context.Context, sdk.Scope) (Corpus, error)) ([]byte, error) {
	tb.Helper()
	p, scope := sdk.NewPipelineWithRoot()
	c, err := corpus(tb.Context(), scope)
	if err != nil {
		return nil, err
	}
	report, err := Evaluate(scope, s, c)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(tb.TempDir(), "report.json")
	Write(scope, path, report)
	if _, err := prism.Execute(tb.Context(), p); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

func corpus(tb testing.TB) *spans.Corpus {
	tb.Helper()
	var docs []*spans.Document
	for i := range 12 {
		text := fmt.Sprintf("Employees in office %d accrue twenty days of leave. Notice must be given %d weeks before.\n\nThe café on floor %d opens at nine. Lunch is free for all of us.", i, i+2, i%3)
		d, err := spans.NewDocument(spans.DocumentID(fmt.Sprintf("doc%d", (i*7)%12)), text, nil)
		if err != nil {
			tb.Fatal(err)
		}
		docs = append(docs, d)
	}
	c, err := spans.NewCorpus(docs...)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func TestReportEqualsThatOfTheLocalSweep(t *testing.T) {
	c := corpus(t)
	s := Sweep{
		Name: "small",
		Queries: []ragtest.TokenQuery{
			{Query: ragtest.Query{Text: "days of leave in office 3"}, Relevant: []spans.Span{{Doc: "doc9", Start: 0, End: 52}}},
			{Query: ragtest.Query{Text: "when does the café open"}, Relevant: []spans.Span{{Doc: "doc0", Start: 90, End: 120}, {Doc: "doc7", Start: 90, End: 110}}},
		},
		Chunkers:  []string{"fixed/size=40", "recursive/size=60/overlap=10", "sentence/maxsize=100"},
		Embedders: []string{"lexical", "lexical/dim=64"},
		K:         []int{1, 3, 10},
		Metrics:   []string{"span_recall", "span_ndcg", "span_iou"},
	}
	want := local(t, s, c)
	for _, shards := range []int{0, 1, 7} {
		s.Shards = shards
		got, err := run(t, s, func(_ context.Context, scope sdk.Scope) (Corpus, error) { return Create(scope, c), nil })
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("with %d shards the report differs from that of the local sweep:\n%s\nwant\n%s", shards, got, want)
		}
	}
}
