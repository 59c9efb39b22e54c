package cohere

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/rageval/rageval/internal/parallel"
	"github.com/rageval/rageval/ragtest"
)

// Embedder is a [ragtest.Embedder] that asks Cohere's models, or a server with
// Cohere's v2 API. It is a [ragtest.QueryEmbedder] too: chunks are embedded with
// the input type search_document, queries with search_query. The zero value is
// embed-v4.0, with the key in CO_API_KEY. It is safe for concurrent use.
type Embedder struct {
	Model   string // "": embed-v4.0
	BaseURL string // what comes before /v2/embed, such as "http://localhost:8080"; "": Cohere's

	// APIKey is the key; "": that in the environment variable CO_API_KEY or
	// COHERE_API_KEY. With a BaseURL there may be none; the key that is found
	// goes there.
	APIKey string

	// Dimensions is how many components a vector has: for embed-v4.0 256, 512,
	// 1,024 or 1,536; older models take only 0, their own.
	Dimensions int

	// Truncate cuts off the end of texts that are longer than the model reads,
	// 128,000 tokens for embed-v4.0 and 512 for the older ones; without it they
	// are an error. Cohere does not tell which texts it cut.
	Truncate bool

	BatchSize   int // most texts in one request; 0: 96, the most that Cohere takes
	Concurrency int // most requests of one call under way at once; 0: 4

	PricePerMillionTokens float64 // US dollars; 0: not counted

	Transport http.RoundTripper // what carries each attempt of a request; nil: http.DefaultTransport
}

const embedBatch = 96

// String returns the model, such as "cohere/embed-v4.0", and the fields that
// change vectors. It tells no address: that of a test server differs in every
// run.
func (e Embedder) String() string {
	s := "cohere/" + e.model()
	if e.Dimensions != 0 {
		s += fmt.Sprintf("/dimensions=%d", e.Dimensions)
	}
	if e.Truncate {
		s += "/truncate"
	}
	return s
}

func (e Embedder) model() string { return cmp.Or(e.Model, "embed-v4.0") }

// Validate returns an error that names the field that cannot be used, or the
// environment variable that lacks a key. Nothing is sent.
func (e Embedder) Validate() error {
	_, err := e.service()
	return err
}

func (e Embedder) service() (service, error) {
	if err := checkNumbers([]number{
		{"Dimensions", float64(e.Dimensions)}, {"BatchSize", float64(e.BatchSize)}, {"Concurrency", float64(e.Concurrency)},
		{"PricePerMillionTokens", e.PricePerMillionTokens},
	}); err != nil {
		return service{}, err
	}
	url, err := endpoint(e.BaseURL, dialects[Cohere].baseURL, "/v2/embed")
	if err != nil {
		return service{}, err
	}
	key, err := keyOf(e.APIKey, cohereKeys, e.BaseURL == "")
	if err != nil {
		return service{}, err
	}
	return service{transport: e.Transport, url: url, key: key}, nil
}

// Embed returns the vectors of texts that are to be found. No texts have no
// vectors, and nothing is sent.
func (e Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return e.embed(ctx, "search_document", texts)
}

// EmbedQueries returns the vectors of queries.
func (e Embedder) EmbedQueries(ctx context.Context, queries []string) ([][]float32, error) {
	return e.embed(ctx, "search_query", queries)
}

type embedRequest struct {
	Model           string   `json:"model"`
	InputType       string   `json:"input_type"`
	Texts           []string `json:"texts"`
	EmbeddingTypes  []string `json:"embedding_types"`
	OutputDimension int      `json:"output_dimension,omitempty"`
	Truncate        string   `json:"truncate"` // END if left out
}

type embedReply struct {
	Embeddings struct {
		Float json.RawMessage `json:"float"`
	} `json:"embeddings"`
	Meta struct {
		BilledUnits struct {
			InputTokens float64 `json:"input_tokens"`
		} `json:"billed_units"`
	} `json:"meta"`
}

func (e Embedder) embed(ctx context.Context, inputType string, texts []string) ([][]float32, error) {
	s, err := e.service()
	if err != nil {
		return nil, err
	}
	request := embedRequest{
		Model:           e.model(),
		InputType:       inputType,
		EmbeddingTypes:  []string{"float"},
		OutputDimension: e.Dimensions,
		Truncate:        "NONE",
	}
	if e.Truncate {
		request.Truncate = "END"
	}
	size := cmp.Or(e.BatchSize, embedBatch)
	batches := (len(texts) + size - 1) / size
	vectors := make([][]float32, len(texts))
	err = parallel.Do(ctx, cmp.Or(e.Concurrency, defaultConcurrency), batches, func(ctx context.Context, b int) error {
		start := b * size
		request := request
		request.Texts = texts[start:min(start+size, len(texts))]
		got, err := e.embedBatch(ctx, s, request)
		if err != nil {
			return fmt.Errorf("texts %d to %d, the longest of which is text %d with %d bytes: %w",
				start, start+len(request.Texts)-1, start+longest(request.Texts), len(request.Texts[longest(request.Texts)]), err)
		}
		copy(vectors[start:], got)
		return nil
	})
	if err != nil {
		return nil, err
	}
	// Each request was checked by itself.
	for i, v := range vectors {
		if len(v) != len(vectors[0]) {
			return nil, fmt.Errorf("text %d: got a vector of dimension %d, want %d like that of text 0", i, len(v), len(vectors[0]))
		}
	}
	return vectors, nil
}

func longest(texts []string) int {
	at := 0
	for i, text := range texts {
		if len(text) > len(texts[at]) {
			at = i
		}
	}
	return at
}

func (e Embedder) embedBatch(ctx context.Context, s service, request embedRequest) ([][]float32, error) {
	var reply embedReply
	if err := s.post(ctx, request, &reply); err != nil {
		return nil, err
	}
	tokens := reply.Meta.BilledUnits.InputTokens
	ragtest.CountUsage(ctx, ragtest.Usage{
		Component: "cohere",
		Model:     e.model(),
		Calls:     1,
		Tokens:    int(tokens),
		Cost:      tokens * e.PricePerMillionTokens / 1e6,
	})
	vectors, err := parseVectors(reply.Embeddings.Float, len(request.Texts), e.Dimensions)
	if err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	return vectors, nil
}

// parseVectors reads n vectors of dim components, or of one dimension if dim is
// 0.
func parseVectors(raw json.RawMessage, n, dim int) ([][]float32, error) {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return nil, errors.New("it has no embeddings.float")
	}
	// JSON knows neither NaN nor infinity: servers write null, which would read
	// as 0.
	if bytes.Contains(raw, []byte("null")) {
		return nil, nullComponent(raw)
	}
	var vectors [][]float32
	if err := json.Unmarshal(raw, &vectors); err != nil {
		return nil, fmt.Errorf("embeddings.float: %w", err)
	}
	if len(vectors) != n {
		return nil, fmt.Errorf("got %d vectors for %d texts", len(vectors), n)
	}
	for i, v := range vectors {
		switch {
		case len(v) == 0:
			return nil, fmt.Errorf("vector %d is empty", i)
		case dim == 0:
			dim = len(v)
		case len(v) != dim:
			return nil, fmt.Errorf("vector %d has dimension %d, want %d", i, len(v), dim)
		}
	}
	return vectors, nil
}

// nullComponent returns the error for vectors that contain null.
func nullComponent(raw json.RawMessage) error {
	var vectors []*[]*float32
	if err := json.Unmarshal(raw, &vectors); err != nil {
		return fmt.Errorf("embeddings.float: %w", err)
	}
	for i, v := range vectors {
		if v == nil {
			return fmt.Errorf("vector %d is null", i)
		}
		for j, x := range *v {
			if x == nil {
				return fmt.Errorf("component %d of vector %d is null, want a number", j, i)
			}
		}
	}
	panic("unreachable: a number does not contain null")
}
