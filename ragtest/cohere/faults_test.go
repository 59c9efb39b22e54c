package cohere_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
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
