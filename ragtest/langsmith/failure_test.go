package langsmith

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/internal/faulttest"
	"github.com/rageval/rageval/internal/langsmithtest"
	"github.com/rageval/rageval/ragtest"
)

// breakable answers as next does until it is broken.
type breakable struct {
	next   http.Handler
	after  atomic.Int64 // how many requests are answered first
	broken faulttest.Fault
}

func (b *breakable) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if b.after.Add(-1) < 0 {
		b.broken(w, r, b.next)
		return
	}
	b.next.ServeHTTP(w, r)
}

const repaired = math.MaxInt64

func spooled(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(os.Getenv("RAGTEST_LANGSMITH_SPOOL"), "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Wherever sending stops, what is missing is sent later.
func TestWhatCouldNotBeSentIsSentLater(t *testing.T) {
	for _, repeat := range []int{0, 2} {
		for after := 0; after < 14; after += 1 + repeat {
			t.Run(fmt.Sprintf("repeat=%d/after=%d", repeat, after), func(t *testing.T) {
				b := &breakable{broken: faulttest.Status(http.StatusUnauthorized, `{"detail":"Invalid token"}`)}
				b.after.Store(repaired)
				s := startWith(t, func(next http.Handler) http.Handler { b.next = next; return b })
				e := evaluation(t, 35) // two requests
				e.Repeat = repeat
				upload(t, e)
				r := evaluate(t, e)
				r.Thresholds = []ragtest.ThresholdResult{{Metric: "span_recall", Want: ">= 1", Got: 0.5}}
				b.after.Store(int64(after))
				err := Reporter{}.Report(t.Context(), r)
				b.after.Store(repaired)
				if err == nil {
					if len(spooled(t)) > 0 {
						t.Errorf("sent and spooled: %v", spooled(t))
					}
				} else if files := spooled(t); len(files) == 1 {
					if !strings.Contains(err.Error(), "401") || !strings.Contains(err.Error(), "it is kept in "+files[0]+", which langsmith.Flush sends") {
						t.Errorf("got error %v, want one that says where it is kept", err)
					}
					if err := Flush(t.Context()); err != nil {
						t.Fatal(err)
					}
				} else if !errors.As(err, new(incompleteError)) {
					t.Fatalf("got error %v and the spool %v, want one file", err, files)
				}
				if left := spooled(t); len(left) > 0 {
					t.Errorf("left in the spool: %v", left)
				}
				if err := Flush(t.Context()); err != nil {
					t.Errorf("flushing an empty spool: %v", err)
				}
				all := s.Experiments()
				if len(all) != 1 {
					t.Fatalf("got %d experiments, want 1", len(all))
				}
				checkExperiment(t, s, all[0], r)
				if got := all[0].Summary["pass"]; got.Score != 0 {
					t.Errorf("got pass %v, want 0", got.Score)
				}
			})
		}
	}
}

func TestAServerThatIsDownCostsNoTest(t *testing.T) {
	s := start(t)
	e := evaluation(t, 3)
	upload(t, e)
	down := httptest.NewServer(s)
	address := os.Getenv("LANGSMITH_ENDPOINT")
	t.Setenv("LANGSMITH_ENDPOINT", down.URL)
	down.Close()
	e.Reporters = []ragtest.Reporter{Reporter{}}
	r := ragtest.RunTokenLevel(t, e) // fails this test if the reporter does
	if r.ExperimentURL != "" {
		t.Errorf("got URL %s, want none", r.ExperimentURL)
	}
	if got := len(spooled(t)); got != 1 {
		t.Fatalf("got %d spooled files, want 1", got)
	}
	t.Setenv("LANGSMITH_ENDPOINT", address)
	if err := Flush(t.Context()); err == nil || !strings.Contains(err.Error(), "it is for the endpoint "+down.URL) {
		t.Errorf("flushing to another endpoint: got error %v", err)
	}
	if got := len(spooled(t)); got != 1 {
		t.Errorf("after flushing to another endpoint: got %d spooled files, want 1", got)
	}
}

func TestAnotherReportFlushesIfAsked(t *testing.T) {
	b := &breakable{broken: faulttest.Status(http.StatusForbidden, "{}")}
	b.after.Store(repaired)
	s := startWith(t, func(next http.Handler) http.Handler { b.next = next; return b })
	e := evaluation(t, 3)
	upload(t, e)
	b.after.Store(0)
	first, second := evaluate(t, e), evaluate(t, e)
	if err := (Reporter{}).Report(t.Context(), first); err == nil {
		t.Fatal("got no error")
	}
	b.after.Store(repaired)
	t.Setenv("RAGTEST_LANGSMITH_FLUSH", "true")
	if err := (Reporter{}).Report(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	all := s.Experiments()
	if len(all) != 2 || len(spooled(t)) > 0 {
		t.Fatalf("got %d experiments and the spool %v, want 2 and none", len(all), spooled(t))
	}
	checkExperiment(t, s, all[0], first)
	checkExperiment(t, s, all[1], second)
}

// What LangSmith refuses for good is not sent again and again.
func TestWhatIsRefusedIsNotSpooled(t *testing.T) {
	start(t)
	r := evaluate(t, evaluation(t, 3))
	err := Reporter{Dataset: "absent"}.Report(t.Context(), r)
	if err == nil || !strings.Contains(err.Error(), `dataset "absent": there is no such dataset`) || len(spooled(t)) > 0 {
		t.Errorf("got error %v and the spool %v", err, spooled(t))
	}
	upload(t, evaluation(t, 3))
	err = Reporter{DatasetVersion: "v9"}.Report(t.Context(), r)
	if err == nil || !strings.Contains(err.Error(), `version "v9": there is no such version`) || len(spooled(t)) > 0 || r.ExperimentURL != "" {
		t.Errorf("got error %v and the spool %v", err, spooled(t))
	}
}

func TestARefusedSpoolIsSetAside(t *testing.T) {
	b := &breakable{broken: faulttest.Status(http.StatusUnauthorized, "{}")}
	b.after.Store(repaired)
	startWith(t, func(next http.Handler) http.Handler { b.next = next; return b })
	e := evaluation(t, 3)
	upload(t, e)
	r := evaluate(t, e)
	for range 2 {
		b.after.Store(0)
		if err := (Reporter{}).Report(t.Context(), r); err == nil {
			t.Fatal("got no error")
		}
	}
	before := spooled(t)
	b.after.Store(0)
	if err := Flush(t.Context()); err == nil || strings.Count(err.Error(), "401") != 1 {
		t.Errorf("flushing with a wrong key: got error %v, want that of the first file", err)
	}
	if diff := cmp.Diff(before, spooled(t)); diff != "" {
		t.Errorf("flushing with a wrong key changed the spool (-before +after):\n%s", diff)
	}
	b.broken = faulttest.Status(http.StatusUnprocessableEntity, `{"detail":"no"}`)
	b.after.Store(0)
	if err := Flush(t.Context()); err == nil || strings.Count(err.Error(), "422") != 2 {
		t.Errorf("got error %v, want both files", err)
	}
	for i, f := range spooled(t) {
		if f != before[i]+".refused" {
			t.Errorf("got %s, want %s.refused", f, before[i])
		}
	}
	if err := Flush(t.Context()); err != nil {
		t.Errorf("what was set aside: got error %v", err)
	}
}

// When the hour's or the month's traces are used up, waiting a little does not help.
func TestUsedUpLimitsAreNotWaitedFor(t *testing.T) {
	b := &breakable{broken: faulttest.Status(http.StatusTooManyRequests, `{"detail":"Monthly unique traces usage limit exceeded"}`)}
	b.after.Store(0)
	startWith(t, func(next http.Handler) http.Handler { b.next = next; return b })
	err := Reporter{}.Report(t.Context(), evaluate(t, evaluation(t, 1)))
	if err == nil || !strings.Contains(err.Error(), "usage limit exceeded") || !strings.Contains(err.Error(), "(1 attempt)") || len(spooled(t)) != 1 {
		t.Errorf("got error %v and the spool %v, want one attempt, and one file", err, spooled(t))
	}
}

func TestTheSpoolIsInTheCacheOfTheUser(t *testing.T) {
	start(t)
	home := t.TempDir()
	t.Setenv("RAGTEST_LANGSMITH_SPOOL", "")
	for _, v := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(v, home)
	}
	t.Setenv("LANGSMITH_API_KEY", "wrong")
	err := Reporter{}.Report(t.Context(), evaluate(t, evaluation(t, 1)))
	if err == nil || !strings.Contains(err.Error(), "it is kept in "+home) || !strings.Contains(filepath.ToSlash(err.Error()), "rageval/langsmith/") {
		t.Errorf("got error %v, want one that says where it is kept", err)
	}
	file := filepath.Join(home, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err = Reporter{Spool: filepath.Join(file, "spool")}.Report(t.Context(), evaluate(t, evaluation(t, 1)))
	if err == nil || !strings.Contains(err.Error(), "401") || !strings.Contains(err.Error(), "keeping it for later: ") {
		t.Errorf("where nothing can be kept: got error %v, want both reasons", err)
	}
}

func TestTheSpoolIsBounded(t *testing.T) {
	start(t)
	dir := os.Getenv("RAGTEST_LANGSMITH_SPOOL")
	for i := range spoolFiles {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.jsonl", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("LANGSMITH_API_KEY", "wrong")
	err := Reporter{}.Report(t.Context(), evaluate(t, evaluation(t, 1)))
	if err == nil || !strings.Contains(err.Error(), dir+" holds 100 results already") || len(spooled(t)) != spoolFiles {
		t.Errorf("got error %v and %d files", err, len(spooled(t)))
	}
}

// What an earlier test left behind does not fail this one.
func TestRequiredIsAboutOneResult(t *testing.T) {
	s := start(t)
	e := evaluation(t, 1)
	upload(t, e)
	if err := os.WriteFile(filepath.Join(os.Getenv("RAGTEST_LANGSMITH_SPOOL"), "a.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("RAGTEST_LANGSMITH_FLUSH", "1")
	e.Reporters = []ragtest.Reporter{Reporter{Required: true}}
	ragtest.RunTokenLevel(t, e)
	if got := len(s.Experiments()); got != 1 {
		t.Errorf("got %d experiments, want 1", got)
	}
}

func TestDamagedSpoolsAreNamed(t *testing.T) {
	start(t)
	dir := os.Getenv("RAGTEST_LANGSMITH_SPOOL")
	for name, text := range map[string]string{"a.jsonl": "", "b.jsonl": `{"version":9}`, "c.jsonl": `{"version":1}`, "d.jsonl": "{"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	err := Flush(t.Context())
	for _, name := range []string{"a.jsonl", "b.jsonl: version is 9: this version of the library reads 1", "c.jsonl", "d.jsonl"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got error %v, want one with %s", err, name)
		}
	}
}

func TestRequired(t *testing.T) {
	start(t)
	r := evaluate(t, evaluation(t, 1))
	for _, required := range []bool{false, true} {
		err := Reporter{Dataset: "absent", Required: required}.Report(t.Context(), r)
		var says ragtest.RequiredReporter
		if got := errors.As(err, &says) && says.Required(); got != required {
			t.Errorf("Required %v: the error %v says %v", required, err, got)
		}
	}
}

func TestNothingIsSent(t *testing.T) {
	for name, c := range map[string]struct{ variable, value, want string }{
		"without key":       {"LANGSMITH_API_KEY", "", "recording the experiment in LangSmith: there is no API key: set LANGSMITH_API_KEY"},
		"with a blank key":  {"LANGSMITH_API_KEY", " \n", "recording the experiment in LangSmith: there is no API key: set LANGSMITH_API_KEY"},
		"tracking is false": {"LANGSMITH_TEST_TRACKING", "false", ""},
		"tracking is 0":     {"LANGSMITH_TEST_TRACKING", "0", ""},
		"tracking is odd":   {"LANGSMITH_TEST_TRACKING", "perhaps", `recording the experiment in LangSmith: the environment variable LANGSMITH_TEST_TRACKING is "perhaps": want true or false`},
		"a broken key":      {"LANGSMITH_API_KEY", "a b", "recording the experiment in LangSmith: the API key has a character that no key has, such as a space or a line end within it"},
		"a broken endpoint": {"LANGSMITH_ENDPOINT", "http://u:" + canary + "@h", "recording the experiment in LangSmith: LANGSMITH_ENDPOINT is not a URL such as https://api.smith.langchain.com, without user, query and fragment"},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			t.Setenv(c.variable, c.value)
			got := ""
			if err := (Reporter{Required: true}).Report(t.Context(), evaluate(t, evaluation(t, 1))); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got error %q, want %q", got, c.want)
			}
			if s.Requests() > 0 || len(spooled(t)) > 0 {
				t.Errorf("got %d requests and the spool %v, want neither", s.Requests(), spooled(t))
			}
		})
	}
}

func TestScoresThatAreNoNumbersAreNotSent(t *testing.T) {
	for name, change := range map[string]func(r *ragtest.Result){
		"the result: the score by span_recall is NaN":    func(r *ragtest.Result) { r.Metrics[0].Value = math.NaN() },
		"query q00000: the score by span_recall is +Inf": func(r *ragtest.Result) { r.Queries[0].Scores[0].Value = math.Inf(1) },
		"query q00000: the score at rank 1 is NaN":       func(r *ragtest.Result) { r.Queries[0].Hits[0].Score = math.NaN() },
		"a threshold: the score by span_recall is NaN": func(r *ragtest.Result) {
			r.Thresholds = []ragtest.ThresholdResult{{Metric: "span_recall", Got: math.NaN()}}
		},
	} {
		s := start(t)
		r := evaluate(t, evaluation(t, 1))
		change(r)
		if err := (Reporter{}).Report(t.Context(), r); err == nil || !strings.Contains(err.Error(), name) || s.Requests() > 0 {
			t.Errorf("got error %v and %d requests, want one with %q and none", err, s.Requests(), name)
		}
	}
}

func TestASlowServerIsGivenUp(t *testing.T) {
	startWith(t, func(next http.Handler) http.Handler {
		return &faulttest.Handler{Next: next, Faults: faulttest.Repeat(1000, faulttest.Hang)}
	})
	err := Reporter{Timeout: 10 * time.Millisecond}.Report(t.Context(), evaluate(t, evaluation(t, 1)))
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "it took longer than 10ms") || len(spooled(t)) != 1 {
		t.Errorf("got error %v and the spool %v", err, spooled(t))
	}
}

func TestConnectionIsTakenFromTheEnvironment(t *testing.T) {
	s, url := langsmithtest.Start(t, canary)
	s.AddDataset(TokenDataset, "", `{"inputs":{"query":"?"},"outputs":{"relevantSpans":[]}}`)
	corpus := corpusOf(t, "a", "b")
	load := func(c Connection) error {
		_, _, err := Dataset{Connection: c}.LoadToken(t.Context(), corpus)
		return err
	}
	if err := load(Connection{}); !errors.Is(err, errNoKey) {
		t.Errorf("without key: got error %v", err)
	}
	paths := map[string]string{}
	s.Observe = func(r *http.Request, _ []byte) {
		if strings.HasSuffix(r.URL.Path, "multipart") {
			paths[r.URL.Path] = r.Method
		}
	}
	for suffix, path := range map[string]string{
		"": "/runs/multipart", "/": "/runs/multipart", "/api/v1": "/api/v1/runs/multipart", "/api/v1/": "/api/v1/runs/multipart", "/api": "/api/runs/multipart",
	} {
		c := Connection{APIKey: canary, Endpoint: url + suffix}
		if err := load(c); err != nil {
			t.Errorf("endpoint %s: %v", suffix, err)
		}
		clear(paths)
		err := Reporter{Connection: c}.Report(t.Context(), evaluate(t, evaluation(t, 1)))
		if err == nil || !strings.Contains(err.Error(), "1 of 1 queries have no example") || paths[path] != "POST" {
			t.Errorf("endpoint %s: got error %v and the paths %v, want %s", suffix, err, paths, path)
		}
	}
	t.Setenv("LANGCHAIN_API_KEY", canary)
	t.Setenv("LANGCHAIN_ENDPOINT", url+"/api/v1")
	if err := load(Connection{}); err != nil {
		t.Errorf("with LANGCHAIN_ variables: %v", err)
	}
	t.Setenv("LANGSMITH_API_KEY", "wrong")
	if err := load(Connection{}); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("with another LANGSMITH_API_KEY: got error %v", err)
	}
	t.Setenv("LANGSMITH_API_KEY", "\t"+canary+"\n")
	if err := load(Connection{}); err != nil {
		t.Errorf("with white space around the key: %v", err)
	}
	for _, v := range []string{"LANGSMITH_TENANT_ID", "LANGSMITH_WORKSPACE_ID"} {
		t.Setenv(v, "11111111-1111-1111-1111-111111111111")
		if err := load(Connection{}); err == nil || !strings.Contains(err.Error(), "403") {
			t.Errorf("%s of another workspace: got error %v", v, err)
		}
		if err := load(Connection{Workspace: langsmithtest.Tenant}); err != nil {
			t.Errorf("%s overridden: %v", v, err)
		}
		t.Setenv(v, langsmithtest.Tenant)
		if err := load(Connection{}); err != nil {
			t.Errorf("%s: %v", v, err)
		}
	}
}

func TestWebAddresses(t *testing.T) {
	for endpoint, want := range map[string]string{
		"":                                       "https://smith.langchain.com",
		"https://api.smith.langchain.com/api/v1": "https://smith.langchain.com",
		"https://eu.api.smith.langchain.com":     "https://eu.smith.langchain.com",
		"https://langsmith.example.com/api/v1":   "https://langsmith.example.com",
		"http://localhost:1984/api":              "http://localhost:1984",
		"https://example.com/tools/smith/api/v1": "https://example.com/tools/smith",
		"https://example.com/v1":                 "https://example.com/v1",
	} {
		c, err := Connection{APIKey: "k", Endpoint: endpoint}.client()
		if err != nil || c.web() != want {
			t.Errorf("%s: got %v (error %v), want %s", endpoint, c.web(), err, want)
		}
	}
}
