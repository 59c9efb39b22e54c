package chroma_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/faulttest"
	"github.com/rageval/rageval/ragtest/chroma"
)

// answer returns a fault that answers the given operation with a status and a
// body, the first so many times.
func answer(operation string, times, status int, body string) func(http.ResponseWriter, *http.Request, string, int) bool {
	return func(w http.ResponseWriter, _ *http.Request, got string, n int) bool {
		if got != operation || n > times {
			return false
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
		return true
	}
}

// use makes a store, adds three chunks, and searches.
func use(ctx context.Context, config chroma.Config) (err error) {
	s, err := chroma.New[chunkers.Chunk](ctx, config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Add(ctx, numbered(3), [][]float32{{1, 0}, {0, 1}, {1, 1}}); err != nil {
		return err
	}
	found, err := s.Search(ctx, []float32{1, 0}, 2)
	if err == nil && (len(found) != 2 || found[0].Chunk.Text != "passage 0" || found[1].Chunk.Text != "passage 2") {
		return fmt.Errorf("got %v, want passages 0 and 2", found)
	}
	return err
}

var operations = []string{"GET checks", "POST", "POST add", "GET count", "POST query", "POST get", "DELETE"}

// TestFaultsThatPass meets each fault twice in each request.
func TestFaultsThatPass(t *testing.T) {
	for _, operation := range operations {
		for name, fault := range map[string]func(http.ResponseWriter, *http.Request, string, int) bool{
			"500":          answer(operation, 2, 500, `{"error":"InternalError","message":"try again"}`),
			"429":          answer(operation, 2, 429, `{"error":"RateLimit","message":"slow down"}`),
			"503 of HTML":  answer(operation, 2, 503, "<html>"),
			"cut short":    answer(operation, 2, 200, `{"ids":[["0"`),
			"empty answer": answer(operation, 2, 200, ""),
		} {
			t.Run(operation+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := newFakeInMemory()
					server.fault = fault
					if err := use(t.Context(), chroma.Config{Endpoint: server.URL, Transport: server}); err != nil {
						t.Error(err)
					}
					if got := server.names(); len(got) != 1 {
						t.Errorf("got the collections %q left, want only the foreign one", got)
					}
				})
			})
		}
	}
}

// TestConnectionsThatBreak breaks one connection in each request, before and in
// the middle of the answer.
func TestConnectionsThatBreak(t *testing.T) {
	for name, fault := range map[string]faulttest.Fault{"before": faulttest.Reset, "in the middle": faulttest.BreakOff} {
		for _, operation := range operations {
			t.Run(operation+"/"+name, func(t *testing.T) {
				t.Parallel()
				server := newFake(t)
				server.fault = func(w http.ResponseWriter, r *http.Request, got string, n int) bool {
					if got != operation || n > 1 {
						return false
					}
					fault(w, r, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"ids":[]}`) }))
					return true
				}
				if err := use(t.Context(), chroma.Config{Endpoint: server.URL}); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestALostAnswerChangesNothing loses the answers to requests that were carried
// out.
func TestALostAnswerChangesNothing(t *testing.T) {
	for _, operation := range []string{"POST", "POST add", "DELETE"} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			server := newFake(t)
			lost := new(atomic.Bool)
			transport := roundTripper(func(r *http.Request) (*http.Response, error) {
				resp, err := http.DefaultTransport.RoundTrip(r)
				if got, _ := server.operation(r); err == nil && got == operation && !lost.Swap(true) {
					_ = resp.Body.Close()
					return nil, io.ErrUnexpectedEOF
				}
				return resp, err
			})
			if err := use(t.Context(), chroma.Config{Endpoint: server.URL, Transport: transport}); err != nil {
				t.Error(err)
			}
			if got := server.names(); !lost.Load() || len(got) != 1 {
				t.Errorf("got an answer lost: %v, and the collections %q, want only the foreign one", lost.Load(), got)
			}
		})
	}
}

type roundTripper func(r *http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestFaultsThatStay(t *testing.T) {
	for _, operation := range operations {
		for name, test := range map[string]struct {
			fault    func(http.ResponseWriter, *http.Request, string, int) bool
			want     string
			requests int
		}{
			"500":      {answer(operation, 99, 500, `{"error":"InternalError","message":"disk full"}`), `500 Internal Server Error: "disk full" (4 attempts)`, 4},
			"400":      {answer(operation, 99, 400, `{"error":"InvalidArgumentError","message":"no such thing"}`), `400 Bad Request: "no such thing" (1 attempt)`, 1},
			"401":      {answer(operation, 99, 401, `{"error":"AuthError","message":"who are you"}`), `401 Unauthorized: "who are you" (1 attempt)`, 1},
			"409":      {answer(operation, 99, 409, `{"error":"ChromaError","message":"exists already"}`), `409 Conflict: "exists already" (1 attempt)`, 1},
			"redirect": {answer(operation, 99, 302, `{}`), `302 Found: "{}" (1 attempt)`, 1},
			"no JSON":  {answer(operation, 99, 200, `<html>hello</html>`), "the answer is not JSON", 1},
		} {
			t.Run(operation+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := newFakeInMemory()
					server.fault = test.fault
					err := use(t.Context(), chroma.Config{Endpoint: server.URL, Transport: server})
					if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "chroma collection ragtest-") {
						t.Errorf("got error %v, want one that names the collection and says %s", err, test.want)
					}
					if got := server.count(operation); got != test.requests {
						t.Errorf("got %d requests, want %d", got, test.requests)
					}
				})
			})
		}
	}
}

func TestWrongAnswers(t *testing.T) {
	distance := func(d float32) *float32 { return &d }
	for _, test := range []struct {
		name, operation, want string
		alter                 func(answer any) any
	}{
		{"no batch", "GET checks", "the server states a max_batch_size of 0, want 1 or more", func(any) any { return map[string]any{} }},
		{"a list of checks", "GET checks", "decoding the answer to GET http", func(any) any { return []int{1} }},
		{"other name", "POST", `the server made a collection of the name "production" and the ID "id-of-production", want the name "ragtest-`, func(any) any {
			return map[string]any{"id": "id-of-production", "name": "production"}
		}},
		{"other space", "POST", "the server made a collection of the space l2, want cosine", func(a any) any {
			a.(map[string]any)["configuration_json"].(map[string]any)["hnsw"].(map[string]any)["space"] = "l2"
			return a
		}},
		{"no space", "POST", "the server made a collection of the space <nil>, want cosine", func(a any) any {
			delete(a.(map[string]any), "configuration_json")
			return a
		}},
		{"other ef_search", "POST", "the server made a collection of the ef_search 10, want 400", func(a any) any {
			a.(map[string]any)["configuration_json"].(map[string]any)["hnsw"].(map[string]any)["ef_search"] = 10
			return a
		}},
		{"records lost", "GET count", "the collection holds 2 records, want 3: it was changed by other means", func(a any) any { return a.(int) - 1 }},
		{"count of text", "GET count", "decoding the answer to GET http", func(any) any { return "3" }},
		{"no lists", "POST query", "the server answered 0 lists of IDs and 0 of distances to 1 queries", func(any) any { return queryAnswer{} }},
		{"no distances", "POST query", "the server answered 1 lists of IDs and 0 of distances to 1 queries", func(any) any { return queryAnswer{IDs: [][]string{{"1"}}} }},
		{"fewer distances", "POST query", "the server answered 2 IDs and 1 distances to a query", func(any) any {
			return queryAnswer{IDs: [][]string{{"1", "2"}}, Distances: [][]*float32{{distance(1)}}}
		}},
		{"null distance", "POST query", `the server answered no distance for the record "1"`, func(any) any {
			return queryAnswer{IDs: [][]string{{"1"}}, Distances: [][]*float32{{nil}}}
		}},
		{"too many", "POST query", "the server answered 4 records to a query, want at most 3", func(any) any {
			return queryAnswer{IDs: [][]string{{"0", "1", "2", "3"}}, Distances: [][]*float32{{distance(1), distance(1), distance(1), distance(1)}}}
		}},
		{"twice", "POST query", `the server found the record "1" twice`, func(any) any {
			return queryAnswer{IDs: [][]string{{"1", "1"}}, Distances: [][]*float32{{distance(1), distance(1)}}}
		}},
		{"foreign record", "POST query", `the collection holds a record "doc-1" that was not added by this store`, func(any) any {
			return queryAnswer{IDs: [][]string{{"doc-1"}}, Distances: [][]*float32{{distance(1)}}}
		}},
		{"record beyond", "POST query", `the collection holds a record "3" that was not added by this store`, func(any) any {
			return queryAnswer{IDs: [][]string{{"3"}}, Distances: [][]*float32{{distance(1)}}}
		}},
		{"odd number", "POST query", `the collection holds a record "01" that was not added by this store`, func(any) any {
			return queryAnswer{IDs: [][]string{{"01"}}, Distances: [][]*float32{{distance(1)}}}
		}},
		{"no records", "POST get", "the server answered 0 IDs, 0 documents and 0 metadatas where 2 were asked for: the collection was changed by other means", func(any) any { return getAnswer{} }},
		{"other records", "POST get", `the server answered without the record "0" that was asked for`, func(a any) any {
			a.(getAnswer).IDs[0] = "7"
			return a
		}},
		{"no document", "POST get", `record "0" has no document: it was not added by this package`, func(a any) any {
			a.(getAnswer).Documents[0] = nil
			return a
		}},
		{"no metadata", "POST get", `record "0": ragtest.doc is <nil>, want a string`, func(a any) any {
			a.(getAnswer).Metadatas[0] = nil
			return a
		}},
		{"no ID", "POST get", `record "0": ragtest.id is 7, want a string`, func(a any) any {
			a.(getAnswer).Metadatas[0]["ragtest.id"] = 7
			return a
		}},
		{"other ID", "POST get", `record "0": parsing ragtest.id: `, func(a any) any {
			a.(getAnswer).Metadatas[0]["ragtest.id"] = "7"
			return a
		}},
		{"other kind", "POST get", `record "0": ragtest.kind is position-aware chunk, want "chunk"`, func(a any) any {
			a.(getAnswer).Metadatas[0]["ragtest.kind"] = "position-aware chunk"
			return a
		}},
		{"metadata of numbers", "POST get", `record "0": metadata "page" is 1e2, want a string`, func(a any) any {
			a.(getAnswer).Metadatas[0]["page"] = rawNumber("1e2")
			return a
		}},
		{"document of numbers", "POST get", "decoding the answer to POST http", func(any) any {
			return map[string]any{"ids": []string{"0"}, "documents": []int{1}}
		}},
		{"null", "POST get", "the server answered 0 IDs", func(any) any { return nil }},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := newFake(t)
			server.alter = func(operation string, answer any) any {
				if operation != test.operation {
					return answer
				}
				return test.alter(answer)
			}
			err := use(t.Context(), chroma.Config{Endpoint: server.URL, HNSW: chroma.HNSW{EFSearch: 400}})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want one that says %s", err, test.want)
			}
			if got := server.names(); len(got) != 1 || got[0] != "production" {
				t.Errorf("got the collections %q left, want only the foreign one", got)
			}
		})
	}
}

// rawNumber is a number as it is written.
type rawNumber string

func (n rawNumber) MarshalJSON() ([]byte, error) { return []byte(n), nil }

func TestOddPositions(t *testing.T) {
	for value, want := range map[any]string{
		nil:                               "ragtest.start is <nil>, want an integer",
		"3":                               "ragtest.start is 3, want an integer",
		1.5:                               "ragtest.start is 1.5, want an integer",
		rawNumber("1e999"):                "ragtest.start is 1e999, want an integer",
		rawNumber("99999999999999999999"): "ragtest.start is 99999999999999999999, want an integer",
	} {
		server := newFake(t)
		s := newStore[chunkers.PositionAwareChunk](t, chroma.Config{Endpoint: server.URL})
		chunks, vectors := odd()
		if err := s.Add(t.Context(), chunks[:1], vectors[:1]); err != nil {
			t.Fatal(err)
		}
		server.alter = func(operation string, answer any) any {
			if a, ok := answer.(getAnswer); ok {
				a.Metadatas[0]["ragtest.start"] = value
			}
			return answer
		}
		if _, err := s.Search(t.Context(), vectors[0], 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one that says %s", err, want)
		}
	}
}

func TestAFailedAddMakesTheStoreUnusable(t *testing.T) {
	server := newFake(t)
	server.maxBatch = 2
	server.fault = func(w http.ResponseWriter, r *http.Request, operation string, n int) bool {
		return n > 1 && answer("POST add", 99, 400, `{"message":"quota exceeded"}`)(w, r, operation, n)
	}
	s := newStore[chunkers.Chunk](t, chroma.Config{Endpoint: server.URL})
	ctx := t.Context()
	vectors := [][]float32{{1, 0}, {0, 1}, {1, 1}}
	if err := s.Add(ctx, numbered(3), vectors); err == nil || !strings.Contains(err.Error(), "chunks 2 to 2: ") || !strings.Contains(err.Error(), "quota exceeded") {
		t.Errorf("got error %v, want one that names chunk 2 and the server's reason", err)
	}
	server.fault = nil
	for _, err := range []error{s.Add(ctx, numbered(3), vectors), second(s.Search(ctx, vectors[0], 1))} {
		if err == nil || !strings.Contains(err.Error(), "the store is unusable since an Add failed half-way: make a new one") {
			t.Errorf("using the store after that: got error %v", err)
		}
	}
	if s.Len() != 0 {
		t.Errorf("got %d chunks, want 0", s.Len())
	}
}

// TestCancellationEndsRequests cancels while the server does not answer, and
// while a repetition waits.
func TestCancellationEndsRequests(t *testing.T) {
	for _, operation := range operations[:6] {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			stop := errors.New("the test was stopped")
			server := newFake(t)
			left := make(chan struct{})
			server.fault = func(_ http.ResponseWriter, r *http.Request, got string, _ int) bool {
				if got != operation {
					return false
				}
				cancel(stop)
				<-r.Context().Done() // the client hangs up
				close(left)
				return true
			}
			if err := use(ctx, chroma.Config{Endpoint: server.URL}); !errors.Is(err, stop) {
				t.Errorf("got error %v, want one that wraps the cause", err)
			}
			<-left
		})
	}
	t.Run("waiting", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		server := newFake(t)
		server.fault = func(w http.ResponseWriter, _ *http.Request, operation string, n int) bool {
			if operation != "POST query" {
				return false
			}
			w.Header().Set("Retry-After", "100")
			w.WriteHeader(429)
			time.AfterFunc(20*time.Millisecond, cancel)
			return true
		}
		if err := use(ctx, chroma.Config{Endpoint: server.URL}); !errors.Is(err, context.Canceled) {
			t.Errorf("got error %v, want one that wraps context.Canceled", err)
		}
	})
}

func TestASlowServer(t *testing.T) {
	server := newFake(t)
	server.fault = func(w http.ResponseWriter, r *http.Request, operation string, _ int) bool {
		if operation != "POST query" {
			return false
		}
		_, _ = io.WriteString(w, `{"ids":`)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		return true
	}
	err := use(t.Context(), chroma.Config{Endpoint: server.URL, Timeout: 200 * time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "within 200ms") {
		t.Errorf("got error %v, want one that tells the time limit", err)
	}
}
