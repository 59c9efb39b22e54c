package peers

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/philippgille/chromem-go"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/internal/cputime"
	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/ragtest/sweep"
	"github.com/rageval/rageval/spans"
)

// sweepGrid is Chroma's collection under six configurations.
func sweepGrid(tb testing.TB) sweep.Grid {
	tb.Helper()
	c, err := fixtures.ReadChroma(os.DirFS(realdata.Dir(tb, "data", "chroma")))
	if err != nil {
		tb.Fatal(err)
	}
	g := sweep.Grid{Corpus: c.Corpus, Queries: c.Queries, Embedders: []ragtest.Embedder{lexical.Embedder{}}, K: []int{5}}
	for _, size := range []int{200, 400, 800} {
		for _, overlap := range []int{0, size / 4} {
			g.Chunkers = append(g.Chunkers, chunkers.RecursiveCharacter{Size: size, Overlap: overlap})
		}
	}
	return g
}

// chromemSweep does by hand what a sweep does: for each chunker it cuts the corpus,
// embeds the chunks, adds them to a collection of chromem-go, asks it every
// query, and scores what it finds. It returns the mean recall of each chunker.
func chromemSweep(ctx context.Context, g sweep.Grid) ([]float64, error) {
	var means []float64
	for _, chunker := range g.Chunkers {
		var documents []chromem.Document
		var places []spans.Span
		var texts []string
		for doc := range g.Corpus.All() {
			pieces, err := chunker.ChunkWithPositions(ctx, doc)
			if err != nil {
				return nil, err
			}
			for _, p := range pieces {
				span, err := doc.CharSpan(p.Start, p.End)
				if err != nil {
					return nil, err
				}
				places, texts = append(places, span), append(texts, p.Text)
			}
		}
		vectors, err := g.Embedders[0].Embed(ctx, texts)
		if err != nil {
			return nil, err
		}
		for i, text := range texts {
			documents = append(documents, chromem.Document{ID: strconv.Itoa(i), Content: text, Embedding: vectors[i]})
		}
		collection, err := chromem.NewDB().CreateCollection("sweep", nil, nil)
		if err != nil {
			return nil, err
		}
		if err := collection.AddDocuments(ctx, documents, runtime.GOMAXPROCS(0)); err != nil {
			return nil, err
		}
		var questions []string
		for _, q := range g.Queries {
			questions = append(questions, q.Text)
		}
		asked, err := g.Embedders[0].Embed(ctx, questions)
		if err != nil {
			return nil, err
		}
		sum := 0.0
		for i, q := range g.Queries {
			results, err := collection.QueryEmbedding(ctx, asked[i], g.K[0], nil, nil)
			if err != nil {
				return nil, err
			}
			o := ragtest.TokenOutcome{Relevant: q.Relevant}
			for _, r := range results {
				row, err := strconv.Atoi(r.ID)
				if err != nil {
					return nil, err
				}
				o.Retrieved = append(o.Retrieved, places[row])
			}
			sum += ragtest.SpanRecall.Of(o)
		}
		means = append(means, sum/float64(len(g.Queries)))
	}
	return means, nil
}

// An evaluation also counts text that occurs elsewhere and equals what is relevant,
// and chromem-go breaks ties at random: the means differ a little.
func TestSweepDoesTheSameWork(t *testing.T) {
	g := sweepGrid(t)
	g.Chunkers, g.Queries = g.Chunkers[4:], g.Queries[:40] // chromem-go takes some seconds for this
	theirs, err := chromemSweep(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	r, err := g.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Cells) != len(theirs) {
		t.Fatalf("got %d cells, want %d", len(r.Cells), len(theirs))
	}
	for i, cell := range r.Cells {
		got, ok := cell.Score(ragtest.SpanRecall.Name())
		if !ok || got < theirs[i]-0.005 || got > theirs[i]+0.05 {
			t.Errorf("%v: got recall %v, chromem-go finds %v", g.Chunkers[i], got, theirs[i])
		}
	}
}

// BenchmarkSweep compares a sweep of six configurations with the same through
// chromem-go, which takes half a minute on two cores.
func BenchmarkSweep(b *testing.B) {
	if testing.Short() {
		b.Skip("skipped with -short: takes half a minute")
	}
	g := sweepGrid(b)
	for _, impl := range []struct {
		name string
		run  func() error
	}{
		{"rageval", func() error { _, err := g.Evaluate(b.Context()); return err }},
		{"chromem-go", func() error { _, err := chromemSweep(b.Context(), g); return err }},
	} {
		b.Run(fmt.Sprintf("impl=%s", impl.name), func(b *testing.B) {
			b.ReportAllocs()
			cpu := cputime.Used(b)
			for b.Loop() {
				if err := impl.run(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(cputime.Used(b)-cpu)/float64(b.N), "cpu-ns/op")
		})
	}
}
