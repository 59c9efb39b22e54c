package model2vec

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/spans"
)

// chroma returns a corpus of Chroma's chunking_evaluation data with its
// questions.
func chroma(tb testing.TB, corpus string) *fixtures.TokenCollection {
	tb.Helper()
	all, err := fixtures.ReadChroma(os.DirFS(realdata.Dir(tb, "data", "chroma")))
	if err != nil {
		tb.Fatal(err)
	}
	var docs []*spans.Document
	for doc := range all.Corpus.All() {
		if strings.Contains(string(doc.ID()), corpus) {
			docs = append(docs, doc)
		}
	}
	one, err := spans.NewCorpus(docs...)
	if err != nil || one.Len() != 1 {
		tb.Fatalf("got %d corpora %s, error %v", one.Len(), corpus, err)
	}
	queries := slices.DeleteFunc(slices.Clone(all.Queries), func(q ragtest.TokenQuery) bool { return q.Relevant[0].Doc != docs[0].ID() })
	return &fixtures.TokenCollection{Corpus: one, Queries: queries}
}

// Each rule of the semantic chunker, with the embeddings of a real model, cuts a
// real text into chunks that lose nothing, of the sizes that it promises, the same
// ones every time; and retrieval over them finds just about what was measured.
func TestSemanticOnChroma(t *testing.T) {
	collection := chroma(t, "state_of_the_union")
	e, _ := openReal(t, "potion-base-2M-int8")
	semantic := func(rule chunkers.SemanticRule) chunkers.PositionAwareChunker {
		return chunkers.Semantic{Embedder: e, Rule: rule}
	}
	for _, test := range []struct {
		embedder  ragtest.Embedder
		chunker   chunkers.PositionAwareChunker
		maxSize   int // 0: unbounded
		meanSizes [2]int
		recall    float64
	}{
		{lexical.Embedder{}, chunkers.RecursiveCharacter{Size: 800}, 800, [2]int{600, 800}, 0.86},
		{e, chunkers.RecursiveCharacter{Size: 800}, 800, [2]int{600, 800}, 0.52},
		{e, semantic(chunkers.Threshold(0.2)), 0, [2]int{160, 240}, 0.6},
		{e, semantic(chunkers.Percentile{Percentile: 80, Buffer: 1}), 0, [2]int{320, 400}, 0.62},
		{e, semantic(chunkers.TargetSize{Size: 800, Buffer: 3}), 0, [2]int{760, 840}, 0.57},
		{e, semantic(chunkers.Cluster{MaxSize: 800}), 800, [2]int{240, 800}, 0.57},
		{lexical.Embedder{}, semantic(chunkers.Cluster{MaxSize: 800}), 800, [2]int{240, 800}, 0.74},
	} {
		t.Run(fmt.Sprintf("%v/%v", test.embedder, test.chunker), func(t *testing.T) {
			for doc := range collection.Corpus.All() {
				sizes := checkChunks(t, test.chunker, doc)
				total := 0
				for _, n := range sizes {
					total += n
				}
				if most := slices.Max(sizes); test.maxSize > 0 && most > test.maxSize {
					t.Errorf("got a chunk of %d characters, want at most %d", most, test.maxSize)
				}
				if mean := total / len(sizes); mean < test.meanSizes[0] || mean > test.meanSizes[1] {
					t.Errorf("got %d chunks of %d characters in the mean, want from %d to %d", len(sizes), mean, test.meanSizes[0], test.meanSizes[1])
				}
			}
			ragtest.RunTokenLevel(t, ragtest.TokenLevel{
				Corpus: collection.Corpus, Queries: collection.Queries, Chunker: test.chunker, Embedder: test.embedder,
			}, ragtest.SpanRecall.AtLeast(test.recall))
		})
	}
}

// checkChunks cuts doc on one processor and on several, checks that the chunks
// are the same and cover the text, and returns their sizes in characters.
func checkChunks(t *testing.T, c chunkers.PositionAwareChunker, doc *spans.Document) (sizes []int) {
	t.Helper()
	var all [2][]chunkers.Piece
	for i, procs := range []int{1, 4} {
		previous := runtime.GOMAXPROCS(procs)
		pieces, err := c.ChunkWithPositions(t.Context(), doc)
		runtime.GOMAXPROCS(previous)
		if err != nil {
			t.Fatal(err)
		}
		all[i] = pieces
	}
	if diff := cmp.Diff(all[0], all[1]); diff != "" {
		t.Errorf("%v cuts differently on several processors:\n%s", c, diff)
	}
	end := 0
	for _, p := range all[0] {
		if p.Start != end || p.Text != doc.Text()[p.Start:p.End] {
			t.Fatalf("got the chunk [%d:%d] after byte %d, or with another text than the document has there", p.Start, p.End, end)
		}
		end = p.End
		sizes = append(sizes, utf8.RuneCountInString(p.Text))
	}
	if end != len(doc.Text()) {
		t.Errorf("the chunks end at byte %d of %d", end, len(doc.Text()))
	}
	return sizes
}

// The number of chunks follows from the percentile and the number of sentences.
func TestPercentileOnChroma(t *testing.T) {
	e, _ := openReal(t, "potion-base-2M-int8")
	for doc := range chroma(t, "state_of_the_union").Corpus.All() {
		// Sentences that are not equal to their neighbours.
		distances := len(checkChunks(t, chunkers.Semantic{Embedder: e, Rule: chunkers.Threshold(1)}, doc)) - 1
		for _, percentile := range []float64{50, 80, 95} {
			got := len(checkChunks(t, chunkers.Semantic{Embedder: e, Rule: chunkers.Percentile{Percentile: percentile}}, doc)) - 1
			want := float64(distances) * (100 - percentile) / 100
			if math.Abs(float64(got)-want) > 0.05*want+2 {
				t.Errorf("percentile %v of %d distances: got %d cuts, want about %.0f", percentile, distances, got, want)
			}
		}
	}
}

// On SciFact the embedder reaches what an independent implementation of the same
// model does: nDCG@10 0.363, recall@100 0.743.
func TestSciFact(t *testing.T) {
	dir := realdata.Dir(t, "data", "beir", "scifact")
	var docs []*spans.Document
	chunkOf := map[string]chunkers.ChunkID{}
	for _, r := range readJSONL(t, filepath.Join(dir, "corpus.jsonl")) {
		text := r.Title + " " + r.Text
		doc, err := spans.NewDocument(spans.DocumentID(r.ID), text, nil)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
		chunkOf[r.ID] = chunkers.NewChunkID(text)
	}
	corpus, err := spans.NewCorpus(docs...)
	if err != nil {
		t.Fatal(err)
	}
	qrels, err := os.ReadFile(filepath.Join(dir, "qrels", "test.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	relevant := map[string][]chunkers.ChunkID{}
	for line := range strings.Lines(string(qrels)) {
		if fields := strings.Fields(line); fields[2] == "1" {
			relevant[fields[0]] = append(relevant[fields[0]], chunkOf[fields[1]])
		}
	}
	var queries []ragtest.ChunkQuery
	for _, r := range readJSONL(t, filepath.Join(dir, "queries.jsonl")) {
		if relevant[r.ID] != nil {
			queries = append(queries, ragtest.ChunkQuery{Query: ragtest.Query{ID: ragtest.QueryID(r.ID), Text: r.Text}, Relevant: relevant[r.ID]})
		}
	}
	e, _ := openReal(t, "potion-base-2M-int8")
	ragtest.RunChunkLevel(t, ragtest.ChunkLevel{
		Corpus:   corpus,
		Queries:  queries,
		Chunker:  chunkers.Func(func(_ context.Context, text string) ([]string, error) { return []string{text}, nil }),
		Embedder: e,
		K:        100,
		Metrics:  []ragtest.ChunkMetric{ragtest.ChunkNDCG.At(10), ragtest.ChunkRecall},
	}, ragtest.ChunkNDCG.At(10).AtLeast(0.3625), ragtest.ChunkNDCG.At(10).AtMost(0.3635), ragtest.ChunkRecall.AtLeast(0.7425), ragtest.ChunkRecall.AtMost(0.7435))
}

type jsonlRecord struct {
	ID    string `json:"_id"`
	Title string
	Text  string
}

func readJSONL(tb testing.TB, path string) (records []jsonlRecord) {
	tb.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	for line := range bytes.Lines(content) {
		var r jsonlRecord
		if err := json.Unmarshal(line, &r); err != nil {
			tb.Fatalf("%s: record %d: %v", path, len(records)+1, err)
		}
		records = append(records, r)
	}
	return records
}
