package lexical

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

var (
	_ ragtest.Retriever[chunkers.Chunk]              = (*BM25[chunkers.Chunk])(nil)
	_ ragtest.Retriever[chunkers.PositionAwareChunk] = (*BM25[chunkers.PositionAwareChunk])(nil)
	_ chunkers.Validator                             = (*BM25[chunkers.Chunk])(nil)
)

func newChunks(texts ...string) []chunkers.Chunk {
	chunks := make([]chunkers.Chunk, len(texts))
	for i, text := range texts {
		chunks[i] = chunkers.Chunk{ID: chunkers.NewChunkID(text), Doc: "doc", Text: text}
	}
	return chunks
}

// newPlaces returns position-aware chunks that lie one after the other.
func newPlaces(texts ...string) []chunkers.PositionAwareChunk {
	chunks := make([]chunkers.PositionAwareChunk, len(texts))
	start := 0
	for i, text := range texts {
		end := start + len([]rune(text)) + 1
		chunks[i] = chunkers.PositionAwareChunk{ID: chunkers.NewPositionAwareChunkID(text), Span: spans.Span{Doc: "doc", Start: start, End: end}, Text: text}
		start = end
	}
	return chunks
}

func index[C any](tb testing.TB, r ragtest.Retriever[C], chunks []C) {
	tb.Helper()
	if err := r.Index(tb.Context(), chunks); err != nil {
		tb.Fatal(err)
	}
}

func retrieve[C any](tb testing.TB, r ragtest.Retriever[C], query string, k int) []ragtest.ScoredChunk[C] {
	tb.Helper()
	lists, err := r.Retrieve(tb.Context(), []string{query}, k)
	if err != nil {
		tb.Fatal(err)
	}
	if len(lists) != 1 {
		tb.Fatalf("got %d lists for one query", len(lists))
	}
	return lists[0]
}

func places(list []ragtest.ScoredChunk[chunkers.PositionAwareChunk]) []spans.Span {
	var places []spans.Span
	for _, c := range list {
		places = append(places, c.Chunk.Span)
	}
	return places
}

// summary lists texts and scores, one a line.
func summary[C chunkers.Indexed](list []ragtest.ScoredChunk[C]) string {
	var b strings.Builder
	for _, c := range list {
		fmt.Fprintf(&b, "%s %.4f\n", c.Chunk.IndexText(), c.Score)
	}
	return b.String()
}

// randomTexts are made of a few words, so that many scores are equal.
func randomTexts(rng *rand.Rand, n int) []string {
	words := strings.Fields("alpha beta gamma delta epsilon zeta the of running runs 检索 max_conns 3.14")
	texts := make([]string, n)
	for i := range texts {
		var text []string
		for range rng.IntN(8) {
			text = append(text, words[rng.IntN(len(words))])
		}
		texts[i] = strings.Join(text, " ")
	}
	return texts
}

// naiveBM25 ranks all texts by the formula in the documentation of BM25.
func naiveBM25(k1, b float64, texts []string, query string) []ranked {
	terms := func(text string) []string {
		l := newLexicon()
		var terms []string
		l.scan(text, func(term int32) { terms = append(terms, l.terms[term]) })
		return terms
	}
	count := func(terms []string, term string) (n float64) {
		for _, t := range terms {
			if t == term {
				n++
			}
		}
		return n
	}
	docs := make([][]string, len(texts))
	var total, n float64
	for i, text := range texts {
		docs[i] = terms(text)
		total += float64(len(docs[i]))
		n++
	}
	best := make([]ranked, len(texts))
	for i, doc := range docs {
		best[i].chunk = int32(i)
		for _, term := range terms(query) {
			df := 0.0
			for _, d := range docs {
				if count(d, term) > 0 {
					df++
				}
			}
			idf := math.Log(1 + (n-df+0.5)/(df+0.5))
			if f := count(doc, term); f > 0 {
				best[i].score += idf * f * (k1 + 1) / (f + k1*(1-b+b*float64(len(doc))/(total/n)))
			}
		}
	}
	// Sums that differ by rounding only are equal.
	slices.SortStableFunc(best, func(x, y ranked) int {
		return cmp.Compare(math.Round(y.score*1e5), math.Round(x.score*1e5))
	})
	return best
}

func TestBM25AgainstFormula(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		texts, queries := randomTexts(rng, 1+rng.IntN(40)), randomTexts(rng, 5)
		r := NewBM25[chunkers.PositionAwareChunk]()
		if rng.IntN(2) == 0 {
			r.K1, r.B = float64(rng.IntN(4))/2, float64(rng.IntN(3))/2
		}
		chunks := newPlaces(texts...)
		index(t, r, chunks)
		for _, query := range queries {
			got := retrieve(t, r, query, len(texts))
			want := naiveBM25(r.K1, r.B, texts, query)
			if len(got) != len(want) {
				t.Fatalf("%q: got %d chunks, want %d", query, len(got), len(want))
			}
			for i := range want {
				if w := want[i]; got[i].Chunk.Span != chunks[w.chunk].Span || math.Abs(got[i].Score-w.score) > 1e-5 {
					t.Fatalf("%v, query %q, rank %d: got %v with %v, want %v with %v", r, query, i+1, got[i].Chunk.Span, got[i].Score, chunks[w.chunk].Span, w.score)
				}
			}
			for k := range len(texts) + 2 {
				if a, b := places(retrieve(t, r, query, k)), places(got[:min(k, len(got))]); !slices.Equal(a, b) {
					t.Fatalf("got %v as the %d best, want the first of all, %v", a, k, b)
				}
			}
		}
	}
}

func TestBM25(t *testing.T) {
	r := NewBM25[chunkers.Chunk]()
	if got := retrieve(t, r, "anything", 3); len(got) != 0 {
		t.Errorf("before Index: got %d chunks, want none", len(got))
	}
	index(t, r, newChunks("invoices are sent monthly", "reset your password", "", "passwords expire", "reset your password"))
	for _, test := range []struct {
		name, query string
		k           int
		want        string
	}{
		{"stemmed, ties and rest by insertion", "Resetting passwords?", 9, "reset your password 1.3530\nreset your password 1.3530\npasswords expire 0.5156\ninvoices are sent monthly 0.0000\n 0.0000\n"},
		{"fewer", "resetting passwords", 2, "reset your password 1.3530\nreset your password 1.3530\n"},
		{"none", "resetting passwords", 0, ""},
		{"nothing matches", "xylophone", 2, "invoices are sent monthly 0.0000\nreset your password 0.0000\n"},
		{"stop words only", "what is it", 1, "invoices are sent monthly 0.0000\n"},
		{"empty", "", 1, "invoices are sent monthly 0.0000\n"},
	} {
		if diff := gocmp.Diff(summary(retrieve(t, r, test.query, test.k)), test.want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", test.name, diff)
		}
	}

	index(t, r, newChunks("a new corpus"))
	if got := summary(retrieve(t, r, "password", 9)); got != "a new corpus 0.0000\n" {
		t.Errorf("after Index was called again: got %q", got)
	}
	index(t, r, nil)
	if got := retrieve(t, r, "password", 9); len(got) != 0 {
		t.Errorf("without chunks: got %d, want none", len(got))
	}
}

func TestBM25KeepsNoArgument(t *testing.T) {
	chunks := newChunks("alpha", "beta")
	r := NewBM25[chunkers.Chunk]()
	index(t, r, chunks)
	clear(chunks)
	if got := summary(retrieve(t, r, "beta", 1)); !strings.HasPrefix(got, "beta ") {
		t.Errorf("got %q, want beta", got)
	}
}

func TestBM25Errors(t *testing.T) {
	for _, test := range []struct {
		k1, b float64
		want  string
	}{
		{-1, 0.75, "lexical.BM25: K1 is -1: want 0 <= K1 <= 1e+06"},
		{math.NaN(), 0.75, "lexical.BM25: K1 is NaN: want 0 <= K1 <= 1e+06"},
		{math.Inf(1), 0.75, "lexical.BM25: K1 is +Inf: want 0 <= K1 <= 1e+06"},
		{1.2, 1.5, "lexical.BM25: B is 1.5: want 0 <= B <= 1"},
		{1.2, math.NaN(), "lexical.BM25: B is NaN: want 0 <= B <= 1"},
	} {
		r := &BM25[chunkers.Chunk]{K1: test.k1, B: test.b}
		if err := r.Index(t.Context(), newChunks("a")); err == nil || err.Error() != test.want {
			t.Errorf("got error %v, want %s", err, test.want)
		}
	}

	r := NewBM25[chunkers.Chunk]()
	index(t, r, newChunks("alpha"))
	if _, err := r.Retrieve(t.Context(), []string{"a"}, -1); err == nil || err.Error() != "retrieving -1 chunks: want 0 or more" {
		t.Errorf("k = -1: got error %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	if err := r.Index(ctx, newChunks("beta")); !errors.Is(err, cause) {
		t.Errorf("Index: got error %v, want %v", err, cause)
	}
	if got := summary(retrieve(t, r, "alpha", 1)); !strings.HasPrefix(got, "alpha ") {
		t.Errorf("after a failed Index: got %q, want what was indexed before", got)
	}
	if _, err := r.Retrieve(ctx, []string{"alpha"}, 1); !errors.Is(err, cause) {
		t.Errorf("Retrieve: got error %v, want %v", err, cause)
	}
}

func TestBM25String(t *testing.T) {
	if got, want := NewBM25[chunkers.Chunk]().String(), "bm25/k1=1.2/b=0.75"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBM25Plain(t *testing.T) {
	for _, plain := range []bool{false, true} {
		r := NewBM25[chunkers.PositionAwareChunk]()
		r.Plain = plain
		index(t, r, newPlaces("running", "run", "the"))
		r.Plain = !plain // Index read it
		lists, err := r.Retrieve(t.Context(), []string{"run", "the"}, 3)
		if err != nil {
			t.Fatal(err)
		}
		matches := func(list []ragtest.ScoredChunk[chunkers.PositionAwareChunk]) (n int) {
			for _, c := range list {
				if c.Score > 0 {
					n++
				}
			}
			return n
		}
		want := []int{2, 0}
		if plain {
			want = []int{1, 1}
		}
		if got := []int{matches(lists[0]), matches(lists[1])}; !slices.Equal(got, want) {
			t.Errorf("plain %v: got %v matches, want %v", plain, got, want)
		}
	}
	if got := (&BM25[chunkers.Chunk]{K1: 0.9, B: 0.4, Plain: true}).String(); got != "bm25/k1=0.9/b=0.4/plain" {
		t.Errorf("got name %s", got)
	}
}
