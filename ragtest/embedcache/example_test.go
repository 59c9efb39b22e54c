package embedcache_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/embedcache"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/spans"
)

const handbook = `To reset your password, open Settings and choose Forgot password.
Invoices are sent on the first working day of each month.
Employees accrue two days of paid leave for each month worked.
`

// evaluation is one that embeds with e.
func evaluation(e ragtest.Embedder) (ragtest.TokenLevel, error) {
	doc, err := spans.NewDocument("handbook.md", handbook, nil)
	if err != nil {
		return ragtest.TokenLevel{}, err
	}
	corpus, err := spans.NewCorpus(doc)
	if err != nil {
		return ragtest.TokenLevel{}, err
	}
	return ragtest.TokenLevel{
		Corpus: corpus,
		Queries: []ragtest.TokenQuery{
			{Query: ragtest.Query{Text: "How do I reset my password?"}, Relevant: []spans.Span{{Doc: "handbook.md", Start: 0, End: 65}}},
			{Query: ragtest.Query{Text: "When are invoices sent?"}, Relevant: []spans.Span{{Doc: "handbook.md", Start: 66, End: 123}}},
		},
		Chunker:  chunkers.FixedSize{Size: 66},
		Embedder: e,
		K:        1,
	}, nil
}

// lexicalModel stands for a model that costs money; it is named as it names itself.
var lexicalModel = lexical.Embedder{Dim: 32}

// Vectors are recorded once, and replayed without the embedder ever after.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "testdata", "handbook.embeddings")

	recording, err := embedcache.Open(path, lexicalModel, embedcache.Options{Model: lexicalModel.String()})
	if err != nil {
		log.Fatal(err)
	}
	defer recording.Close()
	run, err := evaluation(recording)
	if err != nil {
		log.Fatal(err)
	}
	recorded, err := run.Evaluate(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := recording.Record(); err != nil { // sorted, to be committed
		log.Fatal(err)
	}
	fmt.Printf("recorded: %d texts embedded\n", recording.Stats().Embedded)

	// Elsewhere, later: no embedder, no key, no network.
	replay, err := embedcache.Open(path, nil, embedcache.Options{Model: lexicalModel.String(), Replay: true})
	if err != nil {
		log.Fatal(err)
	}
	defer replay.Close()
	run.Embedder = replay
	replayed, err := run.Evaluate(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("replayed: %d texts embedded, %d asked for\n", replay.Stats().Embedded, replay.Stats().Texts)
	for i, m := range replayed.Metrics {
		fmt.Printf("%s %.3f, was %.3f\n", m.Metric, m.Value, recorded.Metrics[i].Value)
	}
	// Output:
	// recorded: 5 texts embedded
	// replayed: 0 texts embedded, 5 asked for
	// span_recall 1.000, was 1.000
	// span_precision 0.924, was 0.924
	// span_iou 0.924, was 0.924
}

// A test replays what is committed under testdata. RAGTEST_UPDATE=1 adds what is
// missing there; that alone needs the embedder.
func ExampleNew() {
	_ = func(t *testing.T) {
		run, err := evaluation(embedcache.New(t, "testdata/handbook.embeddings", lexicalModel, embedcache.Options{
			Model:  lexicalModel.String(),
			Replay: true, // or, in CI, RAGTEST_REPLAY=1
		}))
		if err != nil {
			t.Fatal(err)
		}
		ragtest.RunTokenLevel(t, run, ragtest.SpanRecall.AtLeast(0.9))
	}
}

func TestHandbook(t *testing.T) {
	const path = "testdata/handbook.embeddings"
	cache := embedcache.New(t, path, lexicalModel, embedcache.Options{Model: lexicalModel.String(), Replay: true})
	run, err := evaluation(cache)
	if err != nil {
		t.Fatal(err)
	}
	replayed := ragtest.RunTokenLevel(t, run, ragtest.SpanRecall.AtLeast(0.9))
	if n := cache.Stats().Unused; n > 0 {
		t.Errorf("%s holds %d vectors that nobody needs; remove it and record it again", path, n)
	}

	if cache.Stats().Embedded > 0 { // with RAGTEST_UPDATE=1; New would do it after the test
		if err := cache.Record(); err != nil {
			t.Fatal(err)
		}
	}

	// The file is what recording gives, byte by byte, and so is the result.
	fresh := filepath.Join(t.TempDir(), "fresh.embeddings")
	recording, err := embedcache.Open(fresh, lexicalModel, embedcache.Options{Model: lexicalModel.String()})
	if err != nil {
		t.Fatal(err)
	}
	defer recording.Close()
	run.Embedder, run.Name = recording, t.Name()
	recorded, err := run.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := recording.Record(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(fresh)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s differs from what is recorded now; remove it and record it again", path)
	}
	for i, m := range recorded.Metrics {
		if replayed.Metrics[i] != m {
			t.Errorf("got %v replayed, want %v as recorded", replayed.Metrics[i], m)
		}
	}
	if recorded.Components != replayed.Components {
		t.Errorf("got components %+v replayed, want %+v as recorded", replayed.Components, recorded.Components)
	}
}
