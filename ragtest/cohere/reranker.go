package cohere

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/parallel"
	"github.com/rageval/rageval/ragtest"
)

// Reranker is a [ragtest.Reranker] that asks a model on a server how relevant
// each candidate is to the query. The zero value is Cohere's
// rerank-english-v3.0, with the key in CO_API_KEY. It is safe for concurrent
// use.
//
// All candidates are scored and returned, best first; equal scores keep the
// order given. The score of a chunk is that of the server, whatever its scale:
// Cohere, Jina, Voyage and TEI give 0 to 1. A request never asks for only the
// best (top_n, top_k): the evaluation itself keeps K, and which of two equal
// scores a server cuts off is its own choice.
//
// More candidates than BatchSize are scored in several requests, and then
// ordered together. That is exact for a cross-encoder, which judges every pair
// of query and text by itself. A model that compares the texts of a request
// with each other, such as jina-reranker-v3, needs them all in one: set
// BatchSize to FetchK.
type Reranker[C chunkers.Indexed] struct {
	API     API    // the server's protocol; zero: Cohere's
	Model   string // "": rerank-english-v3.0, jina-reranker-v2-base-multilingual or rerank-2.5; TEI serves one only and takes no name
	BaseURL string // what comes before the path, such as "http://localhost:8080"; "": the vendor's; TEI has none

	// APIKey is the key; "": that in the environment variable CO_API_KEY or
	// COHERE_API_KEY, JINA_API_KEY, VOYAGE_API_KEY; none for TEI. With a BaseURL
	// there may be none; the key that is found goes there.
	APIKey string

	// MaxTokensPerDoc is after how many tokens Cohere cuts off a text; 0: its
	// 4,096. The other protocols do not have it.
	MaxTokensPerDoc int

	// Truncate lets Voyage and TEI cut off what their model cannot read; without
	// it, a text that is too long is an error. Cohere and Jina always cut.
	Truncate bool

	// AllowMissing drops the candidates that the server leaves out of its
	// answer, as one does that only returns what it finds relevant; without it
	// they are an error.
	AllowMissing bool

	BatchSize   int // most candidates in one request; 0: 1,000, TEI 32
	Concurrency int // most requests of one call under way at once; 0: 4

	PricePerThousandSearches float64 // US dollars, of Cohere's search units; 0: not counted
	PricePerMillionTokens    float64 // US dollars, of the tokens of Jina and Voyage; 0: not counted

	Transport http.RoundTripper // what carries each attempt of a request; nil: http.DefaultTransport
}

const defaultConcurrency = 4

// String returns the protocol and the model, such as
// "cohere/rerank-english-v3.0", and the fields that change scores. It tells no
// address: that of a test server differs in every run.
func (r Reranker[C]) String() string {
	s := r.API.String()
	if model := r.model(); model != "" {
		s += "/" + model
	}
	if r.MaxTokensPerDoc != 0 {
		s += fmt.Sprintf("/maxtokens=%d", r.MaxTokensPerDoc)
	}
	if r.Truncate {
		s += "/truncate"
	}
	if r.AllowMissing {
		s += "/allowmissing"
	}
	return s
}

func (r Reranker[C]) model() string {
	if r.Model == "" && r.API >= 0 && int(r.API) < len(dialects) {
		return dialects[r.API].model
	}
	return r.Model
}

// Validate returns an error that names the field that cannot be used, or the
// environment variable that lacks a key. Nothing is sent.
func (r Reranker[C]) Validate() error {
	_, err := r.service()
	return err
}

func (r Reranker[C]) service() (service, error) {
	if r.API < 0 || int(r.API) >= len(dialects) {
		return service{}, fmt.Errorf("field API: got %d, want Cohere, Jina, Voyage or TEI", int(r.API))
	}
	d := dialects[r.API]
	switch {
	case r.API == TEI && r.Model != "":
		return service{}, fmt.Errorf("field Model: got %q, want none: a TEI server serves the one model that it was started with", r.Model)
	case r.API != Cohere && r.MaxTokensPerDoc != 0:
		return service{}, fmt.Errorf("field MaxTokensPerDoc: got %d, want 0: the protocol of %s does not have it", r.MaxTokensPerDoc, r.API)
	}
	if err := checkNumbers([]number{
		{"MaxTokensPerDoc", float64(r.MaxTokensPerDoc)}, {"BatchSize", float64(r.BatchSize)}, {"Concurrency", float64(r.Concurrency)},
		{"PricePerThousandSearches", r.PricePerThousandSearches}, {"PricePerMillionTokens", r.PricePerMillionTokens},
	}); err != nil {
		return service{}, err
	}
	url, err := endpoint(r.BaseURL, d.baseURL, d.path)
	if err != nil {
		return service{}, err
	}
	key, err := keyOf(r.APIKey, d.keys, r.BaseURL == "")
	if err != nil {
		return service{}, err
	}
	return service{transport: r.Transport, url: url, key: key}, nil
}

// Rerank returns the chunks in the order of their scores, best first. No chunks
// are none, and nothing is sent.
func (r Reranker[C]) Rerank(ctx context.Context, query string, chunks []ragtest.ScoredChunk[C]) ([]ragtest.ScoredChunk[C], error) {
	s, err := r.service()
	if err != nil {
		return nil, err
	}
	size := cmp.Or(r.BatchSize, dialects[r.API].batch)
	batches := (len(chunks) + size - 1) / size
	found := make([][]ragtest.ScoredChunk[C], batches)
	err = parallel.Do(ctx, cmp.Or(r.Concurrency, defaultConcurrency), batches, func(ctx context.Context, b int) error {
		start := b * size
		batch := chunks[start:min(start+size, len(chunks))]
		scored, err := r.score(ctx, s, query, batch)
		if err != nil {
			return fmt.Errorf("candidates %d to %d: %w", start, start+len(batch)-1, err)
		}
		found[b] = scored
		return nil
	})
	if err != nil {
		return nil, err
	}
	all := slices.Concat(found...)
	slices.SortStableFunc(all, func(a, b ragtest.ScoredChunk[C]) int { return cmp.Compare(b.Score, a.Score) })
	return all, nil
}

// score returns the chunks that the server scored, in the order given.
func (r Reranker[C]) score(ctx context.Context, s service, query string, chunks []ragtest.ScoredChunk[C]) ([]ragtest.ScoredChunk[C], error) {
	texts := make([]string, len(chunks))
	for i, c := range chunks {
		texts[i] = c.Chunk.IndexText()
	}
	var reply rerankReply
	if err := s.post(ctx, r.request(query, texts), r.API.reply(&reply)); err != nil {
		return nil, err
	}
	ragtest.CountUsage(ctx, r.usage(reply))
	scores, err := reply.scores(len(chunks), r.AllowMissing)
	if err != nil {
		return nil, err
	}
	scored := make([]ragtest.ScoredChunk[C], 0, len(chunks))
	for i, score := range scores {
		if score != nil {
			scored = append(scored, ragtest.ScoredChunk[C]{Chunk: chunks[i].Chunk, Score: *score})
		}
	}
	return scored, nil
}
