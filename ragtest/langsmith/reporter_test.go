package langsmith

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/langsmithtest"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/spans"
)

// reverse reranks by turning the order round.
type reverse struct{}

func (reverse) String() string { return "reverse" }

func (reverse) Rerank(_ context.Context, _ string, chunks []ragtest.ScoredChunk[chunkers.PositionAwareChunk]) ([]ragtest.ScoredChunk[chunkers.PositionAwareChunk], error) {
	out := make([]ragtest.ScoredChunk[chunkers.PositionAwareChunk], len(chunks))
	for i, c := range chunks {
		out[len(chunks)-1-i] = ragtest.ScoredChunk[chunkers.PositionAwareChunk]{Chunk: c.Chunk, Score: float64(i)}
	}
	return out, nil
}

// evaluation evaluates n queries about the handbook.
func evaluation(tb testing.TB, n int) ragtest.TokenLevel {
	tb.Helper()
	corpus, queries := truth(tb, n)
	return ragtest.TokenLevel{
		Name:     "handbook",
		Corpus:   corpus,
		Queries:  queries,
		Chunker:  chunkers.FixedSize{Size: 20},
		Embedder: lexical.Embedder{},
		Reranker: reverse{},
		K:        2,
		FetchK:   4,
	}
}

func evaluate(tb testing.TB, e ragtest.TokenLevel) *ragtest.Result {
	tb.Helper()
	r, err := e.Evaluate(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// upload uploads the queries of an evaluation to the default dataset.
func upload(tb testing.TB, e ragtest.TokenLevel) {
	tb.Helper()
	if _, err := UploadTokenTruth(tb.Context(), "", e.Corpus, e.Queries); err != nil {
		tb.Fatal(err)
	}
}

// checkExperiment checks that an experiment holds the result: nothing missing, nothing
// twice.
func checkExperiment(t *testing.T, s *langsmithtest.Server, x langsmithtest.Experiment, r *ragtest.Result) {
	t.Helper()
	if !x.Ended {
		t.Errorf("experiment %s has not ended", x.Name)
	}
	d := s.Dataset(TokenDataset)
	if x.DatasetID != d.ID {
		t.Errorf("got dataset %s, want %s", x.DatasetID, d.ID)
	}
	all := repetitions(r)
	feedback := map[string]map[string]langsmithtest.Feedback{}
	for _, f := range x.Feedback {
		if feedback[f.RunID] == nil {
			feedback[f.RunID] = map[string]langsmithtest.Feedback{}
		}
		feedback[f.RunID][f.Key] = f
	}
	children := map[string][]langsmithtest.Run{}
	roots := map[string]langsmithtest.Run{}
	for _, run := range x.Runs {
		if run.Parent != "" {
			children[run.Parent] = append(children[run.Parent], run)
			continue
		}
		var extra struct{ Metadata map[string]string }
		if err := json.Unmarshal([]byte(run.Extra), &extra); err != nil {
			t.Fatal(err)
		}
		repetition := extra.Metadata["repetition"]
		if len(all) == 1 {
			repetition = "1"
		}
		roots[repetition+"/"+extra.Metadata["queryId"]] = run
	}
	stages := 1
	if r.Components.Reranker != "" {
		stages = 2
	}
	for i, queries := range all {
		for _, q := range queries {
			run, ok := roots[fmt.Sprintf("%d/%s", i+1, q.ID)]
			if !ok {
				t.Errorf("query %s, repetition %d: no run", q.ID, i+1)
				continue
			}
			if want := langsmithtest.ExampleID(d.ID, string(q.ID)); run.Example != want {
				t.Errorf("query %s: got example %q, want %s", q.ID, run.Example, want)
			}
			if got := len(children[run.ID]); got != stages {
				t.Errorf("query %s: got %d child runs, want %d", q.ID, got, stages)
			}
			if want := fmt.Sprintf(`{"query":%q}`, q.Text); run.Inputs != want {
				t.Errorf("query %s: got inputs %s, want %s", q.ID, run.Inputs, want)
			}
			if got := strings.Count(run.Outputs, `"rank":`); got != len(q.Hits) {
				t.Errorf("query %s: got %d hits in %s, want %d", q.ID, got, run.Outputs, len(q.Hits))
			}
			if got := len(feedback[run.ID]); got != len(q.Scores) {
				t.Errorf("query %s: got %d feedbacks, want %d", q.ID, got, len(q.Scores))
			}
			for _, score := range q.Scores {
				f := feedback[run.ID][score.Metric]
				if f.Score != score.Value {
					t.Errorf("query %s: got %s %v, want %v", q.ID, score.Metric, f.Score, score.Value)
				}
				if missed := len(q.Missed) > 0 && score.Value < 1; missed != (f.Comment != "") {
					t.Errorf("query %s: %s %v has the comment %q, but %d passages were missed", q.ID, score.Metric, score.Value, f.Comment, len(q.Missed))
				}
			}
		}
	}
	n := len(r.Queries) * len(all)
	if got := len(x.Runs); got != n*(1+stages) {
		t.Errorf("got %d runs, want %d", got, n*(1+stages))
	}
	if got := len(x.Feedback); got != n*len(r.Metrics) {
		t.Errorf("got %d feedbacks, want %d", got, n*len(r.Metrics))
	}
	summaries := len(r.Metrics)
	if len(r.Thresholds) > 0 {
		summaries++
	}
	if got := len(x.Summary); got != summaries {
		t.Errorf("got %d summaries, want %d", got, summaries)
	}
	for _, m := range r.Metrics {
		if got := x.Summary[m.Metric].Score; got != m.Value {
			t.Errorf("summary %s: got %v, want %v", m.Metric, got, m.Value)
		}
	}
}

func TestReportRecordsAnExperiment(t *testing.T) {
	s := start(t)
	e := evaluation(t, 70) // more than one request
	upload(t, e)
	e.Reporters = []ragtest.Reporter{Reporter{Experiment: "nightly", Metadata: map[string]string{"team": "search", "k": "99"}, Required: true}}
	r := ragtest.RunTokenLevel(t, e, ragtest.SpanRecall.AtLeast(0.0001))

	all := s.Experiments()
	if len(all) != 1 {
		t.Fatalf("got %d experiments, want 1", len(all))
	}
	x := all[0]
	checkExperiment(t, s, x, r)
	if want := "nightly:" + x.ID[:8]; x.Name != want {
		t.Errorf("got name %s, want %s", x.Name, want)
	}
	if got := x.Summary["pass"]; got.Score != 1 || !strings.Contains(got.Comment, "span_recall >= 0.0001 holds") {
		t.Errorf("got pass %+v, want 1", got)
	}
	if want := fmt.Sprintf("/o/%s/datasets/%s/compare?selectedSessions=%s", langsmithtest.Tenant, x.DatasetID, x.ID); !strings.HasSuffix(r.ExperimentURL, want) {
		t.Errorf("got URL %s, want one that ends with %s", r.ExperimentURL, want)
	}
	var extra struct{ Metadata map[string]any }
	if err := json.Unmarshal([]byte(x.Extra), &extra); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"test": t.Name(), "name": "handbook", "level": "token", "k": "2", "team": "search", "reranker": "reverse",
		"chunker": "fixed/size=20", "corpus_fingerprint": e.Corpus.Fingerprint(), "num_repetitions": "1",
	} {
		if got := fmt.Sprint(extra.Metadata[key]); got != want {
			t.Errorf("metadata %s: got %q, want %q", key, got, want)
		}
	}
	for _, key := range []string{"go_version", "embedder", "dataset_version"} {
		if extra.Metadata[key] == nil {
			t.Errorf("metadata %s: got none", key)
		}
	}
	commit, _ := extra.Metadata["git_commit"].(string)
	tagged := false
	for asOf, tags := range s.Dataset(TokenDataset).Versions {
		for _, tag := range tags {
			tagged = tagged || tag == commit && extra.Metadata["dataset_version"] == asOf
		}
	}
	if commit != "" && !tagged {
		t.Errorf("no version of the dataset is tagged %s: %v", commit, s.Dataset(TokenDataset).Versions)
	}
}

func TestReportRecordsChunkLevel(t *testing.T) {
	s := start(t)
	corpus, _ := truth(t, 1)
	right := chunkers.NewChunkID("Notice is three months. ")
	e := ragtest.ChunkLevel{
		Corpus: corpus, Chunker: chunkers.FixedSize{Size: 24}, Embedder: lexical.Embedder{}, K: 1, Metrics: []ragtest.ChunkMetric{ragtest.ChunkRecall},
		Queries: []ragtest.ChunkQuery{
			{Query: ragtest.Query{ID: "found", Text: "three months"}, Relevant: []chunkers.ChunkID{right}},
			{Query: ragtest.Query{ID: "missed", Text: "writing"}, Relevant: []chunkers.ChunkID{right}},
		},
		Reporters: []ragtest.Reporter{Reporter{Required: true}},
	}
	if _, err := UploadChunkTruth(t.Context(), "", corpus, e.Queries); err != nil {
		t.Fatal(err)
	}
	ragtest.RunChunkLevel(t, e)
	x := s.Experiments()[0]
	if x.DatasetID != s.Dataset(ChunkDataset).ID {
		t.Errorf("got dataset %s, want %s", x.DatasetID, ChunkDataset)
	}
	for _, run := range x.Runs {
		if run.Parent == "" && !strings.Contains(run.Outputs, `"chunkId":"chunk_`) || strings.Contains(run.Outputs, `"start"`) {
			t.Errorf("got outputs %s, want chunk IDs and no span", run.Outputs)
		}
	}
	comments := map[float64]string{}
	for _, f := range x.Feedback {
		comments[f.Score] = f.Comment
	}
	if comments[1] != "" || !strings.HasPrefix(comments[0], "missed "+right.String()+` "Notice is three months. " (lost by: retriever, best rank `) {
		t.Errorf("got comments %v", comments)
	}
}

func TestAnswersWithoutBody(t *testing.T) {
	settle(t)
	s := start(t)
	s.Silent = true
	e := evaluation(t, 40)
	upload(t, e)
	r := evaluate(t, e)
	before := s.Requests()
	if err := (Reporter{}).Report(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if got := s.Requests() - before; got != 12 {
		t.Errorf("got %d requests, want 12: none is repeated", got)
	}
	checkExperiment(t, s, s.Experiments()[0], r)
}

// The clock may be set back while an evaluation runs.
func TestAClockThatGoesBack(t *testing.T) {
	at := settle(t)
	s := start(t)
	e := evaluation(t, 1)
	upload(t, e)
	r := evaluate(t, e)
	r.Trace.Intervals = []ragtest.Interval{
		{Stage: "retrieve", First: 0, Count: 1, Start: at, End: at.Add(-time.Hour)},
		{Stage: "rerank", First: 0, Count: 1, Start: at.Add(-time.Hour), End: at.Add(-2 * time.Hour)},
	}
	if err := (Reporter{}).Report(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	checkExperiment(t, s, s.Experiments()[0], r)
}

func TestReportComparesWithABaseline(t *testing.T) {
	s := start(t)
	e := evaluation(t, 3)
	upload(t, e)
	first, second := evaluate(t, e), evaluate(t, e)
	if err := (Reporter{}).Report(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	baseline := s.Experiments()[0]
	if err := (Reporter{Baseline: baseline.Name}).Report(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	x := s.Experiments()[1]
	if want := "compare?selectedSessions=" + x.ID + "%2C" + baseline.ID; !strings.HasSuffix(second.ExperimentURL, want) {
		t.Errorf("got URL %s, want one that ends with %s", second.ExperimentURL, want)
	}
	err := Reporter{Baseline: "nobody:12345678"}.Report(t.Context(), evaluate(t, e))
	if err == nil || !strings.Contains(err.Error(), `looking up the experiment "nobody:12345678": there is no such experiment`) {
		t.Errorf("an unknown baseline: got error %v", err)
	}
	checkExperiment(t, s, s.Experiments()[2], second)
}

func TestReportRecordsRepetitions(t *testing.T) {
	s := start(t)
	e := evaluation(t, 40)
	e.Repeat = 3
	upload(t, e)
	r := evaluate(t, e)
	if err := (Reporter{}).Report(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	x := s.Experiments()
	if len(x) != 1 {
		t.Fatalf("got %d experiments, want 1", len(x))
	}
	checkExperiment(t, s, x[0], r)
	if !strings.Contains(x[0].Extra, `"num_repetitions":3`) {
		t.Errorf("got metadata %s, want 3 repetitions", x[0].Extra)
	}
}

func TestReportNamesQueriesWithoutExample(t *testing.T) {
	s := start(t)
	e := evaluation(t, 10)
	some := e
	some.Queries = e.Queries[:3]
	upload(t, some)
	err := Reporter{}.Report(t.Context(), evaluate(t, e))
	if err == nil || !strings.Contains(err.Error(), "7 of 10 queries have no example in the dataset, so they cannot be compared: q00003, q00004, q00005, q00006, q00007, …") {
		t.Errorf("got error %v", err)
	}
	if got := len(s.Experiments()[0].Runs); got != 30 {
		t.Errorf("got %d runs, want 30", got)
	}
}

// The examples of another tool have IDs of their own.
func TestReportFindsExamplesOfOtherTools(t *testing.T) {
	s := start(t)
	id := s.AddDataset("theirs", "",
		`{"inputs":{"query":"Notice?"},"outputs":{"relevant_spans":[{"doc_id":"handbook.md","text":"three months"}]},"metadata":{"query_id":"n"}}`,
		`{"inputs":{"query":"Leave?"},"outputs":{"relevant_spans":[{"doc_id":"handbook.md","text":"thirty days"}]}}`)
	e := evaluation(t, 1)
	var err error
	if e.Queries, err = LoadTokenTruth(t.Context(), "theirs", e.Corpus); err != nil {
		t.Fatal(err)
	}
	if err := (Reporter{Dataset: "theirs"}).Report(t.Context(), evaluate(t, e)); err != nil {
		t.Fatal(err)
	}
	referenced := map[string]bool{}
	for _, run := range s.Experiments()[0].Runs {
		referenced[run.Example] = true
	}
	for _, x := range s.Dataset("theirs").Examples {
		if !referenced[x.ID] {
			t.Errorf("no run has the example %s of dataset %s", x.ID, id)
		}
	}
}

func TestCommentsSayWhatWasMissed(t *testing.T) {
	span := spans.Span{Doc: "a.md", Start: 3, End: 9}
	missed := []ragtest.Passage{
		{Doc: "a.md", Span: span, Text: strings.Repeat("ü", 300), Lost: ragtest.LossRetriever, Rank: 17},
		{ChunkID: "chunk_0123456789ab"},
		{Doc: "a.md", Span: span, Text: "x", Lost: ragtest.LossUnlocatable}, {ChunkID: "c"}, {ChunkID: "d"}, {ChunkID: "e"}, {ChunkID: "f"},
	}
	want := `missed a.md[3:9] "` + strings.Repeat("ü", 200) + `…" (lost by: retriever, best rank 17)
missed chunk_0123456789ab
missed a.md[3:9] "x" (lost by: unlocatable)
missed c
missed d
and 2 more`
	if diff := cmp.Diff(want, missedComment(missed)); diff != "" {
		t.Errorf("comment (-want +got):\n%s", diff)
	}
	if got := missedComment(nil); got != "" {
		t.Errorf("nothing missed: got %q", got)
	}
}

func TestIDsAreUUIDs(t *testing.T) {
	x := &experiment{ID: uuid.NewString()}
	if a, b := x.uuid("run", "0/q"), x.uuid("run", "0/q"); a != b || uuid.MustParse(a).Version() != 5 {
		t.Errorf("got %s and %s, want one UUID of version 5", a, b)
	}
	dataset := "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
	// As Python's uuid.uuid5(uuid.UUID(dataset), "python.org") has it.
	if got, err := exampleID(dataset, "python.org"); err != nil || got != "886313e1-3b8a-5372-9b90-0c9aee199e5d" {
		t.Errorf("got example ID %s (error %v)", got, err)
	}
	if diff := cmp.Diff(langsmithtest.ExampleID(dataset, "q"), func() string { id, _ := exampleID(dataset, "q"); return id }()); diff != "" {
		t.Error(diff)
	}
}
