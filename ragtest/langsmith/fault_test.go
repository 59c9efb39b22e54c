package langsmith

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/rageval/rageval/internal/faulttest"
	"github.com/rageval/rageval/internal/langsmithtest"
	"github.com/rageval/rageval/ragtest"
)

// startWith starts a server behind a handler, and points the environment to it.
func startWith(t *testing.T, wrap func(http.Handler) http.Handler) *langsmithtest.Server {
	t.Helper()
	s := langsmithtest.New(canary, func(message string) { t.Errorf("langsmithtest: %s", message) })
	h := httptest.NewServer(wrap(s))
	t.Cleanup(h.Close)
	t.Setenv("LANGSMITH_ENDPOINT", h.URL)
	t.Setenv("LANGSMITH_API_KEY", canary)
	t.Setenv("RAGTEST_LANGSMITH_SPOOL", t.TempDir())
	return s
}

// lostAnswer lets the request take effect and resets the connection instead of
// answering.
func lostAnswer(w http.ResponseWriter, r *http.Request, next http.Handler) {
	next.ServeHTTP(httptest.NewRecorder(), r)
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	conn.Close()
}

// halfRequest cuts the connection while the request is on its way.
func halfRequest(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	io.CopyN(io.Discard, r.Body, r.ContentLength/2)
	panic(http.ErrAbortHandler)
}

// halfAnswer lets the request take effect and breaks off in the middle of the answer.
func halfAnswer(w http.ResponseWriter, r *http.Request, next http.Handler) {
	rec := httptest.NewRecorder()
	next.ServeHTTP(rec, r)
	w.Header().Set("Content-Length", fmt.Sprint(rec.Body.Len()))
	w.WriteHeader(rec.Code)
	w.Write(rec.Body.Bytes()[:rec.Body.Len()/2])
	http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// twice delivers the request twice, as a proxy may that saw no answer.
func twice(w http.ResponseWriter, r *http.Request, next http.Handler) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	next.ServeHTTP(httptest.NewRecorder(), r)
	r.Body = io.NopCloser(bytes.NewReader(body))
	next.ServeHTTP(w, r)
}

// faults are what may happen to a request that is repeated then.
var faults = map[string]faulttest.Fault{
	"429":          faulttest.Status(429, `{"detail":"Rate limit exceeded"}`, "Retry-After", "0"),
	"500":          faulttest.Status(500, `{"detail":"Internal server error"}`),
	"503":          faulttest.Status(503, "<html>"),
	"reset":        faulttest.Reset,
	"half request": halfRequest,
	"half answer":  halfAnswer,
	"lost answer":  lostAnswer,
	"twice":        twice,
}

// takesEffect holds the faults after which a request is there already when it is
// repeated.
var takesEffect = map[string]bool{"half answer": true, "lost answer": true, "twice": true}

// everyOther makes every other request suffer a fault, whatever the order in which
// they come.
type everyOther struct {
	fault faulttest.Fault
	next  http.Handler
	mu    sync.Mutex
	n     int
}

func (h *everyOther) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	h.n++
	suffers := h.n%2 == 1
	h.mu.Unlock()
	if suffers {
		h.fault(w, r, h.next)
		return
	}
	h.next.ServeHTTP(w, r)
}

// The whole of the work with LangSmith, while every other request fails: generate,
// upload, load, evaluate, record, compare.
func TestNothingIsLostAndNothingIsDouble(t *testing.T) {
	for name, fault := range faults {
		for _, conflict := range []bool{false, true} {
			if conflict && !takesEffect[name] {
				continue
			}
			t.Run(fmt.Sprintf("%s/conflict=%v", name, conflict), func(t *testing.T) {
				s := startWith(t, func(next http.Handler) http.Handler { return &everyOther{fault: fault, next: next} })
				s.Conflict = conflict
				workflow(t, s)
			})
		}
	}
	t.Run("rate limit", func(t *testing.T) {
		s := start(t)
		s.RateLimit = 2
		workflow(t, s)
	})
}

func workflow(t *testing.T, s *langsmithtest.Server) {
	t.Helper()
	e := evaluation(t, 105)
	done, err := UploadTokenTruth(t.Context(), "", e.Corpus, e.Queries)
	if err != nil {
		t.Fatal(err)
	}
	if got := done.Created; got != 105 {
		t.Errorf("got %d created examples, want 105", got)
	}
	d := s.Dataset(TokenDataset)
	if got := len(d.Examples); got != 105 {
		t.Errorf("got %d examples, want 105", got)
	}
	for _, x := range d.Examples {
		if x.Changes() != 1 {
			t.Errorf("example %s changed %d times, want once", x.ID, x.Changes())
		}
	}
	e.Queries[5].Text = "A question that was improved?"
	if done, err := UploadTokenTruth(t.Context(), "", e.Corpus, e.Queries); err != nil || done.Updated != 1 || done.Unchanged != 104 || done.Created != 0 {
		t.Errorf("second upload: got %+v (error %v)", done, err)
	}
	if e.Queries, err = LoadTokenTruth(t.Context(), "", e.Corpus); err != nil {
		t.Fatal(err)
	}
	if got := len(e.Queries); got != 105 || e.Queries[5].Text != "A question that was improved?" {
		t.Fatalf("loaded %d queries, the sixth %q", got, e.Queries[5].Text)
	}
	var results []*ragtest.Result
	for range 2 {
		r := evaluate(t, e)
		reporter := Reporter{Required: true}
		if len(results) > 0 {
			reporter.Baseline = s.Experiments()[0].Name
		}
		e.Queries = e.Queries[:20]
		if err := reporter.Report(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	all := s.Experiments()
	if len(all) != 2 {
		t.Fatalf("got %d experiments, want 2", len(all))
	}
	for i, r := range results {
		checkExperiment(t, s, all[i], r)
		url := langsmithtest.Tenant + "/datasets/" + d.ID + "/compare?selectedSessions=" + all[i].ID
		if i == 1 {
			url += "%2C" + all[0].ID
		}
		if !strings.HasSuffix(r.ExperimentURL, "/o/"+url) {
			t.Errorf("got URL %s, want one that ends with %s", r.ExperimentURL, url)
		}
	}
}

// A test that ends takes its requests with it.
func TestReportHeedsItsContext(t *testing.T) {
	for name, fault := range map[string]faulttest.Fault{"hang": faulttest.Hang, "429": faulttest.Status(429, "{}", "Retry-After", "50")} {
		t.Run(name, func(t *testing.T) {
			startWith(t, func(next http.Handler) http.Handler {
				return &faulttest.Handler{Next: next, Faults: faulttest.Repeat(100, fault)}
			})
			r := evaluate(t, evaluation(t, 3))
			ctx, cancel := context.WithCancelCause(t.Context())
			why := fmt.Errorf("the test is over")
			context.AfterFunc(ctx, func() {})
			go cancel(why)
			if err := (Reporter{}).Report(ctx, r); err == nil {
				t.Error("got no error")
			}
		})
	}
}
