package beam

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/internal/realdata"
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
	flag.Parse()
	sdk.Init()
	if !testing.Verbose() {
		slog.SetDefault(slog.New(slog.DiscardHandler)) // Prism's
	}
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

// run returns the report of the sweep as the pipeline writes it. Prism 2.77 may ask a
// worker that there is none of for its progress, and panic, where a step of its own is
// held up for 100 ms, as on a busy machine: then it runs again.
func run(tb testing.TB, s Sweep, corpus func(context.Context, sdk.Scope) (Corpus, error)) ([]byte, error) {
	tb.Helper()
	for again := 0; ; again++ {
		data, err := runOnce(tb, s, corpus)
		if err == nil || again == 5 || !strings.Contains(err.Error(), "worker.(*W).NextInst(0x0)") {
			return data, err
		}
		tb.Logf("running again after: %v", err)
	}
}

func runOnce(tb testing.TB, s Sweep, corpus func(context.Context, sdk.Scope) (Corpus, error)) ([]byte, error) {
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
	if err := Write(scope, path, report); err != nil {
		return nil, err
	}
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

// small is a sweep of that corpus.
func small() Sweep {
	return Sweep{
		Name: "small",
		Queries: []ragtest.TokenQuery{
			{Query: ragtest.Query{Text: "days of leave in office 3"}, Relevant: []spans.Span{{Doc: "doc9", Start: 0, End: 52}}},
			{Query: ragtest.Query{ID: "café", Text: "when does the café open"}, Relevant: []spans.Span{{Doc: "doc0", Start: 90, End: 120}, {Doc: "doc7", Start: 90, End: 110}},
				Alternatives: [][]spans.Span{{{Doc: "doc2", Start: 80, End: 125}}}},
			{Query: ragtest.Query{ID: "again", Text: "when does the café open"}, Relevant: []spans.Span{{Doc: "doc1", Start: 3, End: 4}}},
			{Query: ragtest.Query{Text: "nobody knows"}},
		},
		Chunkers:  []string{"fixed/size=40", "recursive/size=60/overlap=10", "sentence/maxsize=100"},
		Embedders: []string{"lexical", "lexical/dim=64"},
		K:         []int{1, 3, 10},
		Metrics:   []string{"span_recall", "span_ndcg", "span_iou", "span_map"},
	}
}

// creating returns what [Create] makes of a corpus.
func creating(c *spans.Corpus) func(context.Context, sdk.Scope) (Corpus, error) {
	return func(_ context.Context, s sdk.Scope) (Corpus, error) { return Create(s, c) }
}

func TestReportEqualsThatOfTheLocalSweep(t *testing.T) {
	c := corpus(t)
	s := small()
	want := local(t, s, c)
	files := writeJSONL(t, c, 5)
	for _, shards := range []int{0, 1, 7, 1000} {
		s.Shards = shards
		for name, corpus := range map[string]func(context.Context, sdk.Scope) (Corpus, error){"memory": creating(c), "files": reading(files)} {
			got, err := run(t, s, corpus)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("with %d shards, from %s, the report differs from that of the local sweep:\n%s\nwant\n%s", shards, name, got, want)
			}
		}
	}
}

// reversed is a reranker.
type reversed struct{}

func (reversed) Rerank(_ context.Context, _ string, chunks []ragtest.ScoredChunk[chunkers.PositionAwareChunk]) ([]ragtest.ScoredChunk[chunkers.PositionAwareChunk], error) {
	slices.Reverse(chunks)
	return chunks, nil
}

// odd is a chunker that makes chunks without a place, and without text, of some
// documents, and gives all of them metadata.
type odd struct{ settings string }

func (o odd) String() string { return "odd/" + o.settings }

func (o odd) ChunkWithPositions(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
	pieces, err := chunkers.FixedSize{Size: 50}.ChunkWithPositions(ctx, doc)
	for i := range pieces {
		pieces[i].Metadata = map[string]string{"doc": string(doc.ID())}
	}
	switch {
	case o.settings == "failing" && doc.ID() == "doc5":
		return nil, errors.New("no way to cut this")
	case o.settings == "wavering":
		if made.Add(1) > 12 { // the second time
			pieces = pieces[1:]
		}
	case o.settings == "lying":
		pieces[0].Text += "!"
	case doc.ID() == "doc7" || doc.ID() == "doc2":
		pieces[1].Start, pieces[1].End = -1, -1
		pieces = append(pieces, chunkers.Piece{Start: 1, End: 1})
	}
	return pieces, err
}

var made atomic.Int64

// first embeds a text by its first byte, so that scores are often equal.
type first struct{ settings string }

func (f first) String() string { return "first/" + f.settings }

func (f first) Embed(_ context.Context, texts []string) ([][]float32, error) {
	list := make([][]float32, len(texts))
	for i, text := range texts {
		list[i] = []float32{1, float32(text[0] % 3)}
		if f.settings == "infinite" && strings.Contains(text, "floor 2") {
			list[i][0] = float32(math.Inf(1))
		}
	}
	return list, nil
}

func (f first) EmbedQueries(_ context.Context, queries []string) ([][]float32, error) {
	return slices.Repeat([][]float32{{1, 1}}, len(queries)), nil
}

func init() {
	RegisterChunker("odd", func(settings string) (chunkers.PositionAwareChunker, error) { return odd{settings}, nil })
	RegisterEmbedder("first", func(settings string) (ragtest.Embedder, error) { return first{settings}, nil })
	RegisterReranker("reversed", func(string) (Reranker, error) { return reversed{}, nil })
	RegisterMetric(ragtest.NewTokenMetric("retrieved_some", func(o ragtest.TokenOutcome) float64 {
		if len(o.Retrieved) > 0 {
			return 1
		}
		return 0
	}))
}

func TestReportWithComponentsOfOnesOwn(t *testing.T) {
	c := corpus(t)
	s := small()
	s.Chunkers = []string{"odd/a", "fixed/size=40"}
	s.Embedders = []string{"first/a", "lexical"}
	s.Rerankers = []string{"", "reversed"}
	s.K, s.FetchK = []int{2, 5}, []int{4, 9, 50}
	s.Metrics = []string{"retrieved_some", "span_mrr", "span_precision@2"}
	s.MaxUnlocated = 2
	want := local(t, s, c)
	if !bytes.Contains(want, []byte("could not be located in their document")) {
		t.Fatalf("the local sweep warns of nothing: %s", want)
	}
	for _, shards := range []int{1, 5} {
		s.Shards = shards
		got, err := run(t, s, reading(writeJSONL(t, c, 2)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("with %d shards the report differs from that of the local sweep:\n%s\nwant\n%s", shards, got, want)
		}
	}
}

func TestFailuresNameTheCause(t *testing.T) {
	c := corpus(t)
	for name, test := range map[string]struct {
		change func(*Sweep)
		want   string
	}{
		"no query":           {func(s *Sweep) { s.Queries = nil }, "field Queries: empty"},
		"no chunker":         {func(s *Sweep) { s.Chunkers = nil }, "field Chunkers: empty"},
		"no embedder":        {func(s *Sweep) { s.Embedders = nil }, "field Embedders: empty"},
		"shards":             {func(s *Sweep) { s.Shards = -1 }, "field Shards: got -1"},
		"unknown chunker":    {func(s *Sweep) { s.Chunkers = []string{"fixt"} }, `field Chunkers: element 0: chunker "fixt": unknown kind`},
		"unknown embedder":   {func(s *Sweep) { s.Embedders = []string{"lexical", "lexicon/x"} }, `field Embedders: element 1: embedder "lexicon/x": the kind "lexicon" is not registered in this binary`},
		"embedder settings":  {func(s *Sweep) { s.Embedders = []string{"lexical/x"} }, `embedder "lexical/x": `},
		"unknown reranker":   {func(s *Sweep) { s.Rerankers = []string{"cohere"} }, `reranker "cohere": the kind "cohere" is not registered`},
		"unknown metric":     {func(s *Sweep) { s.Metrics = []string{"span_luck"} }, `field Metrics: element 0: metric "span_luck": want one of`},
		"cut-off":            {func(s *Sweep) { s.Metrics = []string{"span_recall@x"} }, `the cut-off is "x"`},
		"K":                  {func(s *Sweep) { s.K = []int{3, 0} }, "field K: element 1 is 0"},
		"no K":               {func(s *Sweep) { s.K = []int{} }, "fields K and FetchK"},
		"no metric":          {func(s *Sweep) { s.Metrics = []string{} }, "field Metrics: empty"},
		"one query twice":    {func(s *Sweep) { s.Queries = append(s.Queries, s.Queries[0]) }, "query_"},
		"FetchK":             {func(s *Sweep) { s.Rerankers, s.FetchK = []string{"reversed"}, []int{1} }, "field Reranker"},
		"unlocated":          {func(s *Sweep) { s.Chunkers = []string{"odd/a"} }, "could not be located in their document and were skipped; the first is chunk 1 of doc7"},
		"chunker fails":      {func(s *Sweep) { s.Chunkers = []string{"odd/failing"} }, "chunker odd/failing: chunking doc5: no way to cut this"},
		"chunker lies":       {func(s *Sweep) { s.Chunkers = []string{"odd/lying"} }, "is not the document's bytes [0:50]"},
		"chunker wavers":     {func(s *Sweep) { s.Chunkers = []string{"odd/wavering"}; made.Store(0) }, "the chunker odd/wavering does not cut a document the same way each time"},
		"infinite component": {func(s *Sweep) { s.Embedders = []string{"first/infinite"} }, "embedder first/infinite: "},
		"unknown document": {func(s *Sweep) { s.Queries[0].Relevant = []spans.Span{{Doc: "doc99", Start: 0, End: 1}} },
			`the corpus has no document "doc99"`},
		"beyond a document": {func(s *Sweep) { s.Queries[0].Relevant = []spans.Span{{Doc: "doc9", Start: 0, End: 1000}} }, "doc9[0:1000]"},
	} {
		t.Run(name, func(t *testing.T) {
			s := small()
			s.Metrics, s.Shards = nil, 3
			s.Queries = slices.Clone(s.Queries)
			test.change(&s)
			_, err := run(t, s, creating(c))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got the error %v, want %q", err, test.want)
			}
		})
	}
}

func TestCorporaWithoutDocumentsAreRefused(t *testing.T) {
	none, err := spans.NewCorpus()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "corpus.jsonl")
	if err := os.WriteFile(path, []byte("\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, corpus := range map[string]func(context.Context, sdk.Scope) (Corpus, error){
		"memory": creating(none), "files": reading(path),
		"by hand": func(context.Context, sdk.Scope) (Corpus, error) { return Corpus{}, nil },
	} {
		if _, err := run(t, small(), corpus); err == nil || !strings.Contains(strings.ToLower(err.Error()), "corpus") {
			t.Errorf("%s: got the error %v", name, err)
		}
	}
	p, scope := sdk.NewPipelineWithRoot()
	if err := Write(scope, "tape://1", sdk.Create(scope, []byte{})); err == nil || !strings.Contains(err.Error(), "tape") {
		t.Errorf("writing to an unknown file system: got the error %v for %v", err, p)
	}
}

func TestDocumentsOfOneIDAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "corpus.jsonl")
	if err := os.WriteFile(path, []byte(strings.Repeat("{\"id\":\"a\",\"text\":\"some text\"}\n", 2)), 0o666); err != nil {
		t.Fatal(err)
	}
	s := Sweep{Queries: []ragtest.TokenQuery{{Query: ragtest.Query{Text: "text"}}}, Chunkers: []string{"fixed/size=4"}, Embedders: []string{"lexical"}}
	if _, err := run(t, s, reading(path)); err == nil || !strings.Contains(err.Error(), "two documents of the corpus have the ID a") {
		t.Errorf("got the error %v", err)
	}
}

func TestReportOfChromasCorpora(t *testing.T) {
	c, err := fixtures.ReadChroma(os.DirFS(realdata.Dir(t, "data", "chroma")))
	if err != nil {
		t.Fatal(err)
	}
	s := Sweep{
		Name: "chroma", Queries: c.Queries,
		Chunkers:  []string{"recursive/size=400", "recursive/size=800/overlap=400", "fixedtoken/tokens=200"},
		Embedders: []string{"lexical/dim=512"},
		K:         []int{1, 5, 10},
		Metrics:   []string{"span_recall", "span_precision", "span_iou", "span_ndcg"},
		Shards:    5,
	}
	got, err := run(t, s, reading(writeJSONL(t, c.Corpus, 3)))
	if err != nil {
		t.Fatal(err)
	}
	if want := local(t, s, c.Corpus); !bytes.Equal(got, want) {
		t.Errorf("the report of %d bytes differs from that of the local sweep, %d bytes", len(got), len(want))
	}
}
