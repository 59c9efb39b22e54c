package openai_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers/tokens"
	"github.com/rageval/rageval/internal/faulttest"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/openai"
)

func TestCheckEmbedder(t *testing.T) {
	for _, style := range styles {
		t.Run(style.name, func(t *testing.T) {
			a := &api{t: t, azure: style.azure}
			_, url := a.start()
			e := a.embedder(url)
			e.Dimensions = 64
			if err := ragtest.CheckEmbedder(t.Context(), e); err != nil {
				t.Error(err)
			}
			e.BatchTexts, e.Concurrency, e.DocumentPrefix, e.QueryPrefix = 3, 4, "passage: ", "query: "
			if err := ragtest.CheckEmbedder(t.Context(), e); err != nil {
				t.Errorf("in small batches: %v", err)
			}
		})
	}
}

func countTokens(text string) int { return tokens.CL100K.Count(text) }

func numbered(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("passage %d", i)
	}
	return texts
}

func TestModels(t *testing.T) {
	for _, test := range []struct {
		model      string
		dimensions int
		want       int
		sent       *int // dimensions in the request
	}{
		{"", 0, 1536, nil},
		{"", 256, 256, new(256)},
		{"text-embedding-3-small", 0, 1536, nil},
		{"text-embedding-3-large", 0, 3072, nil},
		{"text-embedding-3-large", 3072, 3072, new(3072)},
		{"text-embedding-ada-002", 0, 1536, nil},
		{"text-embedding-ada-002", 1536, 1536, nil},
		{"other", 0, 8, nil},
		{"other", 4, 4, new(4)},
	} {
		a := &api{t: t}
		_, url := a.start()
		e := a.embedder(url)
		e.Model, e.Dimensions = test.model, test.dimensions
		vectors, err := e.Embed(t.Context(), []string{"a text"})
		if err != nil {
			t.Errorf("%+v: %v", test, err)
			continue
		}
		if diff := cmp.Diff([][]float32{vectorOf("a text", test.want)}, vectors); diff != "" {
			t.Errorf("%+v: vectors (-want +got):\n%s", test, diff)
		}
		if diff := cmp.Diff(test.sent, a.requests()[0].Dimensions); diff != "" {
			t.Errorf("%+v: dimensions sent (-want +got):\n%s", test, diff)
		}
	}
}

// Each batch is as large as the limits allow.
func TestBatches(t *testing.T) {
	long := strings.Repeat(" word", 8_000) // tokens
	for _, test := range []struct {
		name  string
		set   func(*openai.Embedder)
		texts []string
		want  []int // texts of the requests
	}{
		{"none", func(*openai.Embedder) {}, nil, nil},
		{"one", func(*openai.Embedder) {}, numbered(1), []int{1}},
		{"2,048 texts", func(*openai.Embedder) {}, numbered(2048 + 5), []int{2048, 5}},
		{"300,000 tokens", func(*openai.Embedder) {}, slices.Repeat([]string{long}, 75), []int{37, 37, 1}},
		{"BatchTexts", func(e *openai.Embedder) { e.BatchTexts = 3 }, numbered(7), []int{3, 3, 1}},
		{"BatchTokens", func(e *openai.Embedder) { e.BatchTokens = 4 }, []string{"one", "two", "three four", "five six seven", "eight", "nine ten eleven twelve thirteen", "x"}, []int{3, 2, 1, 1}},
		{"another model", func(e *openai.Embedder) { e.Model = "other" }, numbered(70), []int{32, 32, 6}},
		{"another model's bytes", func(e *openai.Embedder) { e.Model, e.BatchTokens = "other", 25 }, numbered(5), []int{2, 2, 1}},
		{"another model's tokens", func(e *openai.Embedder) { e.Model, e.BatchTokens, e.Tokenizer = "other", 12, tokens.CL100K }, numbered(5), []int{3, 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := &api{t: t}
			_, url := a.start()
			e := a.embedder(url)
			e.Dimensions, e.Concurrency = 2, 1
			test.set(&e)
			vectors, err := e.Embed(t.Context(), test.texts)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range vectors {
				if !slices.Equal(v, vectorOf(test.texts[i], 2)) {
					t.Errorf("text %d has the vector of another", i)
				}
			}
			var got []int
			for _, r := range a.requests() {
				got = append(got, len(r.Input))
			}
			if diff := cmp.Diff(test.want, got); diff != "" || len(vectors) != len(test.texts) {
				t.Errorf("got %d vectors, requests (-want +got):\n%s", len(vectors), diff)
			}
		})
	}
}

func TestPrefixes(t *testing.T) {
	a := &api{t: t}
	_, url := a.start()
	e := a.embedder(url)
	e.BaseURL += "/" // as people write it
	e.Dimensions, e.DocumentPrefix, e.QueryPrefix = 2, "passage: ", "query: "
	for prefix, embed := range map[string]func(context.Context, []string) ([][]float32, error){"passage: ": e.Embed, "query: ": e.EmbedQueries} {
		vectors, err := embed(t.Context(), []string{"leave"})
		if err != nil || !slices.Equal(vectors[0], vectorOf(prefix+"leave", 2)) {
			t.Errorf("got %v and %v, want the vector of %q", vectors, err, prefix+"leave")
		}
	}
}

func TestLongTexts(t *testing.T) {
	fits, tooLong := strings.Repeat(" word", 8191), strings.Repeat(" word", 8192)
	a := &api{t: t}
	_, url := a.start()
	e := a.embedder(url)
	e.Dimensions = 2
	if _, err := e.Embed(t.Context(), []string{fits}); err != nil {
		t.Errorf("8191 tokens: %v", err)
	}
	_, err := e.Embed(t.Context(), []string{"short", tooLong})
	want := `embedding with text-embedding-3-small: text 1 (" word word word word word word word word"…) has 8192 tokens; text-embedding-3-small takes 8191: cut it into smaller chunks, or set Truncate`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if n := len(a.requests()); n != 1 {
		t.Errorf("got %d requests, want none for the text that is too long", n)
	}
	e.Truncate = true
	vectors, err := e.Embed(t.Context(), []string{"short", tooLong})
	if err != nil || !slices.Equal(vectors[1], vectorOf(fits, 2)) {
		t.Errorf("got %v, want the vector of the first 8191 tokens", err)
	}
	if input := a.requests()[1].Input; input[0] != "short" {
		t.Errorf("got %q, want the short text as it is", input[0])
	}
}

// A text is cut at a character, and what is left has no more tokens than it may.
func TestTruncate(t *testing.T) {
	for _, test := range []struct {
		text      string
		max       int
		tokenizer tokens.Tokenizer
		model     string
	}{
		{"Glaciers carve deep valleys into mountains.", 3, nil, ""},
		{strings.Repeat("👩‍👩‍👧‍👦", 20), 7, nil, ""},
		{strings.Repeat("東京都の人口", 20), 5, nil, ""},
		{"   \n\n  \n a" + strings.Repeat(" b", 9), 4, nil, ""},
		{"12345678901234567890", 3, nil, ""},
		{strings.Repeat("é", 20), 5, nil, "other"},
		{strings.Repeat("👩", 20), 4, nil, "other"},
		{"one two three", 2, tokens.O200K, "other"},
	} {
		a := &api{t: t}
		_, url := a.start()
		e := a.embedder(url)
		e.Model, e.Dimensions, e.MaxTokens, e.Truncate, e.Tokenizer = test.model, 2, test.max, true, test.tokenizer
		if _, err := e.Embed(t.Context(), []string{test.text}); err != nil {
			t.Errorf("%q: %v", test.text, err)
			continue
		}
		sent := a.requests()[0].Input[0]
		count := tokens.CL100K.Count(sent)
		if test.tokenizer != nil {
			count = test.tokenizer.(tokens.Counter).Count(sent)
		} else if test.model == "other" {
			count = len(sent)
		}
		if !strings.HasPrefix(test.text, sent) || strings.ContainsRune(sent, '\uFFFD') || count > test.max || count < test.max-3 || sent == "" {
			t.Errorf("%q was cut to %q, want nearly %d tokens of its beginning", test.text, sent, test.max)
		}
	}
}

func TestBadTexts(t *testing.T) {
	a := &api{t: t}
	_, url := a.start()
	for _, test := range []struct {
		set   func(*openai.Embedder)
		texts []string
		want  string
	}{
		{nil, []string{"a", ""}, `text 1 ("") is empty, which the API does not take`},
		{func(e *openai.Embedder) { e.DocumentPrefix = "p: " }, []string{""}, `text 0 ("") is empty, which the API does not take`},
		{nil, []string{"a", "b", "ab\xffc"}, `text 2 ("ab\xffc") is not valid UTF-8 at byte 2`},
		{func(e *openai.Embedder) { e.Model, e.MaxTokens = "other", 4 }, []string{"abcde"}, `text 0 ("abcde") has 5 bytes, each of which counts as a token for want of a Tokenizer; other takes 4: cut it into smaller chunks, or set Truncate`},
		{func(e *openai.Embedder) { e.MaxTokens, e.Truncate = 1, true }, []string{"𓀀𓀀"}, `text 0 ("𓀀𓀀") has no beginning of 1 tokens or less`},
	} {
		e := a.embedder(url)
		if test.set != nil {
			test.set(&e)
		}
		_, err := e.Embed(t.Context(), test.texts)
		if err == nil || !strings.HasSuffix(err.Error(), ": "+test.want) {
			t.Errorf("got  %v\nwant %s", err, test.want)
		}
	}
	if n := len(a.requests()); n != 0 {
		t.Errorf("got %d requests, want none", n)
	}
}

// The same vectors come in the same order, however requests are spread and
// answered.
func TestDeterminism(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	texts := numbered(101)
	want := make([][]float32, len(texts))
	for i, text := range texts {
		want[i] = vectorOf(text, 5)
	}
	for _, procs := range []int{1, 4} {
		runtime.GOMAXPROCS(procs)
		a := &api{t: t}
		_, url := a.start(slices.Repeat([]faulttest.Fault{nil, faulttest.Rewrite(reverse), faulttest.Status(500, "")}, 5)...)
		e := a.embedder(url)
		e.Dimensions, e.BatchTexts, e.Concurrency = 5, 7, 5
		got, err := e.Embed(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("GOMAXPROCS %d (-want +got):\n%s", procs, diff)
		}
	}
}

// Cancellation ends a call at once, and leaves no goroutine.
func TestCancellation(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("calls", func(t *testing.T) {
		a := &api{t: t}
		handler, url := a.start(faulttest.Repeat(100, faulttest.Hang)...)
		e := a.embedder(url)
		e.BatchTexts, e.Concurrency = 1, 8
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for handler.Requests() < 8 {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		if _, err := e.Embed(ctx, numbered(50)); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
		if n := handler.Requests(); n != 8 {
			t.Errorf("got %d requests, want 8 at once and no more", n)
		}
	})
	for wait := time.Millisecond; runtime.NumGoroutine() > before; wait *= 2 {
		if wait > 10*time.Second {
			t.Fatalf("got %d goroutines, want %d as before", runtime.NumGoroutine(), before)
		}
		time.Sleep(wait)
	}
}

func TestValidate(t *testing.T) {
	azure := openai.Embedder{BaseURL: "https://x.openai.azure.com", APIVersion: apiVersion}
	for _, e := range []openai.Embedder{
		{}, {Dimensions: 1536}, {Model: "text-embedding-ada-002", Dimensions: 1536}, {Model: "other", Dimensions: 9999},
		{Truncate: true}, {Model: "other", Truncate: true, MaxTokens: 4}, {BaseURL: "http://127.0.0.1:8080/v1/"}, azure,
	} {
		if err := e.Validate(); err != nil {
			t.Errorf("%v: %v", e, err)
		}
	}
	for want, e := range map[string]openai.Embedder{
		"Dimensions is -1":                          {Dimensions: -1},
		"Dimensions is 1537":                        {Dimensions: 1537},
		"Dimensions is 512: text-embedding-ada-002": {Model: "text-embedding-ada-002", Dimensions: 512},
		"MaxTokens is -1":                           {MaxTokens: -1},
		"BatchTexts is -1":                          {BatchTexts: -1},
		"BatchTokens is -1":                         {BatchTokens: -1},
		"Concurrency is -1":                         {Concurrency: -1},
		"Timeout is -1ns":                           {Timeout: -1},
		"PricePerMillion is -1":                     {PricePerMillion: -1},
		"PricePerMillion is NaN":                    {PricePerMillion: math.NaN()},
		"PricePerMillion is +Inf":                   {PricePerMillion: math.Inf(1)},
		"Truncate is set, but":                      {Model: "other", Truncate: true},
		"MaxTokens is 3":                            {Model: "other", Truncate: true, MaxTokens: 3},
		`QueryPrefix is "\xff"`:                     {QueryPrefix: "\xff"},
		"BaseURL is not a URL":                      {BaseURL: "http://%zz"},
		"BaseURL is not an absolute":                {BaseURL: "localhost:11434/v1"},
		"BaseURL has a user name":                   {BaseURL: "http://user:" + canary + "@localhost/v1"},
		"BaseURL has a query":                       {BaseURL: "http://localhost/v1?key=" + canary},
		"BaseURL ends with /embeddings":             {BaseURL: "http://localhost/v1/embeddings"},
		"BaseURL ends with /openai":                 {BaseURL: "https://x.openai.azure.com/openai/", APIVersion: apiVersion},
		"APIVersion is set without BaseURL":         {APIVersion: apiVersion},
		"Deployment is set without APIVersion":      {Deployment: "d"},
		`Deployment is "a/b"`:                       {BaseURL: "https://x.openai.azure.com", APIVersion: apiVersion, Deployment: "a/b"},
	} {
		err := e.Validate()
		if err == nil || !strings.HasPrefix(err.Error(), "openai.Embedder: "+want) || strings.Contains(err.Error(), canary) {
			t.Errorf("got %v, want an error with %q and no secret", err, want)
		}
		if _, embedErr := e.Embed(t.Context(), []string{"x"}); embedErr == nil || err != nil && embedErr.Error() != err.Error() {
			t.Errorf("Embed: got %v, want %v", embedErr, err)
		}
	}
}

func TestString(t *testing.T) {
	for want, e := range map[string]openai.Embedder{
		"openai/text-embedding-3-small":                                                      {APIKey: canary, Concurrency: 9},
		"openai/text-embedding-3-large/dimensions=256":                                       {Model: "text-embedding-3-large", Dimensions: 256},
		`openai/nomic/baseurl=localhost:11434/v1/documentprefix="d: "/queryprefix="q: "`:     {Model: "nomic", BaseURL: "http://u:" + canary + "@localhost:11434/v1?k=" + canary, DocumentPrefix: "d: ", QueryPrefix: "q: "},
		"openai/text-embedding-3-small/baseurl=x.openai.azure.com/deployment=d/truncate=100": {BaseURL: "https://x.openai.azure.com", APIVersion: apiVersion, Deployment: "d", Truncate: true, MaxTokens: 100},
		"openai/m/truncate=8/tokenizer=o200k":                                                {Model: "m", Truncate: true, MaxTokens: 8, Tokenizer: tokens.O200K},
	} {
		for _, got := range []string{e.String(), fmt.Sprintf("%v", e), fmt.Sprintf("%+v", e), fmt.Sprintf("%#v", e)} {
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	}
}
