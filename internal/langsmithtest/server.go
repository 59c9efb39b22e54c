// Package langsmithtest is an in-memory LangSmith: the REST endpoints that package
// ragtest/langsmith uses, with the rules by which the service accepts requests. A
// request that the documented interface does not have, or that breaks one of its
// rules, is a fault of the client, which the server reports to the test.
//
// The rules, and where they are stated:
//
//   - methods, paths, fields, their types and which are required: the parameter types
//     of github.com/langchain-ai/langsmith-go v0.1.0 and its api.md, generated from
//     LangSmith's OpenAPI document;
//   - POST /runs/multipart, which that version lacks: the OpenAPI document as quoted at
//     https://docs.langchain.com/langsmith/smith-api/runs/ingest-runs-multipart, and
//     the parts that the Python SDK (langsmith/_internal/_operations.py) sends;
//     It is at the root of the service, and below /api or /api/v1 where other
//     addresses are configured (langsmith-go, baseurl.go of later versions);
//   - runs and their dotted order: https://docs.langchain.com/langsmith/run-data-format;
//   - feedback: https://docs.langchain.com/langsmith/feedback-data-format;
//   - versions and tags of datasets: https://docs.langchain.com/langsmith/manage-datasets
//     and the documentation of readDatasetVersion and updateDatasetTag in the
//     JavaScript SDK: a tag is set on an exact version, and moves;
//   - pages of at most 100: the limit of the list endpoints in the OpenAPI document;
//   - at most 100 runs and 20 MiB in a request: batch_ingest_config of GET /info, as
//     the Python SDK (langsmith/schemas.py) has its defaults;
//   - 429 beyond a number of requests in a minute:
//     https://docs.langchain.com/langsmith/administration-overview, "Rate limits";
//   - the headers X-API-Key and X-Tenant-Id: option.WithAPIKey and option.WithTenantID.
//
// What is not documented is decided here, and is no more than a client may rely on: a
// run, feedback or example that is created again with its ID is the same one, whether
// the answer is a success or, with Conflict, 409; creating it again with other content
// is a fault.
package langsmithtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
)

// Tenant is the workspace that a server has.
const Tenant = "7d2c4f9e-4a0b-4f6e-9c51-0d6c5a1b2e3f"

const (
	maxPage = 100
	maxRuns = 100
	maxBody = 20 << 20
)

// Server is LangSmith with one workspace. Set its fields before the first request.
type Server struct {
	// Key is the API key that requests must have.
	Key string
	// Fault is told of each fault of the client.
	Fault func(message string)
	// Conflict says that what exists already is answered with 409.
	Conflict bool
	// RateLimit, if it is not 0, is how many requests are answered before one is
	// refused with 429, again and again.
	RateLimit int
	// Silent says that runs are answered with no body.
	Silent bool
	// Observe is called with each request that passed authentication, and its body.
	Observe func(r *http.Request, body []byte)

	mu       sync.Mutex
	requests int
	clock    int
	datasets []*dataset
	sessions []*session
	runs     map[string]*Run
	feedback map[string]*Feedback
	bytes    map[string]string // of runs and feedback, by ID, as they were sent
}

// New returns a server without datasets.
func New(key string, fault func(message string)) *Server {
	return &Server{Key: key, Fault: fault, runs: map[string]*Run{}, feedback: map[string]*Feedback{}, bytes: map[string]string{}}
}

// Start starts a server on the loopback interface until the test ends, whose faults
// are errors of the test. It returns its URL, too.
func Start(tb testing.TB, key string) (*Server, string) {
	s := New(key, func(message string) { tb.Errorf("langsmithtest: %s", message) })
	h := httptest.NewServer(s)
	tb.Cleanup(h.Close)
	return s, h.URL
}

// refusal is an answer that is no success.
type refusal struct {
	status int
	detail string
}

func (e *refusal) Error() string { return e.detail }

func refuse(status int, format string, args ...any) error {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

// invalid is a fault of the client.
func invalid(format string, args ...any) error {
	return refuse(http.StatusUnprocessableEntity, format, args...)
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // The client is gone.
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	status, answer := s.answer(r, body)
	w.Header().Set("Content-Type", "application/json")
	if status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "0")
	}
	if s.Silent && status == http.StatusAccepted {
		w.WriteHeader(status)
		return
	}
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		panic(err)
	}
}

func (s *Server) answer(r *http.Request, body []byte) (status int, answer any) {
	status, answer, err := s.serve(r, body)
	if err == nil {
		return status, answer
	}
	e, ok := err.(*refusal)
	if !ok {
		e = &refusal{http.StatusUnprocessableEntity, err.Error()}
	}
	switch e.status {
	case http.StatusUnprocessableEntity, http.StatusMethodNotAllowed, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType:
		s.Fault(fmt.Sprintf("%s %s: %s", r.Method, r.URL, e.detail))
	}
	return e.status, map[string]string{"detail": e.detail}
}

func (s *Server) serve(r *http.Request, body []byte) (status int, answer any, err error) {
	if r.Header.Get("X-Api-Key") != s.Key {
		return 0, nil, refuse(http.StatusUnauthorized, "Invalid token")
	}
	if t := r.Header.Get("X-Tenant-Id"); t != "" && t != Tenant {
		return 0, nil, refuse(http.StatusForbidden, "Forbidden")
	}
	if s.RateLimit > 0 && s.requests%(s.RateLimit+1) == 0 {
		return 0, nil, refuse(http.StatusTooManyRequests, "Rate limit exceeded")
	}
	if s.Observe != nil {
		s.Observe(r, body)
	}
	if len(body) > maxBody {
		return 0, nil, refuse(http.StatusRequestEntityTooLarge, "the body has %d bytes, want at most %d", len(body), maxBody)
	}
	path, ok := strings.CutPrefix(r.URL.Path, "/api/v1/")
	if cut, below := strings.CutSuffix(r.URL.Path, "/runs/multipart"); below && (cut == "" || cut == "/api") {
		path, ok = "runs/multipart", true
	}
	if !ok {
		return 0, nil, refuse(http.StatusMethodNotAllowed, "there is no such endpoint")
	}
	elems := strings.Split(path, "/")
	for i, e := range elems {
		if _, err := uuid.Parse(e); err == nil {
			elems[i] = "ID"
		}
	}
	e, ok := endpoints[r.Method+" "+strings.Join(elems, "/")]
	if !ok {
		return 0, nil, refuse(http.StatusMethodNotAllowed, "there is no such endpoint")
	}
	if len(body) > 0 && !strings.HasPrefix(r.Header.Get("Content-Type"), e.contentType()) {
		return 0, nil, refuse(http.StatusUnsupportedMediaType, "the content type is %q, want %s", r.Header.Get("Content-Type"), e.contentType())
	}
	q, err := readQuery(r.URL.RawQuery, e.query)
	if err != nil {
		return 0, nil, err
	}
	status = http.StatusOK
	if e.multipart {
		status = http.StatusAccepted
	}
	answer, err = e.serve(s, request{path: strings.Split(path, "/"), query: q, body: body, contentType: r.Header.Get("Content-Type")})
	return status, answer, err
}

type request struct {
	path        []string // after /api/v1/
	query       query
	body        []byte
	contentType string
}

type endpoint struct {
	serve     func(s *Server, r request) (any, error)
	query     string // the names of its parameters
	multipart bool
}

func (e endpoint) contentType() string {
	if e.multipart {
		return "multipart/form-data"
	}
	return "application/json"
}

var endpoints = map[string]endpoint{
	"GET datasets":            {serve: (*Server).listDatasets, query: "id data_type exclude exclude_corrections_datasets limit metadata name name_contains offset sort_by sort_by_desc tag_value_id"},
	"POST datasets":           {serve: (*Server).createDataset},
	"PATCH datasets/ID":       {serve: (*Server).updateDataset},
	"GET datasets/ID/version": {serve: (*Server).getVersion, query: "as_of tag"},
	"PUT datasets/ID/tags":    {serve: (*Server).tagVersion},
	"GET examples":            {serve: (*Server).listExamples, query: "id as_of dataset descending filter full_text_contains limit metadata offset order random_seed select splits"},
	"POST examples/bulk":      {serve: (*Server).createExamples},
	"PATCH examples/bulk":     {serve: (*Server).updateExamples},
	"DELETE examples/ID":      {serve: (*Server).deleteExample},
	"GET sessions":            {serve: (*Server).listSessions, query: "id dataset_version facets filter include_stats limit metadata name name_contains offset reference_dataset reference_free sort_by sort_by_desc sort_by_feedback_key stats_start_time tag_value_id use_approx_stats"},
	"GET sessions/ID":         {serve: (*Server).getSession, query: "include_stats stats_start_time"},
	"POST sessions":           {serve: (*Server).createSession, query: "upsert"},
	"PATCH sessions/ID":       {serve: (*Server).updateSession},
	"POST runs/multipart":     {serve: (*Server).ingest, multipart: true},
	"POST feedback":           {serve: (*Server).createFeedback},
}

// now returns a time that is later than every one before, and the same in every run.
// Like those of the service it has microseconds.
func (s *Server) now() time.Time {
	s.clock++
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(s.clock) * 100_001 * time.Microsecond)
}

// newID returns a UUID that no other object has, and the same in every run.
func (s *Server) newID() string {
	s.clock++
	return uuid.NewSHA1(uuid.NameSpaceURL, fmt.Appendf(nil, "langsmithtest/%d", s.clock)).String()
}

// keep stores what was sent under an ID, and reports whether it was there already.
// Another content under the ID is a fault.
func (s *Server) keep(id string, sent []byte) (again bool, err error) {
	was, again := s.bytes[id]
	if again && was != string(sent) {
		return true, invalid("%s is created again with other content: was %s, is %s", id, was, sent)
	}
	s.bytes[id] = string(sent)
	return again, nil
}

// Requests returns how many requests came.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// compact returns JSON without white space.
func compact(text []byte) []byte {
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		panic(err)
	}
	return b.Bytes()
}
