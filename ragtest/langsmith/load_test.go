package langsmith

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

func TestLoadReadsDatasetsOfOtherTools(t *testing.T) {
	corpus := corpusOf(t, "handbook.md", handbook)
	want := []spans.Span{{Doc: "handbook.md", Start: 10, End: 22}}
	for name, c := range map[string]struct{ metadata, example string }{
		"camel case":        {"", `{"inputs":{"query":"?"},"outputs":{"relevantSpans":[{"docId":"handbook.md","start":10,"end":22,"text":"three months"}]}}`},
		"snake case":        {"", `{"inputs":{"query":"?"},"outputs":{"relevant_spans":[{"doc_id":"handbook.md","start":10,"end":22,"text":"three months"}]}}`},
		"no offsets":        {"", `{"inputs":{"query":"?"},"outputs":{"relevantSpans":[{"docId":"handbook.md","text":"three months"}]}}`},
		"no text":           {"", `{"inputs":{"query":"?"},"outputs":{"relevantSpans":[{"docId":"handbook.md","start":10,"end":22}]}}`},
		"floats":            {"", `{"inputs":{"query":"?"},"outputs":{"relevantSpans":[{"docId":"handbook.md","start":10.0,"end":2.2e1,"text":"three months"}]}}`},
		"more inputs":       {"", `{"inputs":{"query":"?","k":3},"outputs":{"relevantSpans":[{"docId":"handbook.md","text":"three months"}],"answer":"x"}}`},
		"other metadata":    {`{"kind":"qa","corpus":7,"runtime":{"sdk":"langsmith-py"}}`, `{"inputs":{"query":"?"},"outputs":{"relevantSpans":[{"docId":"handbook.md","text":"three months"}]}}`},
		"moved":             {"", `{"inputs":{"query":"?"},"outputs":{"relevantSpans":[{"docId":"handbook.md","start":0,"end":12,"text":"three months"}]}}`},
		"unit of dataset":   {`{"offset_unit":"byte"}`, `{"inputs":{"query":"?"},"outputs":{"relevantSpans":[{"docId":"handbook.md","start":10,"end":22}]}}`},
		"unit of example":   {"", `{"inputs":{"query":"?"},"outputs":{"relevantSpans":[{"docId":"handbook.md","start":10,"end":22}]},"metadata":{"offset_unit":"utf16"}}`},
		"described in full": {`{"kind":"token-level","schema_version":1,"offset_unit":"byte","corpus":"x"}`, `{"inputs":{"query":"?"},"outputs":{"relevantSpans":[{"docId":"handbook.md","start":10,"end":22,"text":"three months"}]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			s.AddDataset("theirs", c.metadata, c.example)
			queries, err := LoadTokenTruth(t.Context(), "theirs", corpus)
			if err != nil {
				t.Fatal(err)
			}
			id := s.Dataset("theirs").Examples[0].ID
			if queries[0].ID != ragtest.QueryID(id) || queries[0].Text != "?" {
				t.Errorf("got query %+v, want that of example %s", queries[0].Query, id)
			}
			if diff := cmp.Diff(want, queries[0].Relevant); diff != "" {
				t.Errorf("relevant spans (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("bytes beyond ASCII", func(t *testing.T) {
		s := start(t)
		s.AddDataset("theirs", `{"offsetUnit":"byte"}`, `{"inputs":{"query":"?"},"outputs":{"relevantSpans":[{"docId":"handbook.md","start":24,"end":36}]}}`)
		queries, err := LoadTokenTruth(t.Context(), "theirs", corpus)
		if err != nil || queries[0].Relevant[0] != (spans.Span{Doc: "handbook.md", Start: 24, End: 35}) {
			t.Errorf("got %v (error %v), want Überstunden", queries, err)
		}
	})
}

func TestLoadSaysAllThatIsWrong(t *testing.T) {
	s := start(t)
	corpus := corpusOf(t, "handbook.md", handbook)
	s.AddDataset("bad", "",
		`{"inputs":{"query":"1?"},"outputs":{"relevantSpans":[{"docId":"handbook.md","text":"Notice is"}]}}`,
		`{"inputs":{"query":"2?"},"outputs":{"relevantSpans":[{"docId":"handbook.md","text":"four months"}]}}`,
		`{"inputs":{"question":"3?"},"outputs":{"relevantSpans":[]}}`,
		`{"inputs":{"query":"4?"},"outputs":{"relevantSpans":[{"docId":"absent.md","start":1,"end":2}]}}`,
		`{"inputs":{"query":"5?"},"outputs":{"relevantSpans":[{"docId":"handbook.md","text":"thirty days"}]}}`)
	_, err := LoadTokenTruth(t.Context(), "bad", corpus)
	if err == nil {
		t.Fatal("got no error")
	}
	for _, want := range []string{`loading dataset "bad": `, `"Notice is", which occurs 2 times`, `"four months", which occurs nowhere`, "record without inputs.query", "document absent.md is not in the corpus"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got error\n%v\nwant one with %q", err, want)
		}
	}
	if got := strings.Count(err.Error(), "\n") + 1; got != 4 {
		t.Errorf("got %d lines, want 4:\n%v", got, err)
	}
	named := 0
	for _, x := range s.Dataset("bad").Examples {
		if strings.Contains(err.Error(), "example "+x.ID+": ") {
			named++
		}
	}
	if named != 4 {
		t.Errorf("%d examples are named, want 4:\n%v", named, err)
	}
	queries, report, err := Dataset{Name: "bad", DropUnlocated: true}.LoadToken(t.Context(), corpus)
	if err == nil || !strings.Contains(err.Error(), "record without inputs.query") || queries != nil {
		t.Errorf("dropping: got %v, %+v, error %v; want the malformed record alone", queries, report, err)
	}
}

func TestLoadSaysWhichLevelItIs(t *testing.T) {
	s := start(t)
	corpus, queries := truth(t, 2)
	if _, err := UploadTokenTruth(t.Context(), "tokens", corpus, queries); err != nil {
		t.Fatal(err)
	}
	if _, err := UploadChunkTruth(t.Context(), "chunks", corpus, chunkTruth(2)); err != nil {
		t.Fatal(err)
	}
	s.AddDataset("their tokens", "", `{"inputs":{"query":"?"},"outputs":{"relevant_spans":[]}}`)
	s.AddDataset("their chunks", "", `{"inputs":{"query":"?"},"outputs":{"relevant_chunk_ids":[]}}`)
	for _, name := range []string{"tokens", "their tokens"} {
		_, err := LoadChunkTruth(t.Context(), name, corpus)
		if !errors.Is(err, fixtures.ErrWrongLevel) || !strings.Contains(err.Error(), "the dataset holds token-level ground truth, want chunk-level: load it with LoadTokenTruth") {
			t.Errorf("dataset %s: got error %v", name, err)
		}
	}
	for _, name := range []string{"chunks", "their chunks"} {
		_, err := LoadTokenTruth(t.Context(), name, corpus)
		if !errors.Is(err, fixtures.ErrWrongLevel) || !strings.Contains(err.Error(), "the dataset holds chunk-level ground truth, want token-level: load it with LoadChunkTruth") {
			t.Errorf("dataset %s: got error %v", name, err)
		}
	}
	if _, err := UploadTokenTruth(t.Context(), "chunks", corpus, queries); !errors.Is(err, fixtures.ErrWrongLevel) {
		t.Errorf("uploading token-level queries to a chunk-level dataset: got error %v", err)
	}
	if _, err := LoadTokenTruth(t.Context(), "absent", corpus); err == nil || !strings.Contains(err.Error(), `loading dataset "absent": there is no such dataset`) {
		t.Errorf("an absent dataset: got error %v", err)
	}
	s.AddDataset("empty", "")
	if _, err := LoadTokenTruth(t.Context(), "empty", corpus); err == nil || !strings.Contains(err.Error(), `loading dataset "empty": its examples: it holds no query`) {
		t.Errorf("an empty dataset: got error %v", err)
	}
}

func TestLoadPinsAVersion(t *testing.T) {
	s := start(t)
	corpus, queries := truth(t, 3)
	texts := func(version string) string {
		t.Helper()
		loaded, _, err := Dataset{Version: version}.LoadToken(t.Context(), corpus)
		if err != nil {
			return err.Error()
		}
		var all []string
		for _, q := range loaded {
			all = append(all, q.Text)
		}
		return strings.Join(all, " ")
	}
	e := evaluation(t, 3)
	upload(t, e)
	var first string
	for asOf := range s.Dataset(TokenDataset).Versions {
		first = asOf
	}
	c, err := Connection{}.client()
	if err != nil {
		t.Fatal(err)
	}
	at, err := c.find(t.Context(), TokenDataset)
	if err == nil {
		err = c.tag(t.Context(), at, first, "golden")
	}
	if err != nil {
		t.Fatal(err)
	}
	queries[1].Text = "Changed?"
	if _, err := (Dataset{Prune: true}).UploadToken(t.Context(), corpus, queries[1:]); err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]string{
		"":                     "Changed? Question 2?",
		"latest":               "Changed? Question 2?",
		first:                  "Question 0? Question 1? Question 2?",
		"golden":               "Question 0? Question 1? Question 2?",
		"silver":               `loading dataset "rag-eval-token-level-v1": version "silver": there is no such version`,
		"2020-01-01T00:00:00Z": `loading dataset "rag-eval-token-level-v1": version "2020-01-01T00:00:00Z": there is no such version`,
	} {
		if got := texts(version); got != want {
			t.Errorf("version %q: got %s, want %s", version, got, want)
		}
	}
	if _, err := (Dataset{Version: "golden"}).UploadToken(t.Context(), corpus, queries); err == nil || !strings.Contains(err.Error(), "field Version") {
		t.Errorf("uploading to a version: got error %v", err)
	}
}

// Loading gives what reading a golden file of the same records gives.
func TestLoadAgreesWithFixtures(t *testing.T) {
	corpus := corpusOf(t, "handbook.md", handbook)
	records := []string{
		`{"inputs":{"query":"1?"},"outputs":{"relevant_spans":[{"doc_id":"handbook.md","start":0,"end":6,"text":"Notice"}]},"metadata":{"query_id":"b","difficulty":"hard","weight":1.50,"tags":["x", "y"],"zip":"7"}}`,
		`{"inputs":{"query":"2?"},"outputs":{"relevantSpans":[]},"metadata":{"queryId":"a","persona":null}}`,
		`{"inputs":{"query":"3?"},"outputs":{"relevantSpans":null},"metadata":{"dataset_split":["base","hard"]}}`,
	}
	s := start(t)
	s.AddDataset("theirs", "", records...)
	got, err := LoadTokenTruth(t.Context(), "theirs", corpus)
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for _, x := range s.Dataset("theirs").Examples {
		line := strings.Replace(x.JSON(), `"dataset_split":["base"],`, "", 1)
		lines.WriteString(`{"id":"` + x.ID + `",` + strings.TrimPrefix(line, "{") + "\n")
	}
	want, err := fixtures.ReadTokenTruth(fstest.MapFS{"g.jsonl": {Data: []byte(lines.String())}}, "g.jsonl", corpus)
	if err != nil {
		t.Fatal(err)
	}
	byID := map[ragtest.QueryID]ragtest.TokenQuery{}
	for _, q := range want {
		byID[q.ID] = q
	}
	for i, q := range got {
		if diff := cmp.Diff(byID[q.ID], q); diff != "" {
			t.Errorf("query %s (-fixtures +loaded):\n%s", q.ID, diff)
		}
		if i > 0 && got[i-1].ID >= q.ID {
			t.Errorf("query %s comes after %s", q.ID, got[i-1].ID)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %d queries, want %d", len(got), len(want))
	}
}
