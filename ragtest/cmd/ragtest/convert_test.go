package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// convertTo runs ragtest convert and returns the path of what it wrote, and its notes.
func convertTo(t *testing.T, want int, in, out string, flags ...string) (path, notes string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), out)
	code, _, notes := runInProcess(t.Context(), "", append(append([]string{"convert"}, flags...), in, path)...)
	if code != want {
		t.Fatalf("ragtest convert %s %s %s: exit code %d, want %d: %s", strings.Join(flags, " "), in, out, code, want, notes)
	}
	return path, notes
}

// answersByText returns what the relevant spans of queries hold, which does not depend on
// the names of documents.
func answersByText(t *testing.T, corpus *spans.Corpus, queries []ragtest.TokenQuery) map[string][][]string {
	t.Helper()
	texts := make(map[string][][]string)
	for _, q := range queries {
		key := string(q.ID) + " " + q.Text
		texts[key] = nil
		for _, a := range answersOf(q) {
			var parts []string
			for _, s := range a {
				doc, ok := corpus.Document(s.Doc)
				if !ok {
					t.Fatalf("query %s: no document %s", q.ID, s.Doc)
				}
				text, err := doc.Slice(s)
				if err != nil {
					t.Fatal(err)
				}
				parts = append(parts, text)
			}
			texts[key] = append(texts[key], parts)
		}
	}
	return texts
}

func TestConvertSQuADData(t *testing.T) {
	source := filepath.Join(realdata.Dir(t, "data", "squad"), "dev-v2.0.json")
	want, err := fixtures.ReadSQuAD(os.DirFS(filepath.Dir(source)), filepath.Base(source))
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Concat(want.Queries, want.Unanswerable)
	wantTexts := answersByText(t, want.Corpus, all)

	// By way of golden files, in a folder and alone, and of LangSmith's.
	folder, notes := convertTo(t, exitOK, source, "golden", "-to", "golden")
	if notes != "ragtest convert: note: 646 documents given other IDs, to be names of files: context_003096af8bd0 is context_003096af8bd0.md\n"+
		"ragtest convert: lost: 646 documents without metadata such as titles: a folder of files has no place for them\n" {
		t.Errorf("got the notes\n%s", notes)
	}
	file, _ := convertTo(t, exitOK, folder, "langsmith.jsonl.gz", "-to", "langsmith")
	flat, notes := convertTo(t, exitOK, file, "flat.json.gz", "-to", "squad-flat", "-corpus", filepath.Join(folder, "corpus"))
	if strings.Contains(notes, "quer") || strings.Contains(notes, "answer") {
		t.Errorf("got the notes\n%s", notes)
	}
	got, err := fixtures.ReadSQuAD(os.DirFS(filepath.Dir(flat)), "flat.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wantTexts, answersByText(t, got.Corpus, slices.Concat(got.Queries, got.Unanswerable))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}

	// The same, read and written once more: SQuAD holds all that it held.
	again, notes := convertTo(t, exitOK, source, "again.json", "-to", "squad", "-strict")
	nested, err := fixtures.ReadSQuAD(os.DirFS(filepath.Dir(again)), "again.json")
	if diff := cmp.Diff(want, nested); err != nil || diff != "" || notes != "" {
		t.Errorf("notes %q, %v (-want +got)\n%s", notes, err, diff)
	}

	// What is lost is counted: 3,168 of the questions have no answer.
	_, notes = convertTo(t, exitOK, source, "qrels.txt", "-to", "trec")
	for _, want := range []string{"lost: 5109 spans reduced", "lost: 3168 queries left out, for nothing is relevant", "lost: 2910 queries without their texts", "lost: 646 documents"} {
		if !strings.Contains(notes, want) {
			t.Errorf("got the notes\n%s\nwant %s", notes, want)
		}
	}
	beir, _ := convertTo(t, exitOK, source, "beir", "-to", "beir")
	documents, err := fixtures.ReadBEIR(os.DirFS(beir))
	if err != nil || documents.Corpus.Len() != 646 || len(documents.Queries) != 2910 {
		t.Fatalf("got %+v (%v), want 646 documents and 2910 queries", documents, err)
	}
	sampled, _ := convertTo(t, exitOK, source, "sample.json", "-to", "squad1", "-sample", "300", "-min-answer-length", "8")
	few, err := fixtures.ReadSQuAD(os.DirFS(filepath.Dir(sampled)), "sample.json")
	if err != nil || len(few.Unanswerable) != 0 || few.Corpus.Len() != 646 {
		t.Fatalf("sample: %v", err)
	}
	for _, q := range few.Queries {
		for _, a := range answersOf(q) {
			if a[0].Len() < 8 {
				t.Errorf("query %s: the answer %v is short", q.ID, a)
			}
		}
	}
}

func TestConvertChromaData(t *testing.T) {
	source := realdata.Dir(t, "data", "chroma")
	want, err := fixtures.ReadChroma(os.DirFS(source))
	if err != nil {
		t.Fatal(err)
	}
	golden, notes := convertTo(t, exitOK, source, "golden", "-to", "golden", "-strict")
	again, more := convertTo(t, exitOK, golden, "chroma", "-to", "chroma", "-strict")
	got, err := fixtures.ReadChroma(os.DirFS(again))
	byID := cmpopts.SortSlices(func(a, b ragtest.TokenQuery) bool { return a.ID < b.ID })
	if diff := cmp.Diff(want, got, byID); err != nil || diff != "" || notes+more != "" {
		t.Errorf("notes %q, %v (-want +got)\n%s", notes+more, err, diff)
	}
	file, notes := convertTo(t, exitOK, source, "squad.json", "-to", "squad")
	if !strings.Contains(notes, "lost: 188 queries left out, for none of their answers is one span") {
		t.Errorf("got the notes\n%s", notes)
	}
	squad, err := fixtures.ReadSQuAD(os.DirFS(filepath.Dir(file)), "squad.json")
	if err != nil || len(squad.Queries) != 472-188 || squad.Corpus.Len() != 5 {
		t.Errorf("got %+v (%v), want 284 queries", squad, err)
	}
	_, _ = convertTo(t, exitFound, source, "squad.json", "-to", "squad", "-strict")
}

func TestConvertBEIRData(t *testing.T) {
	source := realdata.Dir(t, "data", "beir", "scifact")
	want, err := fixtures.ReadBEIR(os.DirFS(source))
	if err != nil {
		t.Fatal(err)
	}
	copied, notes := convertTo(t, exitOK, source, "beir", "-to", "beir")
	got, err := fixtures.ReadBEIR(os.DirFS(copied))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	t.Log(notes)
	file, _ := convertTo(t, exitOK, source, "qrels.txt.gz", "-to", "trec")
	qrels, err := fixtures.ReadQrels(os.DirFS(filepath.Dir(file)), "qrels.txt.gz")
	if err != nil || len(qrels) != 300 {
		t.Errorf("got judgments of %d queries (%v), want 300", len(qrels), err)
	}
	_, notes = convertTo(t, exitError, source, "golden", "-to", "golden")
	if !strings.Contains(notes, "the ground truth says which documents are relevant") {
		t.Errorf("got %q", notes)
	}
}

// The same input is converted to the same bytes.
func TestConvertTwice(t *testing.T) {
	source := filepath.Join(realdata.Dir(t, "data", "squad"), "dev-v2.0.json")
	for _, form := range []string{"squad", "squad-flat", "langsmith", "trec"} {
		var outputs []string
		for range 2 {
			path, _ := convertTo(t, exitOK, source, "out.gz", "-to", form, "-sample", "500")
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			outputs = append(outputs, string(data))
		}
		if outputs[0] != outputs[1] {
			t.Errorf("form %s: two outputs differ", form)
		}
	}
}
