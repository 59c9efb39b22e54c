package ragtest_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/trec"
	"github.com/rageval/rageval/spans"
)

type grades = map[spans.DocumentID]int

func TestDocumentMetricsWorked(t *testing.T) {
	log2 := math.Log2
	all := []ragtest.DocumentMetric{ragtest.DocumentRecall, ragtest.DocumentPrecision, ragtest.DocumentHitRate, ragtest.DocumentMRR, ragtest.DocumentNDCG, ragtest.DocumentMAP}
	for _, test := range []struct {
		name      string
		retrieved []spans.DocumentID
		relevant  grades
		want      []float64
	}{
		{"perfect", []spans.DocumentID{"a", "b"}, grades{"a": 2, "b": 1}, []float64{1, 1, 1, 1, 1, 1}},
		{"grades the wrong way round", []spans.DocumentID{"b", "a"}, grades{"a": 3, "b": 1}, []float64{1, 1, 1, 1, (1 + 3/log2(3)) / (3 + 1/log2(3)), 1}},
		{"second", []spans.DocumentID{"x", "a"}, grades{"a": 1, "x": 0, "b": -2}, []float64{1, 0.5, 1, 0.5, 1 / log2(3), 0.5}},
		{"half", []spans.DocumentID{"a"}, grades{"a": 1, "b": 1}, []float64{0.5, 1, 1, 1, 1, 0.5}},
		{"none", []spans.DocumentID{"x"}, grades{"a": 1}, []float64{0, 0, 0, 0, 0, 0}},
		{"nothing relevant", []spans.DocumentID{"x"}, grades{"x": 0}, []float64{1, 0, 0, 0, 0, 0}},
		{"nothing retrieved", nil, grades{"a": 1}, []float64{0, 0, 0, 0, 0, 0}},
		{"nothing at all", nil, nil, []float64{1, 0, 0, 0, 0, 0}},
		{"twice", []spans.DocumentID{"x", "x", "a"}, grades{"a": 1}, []float64{1, 0.5, 1, 0.5, 1 / log2(3), 0.5}},
	} {
		o := ragtest.DocumentOutcome{Retrieved: test.retrieved, Relevant: test.relevant}
		for i, m := range all {
			if got := m.Of(o); math.Abs(got-test.want[i]) > 1e-15 {
				t.Errorf("%s: %s: got %v, want %v", test.name, m.Name(), got, test.want[i])
			}
		}
	}
	if got := (ragtest.DocumentMetric{}).Of(ragtest.DocumentOutcome{}); !math.IsNaN(got) {
		t.Errorf("the zero metric: got %v, want NaN", got)
	}
}

// TestDocumentMetricsAgainstTREC compares with package trec, which is compared with
// trec_eval itself.
func TestDocumentMetricsAgainstTREC(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	names := map[string]ragtest.DocumentMetric{
		"recall_5": ragtest.DocumentRecall.At(5), "success_5": ragtest.DocumentHitRate.At(5), "map_cut_5": ragtest.DocumentMAP.At(5),
		"ndcg_cut_5": ragtest.DocumentNDCG.At(5), "recip_rank": ragtest.DocumentMRR, "map": ragtest.DocumentMAP, "P_5": ragtest.DocumentPrecision.At(5),
	}
	for range 500 {
		o := ragtest.DocumentOutcome{Relevant: grades{}}
		q, j := trec.QueryRun{ID: "q"}, trec.QueryJudgments{ID: "q"}
		for _, i := range rng.Perm(20)[:5+rng.IntN(15)] {
			id := spans.DocumentID(fmt.Sprintf("d%d", i))
			o.Retrieved = append(o.Retrieved, id)
			q.Documents = append(q.Documents, trec.Document{ID: id, Score: -float64(len(q.Documents))})
		}
		for _, i := range rng.Perm(20)[:1+rng.IntN(12)] {
			id, grade := spans.DocumentID(fmt.Sprintf("d%d", i)), rng.IntN(4)
			o.Relevant[id] = grade
			j.Judged = append(j.Judged, trec.Judgment{Doc: id, Grade: grade})
		}
		for name, m := range names {
			scores, err := trec.Scorer{Measures: []string{name, "num_rel"}}.Score(trec.Run{Queries: []trec.QueryRun{q}}, trec.Judgments{j})
			if err != nil {
				t.Fatal(err)
			}
			want, _ := scores.Score(name)
			if relevant, _ := scores.Score("num_rel"); relevant == 0 && name == "recall_5" {
				want = 1
			}
			if got := m.Of(o); math.Abs(got-want) > 1e-12 {
				t.Errorf("%s of %v: got %v, want %v", name, o, got, want)
			}
		}
	}
}

// documents is an evaluation of random documents of several lines each, of which
// some are alike, by the letters in them.
func documents(t testing.TB, seed uint64) ragtest.DocumentLevel {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0))
	line := func() string {
		b := make([]byte, 1+rng.IntN(4))
		for i := range b {
			b[i] = byte('a' + rng.IntN(4))
		}
		return string(b)
	}
	var idsAndTexts []string
	for i := range 12 {
		var text []string
		for range 1 + rng.IntN(9) {
			text = append(text, line())
		}
		idsAndTexts = append(idsAndTexts, fmt.Sprintf("%02d.md", (i*5)%12), strings.Join(text, "\n"))
	}
	e := ragtest.DocumentLevel{Name: "documents", Corpus: corpus(t, idsAndTexts...), Chunker: placedLines{}, Embedder: letters{}, K: 1 + rng.IntN(14)}
	for i := range 8 {
		q := ragtest.DocumentQuery{Query: ragtest.Query{ID: ragtest.QueryID(fmt.Sprint("q", i)), Text: line()}, Relevant: grades{}}
		for range rng.IntN(5) {
			q.Relevant[spans.DocumentID(idsAndTexts[2*rng.IntN(12)])] = rng.IntN(4)
		}
		e.Queries = append(e.Queries, q)
	}
	return e
}

type docScore struct {
	doc   spans.DocumentID
	score float64
}

// rankAll ranks the documents of e for a query by brute force.
func rankAll(t testing.TB, e ragtest.DocumentLevel, query string, score func(text string, cosine float64) float64) []docScore {
	t.Helper()
	vectors, _ := letters{}.Embed(t.Context(), []string{query})
	var all []docScore
	for doc := range e.Corpus.All() {
		pieces, err := e.Chunker.ChunkWithPositions(t.Context(), doc)
		if err != nil {
			t.Fatal(err)
		}
		best := docScore{doc.ID(), math.Inf(-1)}
		for _, p := range pieces {
			v, _ := letters{}.Embed(t.Context(), []string{p.Text})
			store := ragtest.NewMemoryStore[string]()
			if err := store.Add(t.Context(), []string{p.Text}, v); err != nil {
				t.Fatal(err)
			}
			hits, err := store.Search(t.Context(), vectors[0], 1)
			if err != nil {
				t.Fatal(err)
			}
			best.score = max(best.score, score(p.Text, hits[0].Score))
		}
		all = append(all, best)
	}
	slices.SortStableFunc(all, func(a, b docScore) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	return all
}

func hitsOf(q ragtest.QueryResult) (list []docScore) {
	for _, h := range q.Hits {
		list = append(list, docScore{h.Doc, h.Score})
	}
	return list
}

// limited is a retriever that knows no more than the chunks it was told of before.
func limited(r ragtest.Retriever[chunkers.PositionAwareChunk]) ragtest.RetrieverFunc[chunkers.PositionAwareChunk] {
	return func(ctx context.Context, query string, k int) ([]scored, error) {
		lists, err := r.Retrieve(ctx, []string{query}, k)
		if err != nil {
			return nil, err
		}
		return lists[0], nil
	}
}

// The documents that were retrieved are those of brute force, whatever retrieves the
// chunks.
func TestDocumentLevelAgainstBruteForce(t *testing.T) {
	cosine := func(_ string, c float64) float64 { return c }
	for seed := range uint64(40) {
		e := documents(t, seed)
		variants := map[string]func(e *ragtest.DocumentLevel){
			"embedder": func(e *ragtest.DocumentLevel) {},
			"store": func(e *ragtest.DocumentLevel) {
				e.Store = struct {
					ragtest.VectorStore[chunkers.PositionAwareChunk]
				}{ragtest.NewMemoryStore[chunkers.PositionAwareChunk]()}
			},
			"retriever": func(e *ragtest.DocumentLevel) {
				e.Retriever, e.Embedder = ragtest.Dense[chunkers.PositionAwareChunk](letters{}, nil), nil
			},
			"production": func(e *ragtest.DocumentLevel) {
				dense := ragtest.Dense[chunkers.PositionAwareChunk](letters{}, nil)
				var chunks []chunkers.PositionAwareChunk
				for doc := range e.Corpus.All() {
					pieces, _ := e.Chunker.ChunkWithPositions(t.Context(), doc)
					for _, p := range pieces {
						chunks = append(chunks, chunkers.PositionAwareChunk{Span: spans.Span{Doc: doc.ID(), Start: p.Start, End: p.End}, Text: p.Text})
					}
				}
				if err := dense.Index(t.Context(), chunks); err != nil {
					t.Fatal(err)
				}
				e.Retriever, e.Embedder, e.Chunker = limited(dense), nil, nil
			},
		}
		for name, vary := range variants {
			e := e
			vary(&e)
			r, err := e.Evaluate(t.Context())
			if err != nil {
				t.Fatalf("seed %d, %s: %v", seed, name, err)
			}
			for i, q := range r.Queries {
				all := rankAll(t, documents(t, seed), q.Text, cosine)
				if diff := cmp.Diff(all[:min(e.K, len(all))], hitsOf(q), cmp.AllowUnexported(docScore{})); diff != "" {
					t.Fatalf("seed %d, %s, query %q, K = %d (-want +got)\n%s", seed, name, q.Text, e.K, diff)
				}
				var retrieved []spans.DocumentID
				for _, h := range q.Hits {
					retrieved = append(retrieved, h.Doc)
				}
				o := ragtest.DocumentOutcome{Retrieved: retrieved, Relevant: e.Queries[i].Relevant}
				got, _ := q.Score("document_recall")
				if want := ragtest.DocumentRecall.Of(o); got != want {
					t.Errorf("seed %d, %s, query %q: recall %v, want %v", seed, name, q.Text, got, want)
				}
			}
		}
	}
}

// A reranker sees the chunks of FetchK documents, and a document has the score of its
// best chunk after it.
func TestDocumentLevelReranks(t *testing.T) {
	for seed := range uint64(20) {
		e := documents(t, seed)
		e.K, e.FetchK = 2, 12
		e.Reranker = rerankFunc[chunkers.PositionAwareChunk](func(_ context.Context, _ string, chunks []scored) ([]scored, error) {
			for i, c := range chunks {
				chunks[i].Score = -float64(len(c.Chunk.Text)) - c.Score/100
			}
			slices.SortStableFunc(chunks, func(a, b scored) int {
				if a.Score > b.Score {
					return -1
				}
				return 1
			})
			return chunks, nil
		})
		r, err := e.Evaluate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range r.Queries {
			// All documents are candidates, with their chunks up to the first one of the
			// last document in order of cosine.
			type chunk struct {
				doc    spans.DocumentID
				text   string
				cosine float64
			}
			var all []chunk
			rankAll(t, e, q.Text, func(text string, c float64) float64 {
				all = append(all, chunk{text: text, cosine: c})
				return c
			})
			next := 0
			for doc := range e.Corpus.All() {
				for range strings.Count(doc.Text(), "\n") + 1 {
					all[next].doc = doc.ID()
					next++
				}
			}
			slices.SortStableFunc(all, func(a, b chunk) int {
				switch {
				case a.cosine > b.cosine:
					return -1
				case a.cosine < b.cosine:
					return 1
				}
				return 0
			})
			best := map[spans.DocumentID]float64{}
			for _, c := range all {
				score := -float64(len(c.text)) - c.cosine/100
				if old, ok := best[c.doc]; !ok || score > old {
					best[c.doc] = score
				}
				if len(best) == 12 {
					break
				}
			}
			var want []docScore
			for doc := range e.Corpus.All() {
				want = append(want, docScore{doc.ID(), best[doc.ID()]})
			}
			slices.SortStableFunc(want, func(a, b docScore) int {
				switch {
				case a.score > b.score:
					return -1
				case a.score < b.score:
					return 1
				}
				return 0
			})
			if diff := cmp.Diff(want[:2], hitsOf(q), cmp.AllowUnexported(docScore{})); diff != "" {
				t.Errorf("seed %d, query %q (-want +got)\n%s", seed, q.Text, diff)
			}
		}
		if r.Components.Reranker == "" || r.Components.Embedder != "letters" || r.Components.Chunker != "lines" || r.Components.Retriever != "" {
			t.Errorf("got components %+v", r.Components)
		}
	}
}

func TestDocumentLevelResult(t *testing.T) {
	e := ragtest.DocumentLevel{
		Name:   "fruit",
		Corpus: corpus(t, "a.md", "bananas\ncherries", "b.md", "dates\nbananas", "c.md", "bananas"),
		Queries: []ragtest.DocumentQuery{
			{Query: ragtest.Query{ID: "q", Text: "bananas"}, Relevant: grades{"b.md": 2, "c.md": 1, "a.md": 0}},
			{Query: ragtest.Query{ID: "none", Text: "x"}},
		},
		Chunker: placedLines{}, Embedder: letters{}, K: 2,
	}
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	q := r.Queries[0]
	if len(q.Hits) != 2 || q.Hits[0].Doc != "a.md" || q.Hits[1].Doc != "b.md" || q.Hits[1].Text != "bananas" || q.Hits[1].Span != (spans.Span{Doc: "b.md", Start: 6, End: 13}) {
		t.Errorf("got hits %+v", q.Hits)
	}
	want := []ragtest.Passage{{Doc: "c.md", Span: spans.Span{Doc: "c.md", End: 7}, Text: "bananas", Grade: 1, Lost: ragtest.LossRetriever}}
	if diff := cmp.Diff(want, q.Missed); diff != "" {
		t.Errorf("missed (-want +got)\n%s", diff)
	}
	if r.Level != "document" || r.Chunks != 5 || r.Diagnostics.Documents != 3 || r.Diagnostics.EmbeddedTexts != 3 || r.Diagnostics.DuplicateChunks != 2 || r.Diagnostics.QueriesWithoutRelevant != 1 {
		t.Errorf("got %s level, %d chunks, %+v", r.Level, r.Chunks, r.Diagnostics)
	}
	if got, _ := q.Score("document_ndcg"); math.Abs(got-2/math.Log2(3)/(2+1/math.Log2(3))) > 1e-12 {
		t.Errorf("got nDCG %v", got)
	}
	if r.Trace.Elapsed("embed") <= 0 {
		t.Errorf("the trace lacks the embedding: %v", r.Trace)
	}
	for procs := range 3 {
		before := runtime.GOMAXPROCS(procs + 1)
		again, err := e.Evaluate(t.Context())
		runtime.GOMAXPROCS(before)
		if err != nil || !again.Equal(*r) {
			t.Errorf("GOMAXPROCS %d: got error %v or another result", procs+1, err)
		}
	}
	e.Chunker = nil
	r, err = e.Evaluate(t.Context())
	if err != nil || r.Chunks != 3 || r.Components.Chunker != "whole documents" || r.Queries[0].Hits[0].Doc != "c.md" {
		t.Errorf("whole documents: got error %v and %+v", err, r)
	}
}

func TestDocumentLevelErrors(t *testing.T) {
	boom := errors.New("boom")
	for _, test := range []struct {
		name   string
		change func(e *ragtest.DocumentLevel)
		want   []string
	}{
		{"no queries", func(e *ragtest.DocumentLevel) { e.Queries = nil }, []string{"field Queries: no query"}},
		{"unknown document", func(e *ragtest.DocumentLevel) {
			e.Queries[0].Relevant = grades{"y.md": 1, "x.md": 0, "00.md": 1}
		}, []string{"query q0", `the corpus has no document "x.md"`}},
		{"no embedder", func(e *ragtest.DocumentLevel) { e.Embedder = nil }, []string{"fields Embedder and Retriever: both are nil"}},
		{"FetchK", func(e *ragtest.DocumentLevel) { e.K, e.FetchK = 3, 2 }, []string{"field FetchK: got 2, want at least K = 3"}},
		{"cut-off", func(e *ragtest.DocumentLevel) {
			e.K, e.Metrics = 3, []ragtest.DocumentMetric{ragtest.DocumentMAP.At(4)}
		}, []string{"document_map@4: want a cut-off between 1 and K = 3"}},
		{"zero metric", func(e *ragtest.DocumentLevel) { e.Metrics = make([]ragtest.DocumentMetric, 1) }, []string{"metric 0: metric without a name"}},
		{"range", func(e *ragtest.DocumentLevel) {
			e.Metrics = []ragtest.DocumentMetric{ragtest.NewDocumentMetric("two", func(ragtest.DocumentOutcome) float64 { return 2 })}
		}, []string{"query q0", "scoring two: got 2, want a score between 0 and 1"}},
		{"embedding", func(e *ragtest.DocumentLevel) {
			e.Embedder = embedFunc(func(context.Context, []string) ([][]float32, error) { return nil, boom })
		}, []string{"embedding chunk 0 of ", "boom"}},
		{"chunking", func(e *ragtest.DocumentLevel) {
			e.Chunker = chunkFunc(func(context.Context, *spans.Document) ([]chunkers.Piece, error) { return nil, boom })
		}, []string{"chunking ", "boom"}},
		{"unknown retrieved", func(e *ragtest.DocumentLevel) {
			e.Embedder, e.Chunker = nil, nil
			e.Retriever = ragtest.RetrieverFunc[chunkers.PositionAwareChunk](func(context.Context, string, int) ([]scored, error) {
				return []scored{{Chunk: chunkers.PositionAwareChunk{Span: spans.Span{Doc: "z"}}}}, nil
			})
		}, []string{"retrieving for query q0", "rank 1", `the corpus has no document "z"`}},
		{"used store", func(e *ragtest.DocumentLevel) {
			s := ragtest.NewMemoryStore[chunkers.PositionAwareChunk]()
			v, _ := letters{}.Embed(t.Context(), []string{"abcd"})
			if err := s.Add(t.Context(), []chunkers.PositionAwareChunk{{Span: spans.Span{Doc: "old.md", End: 4}, Text: "abcd"}}, v); err != nil {
				t.Fatal(err)
			}
			e.Store, e.K = s, 12
		}, []string{"this run did not add the chunk old.md[0:4]"}},
		{"reranker that invents", func(e *ragtest.DocumentLevel) {
			e.K = 1
			e.Reranker = rerankFunc[chunkers.PositionAwareChunk](func(context.Context, string, []scored) ([]scored, error) {
				return []scored{{Chunk: chunkers.PositionAwareChunk{Span: spans.Span{Doc: "00.md", Start: 7, End: 7}}}}, nil
			})
		}, []string{"reranking for query q", "rank 1: the reranker returned the chunk 00.md[7:7] that it was not given"}},
		{"reranker in vain", func(e *ragtest.DocumentLevel) {
			e.K, e.FetchK, e.Metrics = 2, 2, []ragtest.DocumentMetric{ragtest.DocumentRecall}
			e.Reranker = rerankFunc[chunkers.PositionAwareChunk](nil)
		}, []string{"field Reranker"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := documents(t, 1)
			test.change(&e)
			_, err := e.Evaluate(t.Context())
			expectError(t, err, test.want...)
		})
	}
	_, err := documents(t, 1).Evaluate(canceled(t))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got error %v", err)
	}
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// A retriever that returns chunks without end, or the same ones over and over, ends.
func TestDocumentLevelEnds(t *testing.T) {
	for name, chunk := range map[string]func(i int) spans.Span{
		"the same":          func(int) spans.Span { return spans.Span{Doc: "00.md"} },
		"ever more of one":  func(i int) spans.Span { return spans.Span{Doc: "00.md", End: min(i, 1)} },
		"every other again": func(i int) spans.Span { return spans.Span{Doc: spans.DocumentID(fmt.Sprintf("%02d.md", i%2))} },
	} {
		t.Run(name, func(t *testing.T) {
			e := documents(t, 1)
			e.Embedder, e.Chunker, e.K = nil, nil, 5
			calls := 0
			e.Queries = e.Queries[:1]
			e.Retriever = ragtest.RetrieverFunc[chunkers.PositionAwareChunk](func(_ context.Context, _ string, k int) (list []scored, err error) {
				calls++
				for i := range k {
					list = append(list, scored{Chunk: chunkers.PositionAwareChunk{Span: chunk(i)}})
				}
				return list, nil
			})
			r, err := e.Evaluate(t.Context())
			if err != nil || calls > 3 || len(r.Queries[0].Hits) > 2 {
				t.Errorf("got %d calls, error %v", calls, err)
			}
		})
	}
}

func TestRunDocumentLevel(t *testing.T) {
	e := documents(t, 3)
	e.K = 1
	said := record(t, &recorder{}, func(tb testing.TB) {
		ragtest.RunDocumentLevel(tb, e, ragtest.DocumentRecall.AtLeast(1), ragtest.DocumentMRR.AtLeast(0))
	})
	all := strings.Join(said, "\n")
	for _, want := range []string{"document-level evaluation documents: 12 documents, 8 queries, K = 1", "error: ragtest: document_recall: got ", "missed ", "attr: ragtest.document_mrr="} {
		if !strings.Contains(all, want) {
			t.Errorf("got\n%s\nwant it to hold %q", all, want)
		}
	}
	if got := ragtest.DocumentNDCG.At(3).AtLeast(0.5).WithConfidence(0.9).String(); got != "document_ndcg@3 >= 0.5 with confidence 0.9" {
		t.Errorf("got %s", got)
	}
	if !ragtest.DocumentMAP.AtMost(0.5).Equal(ragtest.DocumentMAP.AtMost(0.5)) || ragtest.DocumentMAP.AtMost(0.5).Equal(ragtest.DocumentMAP.AtLeast(0.5)) {
		t.Error("thresholds do not compare")
	}
}

func TestDocumentLevelHasWhatTheOthersHave(t *testing.T) {
	e := documents(t, 3)
	e.K = 2
	for i := range e.Queries {
		e.Queries[i].Metadata = map[string]string{"type": []string{"even", "odd"}[i%2]}
	}
	e.SliceBy = []string{"type"}
	e.Tokens = words
	e.Budgets = []ragtest.BudgetThreshold{ragtest.RetrievedCharacters.AtMost(1), ragtest.RetrievedTokens.AtMost(1e6), ragtest.EmbeddedTexts.AtMost(1e6),
		ragtest.IndexBytes.AtMost(1e6)}
	odd := ragtest.DocumentRecall.Where("type", "odd")
	var r *ragtest.Result
	said := strings.Join(record(t, &recorder{}, func(tb testing.TB) {
		r = ragtest.RunDocumentLevel(tb, e, odd.AtLeast(1), ragtest.DocumentMRR.AtLeast(0))
	}), "\n")
	wantAll(t, said, "error: ragtest: document_recall[type=odd]: got ", "over 4 queries", "error: ragtest: retrieved_characters: got ",
		"  retrieved_tokens ", "  embedded_texts ", "  index_bytes ", "  type=even  4 ", "  type=odd   4 ")
	if odd.Name() != "document_recall[type=odd]" || odd.AtLeast(1).String() != "document_recall[type=odd] >= 1" ||
		!odd.Equal(ragtest.DocumentRecall.Where("type", "odd")) || odd.Equal(ragtest.DocumentRecall.Where("type", "even")) ||
		odd.AtMost(1).Equal(ragtest.DocumentRecall.AtMost(1)) {
		t.Errorf("slices do not compare: %s", odd.AtLeast(1))
	}
	e.Repeat = 3
	again, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(again.Repetitions) != 3 || cmp.Diff(r.Metrics[:3], again.Metrics) != "" || cmp.Diff(r.Budgets, again.Budgets) != "" {
		t.Errorf("got %d repetitions with %v and %v, want 3 with %v and %v", len(again.Repetitions), again.Metrics, again.Budgets, r.Metrics[:3], r.Budgets)
	}
}

func BenchmarkDocumentLevel(b *testing.B) {
	e := documents(b, 3)
	ragtest.RunDocumentLevel(b, e)
}

func ExampleRunDocumentLevel() {
	_ = func(t *testing.T, corpus *spans.Corpus, embedder ragtest.Embedder) {
		ragtest.RunDocumentLevel(t, ragtest.DocumentLevel{
			Corpus: corpus,
			Queries: []ragtest.DocumentQuery{{
				Query:    ragtest.Query{Text: "How much leave do I get?"},
				Relevant: map[spans.DocumentID]int{"leave.md": 2, "handbook.md": 1},
			}},
			Chunker:  chunkers.RecursiveCharacter{Size: 400},
			Embedder: embedder,
			K:        10,
		}, ragtest.DocumentNDCG.AtLeast(0.6))
	}
}
