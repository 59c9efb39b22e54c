package onnx

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// tolerance is how far a component of a vector may be from what double
// precision gives. Single precision has rounding errors of 6e-8 of a number; a
// component of these models, of size 1 or so, is the result of some hundreds.
const tolerance = 1e-5

// embedding returns the vector that a model has for a text.
func (b *bert) embedding(tb testing.TB, text string, p Pooling, n Normalization) []float64 {
	ids, segments := tinyTokenizer(tb).Single(tinyTokenizer(tb).AppendIDs(nil, text))
	states := b.hiddenStates(ids, segments)
	vector := make([]float64, b.hidden)
	if p == CLSPooling {
		states = states[:1]
	}
	for _, state := range states {
		for i, v := range state {
			vector[i] += v / float64(len(states))
		}
	}
	if n != NotNormalized {
		length := math.Sqrt(dot(vector, vector))
		for i := range vector {
			vector[i] /= length
		}
	}
	return vector
}

// distance returns the greatest difference of two components.
func distance(got []float32, want []float64) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	greatest := 0.0
	for i, v := range got {
		if d := math.Abs(float64(v) - want[i]); !(d <= greatest) {
			greatest = d
		}
	}
	return greatest
}

func mustEmbed(tb testing.TB, e *Embedder, texts ...string) [][]float32 {
	tb.Helper()
	vectors, err := e.Embed(tb.Context(), texts)
	if err != nil {
		tb.Fatal(err)
	}
	if len(vectors) != len(texts) {
		tb.Fatalf("got %d vectors for %d texts", len(vectors), len(texts))
	}
	return vectors
}

func TestEmbedderGivesTheModelsVectors(t *testing.T) {
	onBackends(t, func(t *testing.T, backend Backend) {
		for _, test := range []struct {
			segments bool
			p        Pooling
			n        Normalization
		}{
			{true, PoolingOfModel, NormalizationOfModel},
			{true, MeanPooling, NotNormalized},
			{true, CLSPooling, Normalized},
			{false, CLSPooling, NotNormalized},
		} {
			spec := tiny
			spec.segments = test.segments
			b := newBERT(spec)
			e := closed(t, &Embedder{Model: Model{Dir: modelDir(t, b, nil), Backend: backend}, Pooling: test.p, Normalization: test.n})
			for i, v := range mustEmbed(t, e, sentences...) {
				if d := distance(v, b.embedding(t, sentences[i], test.p, test.n)); !(d <= tolerance) {
					t.Errorf("%v with segments %v: %q: a component is %g from that in double precision, want at most %g", e, test.segments, sentences[i], d, tolerance)
				}
			}
		}
	})
}

func TestEmbedderKeepsTheContract(t *testing.T) {
	onBackends(t, func(t *testing.T, backend Backend) {
		e := closed(t, &Embedder{Model: Model{Dir: modelDir(t, newBERT(tiny), nil), Backend: backend}, Prefixes: &Prefixes{"query: ", "passage: "}})
		if err := ragtest.CheckEmbedder(t.Context(), e); err != nil {
			t.Error(err)
		}
	})
}

// Results are in the order of the texts, whatever the batches, and padding does
// not show in them.
func TestBatchesDoNotShow(t *testing.T) {
	onBackends(t, func(t *testing.T, backend Backend) {
		b := newBERT(tiny)
		dir := modelDir(t, b, nil)
		var texts []string
		for i := range 40 {
			texts = append(texts, strings.Repeat("key ", i*i%37)+fmt.Sprint(i))
		}
		for _, size := range []int{0, 1, 100, 1 << 30} {
			e := closed(t, &Embedder{Model: Model{Dir: dir, Backend: backend, BatchTokens: size}})
			for i, v := range mustEmbed(t, e, texts...) {
				if d := distance(v, b.embedding(t, texts[i], 0, 0)); !(d <= tolerance) {
					t.Errorf("BatchTokens %d: %q: a component is %g from that in double precision", size, texts[i], d)
				}
			}
		}
	})
}

func TestSameBitsAtAnyGOMAXPROCS(t *testing.T) {
	onBackends(t, func(t *testing.T, backend Backend) {
		dir := modelDir(t, newBERT(tiny), nil)
		var want [][]float32
		for _, n := range []int{1, 2, 5} {
			func() {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
				e := &Embedder{Model: Model{Dir: dir, Backend: backend}}
				defer e.Close()
				for range 3 {
					got := mustEmbed(t, e, sentences...)
					if want == nil {
						want = got
					}
					if !cmp.Equal(got, want) {
						t.Errorf("GOMAXPROCS %d: other vectors than before", n)
					}
				}
			}()
		}
	})
}

func TestPrefixes(t *testing.T) {
	b := newBERT(tiny)
	prompts := func(s string) map[string]string { return map[string]string{"config_sentence_transformers.json": s} }
	for name, test := range map[string]struct {
		files          map[string]string
		field          *Prefixes
		query, passage string
	}{
		"none":              {nil, nil, "", ""},
		"field":             {nil, &Prefixes{"query: ", "passage: "}, "query: ", "passage: "},
		"file":              {prompts(`{"prompts": {"query": "q: ", "document": "d: ", "passage": "p: "}}`), nil, "q: ", "d: "},
		"passage":           {prompts(`{"prompts": {"passage": "p: ", "other": "o: "}}`), nil, "", "p: "},
		"default":           {prompts(`{"prompts": {"query": "q: ", "other": "o: "}, "default_prompt_name": "other"}`), nil, "q: ", "o: "},
		"null":              {prompts(`{"prompts": {}, "default_prompt_name": null}`), nil, "", ""},
		"field before file": {prompts(`{"prompts": {"query": "q: "}}`), &Prefixes{}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := closed(t, &Embedder{Model: Model{Dir: modelDir(t, b, test.files), Backend: PureGo}, Prefixes: test.field})
			passages := mustEmbed(t, e, sentences[1])
			if d := distance(passages[0], b.embedding(t, test.passage+sentences[1], 0, 0)); !(d <= tolerance) {
				t.Errorf("the vector of a passage is not that of %q", test.passage+sentences[1])
			}
			queries, err := e.EmbedQueries(t.Context(), sentences[1:2])
			if err != nil {
				t.Fatal(err)
			}
			if d := distance(queries[0], b.embedding(t, test.query+sentences[1], 0, 0)); !(d <= tolerance) {
				t.Errorf("the vector of a query is not that of %q", test.query+sentences[1])
			}
		})
	}
}

func TestTruncatedTextsAreCounted(t *testing.T) {
	doc, err := spans.NewDocument("a.md", strings.Repeat("every day ", 30)+"\n\nThe cat sleeps.", nil)
	if err != nil {
		t.Fatal(err)
	}
	corpus, err := spans.NewCorpus(doc)
	if err != nil {
		t.Fatal(err)
	}
	e := closed(t, &Embedder{Model: Model{Dir: modelDir(t, newBERT(tiny), nil), Backend: PureGo, MaxTokens: 12}})
	result, err := ragtest.TokenLevel{
		Corpus:   corpus,
		Queries:  []ragtest.TokenQuery{{Query: ragtest.Query{Text: "Where is the cat?"}, Relevant: []spans.Span{{Doc: "a.md", Start: 302, End: 316}}}},
		Chunker:  chunkers.WithPositions(chunkers.Func(func(_ context.Context, text string) ([]string, error) { return strings.Split(text, "\n\n"), nil })),
		Embedder: e,
	}.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []ragtest.Usage{{Component: "onnx", Model: "tiny-bert", Calls: 2, Tokens: 12 + 7 + 12, Truncated: 1}}
	if diff := cmp.Diff(want, result.Diagnostics.Usage); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
}

func TestCloseAndUseAgain(t *testing.T) {
	onBackends(t, func(t *testing.T, backend Backend) {
		e := &Embedder{Model: Model{Dir: modelDir(t, newBERT(tiny), nil), Backend: backend}}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		want := mustEmbed(t, e, sentences...)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				if i%4 == 3 {
					if err := e.Close(); err != nil {
						t.Error(err)
					}
					return
				}
				got, err := e.Embed(t.Context(), sentences)
				if err != nil || !cmp.Equal(got, want) {
					t.Errorf("while another goroutine closes: got other vectors, error %v", err)
				}
			})
		}
		wg.Wait()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
}

// fakeSession gives each token the vector {its ID}.
type fakeSession struct {
	session
	run_ func(b batch)
}

func (s fakeSession) padded(n int) int { return n }
func (s fakeSession) maxRows() int     { return 2 }
func (s fakeSession) run(_ string, b batch) (tensor, error) {
	s.run_(b)
	out := tensor{shape: []int{b.rows, b.length, 1}}
	for _, id := range b.ids {
		out.data = append(out.data, float32(id))
	}
	return out, nil
}

func TestCancelledBetweenBatches(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	runs := 0
	l := &loaded{limits: limits{maxTokens: 100}, batchTokens: 100, session: fakeSession{run_: func(batch) {
		if runs++; runs == 2 {
			cancel(fmt.Errorf("had enough"))
		}
	}}}
	encodings := make([]encoding, 10)
	for i := range encodings {
		encodings[i] = encoding{ids: make([]int, i), segments: make([]int, i)}
	}
	err := l.run(ctx, "", encodings, func(int, tensor) error { return nil })
	if err == nil || err.Error() != "had enough" || runs != 2 {
		t.Errorf("got %v after %d batches, want the context's cause after 2", err, runs)
	}
}

func TestBatchesAreSortedByLength(t *testing.T) {
	var lengths []int
	l := &loaded{limits: limits{maxTokens: 100, padding: 7}, batchTokens: 12, session: fakeSession{run_: func(b batch) {
		lengths = append(lengths, b.length)
		for i, m := range b.mask {
			if m == 0 && b.ids[i] != 7 {
				t.Errorf("padding has the ID %d, want 7", b.ids[i])
			}
		}
	}}}
	var encodings []encoding
	for i, n := range []int{3, 20, 0, 5, 5, 9} {
		encodings = append(encodings, encoding{ids: slices.Repeat([]int{i}, n), segments: make([]int, n)})
	}
	var order []int
	if err := l.run(t.Context(), "", encodings, func(i int, _ tensor) error { order = append(order, i); return nil }); err != nil {
		t.Fatal(err)
	}
	if want := []int{20, 9, 5, 3}; !slices.Equal(lengths, want) {
		t.Errorf("the batches are padded to %d tokens, want %d", lengths, want)
	}
	if want := []int{1, 5, 3, 4, 0, 2}; !slices.Equal(order, want) {
		t.Errorf("the texts came in the order %d, want %d", order, want)
	}
}

// A model may give the text's vector itself, beside its tokens' or alone.
func TestOutputs(t *testing.T) {
	words := make([]float32, 200)
	for i := range words {
		words[i] = float32(i)
	}
	model := func(outputs ...string) []byte {
		return graphOf(func(g *graphFile) {
			all := g.node("Gather", []string{g.floats("words", words, 100, 2), inputIDs}, attribute{"axis", 0})
			for _, name := range outputs {
				if name == "sentence_embedding" { // the first token's
					g.named(name, "Gather", []string{all, g.scalarInt(0)}, attribute{"axis", 1})
					g.output(name, "batch_size", 2)
					continue
				}
				g.named(name, "Identity", []string{all})
				g.output(name, "batch_size", "sequence_length", 2)
			}
		})
	}
	cls, sep := float32(2), float32(3) // IDs; that of a token is in the row {2 ID, 2 ID + 1}
	first, mean := []float32{2 * cls, 2*cls + 1}, []float32{cls + sep, cls + sep + 1}
	onBackends(t, func(t *testing.T, backend Backend) {
		for _, test := range []struct {
			outputs []string
			want    []float32
		}{
			{[]string{"sentence_embedding"}, first},
			{[]string{"sentence_embedding", "token_embeddings"}, mean},
			{[]string{"token_embeddings", "last_hidden_state"}, mean},
			{[]string{"hidden", "sentence_embedding"}, mean},
		} {
			e := closed(t, &Embedder{Model: Model{Dir: replaced(t, model(test.outputs...)), Backend: backend}, Normalization: NotNormalized})
			if got := mustEmbed(t, e, "")[0]; !slices.Equal(got, test.want) {
				t.Errorf("outputs %q: got %v, want %v", test.outputs, got, test.want)
			}
		}
	})
}

// The model is in the folder or in its sub-folder onnx, or where File says, and
// runs in ONNX Runtime if that is there.
func TestFiles(t *testing.T) {
	b := newBERT(tiny)
	dir := modelDir(t, b, map[string]string{"onnx/model_O2.onnx": string(b.file())})
	if err := os.Rename(filepath.Join(dir, "model.onnx"), filepath.Join(dir, "onnx", "model.onnx")); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"", "onnx/model_O2.onnx"} {
		onBackends(t, func(t *testing.T, backend Backend) {
			e := closed(t, &Embedder{Model: Model{Dir: dir, File: file, Backend: backend}})
			if d := distance(mustEmbed(t, e, sentences[0])[0], b.embedding(t, sentences[0], 0, 0)); !(d <= tolerance) {
				t.Errorf("File %q: a component is %g from that in double precision", file, d)
			}
		})
	}
	needLibrary(t)
	e := closed(t, &Embedder{Model: Model{Dir: dir}})
	if name, err := e.Runs(); !strings.HasPrefix(name, "ONNX Runtime 1.") || err != nil {
		t.Errorf("got %q, error %v, want ONNX Runtime", name, err)
	}
}
