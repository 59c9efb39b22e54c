package langsmith

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/internal/langsmithtest"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

func TestUploadedTokenTruthIsLoadedAsItWas(t *testing.T) {
	s := start(t)
	corpus, queries := truth(t, 250)
	queries[7].Metadata = map[string]string{"difficulty": "hard", "weight": "12345678901234567890", "a.b": "dot", "persona": "<b>"}
	shuffled := slices.Clone(queries)
	slices.Reverse(shuffled)

	done, err := UploadTokenTruth(t.Context(), "", corpus, shuffled)
	if err != nil {
		t.Fatal(err)
	}
	d := s.Dataset(TokenDataset)
	if want := (Uploaded{DatasetID: d.ID, Created: 250}); done != want {
		t.Errorf("first upload: got %+v, want %+v", done, want)
	}
	for _, e := range d.Examples {
		if want := langsmithtest.ExampleID(d.ID, e.QueryID()); e.ID != want {
			t.Errorf("query %s: got example %s, want %s", e.QueryID(), e.ID, want)
		}
	}
	if want := `{"corpus":"` + corpus.Fingerprint() + `","kind":"token-level","offsetUnit":"codepoint","schemaVersion":1}`; d.Metadata != want {
		t.Errorf("got metadata %s, want %s", d.Metadata, want)
	}

	loaded, err := LoadTokenTruth(t.Context(), "", corpus)
	if err != nil {
		t.Fatal(err)
	}
	for i := range loaded {
		if want := langsmithtest.ExampleID(d.ID, string(loaded[i].ID)); loaded[i].Metadata["exampleId"] != want {
			t.Errorf("query %s: got exampleId %q, want %s", loaded[i].ID, loaded[i].Metadata["exampleId"], want)
		}
		delete(loaded[i].Metadata, "exampleId")
		if len(loaded[i].Metadata) == 0 {
			loaded[i].Metadata = nil
		}
	}
	if diff := cmp.Diff(queries, loaded); diff != "" {
		t.Errorf("loaded queries differ (-uploaded +loaded):\n%s", diff)
	}
}

func TestUploadingAgainChangesWhatDiffers(t *testing.T) {
	s := start(t)
	corpus, queries := truth(t, 120)
	upload := func(d Dataset, queries []ragtest.TokenQuery) Uploaded {
		t.Helper()
		done, err := d.UploadToken(t.Context(), corpus, queries)
		if err != nil {
			t.Fatal(err)
		}
		done.DatasetID = ""
		return done
	}
	upload(Dataset{}, queries)
	before := s.Dataset(TokenDataset)
	if got, want := upload(Dataset{}, queries), (Uploaded{Unchanged: 120}); got != want {
		t.Errorf("the same queries again: got %+v, want %+v", got, want)
	}
	if after := s.Dataset(TokenDataset); len(after.Versions) != len(before.Versions) {
		t.Errorf("the same queries again made %d versions of the dataset, want none", len(after.Versions)-len(before.Versions))
	}

	changed := slices.Clone(queries[:100])
	changed[3].Text = "Another question?"
	changed[4].Relevant = []spans.Span{{Doc: "handbook.md", Start: 1, End: 3}}
	changed = append(changed, ragtest.TokenQuery{Query: ragtest.Query{Text: "A new one?"}})
	if got, want := upload(Dataset{}, changed), (Uploaded{Created: 1, Updated: 2, Unchanged: 98, Others: 20}); got != want {
		t.Errorf("changed queries: got %+v, want %+v", got, want)
	}
	for _, e := range s.Dataset(TokenDataset).Examples {
		want := 1
		if q := e.QueryID(); q == "q00003" || q == "q00004" {
			want = 2
		}
		if e.Changes() != want {
			t.Errorf("example of %s: got %d changes, want %d", e.QueryID(), e.Changes(), want)
		}
	}
	if got, want := upload(Dataset{Prune: true}, changed), (Uploaded{Unchanged: 101, Deleted: 20}); got != want {
		t.Errorf("pruning: got %+v, want %+v", got, want)
	}
	if got := len(s.Dataset(TokenDataset).Examples); got != 101 {
		t.Errorf("after pruning: got %d examples, want 101", got)
	}
	loaded, err := LoadTokenTruth(t.Context(), "", corpus)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := upload(Dataset{}, loaded), (Uploaded{Unchanged: 101}); got != want {
		t.Errorf("the loaded queries: got %+v, want %+v", got, want)
	}
}

func TestUploadedChunkTruthIsLoadedAsItWas(t *testing.T) {
	s := start(t)
	corpus, _ := truth(t, 1)
	queries := chunkTruth(5)
	if _, err := UploadChunkTruth(t.Context(), "chunks", corpus, queries); err != nil {
		t.Fatal(err)
	}
	if got := s.Dataset("chunks").Metadata; !strings.Contains(got, `"chunker":"fixed/size=30"`) || !strings.Contains(got, `"kind":"chunk-level"`) {
		t.Errorf("got metadata %s, want kind and chunker", got)
	}
	loaded, err := LoadChunkTruth(t.Context(), "chunks", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range loaded {
		delete(loaded[i].Metadata, "exampleId")
	}
	if diff := cmp.Diff(queries, loaded); diff != "" {
		t.Errorf("loaded queries differ (-uploaded +loaded):\n%s", diff)
	}
}

// A request has at most 100 examples, and is bounded in bytes but for one that is
// larger alone.
func TestUploadsAreSplit(t *testing.T) {
	s := start(t)
	requests, examples, size := 0, 0, 0
	s.Observe = func(r *http.Request, body []byte) {
		if strings.HasSuffix(r.URL.Path, "/bulk") {
			requests++
			examples, size = max(examples, strings.Count(string(body), `"dataset_id"`)), max(size, len(body))
		}
	}
	corpus, queries := truth(t, 250)
	for _, text := range []string{"?", "??"} { // created, then updated
		requests = 0
		for i := range queries {
			queries[i].Text = fmt.Sprint(i, text)
		}
		if _, err := UploadTokenTruth(t.Context(), "many", corpus, queries); err != nil {
			t.Fatal(err)
		}
		if requests != 3 || examples != 100 {
			t.Errorf("250 small examples: got %d requests of at most %d, want 3 of 100", requests, examples)
		}
	}
	requests, size = 0, 0
	for i := range queries[:5] {
		queries[i].Text = strings.Repeat("x", 3<<20) + fmt.Sprint(i)
	}
	if _, err := UploadTokenTruth(t.Context(), "large", corpus, queries[:5]); err != nil {
		t.Fatal(err)
	}
	if requests != 3 || size > batchBytes {
		t.Errorf("5 examples of 3 MiB: got %d requests of at most %d bytes, want 3 of %d", requests, size, batchBytes)
	}
}

func TestUploadDescribesTheDataset(t *testing.T) {
	s := start(t)
	corpus, queries := truth(t, 1)
	described := `"kind":"token-level","offsetUnit":"codepoint"`
	for name, c := range map[string]struct{ before, want string }{
		"none":     {"", `{"corpus":"` + corpus.Fingerprint() + `",` + described + `,"schemaVersion":1}`},
		"of ours":  {`{"kind":"token-level","corpus":"old","schema_version":1,"offset_unit":"byte","owner":"us"}`, `{"corpus":"` + corpus.Fingerprint() + `",` + described + `,"owner":"us","schemaVersion":1}`},
		"of other": {`{"kind":"qa","runtime":{"sdk":"langsmith-py","n":1.50}}`, `{"corpus":"` + corpus.Fingerprint() + `",` + described + `,"runtime":{"n":1.50,"sdk":"langsmith-py"},"schemaVersion":1}`},
	} {
		s.AddDataset(name, c.before, `{"inputs":{"query":"theirs"},"outputs":{"relevant_spans":[]}}`)
		for range 2 {
			if _, err := UploadTokenTruth(t.Context(), name, corpus, queries); err != nil {
				t.Fatal(err)
			}
			if got := s.Dataset(name).Metadata; !equalJSON([]byte(got), []byte(c.want)) {
				t.Errorf("%s: got metadata %s, want %s", name, got, c.want)
			}
		}
	}
	patches := 0
	s.Observe = func(r *http.Request, _ []byte) {
		if r.Method == http.MethodPatch {
			patches++
		}
	}
	if _, err := UploadTokenTruth(t.Context(), "none", corpus, queries); err != nil || patches > 0 {
		t.Errorf("uploading the same again: got %d updates (error %v), want none", patches, err)
	}
}

// The ground truth is checked before anything is sent.
func TestUploadSaysAllThatIsWrong(t *testing.T) {
	s := start(t)
	corpus, queries := truth(t, 3)
	queries[0].Relevant[0].End = 1000
	queries[2].Relevant[0].Doc = "absent.md"
	_, err := UploadTokenTruth(t.Context(), "", corpus, queries)
	if err == nil || !strings.Contains(err.Error(), "query q00000") || !strings.Contains(err.Error(), "query q00002") || s.Requests() > 0 {
		t.Errorf("got error %v and %d requests, want both queries and none", err, s.Requests())
	}
}

func TestEqualJSON(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":[2.50]}`, `{ "b" : [2.5], "a" : 1e0 }`, true},
		{`12345678901234567890`, `12345678901234567891`, false},
		{`"1"`, `1`, false},
		{`{"a":null}`, `{}`, false},
		{`[1,2]`, `[2,1]`, false},
		{`[1]`, `[1,1]`, false},
		{`null`, `null`, true},
		{`"é"`, `"\u00e9"`, true},
		{`-0`, `0`, true},
	} {
		if got := equalJSON([]byte(c.a), []byte(c.b)); got != c.want {
			t.Errorf("%s and %s: got %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
