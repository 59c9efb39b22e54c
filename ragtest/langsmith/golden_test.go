package langsmith

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// settle makes what differs between runs the same in each.
func settle(t *testing.T) time.Time {
	t.Helper()
	at := time.Date(2026, 11, 21, 12, 0, 0, 123456000, time.UTC)
	oldUUID, oldNow, oldStatus := newUUID, now, gitStatus
	t.Cleanup(func() { newUUID, now, gitStatus = oldUUID, oldNow, oldStatus })
	ids := 0
	newUUID = func() string { ids++; return fmt.Sprintf("%08d-0000-4000-8000-000000000000", ids) }
	now = func() time.Time { return at }
	gitStatus = func(context.Context) ([]byte, error) {
		return []byte("# branch.oid 0123456789abcdef0123456789abcdef01234567\n# branch.head main\n? new.go\n"), nil
	}
	return at
}

// What is sent is recorded in testdata/requests.txt, whose lines end without carriage
// return. RAGTEST_UPDATE=1 writes it anew; read the difference before committing it.
func TestRequestsDoNotChangeByAccident(t *testing.T) {
	at := settle(t)
	s := start(t)
	var b bytes.Buffer
	s.Observe = func(r *http.Request, body []byte) {
		q := r.URL.Query()
		if q.Get("as_of") > "2026-02" { // not a time of the server's, but now
			q.Set("as_of", "now")
		}
		fmt.Fprintf(&b, "%s %s?%s\n%s\n", r.Method, r.URL.Path, q.Encode(), r.Header.Get("Content-Type"))
		if len(body) > 0 {
			b.Write(bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n")))
			b.WriteString("\n")
		}
		b.WriteString("\n")
	}
	e := evaluation(t, 2)
	e.Queries[1].Metadata = map[string]string{"difficulty": "hard", "weight": "2.50", "persona": "<new> & \"odd\" \u2028 ü"}
	upload(t, e)
	e.Queries[0].Text = "Changed?"
	if _, err := (Dataset{Prune: true}).UploadToken(t.Context(), e.Corpus, e.Queries[:1]); err != nil {
		t.Fatal(err)
	}
	upload(t, e)
	if _, err := UploadChunkTruth(t.Context(), "", e.Corpus, chunkTruth(1)); err != nil {
		t.Fatal(err)
	}
	r := fixedResult(at)
	if err := (Reporter{Metadata: map[string]string{"team": "search"}}).Report(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	r.Queries, r.Thresholds, r.Spreads = r.Queries[:1], nil, []ragtest.Spread{{Metric: "span_recall", Deviation: 0.125, Low: 0.25, High: 0.75}}
	r.Repetitions = []ragtest.Repetition{{Queries: r.Queries}, {Queries: r.Queries}}
	if err := (Reporter{Experiment: "again", Baseline: s.Experiments()[0].Name}).Report(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	got := strings.ReplaceAll(b.String(), runtime.Version(), "GOVERSION")
	path := filepath.Join("testdata", "requests.txt")
	if os.Getenv("RAGTEST_UPDATE") == "1" {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("what is sent has changed (-%s +now); RAGTEST_UPDATE=1 records it:\n%s", path, diff)
	}
}

// fixedResult is a result of the queries q00000 and q00001 that no change of any other
// package changes.
func fixedResult(at time.Time) *ragtest.Result {
	span := func(start, end int) spans.Span { return spans.Span{Doc: "handbook.md", Start: start, End: end} }
	return &ragtest.Result{
		Name: "handbook", Level: "token", K: 2, Chunks: 6, CorpusFingerprint: "fingerprint",
		Components: ragtest.Components{Chunker: "fixed/size=20", Embedder: "lexical", Store: "memory", Reranker: "reverse"},
		Metrics:    []ragtest.Score{{Metric: "span_recall", Value: 0.5}, {Metric: "span_precision", Value: 0.25}},
		Intervals:  []ragtest.ScoreInterval{{Metric: "span_recall", Low: 0, High: 1}},
		Thresholds: []ragtest.ThresholdResult{{Metric: "span_recall", Want: ">= 0.9", Got: 0.5}, {Metric: "span_precision", Want: ">= 0.1", Got: 0.25, Pass: true}},
		Queries: []ragtest.QueryResult{{
			ID: "q00000", Text: "Changed?",
			Scores: []ragtest.Score{{Metric: "span_recall", Value: 1}, {Metric: "span_precision", Value: 0.5}},
			Hits: []ragtest.Hit{
				{Rank: 1, ChunkID: "pa_chunk_c098b86c2817", Doc: "handbook.md", Span: span(0, 20), Score: 0.75, Text: "Notice is three mont"},
				{Rank: 2, ChunkID: "pa_chunk_5e807e630b43", Doc: "handbook.md", Span: span(40, 60), Score: 0.5, Text: "en bezahlt. Leave is"},
			},
			Relevant: []ragtest.Passage{{Doc: "handbook.md", Span: span(0, 20), Text: "Notice is three mont"}},
		}, {
			ID: "q00001", Text: "Question 1?", Metadata: map[string]string{"difficulty": "hard", "persona": "<new> & \"odd\" \u2028 ü"},
			Scores:   []ragtest.Score{{Metric: "span_recall", Value: 0}, {Metric: "span_precision", Value: 0}},
			Relevant: []ragtest.Passage{{Doc: "handbook.md", Span: span(1, 21), Text: "otice is three month"}},
			Missed:   []ragtest.Passage{{Doc: "handbook.md", Span: span(1, 21), Text: "otice is three month", Lost: ragtest.LossReranker, Rank: 4}},
		}},
		Trace: ragtest.Trace{Intervals: []ragtest.Interval{
			{Stage: "retrieve", First: 0, Count: 2, Start: at.Add(-3 * time.Second), End: at.Add(-2 * time.Second)},
			{Stage: "rerank", First: 0, Count: 1, Start: at.Add(-2 * time.Second), End: at.Add(-time.Second)},
			{Stage: "rerank", First: 1, Count: 1, Start: at.Add(-2 * time.Second), End: at},
		}},
		Elapsed: 10 * time.Second,
	}
}

func TestGitStatus(t *testing.T) {
	for name, c := range map[string]struct {
		out  string
		want tree
	}{
		"clean":     {"# branch.oid abc\n# branch.head main\n# branch.upstream origin/main\n# branch.ab +0 -0\n", tree{"abc", "main", false}},
		"dirty":     {"# branch.oid abc\n# branch.head a/b\n1 .M N... 100644 100644 100644 1 1 x.go\n", tree{"abc", "a/b", true}},
		"detached":  {"# branch.oid abc\n# branch.head (detached)\n", tree{"abc", "from-ci", false}},
		"no commit": {"# branch.oid (initial)\n# branch.head main\n", tree{"", "main", false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GITHUB_HEAD_REF", "")
			t.Setenv("GITHUB_REF_NAME", "from-ci")
			if got := parseStatus(c.out); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
