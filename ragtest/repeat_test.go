package ragtest_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/spans"
)

// moody retrieves what it is told to, call by call.
func moody(found ...[]chunkers.Chunk) ragtest.RetrieverFunc[chunkers.Chunk] {
	calls := 0
	return func(ctx context.Context, query string, k int) ([]ragtest.ScoredChunk[chunkers.Chunk], error) {
		ragtest.CountUsage(ctx, ragtest.Usage{Component: "moody", Calls: 1})
		var hits []ragtest.ScoredChunk[chunkers.Chunk]
		for _, c := range found[calls] {
			hits = append(hits, ragtest.ScoredChunk[chunkers.Chunk]{c, 1})
		}
		calls++
		return hits, nil
	}
}

func TestRepetitions(t *testing.T) {
	right := chunkers.Chunk{ID: chunkers.NewChunkID("right"), Doc: "a", Text: "right"}
	wrong := chunkers.Chunk{ID: chunkers.NewChunkID("wrong"), Doc: "a", Text: "wrong"}
	e := ragtest.ChunkLevel{
		Corpus:    corpus(t, "a", "right wrong"),
		Queries:   []ragtest.ChunkQuery{{Query: ragtest.Query{ID: "q", Text: "?"}, Relevant: []chunkers.ChunkID{right.ID}}},
		Retriever: moody([]chunkers.Chunk{wrong}, []chunkers.Chunk{right, wrong}, []chunkers.Chunk{right}, []chunkers.Chunk{right}),
		Metrics:   []ragtest.ChunkMetric{ragtest.ChunkRecall, ragtest.ChunkPrecision},
		Repeat:    4,
	}
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wantMeans := []ragtest.Score{{"chunk_recall", 0.75}, {"chunk_precision", 0.625}}
	if diff := cmp.Diff(wantMeans, r.Metrics); diff != "" {
		t.Errorf("means (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantMeans, r.Queries[0].Scores); diff != "" {
		t.Errorf("scores of the query (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]ragtest.Loss{{ragtest.LossRetriever, 0.25}, {ragtest.LossReranker, 0}}, r.RecallLosses); diff != "" {
		t.Errorf("losses of recall (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]ragtest.Spread{{"chunk_recall", 0.5, 0, 1}, {"chunk_precision", 0.47871355387816905, 0, 1}}, r.Spreads); diff != "" {
		t.Errorf("spreads (-want +got):\n%s", diff)
	}
	if len(r.Repetitions) != 4 {
		t.Fatalf("got %d repetitions, want 4", len(r.Repetitions))
	}
	for i, want := range []float64{0, 1, 1, 1} {
		rep := r.Repetitions[i]
		if got := rep.Metrics[0].Value; got != want {
			t.Errorf("repetition %d: got recall %v, want %v", i, got, want)
		}
		if got := len(rep.Trace.Intervals); got != 2 { // retrieve, score
			t.Errorf("repetition %d: got a trace of %d intervals, want 2: %v", i, got, rep.Trace.Intervals)
		}
	}
	if got := r.Queries[0].Hits[0].Text; got != "wrong" {
		t.Errorf("got first hit %q, want that of the first repetition", got)
	}
	if got := r.Diagnostics.Usage; len(got) != 1 || got[0].Calls != 4 {
		t.Errorf("got usage %v, want 4 calls", got)
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var again ragtest.Result
	if err := json.Unmarshal(data, &again); err != nil || !again.Equal(*r) {
		t.Errorf("the JSON form does not read back (error %v)", err)
	}
}

func TestOneRepetitionIsNone(t *testing.T) {
	e := fruit(t)
	once, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e.Repeat = 1
	one, err := e.Evaluate(t.Context())
	if err != nil || !one.Equal(*once) || one.Repetitions != nil || one.Spreads != nil {
		t.Errorf("Repeat 1 differs from 0 (error %v)", err)
	}
	e.Repeat = 3
	three, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range three.Spreads {
		if s.Deviation != 0 || s.Low != s.High || s.Low != once.Metrics[i].Value {
			t.Errorf("an evaluation that always finds the same: got spread %+v, want none about %v", s, once.Metrics[i].Value)
		}
	}
	if diff := cmp.Diff(once.Queries, three.Queries); diff != "" {
		t.Errorf("an evaluation that always finds the same (-once +thrice):\n%s", diff)
	}
	e.Repeat = -1
	if _, err := e.Evaluate(t.Context()); err == nil || err.Error() != "field Repeat: got -1, want at least 1, or 0 for 1" {
		t.Errorf("Repeat -1: got error %v", err)
	}
}

// moodyReranker keeps the candidates but for one call.
type moodyReranker struct{ calls, none int }

func (r *moodyReranker) Rerank(_ context.Context, _ string, chunks []ragtest.ScoredChunk[chunkers.PositionAwareChunk]) ([]ragtest.ScoredChunk[chunkers.PositionAwareChunk], error) {
	r.calls++
	if r.calls == r.none {
		return nil, nil
	}
	return chunks, nil
}

// Whether a ceiling is only a bound may differ between repetitions.
func TestCeilingsOfRepetitions(t *testing.T) {
	for none := 1; none <= 2; none++ {
		r, err := ragtest.TokenLevel{
			Corpus: corpus(t, "a", "same text. other same text. other"),
			Queries: []ragtest.TokenQuery{
				{Query: ragtest.Query{ID: "q", Text: "same"}, Relevant: []spans.Span{{Doc: "a", Start: 0, End: 10}}},
			},
			Chunker:        chunkers.FixedSize{Size: 17},
			Embedder:       lexical.Embedder{},
			Reranker:       &moodyReranker{none: none},
			K:              1,
			EquivalentText: true,
			Repeat:         2,
		}.Evaluate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			of            string
			exact, bounds []ragtest.Score
		}{
			{"the result", r.Ceilings, r.CeilingBounds},
			{"the query", r.Queries[0].Ceilings, r.Queries[0].CeilingBounds},
		} {
			if diff := cmp.Diff([]ragtest.Score{{"span_recall", 1}}, c.exact); diff != "" {
				t.Errorf("nothing in repetition %d: ceilings of %s (-want +got):\n%s", none, c.of, diff)
			}
			// 0 where nothing was retrieved, and a bound of 1.
			if diff := cmp.Diff([]ragtest.Score{{"span_precision", 0.5}, {"span_iou", 0.5}}, c.bounds); diff != "" {
				t.Errorf("nothing in repetition %d: ceiling bounds of %s (-want +got):\n%s", none, c.of, diff)
			}
		}
	}
}
