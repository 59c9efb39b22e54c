package langsmith

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/rageval/rageval/internal/langsmithtest"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// sink answers as LangSmith would, keeps nothing, and counts what is on its way.
type sink struct {
	mu           sync.Mutex
	runs         int // in all
	bytes        int // in all
	requests     int // now, and at most
	mostRequests int
	buffered     int // runs in the requests now, and at most
	mostBuffered int
	mostRuns     int // in one request
	mostBytes    int
}

const sinkDataset = `{"id":"7d2c4f9e-4a0b-4f6e-9c51-0d6c5a1b2e3f","name":"` + TokenDataset + `","tenant_id":"` + langsmithtest.Tenant + `","modified_at":"2026-01-01T00:00:00Z","session_count":0}`

func (s *sink) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, status := "{}", http.StatusOK
	switch r.Method + " " + r.URL.Path {
	case "GET /api/v1/datasets":
		answer = "[" + sinkDataset + "]"
	case "GET /api/v1/examples":
		answer = "[]"
	case "POST /runs/multipart":
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		n := bytes.Count(body, []byte(`.inputs"`))
		s.mu.Lock()
		s.runs += n
		s.bytes += len(body)
		s.requests++
		s.buffered += n
		s.mostRequests, s.mostBuffered = max(s.mostRequests, s.requests), max(s.mostBuffered, s.buffered)
		s.mostRuns, s.mostBytes = max(s.mostRuns, n), max(s.mostBytes, len(body))
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			s.requests--
			s.buffered -= n
			s.mu.Unlock()
		}()
		status = http.StatusAccepted
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(strings.NewReader(answer)), ContentLength: int64(len(answer)),
	}, nil
}

// many returns a result of n queries with a hit of the given size each.
func many(n, size int) *ragtest.Result {
	text := strings.Repeat("x", size)
	r := &ragtest.Result{Name: "many", Level: "token", K: 1, Metrics: []ragtest.Score{{Metric: "span_recall", Value: 1}}}
	for i := range n {
		r.Queries = append(r.Queries, ragtest.QueryResult{
			ID: ragtest.QueryID(fmt.Sprint(i)), Text: "?", Scores: []ragtest.Score{{Metric: "span_recall", Value: 1}},
			Hits: []ragtest.Hit{{Rank: 1, Doc: "d", Span: spans.Span{Doc: "d", Start: 0, End: size}, Score: 1, Text: text}},
		})
	}
	return r
}

// However many queries there are, only a few are on their way at once.
func TestWhatIsBufferedIsBounded(t *testing.T) {
	s := &sink{}
	const n = 100_000
	err := Reporter{Spool: t.TempDir(), Timeout: 10 * 60e9, Connection: Connection{APIKey: canary, Endpoint: "http://sink", Transport: s}}.Report(t.Context(), many(n, 10))
	if err == nil || !strings.Contains(err.Error(), "100000 of 100000 queries have no example") {
		t.Fatalf("got error %v, want one that says that there are no examples", err)
	}
	if s.runs != n {
		t.Errorf("got %d runs, want %d", s.runs, n)
	}
	if s.mostRequests > senders || s.mostRuns > batchRuns || s.mostBuffered > senders*batchRuns {
		t.Errorf("got at most %d requests at once, %d runs in one and %d in all; want %d, %d and %d",
			s.mostRequests, s.mostRuns, s.mostBuffered, senders, batchRuns, senders*batchRuns)
	}
}

// Requests are bounded in bytes, too: by the limit and one query beyond.
func TestLargeRequestsAreSplit(t *testing.T) {
	s := &sink{}
	const n, size = 40, 1 << 20
	_ = Reporter{Spool: t.TempDir(), Connection: Connection{APIKey: canary, Endpoint: "http://sink", Transport: s}}.Report(t.Context(), many(n, size))
	if s.runs != n {
		t.Errorf("got %d runs, want %d", s.runs, n)
	}
	if most := ingestSize + 2*size; s.mostBytes > most {
		t.Errorf("got a request of %d bytes, want at most %d", s.mostBytes, most)
	}
}

func BenchmarkReport(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprintf("queries=%d", n), func(b *testing.B) {
			r := many(n, 400)
			b.ReportAllocs()
			for b.Loop() {
				s := &sink{}
				_ = Reporter{Spool: b.TempDir(), Connection: Connection{APIKey: canary, Endpoint: "http://sink", Transport: s}}.Report(b.Context(), r)
				if s.runs != n {
					b.Fatalf("got %d runs, want %d", s.runs, n)
				}
				b.SetBytes(int64(s.bytes))
			}
		})
	}
}
