package robust_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/ragtest/robust"
	"github.com/rageval/rageval/spans"
)

func document(t testing.TB, id spans.DocumentID, text string) *spans.Document {
	t.Helper()
	doc, err := spans.NewDocument(id, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// notices is an evaluation whose first query is found by an exact word, and whose
// second by its length alone.
func notices(t testing.TB) func() ragtest.TokenLevel {
	corpus, err := spans.NewCorpus(
		document(t, "a.md", "The notice period is three months."),
		document(t, "b.md", "Holidays are thirty days."),
		document(t, "c.md", "The canteen is open at noon."))
	if err != nil {
		t.Fatal(err)
	}
	return func() ragtest.TokenLevel {
		return ragtest.TokenLevel{
			Corpus: corpus,
			Queries: []ragtest.TokenQuery{
				{Query: ragtest.Query{Text: "notice period"}, Relevant: []spans.Span{{Doc: "a.md", Start: 0, End: 34}}},
				{Query: ragtest.Query{Text: "how many holidays"}, Relevant: []spans.Span{{Doc: "b.md", Start: 0, End: 25}}},
			},
			Chunker:  chunkers.FixedSize{Size: 100},
			Embedder: words{},
			K:        1,
		}
	}
}

// words embeds a text as the set of its words: case and typos matter.
type words struct{}

func (words) Embed(_ context.Context, texts []string) ([][]float32, error) {
	list := strings.Fields("the notice period is three months. holidays are thirty days. canteen open at noon.")
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = make([]float32, len(list))
		for _, word := range strings.Fields(strings.TrimPrefix(text, "H")) {
			for j, known := range list {
				if word == known || word == "olidays" && known == "holidays" {
					vectors[i][j] = 1
				}
			}
		}
	}
	return vectors, nil
}

func TestChecksFindTheirChange(t *testing.T) {
	distractor := document(t, "0.md", "notice period notice period")
	report, err := robust.TokenLevel(t.Context(), notices(t), robust.UpperCase(), robust.LowerCase(), robust.Phrasing("canteen at noon. open %s"),
		robust.Distractors(distractor), robust.ShuffledDocuments(), robust.NextK(), robust.Rewrite("same", func(q string) string { return q }))
	if err != nil {
		t.Fatal(err)
	}
	if report.Metric != "span_recall" || report.Score != 1 || report.Queries != 2 {
		t.Errorf("got %+v, want span_recall 1 over 2 queries", report)
	}
	want := map[string][2]float64{ // stability and overlap
		// In capitals nothing is known, and the first document is the best of equals.
		"upper case": {0.5, 0.5}, "lower case": {1, 1}, "phrasing canteen at noon. open %s": {0, 0},
		"1 distractors": {0.5, 0.5}, "shuffled documents": {1, 1}, "K+1": {1, 1}, "same": {1, 1},
	}
	for _, f := range report.Checks {
		if got := [2]float64{f.Stability, f.Overlap}; got != want[f.Check] {
			t.Errorf("%s: got stability and overlap %v, want %v", f.Check, got, want[f.Check])
		}
		if len(f.Worse) != int(math.Round(2*(1-f.Stability))) || f.Better != 0 {
			t.Errorf("%s: got %d worse and %d better", f.Check, len(f.Worse), f.Better)
		}
	}
}

func TestNextKFindsRankingsThatDependOnK(t *testing.T) {
	fresh := notices(t)
	unstable := func() ragtest.TokenLevel {
		e := fresh()
		e.Embedder, e.Chunker = nil, nil
		e.Retriever = ragtest.RetrieverFunc[chunkers.PositionAwareChunk](func(_ context.Context, _ string, k int) ([]ragtest.ScoredChunk[chunkers.PositionAwareChunk], error) {
			all := []ragtest.ScoredChunk[chunkers.PositionAwareChunk]{
				{Chunk: chunkers.PositionAwareChunk{Span: spans.Span{Doc: "a.md", Start: 0, End: 34}}},
				{Chunk: chunkers.PositionAwareChunk{Span: spans.Span{Doc: "b.md", Start: 0, End: 25}}},
			}
			if k == 2 {
				all[0], all[1] = all[1], all[0]
			}
			return all[:k], nil
		})
		return e
	}
	report, err := robust.TokenLevel(t.Context(), unstable, robust.NextK())
	if err != nil {
		t.Fatal(err)
	}
	if f := report.Checks[0]; f.Stability != 0 || f.Overlap != 0 || f.Better != 1 {
		t.Errorf("got %+v, want no stability: the first chunk is another", f)
	}
}

func TestChunkLevel(t *testing.T) {
	token := notices(t)()
	fresh := func() ragtest.ChunkLevel {
		return ragtest.ChunkLevel{Corpus: token.Corpus, Chunker: chunkers.FixedSize{Size: 100}, Embedder: words{}, K: 1,
			Queries: []ragtest.ChunkQuery{{Query: ragtest.Query{Text: "notice period"}, Relevant: []chunkers.ChunkID{chunkers.NewChunkID("The notice period is three months.")}}}}
	}
	report := robust.RunChunkLevel(t, fresh, robust.NextK().AtLeast(1), robust.ShuffledDocuments().AtLeast(1), robust.LowerCase())
	if report.Metric != "chunk_recall" || report.Checks[0].Overlap != 1 {
		t.Errorf("got %+v", report)
	}
}

func TestTyposAreTheSameEveryTime(t *testing.T) {
	// A query of each kind: short words and digits stay.
	seen := map[string]string{}
	for range 2 {
		texts := []string{"How long is the notice period in 2024?", "wer ist es", "Wie lang ist die Kündigungsfrist?", "über größe", "一二三四五"}
		got := make([]string, len(texts))
		fresh := notices(t)
		record := func() ragtest.TokenLevel {
			e := fresh()
			e.Queries = nil
			for _, text := range texts {
				e.Queries = append(e.Queries, ragtest.TokenQuery{Query: ragtest.Query{Text: text}})
			}
			return e
		}
		report, err := robust.TokenLevel(t.Context(), func() ragtest.TokenLevel {
			e := record()
			e.Embedder = spy{e.Embedder, &got}
			return e
		}, robust.Typos())
		if err != nil || len(report.Checks) != 1 {
			t.Fatal(err)
		}
		for i, text := range texts {
			if before, ok := seen[text]; ok && before != got[i] {
				t.Errorf("%q became %q and %q", text, before, got[i])
			}
			seen[text] = got[i]
		}
	}
	if got := seen["wer ist es"]; got != "wer ist es" {
		t.Errorf("got %q, want short words unchanged", got)
	}
	changed := 0
	for before, after := range seen {
		if before != after {
			changed++
		}
		if !strings.Contains(after, "2024") && strings.Contains(before, "2024") {
			t.Errorf("%q became %q: digits changed", before, after)
		}
	}
	if changed < 3 {
		t.Errorf("got %d changed queries of %v, want at least 3", changed, seen)
	}
}

// spy keeps the queries that were embedded last.
type spy struct {
	ragtest.Embedder
	queries *[]string
}

func (s spy) EmbedQueries(ctx context.Context, queries []string) ([][]float32, error) {
	*s.queries = queries
	return s.Embed(ctx, queries)
}

func TestErrors(t *testing.T) {
	fresh := notices(t)
	for _, tc := range []struct {
		check robust.Check
		want  string
	}{
		{robust.Check{}, "a check without a name"},
		{robust.Typos().AtLeast(1.5), "check typos: at least 1.5: want a stability between 0 and 1"},
		{robust.Typos().AtLeast(math.NaN()), "check typos: at least NaN"},
		{robust.Rewrite("empty", func(string) string { return "" }), "evaluating with empty: query 0"},
		{robust.Distractors(document(t, "a.md", "twice")), "evaluating with 1 distractors: "},
	} {
		if _, err := robust.TokenLevel(t.Context(), fresh, tc.check); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("got error %v, want %q", err, tc.want)
		}
	}
	if _, err := robust.TokenLevel(t.Context(), func() ragtest.TokenLevel {
		e := fresh()
		e.Metrics = []ragtest.TokenMetric{}
		return e
	}); err == nil || !strings.Contains(err.Error(), "field Metrics: empty") {
		t.Errorf("got error %v, want one about metrics", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a template without a place for the query does not panic")
		}
	}()
	robust.Phrasing("Please")
}

// failing is a test whose failures are kept.
type failing struct {
	testing.TB
	said *[]string
}

func (failing) Helper() {}
func (f failing) Errorf(format string, args ...any) {
	*f.said = append(*f.said, fmt.Sprintf(format, args...))
}
func (f failing) Logf(format string, args ...any) {
	*f.said = append(*f.said, fmt.Sprintf(format, args...))
}

func TestRunFails(t *testing.T) {
	var said []string
	robust.RunTokenLevel(failing{t, &said}, notices(t), robust.UpperCase().AtLeast(0.9), robust.LowerCase().AtLeast(0.9))
	want := []string{`robust: stability of span_recall, which is 1.0000 over 2 queries

  check       score   stability  overlap  worse  better  threshold
  upper case  0.5000  0.5000     0.5000   1      0       >= 0.9 FAILED
  lower case  1.0000  1.0000     1.0000   0      0       >= 0.9 ok
`, "robust: upper case: got a stability of span_recall of 0.5000, want >= 0.9, over 2 queries\n  0.0000, was 1.0000  " +
		string(ragtest.NewQueryID("how many holidays")) + `: "HOW MANY HOLIDAYS"`}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// On Chroma's data, case and the order of documents do not matter to the lexical
// embedder; typos do.
func TestChroma(t *testing.T) {
	collection, err := fixtures.ReadChroma(os.DirFS(realdata.Dir(t, "data", "chroma")))
	if err != nil {
		t.Fatal(err)
	}
	fresh := func() ragtest.TokenLevel {
		return ragtest.TokenLevel{Corpus: collection.Corpus, Queries: collection.Queries, Chunker: chunkers.RecursiveCharacter{Size: 800}, Embedder: lexical.Embedder{}}
	}
	report := robust.RunTokenLevel(t, fresh, robust.UpperCase().AtLeast(0.99), robust.LowerCase().AtLeast(0.99), robust.ShuffledDocuments().AtLeast(0.99),
		robust.NextK().AtLeast(1), robust.Typos().AtLeast(0.7), robust.Phrasing("Could you please tell me: %s").AtLeast(0.9))
	if typos := report.Checks[4]; typos.Stability > 0.95 || len(typos.Worse) == 0 {
		t.Errorf("got %+v, want typos to matter", typos)
	}
}

func ExampleRunTokenLevel() {
	var t *testing.T // the test's own
	evaluation := func() ragtest.TokenLevel {
		return ragtest.TokenLevel{ /* Corpus, Queries, Chunker, Embedder and a new Store */ }
	}
	run := func() {
		robust.RunTokenLevel(t, evaluation, robust.Typos().AtLeast(0.8), robust.ShuffledDocuments().AtLeast(1))
	}
	_ = run // called by the test
}
