package sweep

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
)

// sharedEmbedder asks an embedder once for each text, as long as the vector is
// needed: for a chunk's text until the last chunker that makes it is done.
type sharedEmbedder struct {
	embedder ragtest.Embedder

	mu       sync.Mutex
	later    map[string]int       // how many more chunkings make a text; those of one are left out
	vectors  map[string][]float32 // of such texts
	queries  map[string][]float32
	all      bool // whether vectors are kept though nobody said that they are needed again
	embedded int  // chunks' texts
	queried  int  // queries' texts
}

func newSharedEmbedder(e ragtest.Embedder, later map[string]int) *sharedEmbedder {
	return &sharedEmbedder{embedder: e, later: later, vectors: map[string][]float32{}, queries: map[string][]float32{}}
}

// String returns the name of the embedder.
func (s *sharedEmbedder) String() string { return nameOf(s.embedder) }

func (s *sharedEmbedder) Validate() error {
	if v, ok := s.embedder.(chunkers.Validator); ok {
		return v.Validate()
	}
	return nil
}

func (s *sharedEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return s.embed(ctx, texts, s.embedder.Embed, s.vectors, &s.embedded, func(text string) bool { return s.all || s.later[text] > 1 })
}

// EmbedQueries embeds as the embedder embeds queries.
func (s *sharedEmbedder) EmbedQueries(ctx context.Context, queries []string) ([][]float32, error) {
	call := s.embedder.Embed
	if q, ok := s.embedder.(ragtest.QueryEmbedder); ok {
		call = q.EmbedQueries
	}
	return s.embed(ctx, queries, call, s.queries, &s.queried, func(string) bool { return true })
}

func (s *sharedEmbedder) embed(ctx context.Context, texts []string, call func(context.Context, []string) ([][]float32, error),
	known map[string][]float32, count *int, keep func(text string) bool) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	var missing []string
	var at []int
	s.mu.Lock()
	for i, text := range texts {
		if v, ok := known[text]; ok {
			vectors[i] = v
		} else {
			missing, at = append(missing, text), append(at, i)
		}
	}
	s.mu.Unlock()
	if len(missing) == 0 {
		return vectors, stopped(ctx)
	}
	got, err := call(ctx, slices.Clone(missing))
	if err != nil {
		return nil, err
	}
	if len(got) != len(missing) {
		return nil, fmt.Errorf("got %d vectors for %d texts", len(got), len(missing))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	*count += len(missing)
	for j, i := range at {
		vectors[i] = got[j]
		if keep(missing[j]) {
			known[missing[j]] = slices.Clone(got[j]) // not a part of a larger array
		}
	}
	return vectors, nil
}

// keepAll forgets the vectors of texts, and keeps all that follow.
func (s *sharedEmbedder) keepAll() { s.all, s.vectors = true, map[string][]float32{} }

// done tells that a chunking is done.
func (s *sharedEmbedder) done(chunks []chunk) {
	if len(s.later) == 0 {
		return
	}
	for text := range distinct(chunks) {
		n, ok := s.later[text]
		switch {
		case !ok:
		case n > 1:
			s.later[text] = n - 1
		default:
			delete(s.later, text)
			delete(s.vectors, text)
		}
	}
}

// distinct returns the distinct texts of chunks.
func distinct(chunks []chunk) map[string]bool {
	texts := make(map[string]bool, len(chunks))
	for _, c := range chunks {
		texts[c.IndexText()] = true
	}
	return texts
}
