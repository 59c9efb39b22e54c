package cohere_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/internal/faulttest"
	"github.com/rageval/rageval/ragtest/cohere"
)

// Answers that are JSON, but not what was asked for, are errors at once.
func TestWrongRerankAnswers(t *testing.T) {
	// X stands for the list of results, as each protocol wraps it, S for the
	// name of the score.
	for _, test := range []struct {
		name, results, want string
	}{
		{"null score", `[{"index":0,"S":0.5},{"index":1,"S":null},{"index":2,"S":0.1}]`, "result 1, of index 1, has no score"},
		{"no score", `[{"index":2}]`, "result 0, of index 2, has no score"},
		{"no index", `[{"S":0.5}]`, "result 0 has no index"},
		{"null index", `[{"index":0,"S":0.5},{"index":null,"S":0.5}]`, "result 1 has no index"},
		{"null result", `[null]`, "result 0 has no index"},
		{"an index twice", `[{"index":0,"S":0.5},{"index":1,"S":0.4},{"index":0,"S":0.1}]`, "results 0 and 2 have the same index 0"},
		{"an index too high", `[{"index":3,"S":0.5}]`, "result 0 has the index 3, want 0 to 2"},
		{"a negative index", `[{"index":-1,"S":0.5}]`, "result 0 has the index -1, want 0 to 2"},
		{"an index that is no integer", `[{"index":0.5,"S":0.5}]`, "number 0.5"},
		{"one missing", `[{"index":2,"S":0.5},{"index":0,"S":0.5}]`, "got scores for 2 of 3 documents, the first without one has the index 1; set AllowMissing"},
		{"all missing", `[]`, "got scores for 0 of 3 documents, the first without one has the index 0"},
		{"one too many", `[{"index":0,"S":0.5},{"index":1,"S":0.5},{"index":2,"S":0.5},{"index":3,"S":0.5}]`, "result 3 has the index 3, want 0 to 2"},
		{"an infinite score", `[{"index":0,"S":1e999}]`, "number 1e999"},
		{"a score that is text", `[{"index":0,"S":"0.5"}]`, "cannot unmarshal string"},
		{"null results", `null`, "it has no results; is the field API right for this server?"},
		{"results that are no list", `{"a":1}`, "reading the answer: json: cannot unmarshal object"},
		{"NaN", `[{"index":0,"S":NaN}]`, "the answer is not JSON"},
	} {
		for _, c := range clients()[:len(apis)] {
			t.Run(test.name+"/"+c.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					name, wrap := "relevance_score", `{"results":X}`
					switch c.api {
					case cohere.Voyage:
						wrap = `{"object":"list","data":X}`
					case cohere.TEI:
						name, wrap = "score", "X"
					}
					body := strings.Replace(wrap, "X", strings.ReplaceAll(test.results, `"S"`, `"`+name+`"`), 1)
					want := test.want
					if c.api == cohere.TEI && strings.HasPrefix(test.results, "{") {
						want = "cannot unmarshal object"
					}
					handler := &faulttest.Handler{Next: &server{api: c.api, key: canary}, Faults: []faulttest.Fault{faulttest.Status(200, body)}}
					_, err := c.call(t.Context(), serve(t, handler), "a", "b", "c")
					wantError(t, err, "candidates 0 to 2: ", want)
					if n := handler.Requests(); n != 1 {
						t.Errorf("got %d requests, want 1", n)
					}
				})
			})
		}
	}
}

// The answer of another protocol is not taken for an empty one.
func TestAnswerOfAnotherProtocol(t *testing.T) {
	for _, body := range []string{`{}`, `[]`, `{"embeddings":{"float":[[1]]}}`, `null`, `"ok"`, `{"message":"hello"}`} {
		for _, c := range clients() {
			synctest.Test(t, func(t *testing.T) {
				handler := &faulttest.Handler{Faults: []faulttest.Fault{faulttest.Status(200, body)}}
				_, err := c.call(t.Context(), serve(t, handler), "a", "b", "c")
				if err == nil {
					t.Errorf("%s: got no error for the answer %s", c.name, body)
				}
			})
		}
	}
}

// Results are sorted by score, whatever order the server has them in.
func TestResultsInAnyOrder(t *testing.T) {
	for _, c := range clients()[:len(apis)] {
		want, err := c.call(t.Context(), &server{api: c.api, key: canary}, fiveTexts...)
		if err != nil {
			t.Fatal(err)
		}
		reverse := faulttest.Rewrite(func(answer []byte) []byte {
			return rewriteResults(t, answer, func(results []any) []any {
				slices.Reverse(results)
				return results
			})
		})
		handler := &faulttest.Handler{Next: &server{api: c.api, key: canary}, Faults: faulttest.Repeat(2, reverse)}
		got, err := c.call(t.Context(), handlerTransport{handler}, fiveTexts...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: the ranking differs (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestAllowMissing(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *server, r reranker) {
		// The servers keep only what has a word of the query.
		filter := faulttest.Rewrite(func(answer []byte) []byte {
			return rewriteResults(t, answer, func(results []any) []any {
				return slices.DeleteFunc(results, func(r any) bool {
					m := r.(map[string]any)
					return m["score"] == 0.0 || m["relevance_score"] == 0.0
				})
			})
		})
		r.Transport = handlerTransport{&faulttest.Handler{Next: s, Faults: faulttest.Repeat(20, filter)}}
		r.BatchTexts = 2
		given := candidates("a house", "car", "the tree", "red car", "two trees", "three trees")
		if _, err := r.Rerank(t.Context(), "red car", given); err == nil {
			t.Error("got no error for missing documents without AllowMissing")
		}
		r.AllowMissing = true
		got, err := r.Rerank(t.Context(), "red car", given)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"3", "1"}, places(got)); diff != "" {
			t.Errorf("the order differs (-want +got):\n%s", diff)
		}
		got, err = r.Rerank(t.Context(), "bicycle", given)
		if err != nil || len(got) != 0 {
			t.Errorf("got %v, %v, want nothing of what the server returns nothing of", got, err)
		}
	})
}

// rewriteResults returns an answer with what f makes of its results.
func rewriteResults(t *testing.T, answer []byte, f func(results []any) []any) []byte {
	var v any
	if err := json.Unmarshal(answer, &v); err != nil {
		t.Error(err)
	}
	m, ok := v.(map[string]any)
	if !ok {
		return encode(f(v.([]any)))
	}
	for _, key := range []string{"results", "data"} {
		if results, ok := m[key].([]any); ok {
			m[key] = f(results)
		}
	}
	return encode(m)
}

func TestWrongEmbedAnswers(t *testing.T) {
	for _, test := range []struct {
		name, body, want string
	}{
		{"null component", `{"embeddings":{"float":[[1,2],[1,null],[1,2]]}}`, "component 1 of vector 1 is null, want a number"},
		{"null vector", `{"embeddings":{"float":[[1,2],null,[1,2]]}}`, "vector 1 is null"},
		{"null vectors", `{"embeddings":{"float":null}}`, "it has no embeddings.float"},
		{"other vectors", `{"embeddings":{"int8":[[1,2],[1,2],[1,2]]}}`, "it has no embeddings.float"},
		{"the first API's vectors", `{"embeddings":[[1,2],[1,2],[1,2]]}`, "cannot unmarshal array"},
		{"a vector too few", `{"embeddings":{"float":[[1,2],[1,2]]}}`, "got 2 vectors for 3 texts"},
		{"a vector too many", `{"embeddings":{"float":[[1,2],[1,2],[1,2],[1,2]]}}`, "got 4 vectors for 3 texts"},
		{"an empty vector", `{"embeddings":{"float":[[1,2],[],[1,2]]}}`, "vector 1 is empty"},
		{"a shorter vector", `{"embeddings":{"float":[[1,2],[1,2],[1]]}}`, "vector 2 has dimension 1, want 2"},
		{"beyond float32", `{"embeddings":{"float":[[1,2],[1e39,2],[1,2]]}}`, "number 1e39"},
		{"NaN", `{"embeddings":{"float":[[1,2],[NaN,2],[1,2]]}}`, "the answer is not JSON"},
		{"text", `{"embeddings":{"float":[["null",2],[1,2],[1,2]]}}`, "cannot unmarshal string"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, c := range clients()[len(apis):] {
				handler := &faulttest.Handler{Faults: []faulttest.Fault{faulttest.Status(200, test.body)}}
				_, err := c.call(t.Context(), handlerTransport{handler}, "a", "bb", "c")
				wantError(t, err, "texts 0 to 2, the longest of which is text 1 with 2 bytes: ", test.want)
				if n := handler.Requests(); n != 1 {
					t.Errorf("got %d requests, want 1", n)
				}
			}
		})
	}
	t.Run("dimensions that differ between batches", func(t *testing.T) {
		handler := &faulttest.Handler{Next: &server{key: canary}, Faults: []faulttest.Fault{nil, faulttest.Status(200, `{"embeddings":{"float":[[1,2],[3,4]]}}`)}}
		_, err := clients()[len(apis)].call(t.Context(), handlerTransport{handler}, fiveTexts...)
		wantError(t, err, "text 3: got a vector of dimension 2, want 8 like that of text 0")
	})
}
