package langsmith

import (
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
