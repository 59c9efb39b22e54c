package cohere_test

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/rageval/rageval/ragtest/cohere"
)

// fixed answers every request with its text.
type fixed string

func (f fixed) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(string(f)))}, nil
}

// Whatever a server answers, a call fails or returns each chunk once at most,
// best first.
func FuzzRerankAnswer(f *testing.F) {
	for _, answer := range []string{
		`{"results":[{"index":1,"relevance_score":0.9},{"index":0,"relevance_score":0.9},{"index":2,"relevance_score":-1}]}`,
		`{"object":"list","data":[{"index":0,"relevance_score":1e-9}],"usage":{"total_tokens":12}}`,
		`[{"index":2,"score":0.25},{"index":0,"score":null}]`,
		`{"results":[],"data":null,"meta":{"billed_units":{"search_units":1.5}}}`,
		`[null,{"index":-1}]`,
	} {
		f.Add(answer, false, false)
		f.Add(answer, true, true)
	}
	given := candidates("a", "b", "c")
	f.Fuzz(func(t *testing.T, answer string, tei, allowMissing bool) {
		if !json.Valid([]byte(answer)) {
			t.Skip("the transport repeats or refuses what is no JSON")
		}
		r := reranker{APIKey: "k", AllowMissing: allowMissing, Transport: fixed(answer)}
		if tei {
			r = reranker{API: cohere.TEI, BaseURL: "http://h", AllowMissing: allowMissing, Transport: fixed(answer)}
		}
		got, err := r.Rerank(t.Context(), "q", given)
		if err != nil {
			return
		}
		if len(got) > 3 || len(got) < 3 && !allowMissing {
			t.Errorf("got %d chunks of 3", len(got))
		}
		seen := map[string]bool{}
		for i, c := range got {
			if seen[c.Chunk.Text] {
				t.Errorf("got chunk %q twice", c.Chunk.Text)
			}
			seen[c.Chunk.Text] = true
			if math.IsNaN(c.Score) || math.IsInf(c.Score, 0) {
				t.Errorf("got the score %v", c.Score)
			}
			if i > 0 && (c.Score > got[i-1].Score || c.Score == got[i-1].Score && c.Chunk.Text < got[i-1].Chunk.Text) {
				t.Errorf("rank %d: %q with %v follows %q with %v", i+1, c.Chunk.Text, c.Score, got[i-1].Chunk.Text, got[i-1].Score)
			}
		}
	})
}

// Whatever a server answers, a call fails or returns finite vectors of one
// dimension, one for each text.
func FuzzEmbedAnswer(f *testing.F) {
	for _, answer := range []string{
		`{"id":"x","embeddings":{"float":[[0.5,-1],[1e-3,2]]},"meta":{"billed_units":{"input_tokens":3}}}`,
		`{"embeddings":{"float":[[null],[1]]}}`,
		`{"embeddings":{"float":[null,[1]]}}`,
		`{"embeddings":{"float":[[],[]]}}`,
		`{"embeddings":{"float":"null"}}`,
	} {
		f.Add(answer)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		if !json.Valid([]byte(answer)) {
			t.Skip("the transport repeats or refuses what is no JSON")
		}
		got, err := cohere.Embedder{APIKey: "k", Transport: fixed(answer)}.Embed(t.Context(), []string{"a", "b"})
		if err != nil {
			return
		}
		if len(got) != 2 || len(got[0]) == 0 || len(got[0]) != len(got[1]) {
			t.Fatalf("got the vectors %v, want 2 of one dimension", got)
		}
		for _, v := range got {
			for _, x := range v {
				if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
					t.Errorf("got the component %v", x)
				}
			}
		}
	})
}
