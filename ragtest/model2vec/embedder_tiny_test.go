package model2vec_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/model2vec"
	"github.com/rageval/rageval/spans"
)

var _ ragtest.Embedder = (*model2vec.Embedder)(nil)

func TestString(t *testing.T) {
	e := mustOpenTiny(t, newTinyModel(2))
	for _, test := range []struct {
		maxTokens int
		want      string
	}{{0, "model2vec/tiny"}, {8, "model2vec/tiny/maxtokens=8"}, {-5, "model2vec/tiny/maxtokens=-1"}} {
		e.MaxTokens = test.maxTokens
		if got := e.String(); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
	if got := e.Tokenizer().String(); got != "tiny" {
		t.Errorf("tokenizer: got %q, want tiny", got)
	}
}

func TestMaxTokens(t *testing.T) {
	e := mustOpenTiny(t, newTinyModel(4))
	one := mustEmbed(t, e, "cat", "cat dog", "cat dog sat")
	for _, test := range []struct {
		maxTokens int
		text      string
		want      []float32
	}{
		{1, "cat dog", one[0]},
		{2, "cat dog sat", one[0]}, // "cat do": 2 times the median of 3 characters
		{3, "cat dog sat", one[1]},
		{4, "cat dog sat", one[2]},
		{1 << 60, "cat dog sat", one[2]},
		{-1, "cat dog sat", one[2]},
		// Unknown tokens do not count, but their characters do.
		{2, "xx cat dog", one[0]},
		{3, "é 検 cat dog", one[0]},
		{0, "cat" + strings.Repeat(" cat", 600), one[0]},
		{0, strings.Repeat("cat ", 512) + strings.Repeat("dog ", 512), one[0]},
		{0, strings.Repeat(" ", 512*3) + "dog", []float32{0, 0, 0, 0}},
		{-1, strings.Repeat(" ", 512*3) + "cat", one[0]},
	} {
		e.MaxTokens = test.maxTokens
		if diff := cmp.Diff(test.want, mustEmbed(t, e, test.text)[0], near); diff != "" {
			t.Errorf("MaxTokens %d, %.30q (-want, +got):\n%s", test.maxTokens, test.text, diff)
		}
	}
}

func TestTruncatedTextsAreCounted(t *testing.T) {
	var docs []*spans.Document
	for i, text := range []string{"the cat sat", "the dog", "the dog ran on the mat."} {
		doc, err := spans.NewDocument(spans.DocumentID(fmt.Sprintf("doc-%d", i)), text, nil)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	corpus, err := spans.NewCorpus(docs...)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		maxTokens int
		want      []ragtest.Usage
	}{
		{0, []ragtest.Usage{{Component: "model2vec", Model: "tiny", Calls: 2, Tokens: 13}}},
		{3, []ragtest.Usage{{Component: "model2vec", Model: "tiny", Calls: 2, Tokens: 7, Truncated: 2}}},
	} {
		e := mustOpenTiny(t, newTinyModel(4))
		e.MaxTokens = test.maxTokens
		r, err := ragtest.TokenLevel{
			Corpus:   corpus,
			Queries:  []ragtest.TokenQuery{{Query: ragtest.Query{ID: "q", Text: "cat"}, Relevant: []spans.Span{{Doc: "doc-0", Start: 4, End: 7}}}},
			Chunker:  chunkers.FixedSize{Size: 100},
			Embedder: e,
		}.Evaluate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, r.Diagnostics.Usage); diff != "" {
			t.Errorf("MaxTokens %d (-want, +got):\n%s", test.maxTokens, diff)
		}
	}
}

func TestConformanceOfATinyModel(t *testing.T) {
	m := newTinyModel(8)
	// Every letter is a token, so that no two texts of letters are equal.
	for c := 'a'; c <= 'z'; c++ {
		for _, prefix := range []string{"", "##"} {
			m.tokenizer = strings.Replace(m.tokenizer, `"vocab": {`, fmt.Sprintf(`"vocab": {"%s%c": %d, `, prefix, c, int(c-'a')*2+len(prefix)/2+len(tinyWords)), 1)
		}
	}
	e := &m.tensors[0]
	for i := range 52 * 8 {
		e.values = append(e.values, float64(i*i%251-125))
	}
	e.shape[0] += 52
	if err := ragtest.CheckEmbedder(t.Context(), mustOpenTiny(t, m)); err != nil {
		t.Error(err)
	}
}

// The same text has the same bits, whatever else is embedded, at every
// GOMAXPROCS, and in calls at the same time.
func TestEmbedIsAPureFunctionOfTheText(t *testing.T) {
	e := mustOpenTiny(t, newTinyModel(16))
	var texts []string
	for i := range 500 {
		text := ""
		for j := i; j > 0; j /= 3 {
			text += " " + tinyWords[1+(i+j)%(len(tinyWords)-2)]
		}
		texts = append(texts, text)
	}
	var want [][]float32
	for _, text := range texts {
		want = append(want, mustEmbed(t, e, text)[0])
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 3, 8} {
		runtime.GOMAXPROCS(procs)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				got, err := e.Embed(t.Context(), texts)
				if err != nil {
					t.Error(err)
					return
				}
				for i := range got {
					if !slices.Equal(got[i], want[i]) || cap(got[i]) != len(got[i]) {
						t.Errorf("GOMAXPROCS %d: text %d, %q: got %v, alone %v", procs, i, texts[i], got[i], want[i])
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestEmbedErrors(t *testing.T) {
	if _, err := new(model2vec.Embedder).Embed(t.Context(), []string{"a"}); err == nil || !strings.Contains(err.Error(), "there is no model: want what Open returned") {
		t.Errorf("got error %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	if _, err := mustOpenTiny(t, newTinyModel(2)).Embed(ctx, []string{"a"}); !errors.Is(err, cause) {
		t.Errorf("got error %v, want %v", err, cause)
	}
}

func BenchmarkTiny(b *testing.B) {
	e := mustOpenTiny(b, newTinyModel(256))
	texts := make([]string, 64)
	for i := range texts {
		texts[i] = strings.Repeat("the cat sat on the mat. ", 20)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Embed(b.Context(), texts); err != nil {
			b.Fatal(err)
		}
	}
}
