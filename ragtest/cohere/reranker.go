package cohere

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/parallel"
	"github.com/rageval/rageval/ragtest"
)

// Reranker is a [ragtest.Reranker] that asks a model on a server how relevant
// each candidate is to the query. The zero value is Cohere's
// rerank-english-v3.0, with the key in CO_API_KEY. It is a value, safe for
// concurrent use.
//
// All candidates are scored and returned, best first; equal scores keep the
// order given. The score of a chunk is that of the server, whatever its scale:
// Cohere, Jina, Voyage and TEI give 0 to 1. A request never asks for only the
// best (top_n, top_k): the evaluation itself keeps K, and which of two equal
// scores a server cuts off is its own choice.
//
// More candidates than BatchTexts are scored in several requests, and then
// ordered together. That is exact for a cross-encoder, which judges every pair
// of query and text by itself. A model that compares the texts of a request
// with each other, such as jina-reranker-v3, needs them all in one: set
// BatchTexts to FetchK.
type Reranker[C chunkers.Indexed] struct {
	API     API    // the server's protocol; zero: Cohere's
	Model   string // "": rerank-english-v3.0, jina-reranker-v2-base-multilingual or rerank-2.5; a TEI server has one only, here it is but a name
	BaseURL string // what the path is appended to, such as "http://localhost:8080", or what ends with /rerank; "": the vendor's; TEI has none

	APIKey string `json:"-"` // "": from the environment; see the package documentation. It is sent to BaseURL, whatever that is

	// MaxTokensPerDoc is after how many tokens Cohere cuts off a text; 0: its
	// 4,096. The other protocols do not have it.
	MaxTokensPerDoc int

	// Truncate lets Voyage and TEI cut off what their model cannot read; without
	// it, a text that is too long is an error. Cohere and Jina always cut.
	Truncate bool

	// AllowMissing drops the candidates that the server leaves out of its
	// answer, as one does that returns only what it finds relevant; without it
	// they are an error.
	AllowMissing bool

	BatchTexts  int // most candidates in one request; 0: 1,000, TEI 32
	Concurrency int // most requests of one call at once; 0: 2. An evaluation makes up to four calls at once

	PricePerThousand float64 // US dollars for a thousand of Cohere's search units, for the diagnostics; 0: no cost is told
	PricePerMillion  float64 // US dollars for a million of the tokens of Jina or Voyage; 0: no cost is told

	Timeout   time.Duration     // of one attempt at a request; 0: 1 minute. All attempts take five times that at most, or 5 minutes
	Transport http.RoundTripper // sends each attempt; nil: http.DefaultTransport
}

const defaultConcurrency = 2

// String returns the protocol and the model, such as
// "cohere/rerank-english-v3.0", with the other fields that may change a score. Of
// BaseURL it has the host.
func (r Reranker[C]) String() string {
	s := r.API.String()
	if model := r.model(); model != "" {
		s += "/" + model
	}
	s += hostOf(r.BaseURL)
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

// GoString returns what String does: no format shows the key.
func (r Reranker[C]) GoString() string { return r.String() }

// Validate returns an error if fields are out of range or contradict each other.
// Whether there is a key is seen by Rerank only.
func (r Reranker[C]) Validate() error {
	_, err := r.service()
	return err
}

func (r Reranker[C]) service() (service, error) {
	s, err := r.checkedService()
	if err != nil {
		return s, fmt.Errorf("cohere.Reranker: %w", err)
	}
	return s, nil
}

func (r Reranker[C]) checkedService() (service, error) {
	if r.API < 0 || int(r.API) >= len(dialects) {
		return service{}, fmt.Errorf("API is %d: want Cohere, Jina, Voyage or TEI", int(r.API))
	}
	if r.API != Cohere && r.MaxTokensPerDoc != 0 {
		return service{}, fmt.Errorf("MaxTokensPerDoc is %d: want 0, the protocol of %s does not have it", r.MaxTokensPerDoc, r.API)
	}
	err := checkLimits(
		limit{"MaxTokensPerDoc", r.MaxTokensPerDoc, r.MaxTokensPerDoc >= 0},
		limit{"BatchTexts", r.BatchTexts, r.BatchTexts >= 0},
		limit{"Concurrency", r.Concurrency, r.Concurrency >= 0},
		limit{"PricePerThousand", r.PricePerThousand, validPrice(r.PricePerThousand)},
		limit{"PricePerMillion", r.PricePerMillion, validPrice(r.PricePerMillion)},
		limit{"Timeout", r.Timeout, r.Timeout >= 0},
	)
	if err != nil {
		return service{}, err
	}
	d := dialects[r.API]
	url, err := endpoint(r.BaseURL, d.baseURL, d.path)
	return service{url, d.baseURL, r.APIKey, d.keys, r.Timeout, r.Transport}, err
}

// Rerank returns the chunks in the order of their scores, best first. For no
// chunks nothing is sent.
func (r Reranker[C]) Rerank(ctx context.Context, query string, chunks []ragtest.ScoredChunk[C]) ([]ragtest.ScoredChunk[C], error) {
	s, err := r.service()
	if err != nil || len(chunks) == 0 {
		return nil, err
	}
	scored, err := r.score(ctx, s, query, chunks)
	if err != nil {
		return nil, fmt.Errorf("reranking with %s: %w", cmp.Or(r.model(), r.API.String()), err)
	}
	slices.SortStableFunc(scored, func(a, b ragtest.ScoredChunk[C]) int { return cmp.Compare(b.Score, a.Score) })
	return scored, nil
}

// score returns the chunks that the server scored, in the order given.
func (r Reranker[C]) score(ctx context.Context, s service, query string, chunks []ragtest.ScoredChunk[C]) ([]ragtest.ScoredChunk[C], error) {
	if err := checkText(query); err != nil {
		return nil, fmt.Errorf("the query %w", err)
	}
	texts := make([]string, len(chunks))
	for i, c := range chunks {
		texts[i] = c.Chunk.IndexText()
		if err := checkText(texts[i]); err != nil {
			return nil, fmt.Errorf("candidate %d %w", i, err)
		}
	}
	key, err := s.key()
	if err != nil {
		return nil, err
	}
	size := min(cmp.Or(r.BatchTexts, dialects[r.API].batch), len(texts))
	batches := (len(texts) + size - 1) / size
	scores := make([]*float64, len(texts))
	err = parallel.Do(ctx, cmp.Or(r.Concurrency, defaultConcurrency), batches, func(ctx context.Context, b int) error {
		start, end := b*size, min(b*size+size, len(texts))
		got, err := r.request(ctx, s, key, query, texts[start:end])
		if err != nil {
			return fmt.Errorf("candidates %d to %d: %w", start, end-1, err)
		}
		copy(scores[start:], got)
		return nil
	})
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

// request returns the score of each text, nil for one that the server left out.
func (r Reranker[C]) request(ctx context.Context, s service, key, query string, texts []string) ([]*float64, error) {
	var reply rerankReply
	if err := s.post(ctx, key, r.body(query, texts), r.API.reply(&reply)); err != nil {
		return nil, err
	}
	ragtest.CountUsage(ctx, r.usage(reply))
	return reply.scores(len(texts), r.AllowMissing)
}
