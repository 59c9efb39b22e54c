package cohere_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/internal/faulttest"
	"github.com/rageval/rageval/ragtest/cohere"
)

// client calls a component with the texts, and returns what it found in a form
// that can be compared.
type client struct {
	name string
	api  cohere.API
	call func(ctx context.Context, base http.RoundTripper, texts ...string) (any, error)
}

func clients() []client {
	var all []client
	for _, api := range apis {
		all = append(all, client{"rerank " + api.String(), api, func(ctx context.Context, base http.RoundTripper, texts ...string) (any, error) {
			r := reranker{API: api, BaseURL: "http://models.test", APIKey: canary, BatchTexts: 3, Concurrency: 1, Transport: base}
			return r.Rerank(ctx, "red car", candidates(texts...))
		}})
	}
	e := cohere.Embedder{BaseURL: "http://models.test", APIKey: canary, BatchTexts: 3, Concurrency: 1}
	return append(all,
		client{"embed", cohere.Cohere, func(ctx context.Context, base http.RoundTripper, texts ...string) (any, error) {
			e := e
			e.Transport = base
			return e.Embed(ctx, texts)
		}},
		client{"embed queries", cohere.Cohere, func(ctx context.Context, base http.RoundTripper, texts ...string) (any, error) {
			e := e
			e.Transport = base
			return e.EmbedQueries(ctx, texts)
		}},
	)
}

var fiveTexts = []string{"car", "red", "house", "red car", "tree"} // two batches of at most 3

// What passes is repeated, and the answer is what it is without a fault.
func TestFaultsThatPass(t *testing.T) {
	for _, test := range []struct {
		name    string
		faults  []faulttest.Fault
		atLeast time.Duration // waited
	}{
		{"none", nil, 0},
		{"429", faulttest.Repeat(3, faulttest.Status(429, `{"message":"slow down"}`)), 0},
		{"429 with Retry-After", []faulttest.Fault{faulttest.Status(429, "", "Retry-After", "7")}, 7 * time.Second},
		{"429 in the second batch", []faulttest.Fault{nil, faulttest.Status(429, "", "Retry-After", "20")}, 20 * time.Second},
		{"500, 502, 503, 504", []faulttest.Fault{faulttest.Status(500, "{}"), faulttest.Status(502, "<html>"), faulttest.Status(503, ""), faulttest.Status(504, "")}, 0},
		{"cut short", faulttest.Repeat(2, faulttest.CutShort), 0},
		{"broken off", faulttest.Repeat(2, faulttest.BreakOff), 0},
		{"reset", faulttest.Repeat(2, faulttest.Reset), 0},
		{"a slow body", []faulttest.Fault{faulttest.SlowBody}, time.Minute},
		{"silence", []faulttest.Fault{nil, faulttest.Hang}, time.Minute},
	} {
		for _, c := range clients() {
			t.Run(test.name+"/"+c.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					want, err := c.call(t.Context(), serve(t, &server{api: c.api, key: canary}), fiveTexts...)
					if err != nil {
						t.Fatal(err)
					}
					handler := &faulttest.Handler{Next: &server{api: c.api, key: canary}, Faults: test.faults}
					start := time.Now()
					got, err := c.call(t.Context(), serve(t, handler), fiveTexts...)
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("the result differs from one without faults (-want +got):\n%s", diff)
					}
					if waited := time.Since(start); waited < test.atLeast || test.faults == nil && waited > 0 {
						t.Errorf("took %v, want at least %v", waited, test.atLeast)
					}
					faults := 0
					for _, f := range test.faults {
						if f != nil {
							faults++
						}
					}
					if n := handler.Requests(); n != 2+faults {
						t.Errorf("got %d requests, want one for each of 2 batches and one for each of %d faults", n, faults)
					}
				})
			})
		}
	}
}

// What stays as it is is tried once, and told with what the service says, but
// not with the key.
func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		status int
		body   string
		want   string
	}{
		{400, `{"message":"invalid request: model 'x' not found"}`, `400 Bad Request: "invalid request: model 'x' not found" (1 attempt)`},
		{401, `{"message":"invalid api token ` + canary + `"}`, `401 Unauthorized: "invalid api token [redacted]" (1 attempt)`},
		{403, `{"detail":"balance is insufficient"}`, `403 Forbidden: "balance is insufficient" (1 attempt)`},
		{404, `page not found`, `404 Not Found: "page not found" (1 attempt)`},
		{413, `{"error":"batch size 64 > maximum allowed batch size 32","error_type":"Validation"}`, `413 Request Entity Too Large: "batch size 64 > maximum allowed batch size 32" (1 attempt)`},
		{422, ``, `422 Unprocessable Entity (1 attempt)`},
		{498, `{"message":"blocked"}`, `498: "blocked" (1 attempt)`},
		{501, ``, `501 Not Implemented (1 attempt)`},
	} {
		for _, c := range clients() {
			t.Run(fmt.Sprint(test.status, "/", c.name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					handler := &faulttest.Handler{Next: &server{api: c.api, key: canary}, Faults: []faulttest.Fault{nil, faulttest.Status(test.status, test.body)}}
					_, err := c.call(t.Context(), serve(t, handler), fiveTexts...)
					wantError(t, err, "3 to 4", "POST http://models.test/", test.want)
					if n := handler.Requests(); n != 2 {
						t.Errorf("got %d requests, want 2", n)
					}
				})
			})
		}
	}
}

// A service that stays down is an error in bounded time.
func TestServiceThatStaysDown(t *testing.T) {
	for _, c := range clients() {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				handler := &faulttest.Handler{Faults: faulttest.Repeat(100, faulttest.Status(503, `{"message":"down, said `+canary+`"}`))}
				start := time.Now()
				_, err := c.call(t.Context(), serve(t, handler), fiveTexts...)
				wantError(t, err, "0 to 2", `503 Service Unavailable: "down, said [redacted]" (7 attempts)`)
				if took := time.Since(start); took > 5*time.Minute {
					t.Errorf("took %v, want 5 minutes at most", took)
				}
			})
		})
	}
}

// A trial key that is used up for the month is an error at once.
func TestTrialKeyThatIsUsedUp(t *testing.T) {
	handler := &faulttest.Handler{Faults: []faulttest.Fault{faulttest.Status(429, `{"message":"You are using a Trial key, which is limited to 1000 API calls / month."}`)}}
	_, err := reranker{APIKey: canary, Transport: handlerTransport{handler}}.Rerank(t.Context(), "q", candidates("a"))
	wantError(t, err, "limited to 1000 API calls / month", "(1 attempt)")
}

func TestTimeout(t *testing.T) {
	for _, timeout := range []time.Duration{0, 10 * time.Minute, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			handler := &faulttest.Handler{Faults: faulttest.Repeat(10, faulttest.Hang)}
			base := serve(t, handler)
			_, err := reranker{APIKey: canary, BaseURL: "http://models.test", Timeout: timeout, Transport: base}.Rerank(t.Context(), "q", candidates("a"))
			wantError(t, err, map[time.Duration]string{0: "within 5m0s", 10 * time.Minute: "within 50m0s", time.Second: "within 1s"}[timeout])
		})
	}
}

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

// The key does not go where a server redirects to.
func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := &faulttest.Handler{Next: &server{key: canary}}
	other := httptest.NewServer(elsewhere)
	defer other.Close()
	for _, status := range []int{301, 302, 307, 308} {
		for _, c := range clients() {
			handler := &faulttest.Handler{Faults: []faulttest.Fault{faulttest.Status(status, "", "Location", other.URL+"/v2/rerank?token="+canary)}}
			_, err := c.call(t.Context(), handlerTransport{handler}, "a")
			wantError(t, err, fmt.Sprint(status), "redirected to "+other.URL+"/v2/rerank, which is not followed")
		}
	}
	if n := elsewhere.Requests(); n != 0 {
		t.Errorf("got %d requests elsewhere, want none", n)
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

// A done context ends a call at once, in a request and between two, and no
// goroutine stays: the bubble would not end.
func TestCancellation(t *testing.T) {
	gone := errors.New("the test was stopped")
	for _, c := range clients() {
		for name, fault := range map[string]faulttest.Fault{
			"in a request":     faulttest.Hang,
			"in a body":        faulttest.SlowBody,
			"between attempts": faulttest.Status(429, "", "Retry-After", "100"),
		} {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					handler := &faulttest.Handler{Next: &server{api: c.api, key: canary}, Faults: faulttest.Repeat(100, fault)}
					ctx, cancel := context.WithCancelCause(t.Context())
					time.AfterFunc(10*time.Second, func() { cancel(gone) })
					start := time.Now()
					_, err := c.call(ctx, serve(t, handler), fiveTexts...)
					if !errors.Is(err, gone) {
						t.Errorf("got %v, want the cause of the context", err)
					}
					if took := time.Since(start); took != 10*time.Second {
						t.Errorf("took %v, want to end with the context after 10s", took)
					}
				})
			})
		}
	}
}

func TestConcurrentCalls(t *testing.T) {
	for _, c := range clients() {
		t.Run(c.name, func(t *testing.T) {
			s := &server{api: c.api, key: canary}
			want, err := c.call(t.Context(), s, fiveTexts...)
			if err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			for range 16 {
				wg.Go(func() {
					got, err := c.call(t.Context(), s, fiveTexts...)
					if err != nil {
						t.Error(err)
					} else if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("the result differs (-want +got):\n%s", diff)
					}
				})
			}
			wg.Wait()
		})
	}
}

// At most Concurrency requests of one call are under way.
func TestConcurrencyIsBounded(t *testing.T) {
	for _, bound := range []int{0, 1, 3} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			var now, most int
			s := &server{key: canary}
			slow := handlerTransport{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				now++
				most = max(most, now)
				mu.Unlock()
				time.Sleep(time.Second)
				s.ServeHTTP(w, r)
				mu.Lock()
				now--
				mu.Unlock()
			})}
			texts := strings.Split(strings.Repeat("x,", 39)+"x", ",")
			want := bound
			if bound == 0 {
				want = 2
			}
			r := reranker{APIKey: canary, BatchTexts: 2, Concurrency: bound, Transport: slow}
			if _, err := r.Rerank(t.Context(), "q", candidates(texts...)); err != nil || most != want {
				t.Errorf("Reranker with Concurrency %d: got %d requests at once and %v, want %d", bound, most, err, want)
			}
			most = 0
			e := cohere.Embedder{APIKey: canary, BatchTexts: 2, Concurrency: bound, Transport: slow}
			if _, err := e.Embed(t.Context(), texts); err != nil || most != want {
				t.Errorf("Embedder with Concurrency %d: got %d requests at once and %v, want %d", bound, most, err, want)
			}
		})
	}
}

// Nothing that is sent or returned holds the key but the header that is to.
func TestTheKeyStaysSecret(t *testing.T) {
	for _, c := range clients() {
		s := &server{api: c.api, key: canary}
		got, err := c.call(t.Context(), s, fiveTexts...)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(fmt.Sprintf("%#v", got), canary) {
			t.Errorf("%s: the result holds the key", c.name)
		}
		for _, body := range s.sent() {
			if bytes.Contains(body, []byte(canary)) {
				t.Errorf("%s: the body of a request holds the key", c.name)
			}
		}
	}
}
