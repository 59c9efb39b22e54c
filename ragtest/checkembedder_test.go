package ragtest_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rageval/rageval/ragtest"
)

// careful embeds like letters, and knows when its context is done.
type careful struct{}

func (careful) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return letters{}.Embed(ctx, texts)
}

func TestCheckEmbedderFindsViolations(t *testing.T) {
	changed := func(change func(texts []string, vectors [][]float32) [][]float32) ragtest.Embedder {
		return embedFunc(func(ctx context.Context, texts []string) ([][]float32, error) {
			vectors, err := careful{}.Embed(ctx, texts)
			if err != nil {
				return nil, err
			}
			return change(texts, vectors), nil
		})
	}
	cache := map[string][]float32{}
	var mu sync.Mutex
	for _, test := range []struct {
		name, want string // want: a part of the error; "": none
		embedder   ragtest.Embedder
	}{
		{"sound", "", careful{}},
		{"nil", "checking the embedder: it is nil", nil},
		{"a nil function", "checking the embedder: it is nil", embedFunc(nil)},
		{"no text is an error", "no texts: Embed of no text: empty input", embedFunc(func(ctx context.Context, texts []string) ([][]float32, error) {
			if len(texts) == 0 {
				return nil, errors.New("empty input")
			}
			return careful{}.Embed(ctx, texts)
		})},
		{"a vector for no text", "no texts: Embed of no text: got 1 vectors", changed(func(_ []string, v [][]float32) [][]float32 { return append(v, make([]float32, 26)) })},
		{"equal texts once", "count: Embed of ", changed(func(texts []string, v [][]float32) [][]float32 {
			return v[:len(slices.Compact(slices.Sorted(slices.Values(texts))))]
		})},
		{"white space", `texts: Embed of " \t\n" and 14 more: blank text`, embedFunc(func(ctx context.Context, texts []string) ([][]float32, error) {
			if slices.ContainsFunc(texts, func(s string) bool { return strings.TrimSpace(s) == "" }) {
				return nil, errors.New("blank text")
			}
			return careful{}.Embed(ctx, texts)
		})},
		{"two dimensions", "got a vector of dimension 13, want 26 like the first", changed(func(texts []string, v [][]float32) [][]float32 {
			for i := range v {
				if strings.HasPrefix(texts[i], "Quarterly") {
					v[i] = v[i][:13]
				}
			}
			return v
		})},
		{"NaN", "a component of the vector is NaN or infinite", changed(func(texts []string, v [][]float32) [][]float32 {
			for i := range v {
				if strings.TrimSpace(texts[i]) == "" {
					v[i][3] = float32(math.NaN())
				}
			}
			return v
		})},
		{"another order", "order: Embed of ", changed(func(texts []string, v [][]float32) [][]float32 {
			slices.SortFunc(v, slices.Compare[[]float32])
			return v
		})},
		{"one vector for all", "distinct: Embed: 5 texts", changed(func(_ []string, v [][]float32) [][]float32 {
			for i := range v {
				v[i] = slices.Repeat([]float32{1}, 26)
			}
			return v
		})},
		{"texts modified", "arguments: Embed: the texts were modified", changed(func(texts []string, v [][]float32) [][]float32 {
			for i := range texts {
				texts[i] = strings.ToLower(texts[i])
			}
			return v
		})},
		{"a cache that shares its vectors", "arguments: Embed of ", changed(func(texts []string, v [][]float32) [][]float32 {
			mu.Lock()
			defer mu.Unlock()
			for i, text := range texts {
				if cache[text] == nil {
					cache[text] = v[i]
				}
				v[i] = cache[text]
			}
			return v
		})},
		{"cancellation ignored", "cancellation: Embed after the context was cancelled: got no error", letters{}},
		{"panic", "the embedder panicked: index out of range", embedFunc(func(context.Context, []string) ([][]float32, error) { panic("index out of range") })},
		{"queries in another dimension", "Embed", asymmetric{careful{}.Embed, changed(func(_ []string, v [][]float32) [][]float32 {
			for i := range v {
				v[i] = v[i][1:]
			}
			return v
		}).Embed}},
		{"queries sound", "", asymmetric{careful{}.Embed, careful{}.Embed}},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := ragtest.CheckEmbedder(t.Context(), test.embedder)
			if test.want == "" {
				if err != nil {
					t.Errorf("got %v, want no violation", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestChecksStopWithTheirContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if err := ragtest.CheckEmbedder(ctx, careful{}); !errors.Is(err, why) {
		t.Errorf("embedder: got %v, want %v", err, why)
	}
	if err := ragtest.CheckReranker(ctx, rerankFunc[chunk](reversed[chunk])); !errors.Is(err, why) {
		t.Errorf("reranker: got %v, want %v", err, why)
	}
}
