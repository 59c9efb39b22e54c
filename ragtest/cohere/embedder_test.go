package cohere_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/cohere"
	"github.com/rageval/rageval/spans"
)

var (
	_ ragtest.Embedder                              = cohere.Embedder{}
	_ ragtest.QueryEmbedder                         = cohere.Embedder{}
	_ ragtest.Reranker[chunkers.Chunk]              = cohere.Reranker[chunkers.Chunk]{}
	_ ragtest.Reranker[chunkers.PositionAwareChunk] = cohere.Reranker[chunkers.PositionAwareChunk]{}
	_ chunkers.Validator                            = cohere.Embedder{}
	_ chunkers.Validator                            = reranker{}
)

func TestEmbedderKeepsTheContract(t *testing.T) {
	for _, e := range []cohere.Embedder{{}, {Dimensions: 256, BatchTexts: 3, Truncate: true}, {BatchTexts: math.MaxInt, Concurrency: math.MaxInt}} {
		s := &server{key: canary}
		e.BaseURL, e.APIKey = s.start(t), canary
		if err := ragtest.CheckEmbedder(t.Context(), e); err != nil {
			t.Errorf("%v: %v", e, err)
		}
	}
}

func TestEmbedRequests(t *testing.T) {
	for _, test := range []struct {
		e    cohere.Embedder
		want string
	}{
		{cohere.Embedder{}, `{"model":"embed-v4.0","input_type":"TYPE","texts":["a","b"],"embedding_types":["float"],"truncate":"NONE"}`},
		{cohere.Embedder{Model: "embed-english-v3.0", Truncate: true}, `{"model":"embed-english-v3.0","input_type":"TYPE","texts":["a","b"],"embedding_types":["float"],"truncate":"END"}`},
		{cohere.Embedder{Dimensions: 512}, `{"model":"embed-v4.0","input_type":"TYPE","texts":["a","b"],"embedding_types":["float"],"output_dimension":512,"truncate":"NONE"}`},
	} {
		s := &server{key: canary}
		test.e.BaseURL, test.e.APIKey = s.start(t), canary
		if _, err := test.e.Embed(t.Context(), []string{"a", "b"}); err != nil {
			t.Fatal(err)
		}
		if _, err := test.e.EmbedQueries(t.Context(), []string{"a", "b"}); err != nil {
			t.Fatal(err)
		}
		want := []string{strings.Replace(test.want, "TYPE", "search_document", 1), strings.Replace(test.want, "TYPE", "search_query", 1)}
		if diff := cmp.Diff(want, bodies(t, s)); diff != "" {
			t.Errorf("the requests differ (-want +got):\n%s", diff)
		}
	}
}

func TestTextsAboveTheLimit(t *testing.T) {
	texts := make([]string, 500)
	for i := range texts {
		texts[i] = fmt.Sprintf("text %d %s", i, strings.Repeat("x", i%7))
	}
	s := &server{key: canary}
	e := cohere.Embedder{BaseURL: s.start(t), APIKey: canary}
	got, err := e.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.sent()); n != 6 {
		t.Errorf("got %d requests, want 6 of at most 96 texts", n)
	}
	want := make([][]float32, len(texts))
	for i, text := range texts {
		want[i] = vectorOf("search_document", text, 8)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the vectors differ (-want +got):\n%s", diff)
	}
}

func TestEmbedErrors(t *testing.T) {
	clearKeys(t)
	s := &server{key: canary}
	address := s.start(t)
	for _, test := range []struct {
		e    cohere.Embedder
		want string
	}{
		{cohere.Embedder{}, "embedding with embed-v4.0: there is no API key: set CO_API_KEY or COHERE_API_KEY, or the field APIKey"},
		{cohere.Embedder{BaseURL: address}, `401 Unauthorized: "invalid api token" (1 attempt)`},
		{cohere.Embedder{BaseURL: address, APIKey: canary, Dimensions: 100}, `400 Bad Request: "invalid request: output_dimension 100" (1 attempt)`},
		{cohere.Embedder{BaseURL: address, APIKey: canary, BatchTexts: 97}, "must be at most 96 - received 97"},
		{cohere.Embedder{BaseURL: "x", APIKey: canary}, "cohere.Embedder: BaseURL is not an absolute"},
		{cohere.Embedder{APIKey: canary, Dimensions: -1}, "cohere.Embedder: Dimensions is -1: want a finite number, 0 or more"},
		{cohere.Embedder{APIKey: canary, BatchTexts: -1}, "BatchTexts is -1"},
		{cohere.Embedder{APIKey: canary, Concurrency: -1}, "Concurrency is -1"},
		{cohere.Embedder{APIKey: canary, PricePerMillion: -1}, "PricePerMillion is -1"},
	} {
		_, err := test.e.EmbedQueries(t.Context(), slices.Repeat([]string{"a"}, 97))
		wantError(t, err, test.want)
	}
}

// A text that is too long is an error that leads to it, unless it may be cut.
func TestLongTextsToEmbed(t *testing.T) {
	s := &server{key: canary}
	e := cohere.Embedder{BaseURL: s.start(t), APIKey: canary}
	texts := slices.Repeat([]string{"short"}, 200)
	texts[130] = strings.Repeat("word ", 600)
	_, err := e.Embed(t.Context(), texts)
	wantError(t, err, "texts 96 to 191, the longest of which is text 130 with 3000 bytes: POST ", "total number of tokens cannot exceed 512 - received 600")
	e.Truncate = true
	if _, err := e.Embed(t.Context(), texts); err != nil {
		t.Error(err)
	}
}

func TestTextsThatAreNotEmbedded(t *testing.T) {
	s := &server{key: canary}
	e := cohere.Embedder{BaseURL: s.start(t), APIKey: canary}
	for text, want := range map[string]string{"": "text 1 is empty", "ab\xffc": "text 1 is not valid UTF-8 at byte 2"} {
		_, err := e.Embed(t.Context(), []string{"a", text})
		wantError(t, err, "embedding with embed-v4.0: ", want)
	}
	if n := len(s.sent()); n != 0 {
		t.Errorf("got %d requests, want none", n)
	}
}

func TestEmbedderReadsTheKeyWhenUsed(t *testing.T) {
	clearKeys(t)
	s := &server{key: canary}
	e := cohere.Embedder{Transport: redirected{s, t}}
	if err := e.Validate(); err != nil {
		t.Error(err)
	}
	if got, err := e.Embed(t.Context(), nil); err != nil || len(got) != 0 {
		t.Errorf("got %v, %v without texts and key, want neither vectors nor error", got, err)
	}
	t.Setenv("COHERE_API_KEY", canary)
	if _, err := e.Embed(t.Context(), []string{"a"}); err != nil {
		t.Error(err)
	}
	t.Setenv("CO_API_KEY", canary+"2")
	s.key = canary + "2"
	if _, err := e.EmbedQueries(t.Context(), []string{"a"}); err != nil {
		t.Errorf("with CO_API_KEY too, which goes first: %v", err)
	}
}

// Embedder and Reranker in one evaluation: chunks and queries are told apart,
// and the tokens of both counted.
func TestEvaluationWithBoth(t *testing.T) {
	s := &server{key: canary}
	address := s.start(t)
	corpus := corpusOf(t, "red house", "blue car", "old tree")
	result, err := ragtest.TokenLevel{
		Corpus: corpus,
		Queries: []ragtest.TokenQuery{{
			Query:    ragtest.Query{Text: "blue car"},
			Relevant: []spans.Span{{Doc: "1.md", Start: 0, End: 8}},
		}},
		Chunker:  chunkers.FixedSize{Size: 100},
		Embedder: cohere.Embedder{BaseURL: address, APIKey: canary, PricePerMillion: 0.12},
		Reranker: cohere.Reranker[chunkers.PositionAwareChunk]{BaseURL: address, APIKey: canary},
		K:        1,
	}.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := result.Score("span_recall"); got != 1 {
		t.Errorf("span_recall: got %v, want 1", got)
	}
	want := []ragtest.Usage{
		{Component: "cohere", Model: "embed-v4.0", Calls: 2, Tokens: 8, Cost: 2*0.12/1e6 + 6*0.12/1e6},
		{Component: "cohere", Model: "rerank-english-v3.0", Calls: 1},
	}
	if diff := cmp.Diff(want, result.Diagnostics.Usage); diff != "" {
		t.Errorf("the usage differs (-want +got):\n%s", diff)
	}
	host := "/host=" + strings.TrimPrefix(address, "http://")
	if got := result.Components; got.Embedder != "cohere/embed-v4.0"+host || got.Reranker != "cohere/rerank-english-v3.0"+host {
		t.Errorf("got the components %+v", got)
	}
}
