package ragtest_test

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

func TestResultJSON(t *testing.T) {
	token, err := fruit(t).Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	token.Thresholds = []ragtest.ThresholdResult{{Metric: "span_recall", Want: ">= 0.9", Got: 0.75}}
	token.ExperimentURL = "https://example.com/<&>"
	chunk, err := fruitChunks(t).Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*ragtest.Result{token, chunk} {
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(data), `{"schemaVersion":1,"name":"fruit"`) {
			t.Errorf("got %.60s…, want the schema version first", data)
		}
		var back ragtest.Result
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&back, r); diff != "" {
			t.Errorf("%s level: JSON changed the result (-got +want):\n%s", r.Level, diff)
		}
		again, err := json.Marshal(back)
		if err != nil {
			t.Fatal(err)
		}
		if string(again) != string(data) {
			t.Errorf("%s level: writing what was read differs:\n%s\n%s", r.Level, again, data)
		}
	}
}

// Whatever a result holds, its JSON form reads back to an equal value, and that
// writes the same bytes.
func TestResultJSONRoundTrip(t *testing.T) {
	odd := "\"quoted\" <b>&amp; \u2028\u2029 \x00\x1f\t\r\n \\ \uFFFD 😀 e\u0301 \\ufffd"
	for name, r := range map[string]ragtest.Result{
		"zero":  {},
		"empty": {Metrics: []ragtest.Score{}, Thresholds: []ragtest.ThresholdResult{}, Queries: []ragtest.QueryResult{}, Diagnostics: ragtest.Diagnostics{Warnings: []string{}}},
		"empty within": {Queries: []ragtest.QueryResult{{Metadata: map[string]string{}, Scores: []ragtest.Score{}, Hits: []ragtest.Hit{}, Relevant: []ragtest.Passage{}, Missed: []ragtest.Passage{}},
			{Hits: []ragtest.Hit{{}}, Missed: []ragtest.Passage{{}}}}},
		"odd texts": {Name: odd, CorpusFingerprint: odd, Components: ragtest.Components{Chunker: odd, Retriever: odd}, Diagnostics: ragtest.Diagnostics{Warnings: []string{odd, ""}},
			Queries: []ragtest.QueryResult{{ID: ragtest.QueryID(odd), Text: odd, Metadata: map[string]string{odd: odd, "": ""},
				Hits: []ragtest.Hit{{Rank: 1, ChunkID: odd, Doc: spans.DocumentID(odd), Span: spans.Span{Doc: spans.DocumentID(odd), Start: 1, End: 2}, Text: odd}}}}},
		"numbers": {K: math.MaxInt, Chunks: -1, Metrics: []ragtest.Score{{Value: 0.1}, {Value: 1.0 / 3}, {Value: 5e-324}, {Value: math.MaxFloat64}, {Value: math.Copysign(0, -1)}}},
	} {
		data, err := json.Marshal(r)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var back ragtest.Result
		if err := json.Unmarshal(data, &back); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(back, r); diff != "" {
			t.Errorf("%s: JSON changed the result (-got +want):\n%s", name, diff)
		}
		if again, err := json.Marshal(back); err != nil || string(again) != string(data) {
			t.Errorf("%s: got error %v and\n%s\nwant\n%s", name, err, again, data)
		}
	}
}

func TestResultJSONErrors(t *testing.T) {
	for data, want := range map[string]string{
		`{"name":"x"}`:                         "schemaVersion: got 0, want 1",
		`{"schemaVersion":2}`:                  "schemaVersion: got 2, want 1",
		`{"schemaVersion":1,"metrics":"none"}`: "metrics",
		`{`:                                    "unexpected end",
	} {
		var r ragtest.Result
		err := json.Unmarshal([]byte(data), &r)
		if err == nil {
			err = r.UnmarshalJSON([]byte(data))
		}
		expectError(t, err, want)
	}
}

func TestResultEqual(t *testing.T) {
	a := ragtest.Result{Name: "x", Queries: []ragtest.QueryResult{{ID: "q"}}, Elapsed: time.Second,
		Trace: ragtest.Trace{Intervals: []ragtest.Interval{{Stage: "chunk"}}}}
	b := a
	b.Elapsed, b.Trace = 0, ragtest.Trace{}
	if !a.Equal(b) {
		t.Error("results that differ in Trace and Elapsed only are not equal")
	}
	b.Queries = []ragtest.QueryResult{{ID: "r"}}
	if a.Equal(b) {
		t.Error("results of different queries are equal")
	}
}

// go-cmp panics on unexported fields of types without an Equal method.
func TestExportedValuesCompare(t *testing.T) {
	e := fruit(t)
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	doc, _ := e.Corpus.Document("a.md")
	for _, v := range []any{
		r, *r, r.Queries, r.Diagnostics, r.Trace, r.Components,
		e.Queries, e.Corpus, doc, spans.Union(e.Queries[0].Relevant...), e.Queries[0].Relevant,
		fruitChunks(t).Queries,
		chunkers.Chunk{ID: chunkers.NewChunkID("x"), Metadata: map[string]string{"a": "b"}},
		chunkers.PositionAwareChunk{ID: chunkers.NewPositionAwareChunkID("x")},
		chunkers.Piece{Text: "x"},
		ragtest.SpanRecall, ragtest.ChunkRecall.At(3), []ragtest.TokenMetric{ragtest.SpanNDCG},
		ragtest.SpanRecall.AtLeast(0.5), ragtest.ChunkMRR.AtMost(0.5),
		ragtest.SpanRecall.Where("a", "b"), ragtest.ChunkRecall.Where("a", "b").AtLeast(1), ragtest.DocumentRecall.Where("a", "b"), ragtest.DocumentMAP.Where("a", "b").AtMost(1),
		ragtest.RetrievedTokens, ragtest.APICost.AtMost(1),
		ragtest.TokenOutcome{Relevant: e.Queries[0].Relevant}, ragtest.ChunkOutcome{Relevant: []chunkers.ChunkID{chunkers.NewChunkID("x")}},
		ragtest.ScoredChunk[chunkers.Chunk]{Chunk: chunkers.Chunk{ID: chunkers.NewChunkID("x")}, Score: 1},
		chunkers.WithPositions(lines), chunkers.WithContext(chunkers.FixedSize{Size: 3}, 1, 1), ragtest.NewMemoryStore[chunkers.Chunk](),
		chunkers.FixedSize{Size: 3}, chunkers.RecursiveCharacter{Size: 3, Separators: []string{" "}},
	} {
		if diff := cmp.Diff(v, v); diff != "" {
			t.Errorf("%T differs from itself:\n%s", v, diff)
		}
	}
	other := chunkers.WithPositions(chunkers.Func(func(context.Context, string) ([]string, error) { return nil, nil }))
	if cmp.Equal(chunkers.WithPositions(lines), other) || cmp.Equal(ragtest.SpanRecall, ragtest.SpanRecall.At(3)) || cmp.Equal(chunkers.NewChunkID("x"), chunkers.NewChunkID("y")) {
		t.Error("different values are equal")
	}
}

func FuzzResultJSON(f *testing.F) {
	for _, evaluate := range []func(context.Context) (*ragtest.Result, error){fruit(f).Evaluate, fruitChunks(f).Evaluate} {
		r, err := evaluate(f.Context())
		if err != nil {
			f.Fatal(err)
		}
		data, err := json.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"schemaVersion":1,"queries":[{"hits":[{}],"metadata":{"":"\ud800"}}],"metrics":[{"value":-0}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var r, back ragtest.Result
		if json.Unmarshal(data, &r) != nil {
			return
		}
		_ = r.String() // must not panic
		written, err := json.Marshal(r)
		if err != nil {
			t.Fatalf("writing what was read: %v", err)
		}
		if err := json.Unmarshal(written, &back); err != nil {
			t.Fatalf("reading what was written: %v\n%s", err, written)
		}
		if !back.Equal(r) {
			t.Errorf("JSON changed the result:\n%s", cmp.Diff(back, r))
		}
	})
}
