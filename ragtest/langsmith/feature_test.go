package langsmith

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/spans"
)

// Alternatives are loaded as they were uploaded, and a change in them is one of the
// example.
func TestAlternativesAreKept(t *testing.T) {
	start(t)
	corpus, queries := truth(t, 2)
	queries[1].Alternatives = [][]spans.Span{
		{{Doc: "handbook.md", Start: 24, End: 50}},
		{{Doc: "handbook.md", Start: 52, End: 60}, {Doc: "handbook.md", Start: 74, End: 80}},
	}
	uploadToken := func() (Uploaded, error) { return UploadTokenTruth(t.Context(), "", corpus, queries) }
	checkUpload(t, "first", uploadToken, Uploaded{Created: 2})
	checkUpload(t, "again", uploadToken, Uploaded{Unchanged: 2})
	loaded, err := LoadTokenTruth(t.Context(), "", corpus)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(queries[1].Alternatives, loaded[1].Alternatives); diff != "" || loaded[0].Alternatives != nil {
		t.Errorf("alternatives, and %v (-want +got):\n%s", loaded[0].Alternatives, diff)
	}
	queries = loaded
	checkUpload(t, "as loaded", uploadToken, Uploaded{Unchanged: 2})
	queries[1].Alternatives[1][1].End++
	checkUpload(t, "with a longer span", uploadToken, Uploaded{Updated: 1, Unchanged: 1})
	queries[1].Alternatives = nil
	checkUpload(t, "without alternatives", uploadToken, Uploaded{Updated: 1, Unchanged: 1})

	chunks := chunkTruth(1)
	chunks[0].Alternatives = [][]chunkers.ChunkID{{chunkers.NewChunkID("a"), chunkers.NewChunkID("b")}, {chunkers.NewChunkID("c")}}
	uploadChunk := func() (Uploaded, error) { return UploadChunkTruth(t.Context(), "", nil, chunks) }
	checkUpload(t, "chunks", uploadChunk, Uploaded{Created: 1})
	loadedChunks, err := LoadChunkTruth(t.Context(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(chunks[0].Alternatives, loadedChunks[0].Alternatives); diff != "" {
		t.Errorf("alternatives (-want +got):\n%s", diff)
	}
	chunks[0].Alternatives = chunks[0].Alternatives[:1]
	checkUpload(t, "fewer alternatives", uploadChunk, Uploaded{Updated: 1})
}

func checkUpload(t *testing.T, what string, upload func() (Uploaded, error), want Uploaded) {
	t.Helper()
	got, err := upload()
	if err != nil {
		t.Fatal(err)
	}
	got.DatasetID = ""
	if got != want {
		t.Errorf("uploading %s: got %+v, want %+v", what, got, want)
	}
}

// lastResult keeps the result that it is to report.
type lastResult struct{ result *ragtest.Result }

func (l *lastResult) Report(_ context.Context, r *ragtest.Result) error {
	l.result = r
	return nil
}

// What an evaluation has beside metrics goes to the comment of the verdict at most, and
// breaks nothing.
func TestReportRecordsAllThatResultsHave(t *testing.T) {
	for _, repeat := range []int{0, 3} {
		s := start(t)
		e := evaluation(t, 30)
		for i := range e.Queries {
			e.Queries[i].Metadata = map[string]string{"type": []string{"multi-hop", "é, \"x\" = [y]"}[i%2]}
		}
		upload(t, e)
		e.Repeat = repeat
		e.SliceBy = []string{"type"}
		e.Budgets = []ragtest.BudgetThreshold{ragtest.RetrievedCharacters.AtMost(1000)}
		e.Baseline = filepath.Join(t.TempDir(), "baseline.json")
		baseline, err := json.Marshal(evaluate(t, e))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(e.Baseline, baseline, 0o600); err != nil {
			t.Fatal(err)
		}
		last := &lastResult{}
		e.Reporters = []ragtest.Reporter{Reporter{Required: true}, last}
		ragtest.RunTokenLevel(t, e,
			ragtest.SpanRecall.At(1).AtLeast(0),
			ragtest.SpanRecall.AtLeast(0.001).WithConfidence(0.5),
			ragtest.SpanRecall.Where("type", "é, \"x\" = [y]").AtLeast(0))
		x := s.Experiments()[0]
		checkExperiment(t, s, x, last.result)
		if r := last.result; len(r.Slices) == 0 || len(r.Budgets) == 0 || r.Baseline == nil || r.ExperimentURL == "" {
			t.Errorf("got a result without slices, budgets, baseline or URL: %+v", r)
		}
		comment := x.Summary[passKey].Comment
		for _, want := range []string{
			"span_recall@1 >= 0 holds: got ",
			", with the confidence bound 0.",
			"span_recall[type=é, \"x\" = [y]] >= 0 holds: got ",
			"retrieved_characters <= 1000 holds: got ",
		} {
			if !strings.Contains(comment, want) {
				t.Errorf("the verdict is %q, want %q in it", comment, want)
			}
		}
	}
}

func TestReportRecordsDocumentLevel(t *testing.T) {
	s := start(t)
	corpus, queries := truth(t, 1)
	if _, err := UploadTokenTruth(t.Context(), "", corpus, queries); err != nil {
		t.Fatal(err)
	}
	r, err := ragtest.DocumentLevel{
		Corpus:   corpus,
		Queries:  []ragtest.DocumentQuery{{Query: queries[0].Query, Relevant: map[spans.DocumentID]int{"handbook.md": 2}}},
		Embedder: lexical.Embedder{},
	}.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before := s.Requests()
	err = Reporter{}.Report(t.Context(), r)
	if err == nil || !strings.Contains(err.Error(), "field Dataset is empty, and there is no default dataset of document-level ground truth") || s.Requests() != before {
		t.Errorf("without a dataset: got error %v and %d requests, want none", err, s.Requests()-before)
	}
	if err := (Reporter{Dataset: TokenDataset}).Report(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	x := s.Experiments()[0]
	checkExperiment(t, s, x, r)
	if !strings.Contains(x.Extra, `"level":"document"`) {
		t.Errorf("got metadata %s, want the level document", x.Extra)
	}
}

func TestMetricsThatCannotBeKeysAreNotSent(t *testing.T) {
	s := start(t)
	for name, want := range map[string]string{
		strings.Repeat("m", 181): "has 181 characters, want at most 180",
		"pass":                   "a metric is named pass, as is the feedback on the thresholds",
	} {
		r := evaluate(t, evaluation(t, 1))
		r.Metrics[0].Metric, r.Queries[0].Scores[0].Metric = name, name
		r.Thresholds = []ragtest.ThresholdResult{{Metric: name, Want: ">= 0", Pass: true}}
		if err := (Reporter{}).Report(t.Context(), r); err == nil || !strings.Contains(err.Error(), want) || s.Requests() > 0 {
			t.Errorf("got error %v and %d requests, want one with %q and none", err, s.Requests(), want)
		}
	}
}
