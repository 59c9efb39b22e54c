package ragtest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

func TestTokenLevel(t *testing.T) {
	e := fruit(t)
	e.Queries = e.Queries[:2]
	got, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.Elapsed <= 0 || got.Trace.Elapsed("embed") < 0 || len(got.Trace.Intervals) == 0 {
		t.Errorf("got Elapsed %v and trace %v, want both", got.Elapsed, got.Trace)
	}
	want := &ragtest.Result{
		Name: "fruit", Level: "token", K: 1, Chunks: 5,
		// The second query retrieves 5 of its 10 relevant characters.
		Metrics: []ragtest.Score{{Metric: "span_recall", Value: 0.75}, {Metric: "span_precision", Value: 1}, {Metric: "span_iou", Value: 0.75}},
		Queries: []ragtest.QueryResult{{
			ID: ragtest.NewQueryID("bananas"), Text: "bananas",
			Scores: []ragtest.Score{{Metric: "span_recall", Value: 1}, {Metric: "span_precision", Value: 1}, {Metric: "span_iou", Value: 1}},
			// Both lines say bananas: the tie goes to the first.
			Hits: []ragtest.Hit{{Rank: 1, ChunkID: chunkers.NewPositionAwareChunkID("bananas").String(), Doc: "a.md",
				Span: spans.Span{Doc: "a.md", Start: 6, End: 13}, Line: 2, Column: 1, Score: got.Queries[0].Hits[0].Score, Text: "bananas"}},
			Relevant:        []ragtest.Passage{{Doc: "a.md", Span: spans.Span{Doc: "a.md", Start: 6, End: 13}, Line: 2, Column: 1, Text: "bananas"}},
			Ceilings:        []ragtest.Score{{Metric: "span_recall", Value: 1}, {Metric: "span_precision", Value: 1}, {Metric: "span_iou", Value: 1}},
			RecallLosses:    losses(0, 0, 0, 0, 0),
			PrecisionLosses: precisionLosses(0, 0),
		}, {
			ID: ragtest.NewQueryID("pfel"), Text: "pfel",
			Scores: []ragtest.Score{{Metric: "span_recall", Value: 0.5}, {Metric: "span_precision", Value: 1}, {Metric: "span_iou", Value: 0.5}},
			Hits: []ragtest.Hit{{Rank: 1, ChunkID: chunkers.NewPositionAwareChunkID("äpfel").String(), Doc: "a.md",
				Span: spans.Span{Doc: "a.md", Start: 0, End: 5}, Line: 1, Column: 1, Score: got.Queries[1].Hits[0].Score, Text: "äpfel"}},
			Relevant: []ragtest.Passage{{Doc: "a.md", Span: spans.Span{Doc: "a.md", Start: 0, End: 10}, Line: 1, Column: 1, Text: "äpfel\nbana"}},
			Missed:   []ragtest.Passage{{Doc: "a.md", Span: spans.Span{Doc: "a.md", Start: 5, End: 10}, Line: 1, Column: 6, Text: "\nbana", Lost: ragtest.LossBudget, Rank: 4}},
			// No chunk holds the line end, and no single chunk both lines. Of the two
			// lines that say bananas, this one is the second best, after cherries and dates.
			Ceilings:        []ragtest.Score{{Metric: "span_recall", Value: 0.5}, {Metric: "span_precision", Value: 1}, {Metric: "span_iou", Value: 0.5}},
			RecallLosses:    losses(0.1, 0.4, 0, 0, 0),
			PrecisionLosses: precisionLosses(0, 0),
		}},
		// Of two queries little is known.
		Intervals:       []ragtest.ScoreInterval{{Metric: "span_recall", Low: 0, High: 1}, {Metric: "span_precision", Low: 0, High: 1}, {Metric: "span_iou", Low: 0, High: 1}},
		Ceilings:        []ragtest.Score{{Metric: "span_recall", Value: 0.75}, {Metric: "span_precision", Value: 1}, {Metric: "span_iou", Value: 0.75}},
		RecallLosses:    losses(0.05, 0.2, 0, 0, 0),
		PrecisionLosses: precisionLosses(0, 0),
		Budgets:         []ragtest.Score{{Metric: "retrieved_characters", Value: 6}, {Metric: "embedded_texts", Value: 4}, {Metric: "index_bytes", Value: 640}},
		Diagnostics: ragtest.Diagnostics{Documents: 2, EmbeddedTexts: 4, DuplicateChunks: 1, IndexBytes: new(int64(640)),
			// Of the second query 9 of 10 characters are in chunks, which hold 12. No chunk
			// begins or ends at a relevant span without sharing a character.
			PrecisionOmega: new((1 + 9.0/13) / 2), PrecisionOmegaEdges: new((1 + 9.0/13) / 2),
			EquivalentText: &ragtest.EquivalentText{Passages: 1}},
		Components:        ragtest.Components{Chunker: "lines", Embedder: "letters", Store: got.Components.Store},
		CorpusFingerprint: e.Corpus.Fingerprint(),
	}
	if !got.Equal(*want) {
		a, _ := json.MarshalIndent(got, "", " ")
		b, _ := json.MarshalIndent(want, "", " ")
		t.Errorf("got, want (-, +):\n%s", cmp.Diff(string(a), string(b)))
	}
	for _, q := range got.Queries {
		if s := q.Hits[0].Score; math.Abs(s-1) > 1e-6 {
			t.Errorf("query %s: got cosine %v, want 1", q.Text, s)
		}
	}
}

func TestChunkLevel(t *testing.T) {
	got, err := fruitChunks(t).Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.Level != "chunk" || got.Chunks != 4 || got.Diagnostics.DuplicateChunks != 1 {
		t.Errorf("got level %q with %d chunks and %d duplicates, want chunk, 4, 1", got.Level, got.Chunks, got.Diagnostics.DuplicateChunks)
	}
	// The first query finds one of two relevant chunks, the second none.
	for metric, want := range map[string]float64{"chunk_recall": 0.25, "chunk_precision": 0.5, "chunk_f1": 1.0 / 3} {
		if value, ok := got.Score(metric); !ok || value != want {
			t.Errorf("%s: got %v, %v, want %v", metric, value, ok, want)
		}
	}
	want := []ragtest.Passage{{ChunkID: chunkers.NewChunkID("dates").String(), Doc: "b.md", Text: "dates", Lost: ragtest.LossBudget, Rank: 2}}
	if diff := cmp.Diff(got.Queries[0].Missed, want); diff != "" {
		t.Errorf("missed (-got +want):\n%s", diff)
	}
	if hit := got.Queries[0].Hits[0]; hit.Text != "bananas" || hit.Doc != "a.md" || hit.Span != (spans.Span{}) {
		t.Errorf("got first hit %+v, want bananas of a.md without a span", hit)
	}
}

func TestReranker(t *testing.T) {
	e := fruit(t)
	var candidates atomic.Int64
	e.Reranker = rerankFunc[chunkers.PositionAwareChunk](func(_ context.Context, query string, chunks []scored) ([]scored, error) {
		candidates.Store(int64(len(chunks)))
		for i := range chunks { // last first
			chunks[i].Score = float64(i)
		}
		for i, j := 0, len(chunks)-1; i < j; i, j = i+1, j-1 {
			chunks[i], chunks[j] = chunks[j], chunks[i]
		}
		return chunks, nil
	})
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := candidates.Load(); got != 4 {
		t.Errorf("got %d candidates, want 4*K = 4", got)
	}
	if recall, _ := r.Queries[0].Score("span_recall"); recall != 0 {
		t.Errorf("got recall %v with the best candidate last, want 0", recall)
	}
	if n := len(r.Queries[0].Hits); n != 1 {
		t.Errorf("got %d hits, want K = 1", n)
	}
}

// A search that is in production already needs neither chunker nor embedder,
// and may return spans of its own making.
func TestRetrieverWithoutChunker(t *testing.T) {
	e := fruit(t)
	found(spans.Span{Doc: "a.md", Start: 0, End: 13}, spans.Span{Doc: "a.md", Start: 6, End: 13})(&e)
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if recall, _ := r.Queries[0].Score("span_recall"); recall != 1 {
		t.Errorf("got recall %v, want 1", recall)
	}
	if precision, _ := r.Queries[0].Score("span_precision"); precision != 7.0/13 {
		t.Errorf("got precision %v, want 7/13: overlapping chunks count once", precision)
	}
	want := ragtest.Hit{Rank: 2, ChunkID: chunkers.NewPositionAwareChunkID("bananas").String(), Doc: "a.md", Span: spans.Span{Doc: "a.md", Start: 6, End: 13}, Line: 2, Column: 1, Text: "bananas"}
	if diff := cmp.Diff(r.Queries[0].Hits[1], want); diff != "" {
		t.Errorf("second hit (-got +want):\n%s", diff)
	}
	if r.Chunks != 0 {
		t.Errorf("got %d chunks, want 0: nothing was indexed", r.Chunks)
	}
}

func TestChunkLevelKeepsTheFirstRank(t *testing.T) {
	e := fruitChunks(t)
	e.Embedder, e.Chunker, e.K, e.FetchK = nil, nil, 2, 4
	e.Metrics = []ragtest.ChunkMetric{ragtest.ChunkRecall, ragtest.ChunkMRR}
	hit := func(text string) ragtest.ScoredChunk[chunkers.Chunk] {
		return ragtest.ScoredChunk[chunkers.Chunk]{Chunk: chunkers.Chunk{ID: chunkers.NewChunkID(text), Text: text}}
	}
	e.Retriever = ragtest.RetrieverFunc[chunkers.Chunk](func(context.Context, string, int) ([]ragtest.ScoredChunk[chunkers.Chunk], error) {
		return []ragtest.ScoredChunk[chunkers.Chunk]{hit("dates"), hit("dates"), hit("cherries"), hit("bananas")}, nil
	})
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := r.Score("chunk_recall"); got != (0.5+1)/2 {
		t.Errorf("got recall %v, want 0.75", got)
	}
	if got, _ := r.Score("chunk_mrr"); got != (1+0.5)/2 {
		t.Errorf("got mrr %v, want 0.75: the copy at rank 2 takes no rank", got)
	}
}

func TestUnlocatedChunks(t *testing.T) {
	e := fruit(t)
	lost := chunkFunc(func(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
		pieces, err := placedLines{}.ChunkWithPositions(ctx, doc)
		return append(pieces, chunkers.Piece{Text: "made up", Start: -1}, chunkers.Piece{}), err
	})
	e.Chunker = lost
	_, err := e.Evaluate(t.Context())
	expectError(t, err, "2 of 7 chunks could not be located", "chunk 2 of a.md", "made up", "MaxUnlocated = 0")
	e.MaxUnlocated = 2
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := r.Diagnostics; d.SkippedChunks != 2 || d.EmptyChunks != 2 || len(d.Warnings) != 2 || r.Chunks != 5 {
		t.Errorf("got %d chunks and diagnostics %+v, want 5 chunks, 2 skipped, 2 empty, 2 warnings", r.Chunks, d)
	}
}

func TestNothingRelevant(t *testing.T) {
	e := fruit(t)
	e.Metrics = []ragtest.TokenMetric{ragtest.SpanRecall, ragtest.SpanMRR}
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	q := r.Queries[2]
	if recall, _ := q.Score("span_recall"); recall != 1 {
		t.Errorf("got recall %v, want 1", recall)
	}
	if mrr, _ := q.Score("span_mrr"); mrr != 0 {
		t.Errorf("got mrr %v, want 0", mrr)
	}
	if r.Diagnostics.QueriesWithoutRelevant != 1 {
		t.Errorf("got %d queries without relevant text, want 1", r.Diagnostics.QueriesWithoutRelevant)
	}
}

// Each distinct text is embedded once, in batches that do not depend on how
// many processors there are.
func TestDistinctTextsAreEmbeddedOnce(t *testing.T) {
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, "line %d\n", i%6000)
	}
	e := fruit(t)
	e.Corpus = corpus(t, "long.md", text.String())
	e.Queries = []ragtest.TokenQuery{tokenQuery("line 7", spans.Span{Doc: "long.md", Start: 0, End: 6})}
	var calls, texts, queries, most atomic.Int64
	count := func(ctx context.Context, batch []string) ([][]float32, error) {
		calls.Add(1)
		texts.Add(int64(len(batch)))
		for m := most.Load(); int64(len(batch)) > m && !most.CompareAndSwap(m, int64(len(batch))); m = most.Load() {
		}
		return letters{}.Embed(ctx, batch)
	}
	e.Embedder = asymmetric{count, func(ctx context.Context, batch []string) ([][]float32, error) {
		queries.Add(int64(len(batch)))
		return letters{}.Embed(ctx, batch)
	}}
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if texts.Load() != 6000 || r.Diagnostics.EmbeddedTexts != 6000 {
		t.Errorf("embedded %d texts and reported %d, want 6000", texts.Load(), r.Diagnostics.EmbeddedTexts)
	}
	if queries.Load() != 1 {
		t.Errorf("embedded %d queries with EmbedQueries, want 1", queries.Load())
	}
	if calls.Load() > 30 || most.Load() > 256 {
		t.Errorf("got %d calls of at most %d texts, want batches of at most 256", calls.Load(), most.Load())
	}
	if r.Chunks != 10_000 || r.Diagnostics.DuplicateChunks != 4000 {
		t.Errorf("got %d chunks, %d duplicates, want 10000, 4000", r.Chunks, r.Diagnostics.DuplicateChunks)
	}
}

func TestSameResultAtEveryGOMAXPROCS(t *testing.T) {
	var docs []string
	for d := range 40 {
		var text strings.Builder
		for i := range 50 {
			fmt.Fprintf(&text, "%c%c%c %d\n", 'a'+(d*7+i)%26, 'a'+i%26, 'a'+(i*d)%26, i%5)
		}
		docs = append(docs, fmt.Sprintf("%02d.md", d), text.String())
	}
	e := fruit(t)
	e.Corpus, e.K, e.Chunker = corpus(t, docs...), 7, chunkers.WithPositions(lines)
	e.Queries = nil
	for i := range 60 {
		e.Queries = append(e.Queries, tokenQuery(fmt.Sprintf("%c%c %d", 'a'+i%26, 'a'+i*5%26, i), spans.Span{Doc: "07.md", Start: i, End: 2 * i}))
	}
	e.Metrics = []ragtest.TokenMetric{ragtest.SpanRecall, ragtest.SpanNDCG, ragtest.SpanMAP}
	var first []byte
	for _, procs := range []int{1, 2, 3, 8, 1} {
		before := runtime.GOMAXPROCS(procs)
		r, err := e.Evaluate(t.Context())
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got
		} else if string(got) != string(first) {
			t.Errorf("GOMAXPROCS=%d: the result differs:\n%s", procs, cmp.Diff(string(got), string(first)))
		}
	}
}

func TestTwoTextsOfOneSpan(t *testing.T) {
	e := fruit(t)
	e.Chunker = twice{}
	e.K = 10
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.Chunks != 10 || len(r.Queries[0].Hits) != 10 {
		t.Errorf("got %d chunks, %d hits, want 10 of each", r.Chunks, len(r.Queries[0].Hits))
	}
}

// twice indexes each line as it is and in upper case.
type twice struct{}

func (twice) RewritesText() bool { return true }

func (twice) ChunkWithPositions(ctx context.Context, doc *spans.Document) ([]chunkers.Piece, error) {
	pieces, err := placedLines{}.ChunkWithPositions(ctx, doc)
	for _, p := range pieces {
		p.Text = strings.ToUpper(p.Text)
		pieces = append(pieces, p)
	}
	return pieces, err
}

func TestDenseAsRetriever(t *testing.T) {
	e := fruit(t)
	want, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e.Embedder, e.Retriever = nil, ragtest.Dense[chunkers.PositionAwareChunk](letters{}, nil)
	got, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("Dense differs from Embedder and Store (-got +want):\n%s", diff)
	}
	_, err = e.Evaluate(t.Context())
	expectError(t, err, "indexed before", "fresh")
}

// At chunk level a chunk that is retrieved twice keeps its first rank; a store
// that returns one twice was not fresh, which is said.
func TestStoreThatHeldTheSameChunks(t *testing.T) {
	e := fruitChunks(t)
	e.Store, e.K = ragtest.NewMemoryStore[chunkers.Chunk](), 3
	fresh, err := e.Evaluate(t.Context())
	if err != nil || len(fresh.Diagnostics.Warnings) > 0 {
		t.Fatalf("a fresh store: got error %v and warnings %q", err, fresh.Diagnostics.Warnings)
	}
	reused, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if w := reused.Diagnostics.Warnings; len(w) != 1 || !strings.Contains(w[0], "give each evaluation a fresh one") {
		t.Errorf("a store that was used before: got warnings %q, want one", w)
	}
}
