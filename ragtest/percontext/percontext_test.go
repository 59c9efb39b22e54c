package percontext_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/ragtest/percontext"
	"github.com/rageval/rageval/spans"
)

func corpusOf(t testing.TB, idsAndTexts ...string) *spans.Corpus {
	t.Helper()
	var docs []*spans.Document
	for i := 0; i < len(idsAndTexts); i += 2 {
		doc, err := spans.NewDocument(spans.DocumentID(idsAndTexts[i]), idsAndTexts[i+1], nil)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	c, err := spans.NewCorpus(docs...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var lines = chunkers.Func(func(_ context.Context, text string) ([]string, error) { return strings.Split(text, "\n"), nil })

// letters embeds a text as the counts of its letters a to z.
type letters struct{}

func (letters) Embed(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = make([]float32, 26)
		for _, r := range text {
			if r >= 'a' && r <= 'z' {
				vectors[i][r-'a']++
			}
		}
	}
	return vectors, nil
}

func question(id, text string, doc spans.DocumentID, answers ...string) percontext.Question {
	return percontext.Question{Query: ragtest.Query{ID: ragtest.QueryID(id), Text: text}, Context: doc, Answers: answers}
}

func small(t testing.TB) percontext.Evaluation {
	return percontext.Evaluation{
		Name: "small",
		// The best chunk for a question of b.md is in a.md, which it must not find.
		Corpus: corpusOf(t, "a.md", "aaaa first answer\nzzzz second answer\nqqqq", "b.md", "xx other answer\nyy\nzz", "c.md", "unasked"),
		Questions: []percontext.Question{
			question("q1", "aaaa first answer", "a.md", "first answer"),
			question("q2", "zzzz second answer", "a.md", "no such", "second answer", "first answer"),
			question("q3", "zzzz second answer", "b.md", "other answer"),
			question("q4", "aaaa", "a.md", "answer\nzzzz"),
			question("q5", "aaaa", "a.md", "short"),
			question("q6", "qqqq", "a.md", "first answer", "fst"),
		},
		Chunker:  lines,
		Embedder: letters{},
	}
}

func TestEvaluate(t *testing.T) {
	e := small(t)
	r, err := e.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := &percontext.Result{
		Name: "small", Contexts: 2, Chunks: 6, Skipped: 1, Cut: 1,
		HitRates: []percontext.HitRate{{K: 1, Value: 0.4, Given: 0}, {K: 3, Value: 0.8, Given: 0.8}, {K: 5, Value: 0.8, Given: 0.8}},
		Questions: []percontext.QuestionResult{
			{ID: "q1", Context: "a.md", Chunks: 3, Holding: 1, Rank: 1}, {ID: "q2", Context: "a.md", Chunks: 3, Holding: 2, Rank: 1},
			{ID: "q3", Context: "b.md", Chunks: 3, Holding: 1, Rank: 2}, {ID: "q4", Context: "a.md", Chunks: 3}, {ID: "q6", Context: "a.md", Chunks: 3, Holding: 1, Rank: 2},
		},
		MRR: (1 + 1 + 1./2 + 0 + 1./2) / 5,
		Warnings: []string{
			"hit_rate@3: 80 % of the questions have a hit in whatever order their chunks are: it tells little",
			"hit_rate@5: 80 % of the questions have a hit in whatever order their chunks are: it tells little",
			"the chunker cut the answers of 1 of 5 questions, so that no chunk holds one whole",
		},
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for procs := range 3 {
		before := runtime.GOMAXPROCS(procs + 1)
		again, err := small(t).Evaluate(t.Context())
		runtime.GOMAXPROCS(before)
		if diff := cmp.Diff(r, again); err != nil || diff != "" {
			t.Errorf("GOMAXPROCS %d: error %v (-first +again)\n%s", procs+1, err, diff)
		}
	}
	e.Embedder, e.Retriever = nil, func() ragtest.Retriever[chunkers.Chunk] { return ragtest.Dense[chunkers.Chunk](letters{}, nil) }
	again, err := e.Evaluate(t.Context())
	if diff := cmp.Diff(r, again); err != nil || diff != "" {
		t.Errorf("retriever: error %v (-embedder +retriever)\n%s", err, diff)
	}
	e.MinAnswerLength = 3
	if r, err := e.Evaluate(t.Context()); err != nil || r.Skipped != 0 || len(r.Questions) != 6 {
		t.Errorf("answers of 3 characters: got error %v", err)
	}
}

func TestSaturation(t *testing.T) {
	result := func(rates ...float64) *percontext.Result {
		r := &percontext.Result{}
		for i, v := range rates {
			r.HitRates = append(r.HitRates, percontext.HitRate{K: 2*i + 1, Value: v})
		}
		return r
	}
	got := percontext.Saturation(result(0.5, 0.99, 1), result(0.6, 0.98, 1))
	if diff := cmp.Diff([]string{"hit_rate@5 is at least 0.99 for 2 of 2 configurations: it is unable to discriminate between them"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := percontext.Saturation(result(1)); got != nil {
		t.Errorf("one result: got %v", got)
	}
	var ten []*percontext.Result
	for i := range 10 {
		ten = append(ten, result(math.Min(1, 0.5+float64(i))))
	}
	if got := percontext.Saturation(ten...); len(got) != 1 {
		t.Errorf("nine of ten: got %v", got)
	}
}

func TestEvaluateErrors(t *testing.T) {
	boom := errors.New("boom")
	for want, change := range map[string]func(e *percontext.Evaluation){
		"field Corpus: nil":                           func(e *percontext.Evaluation) { e.Corpus = nil },
		"field Questions: no question":                func(e *percontext.Evaluation) { e.Questions = nil },
		"field Chunker: nil":                          func(e *percontext.Evaluation) { e.Chunker = nil },
		"fields Embedder and Retriever: both are nil": func(e *percontext.Evaluation) { e.Embedder = nil },
		"fields Embedder and Retriever: both are set": func(e *percontext.Evaluation) { e.Retriever = func() ragtest.Retriever[chunkers.Chunk] { return nil } },
		"the function returned nil": func(e *percontext.Evaluation) {
			e.Embedder, e.Retriever = nil, func() ragtest.Retriever[chunkers.Chunk] { return nil }
		},
		"field MinAnswerLength: got -1":                                   func(e *percontext.Evaluation) { e.MinAnswerLength = -1 },
		"field Ks: got [3 3], want different cut-offs":                    func(e *percontext.Evaluation) { e.Ks = []int{3, 3} },
		"field Ks: got [0]":                                               func(e *percontext.Evaluation) { e.Ks = []int{0} },
		"field Chunker: ":                                                 func(e *percontext.Evaluation) { e.Chunker = chunkers.FixedSize{Size: -1} },
		"questions 0 and 1 have the same ID q1":                           func(e *percontext.Evaluation) { e.Questions[1].ID = "q1" },
		`question q2: the corpus has no document "z"`:                     func(e *percontext.Evaluation) { e.Questions[1].Context = "z" },
		`question 1 (ID "q2"): the text is empty`:                         func(e *percontext.Evaluation) { e.Questions[1].Text = "" },
		"none of the 6 questions has an answer of at least 99 characters": func(e *percontext.Evaluation) { e.MinAnswerLength = 99 },
		"chunking a.md: boom": func(e *percontext.Evaluation) {
			e.Chunker = chunkers.Func(func(_ context.Context, text string) ([]string, error) {
				if strings.HasPrefix(text, "aaaa") {
					return nil, boom
				}
				return nil, nil
			})
		},
		"embedding questions: boom": func(e *percontext.Evaluation) {
			e.Embedder = embedFunc(func(ctx context.Context, texts []string) ([][]float32, error) {
				if texts[0] == "aaaa first answer" && len(texts) == 5 && texts[1] == "zzzz second answer" && texts[2] == "zzzz second answer" {
					return nil, boom
				}
				return letters{}.Embed(ctx, texts)
			})
		},
		"embedding chunks: got 0 vectors for 6 texts": func(e *percontext.Evaluation) {
			e.Embedder = embedFunc(func(context.Context, []string) ([][]float32, error) { return nil, nil })
		},
	} {
		e := small(t)
		change(&e)
		if _, err := e.Evaluate(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := small(t).Evaluate(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got error %v", err)
	}
}

type embedFunc func(ctx context.Context, texts []string) ([][]float32, error)

func (f embedFunc) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return f(ctx, texts)
}

func TestFromSpans(t *testing.T) {
	c := corpusOf(t, "a.md", "é yes, no", "b.md", "x")
	span := func(doc spans.DocumentID, start, end int) spans.Span {
		return spans.Span{Doc: doc, Start: start, End: end}
	}
	query := func(id ragtest.QueryID, relevant ...spans.Span) ragtest.TokenQuery {
		return ragtest.TokenQuery{Query: ragtest.Query{ID: id, Text: "?"}, Relevant: relevant}
	}
	got, err := percontext.FromSpans(c, []ragtest.TokenQuery{query("q", span("a.md", 2, 5)), query("none"), query("r", span("b.md", 0, 1))},
		map[ragtest.QueryID][]spans.Span{"q": {span("a.md", 2, 5), span("a.md", 7, 9), span("a.md", 2, 5)}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]percontext.Question{question("q", "?", "a.md", "yes", "no"), question("r", "?", "b.md", "x")}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for want, q := range map[string]ragtest.TokenQuery{
		"query q: document z is not in the corpus": query("q", span("z", 0, 1)),
		"are in two documents":                     query("q", span("a.md", 0, 1), span("b.md", 0, 1)),
		"query q: ":                                query("q", span("b.md", 0, 9)),
	} {
		if _, err := percontext.FromSpans(c, []ragtest.TokenQuery{q}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q", err, want)
		}
	}
	if _, err := percontext.FromSpans(nil, nil, nil); err == nil {
		t.Error("nil corpus: got no error")
	}
}

// On SQuAD, whose paragraphs are short, the task is nearly trivial.
func TestSQuAD(t *testing.T) {
	squad, err := fixtures.ReadSQuAD(os.DirFS(realdata.Dir(t, "data", "squad")), "dev-v2.0.json")
	if err != nil {
		t.Fatal(err)
	}
	questions, err := percontext.FromSpans(squad.Corpus, squad.Queries, nil)
	if err != nil {
		t.Fatal(err)
	}
	var results []*percontext.Result
	for _, size := range []int{200, 800, 1600} {
		r := percontext.Run(t, percontext.Evaluation{
			Name: fmt.Sprint(size), Corpus: squad.Corpus, Questions: questions, Chunker: chunkers.RecursiveCharacter{Size: size}, Embedder: lexical.Embedder{},
		})
		results = append(results, r)
		one, _ := r.HitRate(1)
		five, _ := r.HitRate(5)
		if len(r.Questions)+r.Skipped != 2910 || len(r.Questions) < 2000 || one >= five && size == 200 || five < 0.9 {
			t.Errorf("size %d: got %d questions, hit rates %v", size, len(r.Questions), r.HitRates)
		}
	}
	if warnings := percontext.Saturation(results[1:]...); !slices.ContainsFunc(warnings, func(w string) bool { return strings.HasPrefix(w, "hit_rate@5") }) {
		t.Errorf("got warnings %v, want one of hit_rate@5", warnings)
	}
}

func ExampleEvaluation() {
	doc, err := spans.NewDocument("leave.md", "Everyone has 28 days of leave.\nLeave is granted by the head of department.", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	corpus, err := spans.NewCorpus(doc)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := percontext.Evaluation{
		Corpus: corpus,
		Questions: []percontext.Question{{
			Query: ragtest.Query{Text: "Who grants leave?"}, Context: "leave.md", Answers: []string{"head of department"},
		}},
		Chunker:  chunkers.RecursiveCharacter{Size: 50, Separators: []string{"\n"}},
		Embedder: lexical.Embedder{},
		Ks:       []int{1},
	}.Evaluate(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	rate, _ := r.HitRate(1)
	fmt.Println(rate, r.MRR)
	// Output: 1 1
}
