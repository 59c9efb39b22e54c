package cohere

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/rageval/rageval/internal/parallel"
	"github.com/rageval/rageval/ragtest"
)

// Embedder is a [ragtest.Embedder] that asks Cohere's models, or a server with
// Cohere's v2 API. It is a [ragtest.QueryEmbedder] too: chunks are embedded with
// the input type search_document, queries with search_query. The zero value is
// embed-v4.0, with the key in CO_API_KEY. It is a value, safe for concurrent use.
type Embedder struct {
	Model   string // "": embed-v4.0
	BaseURL string // what /v2/embed is appended to, such as "http://localhost:8080"; "": https://api.cohere.com

	APIKey string `json:"-"` // "": from CO_API_KEY or COHERE_API_KEY. It is sent to BaseURL, whatever that is

	// Dimensions is how many components a vector has: for embed-v4.0 256, 512,
	// 1,024 or 1,536; older models take only 0, their own.
	Dimensions int

	// Truncate cuts off the end of texts that are longer than the model reads,
	// 128,000 tokens for embed-v4.0 and 512 for the older ones; without it they
	// are an error. Cohere does not tell which texts it cut.
	Truncate bool

	BatchTexts  int // most texts in one request; 0: 96, the most that Cohere takes
	Concurrency int // most requests of one call at once; 0: 2. An evaluation makes up to four calls at once

	PricePerMillion float64 // US dollars for a million tokens, for the diagnostics; 0: no cost is told

	Timeout   time.Duration     // of one attempt at a request; 0: 1 minute. All attempts take five times that at most, or 5 minutes
	Transport http.RoundTripper // sends each attempt; nil: http.DefaultTransport
}

const embedBatch = 96

// String returns the model, such as "cohere/embed-v4.0", with the other fields
// that may change a vector. Of BaseURL it has the host.
func (e Embedder) String() string {
	s := "cohere/" + e.model()
	if e.Dimensions != 0 {
		s += fmt.Sprintf("/dimensions=%d", e.Dimensions)
	}
	s += hostOf(e.BaseURL)
	if e.Truncate {
		s += "/truncate"
	}
	return s
}

// GoString returns what String does: no format shows the key.
func (e Embedder) GoString() string { return e.String() }

func (e Embedder) model() string { return cmp.Or(e.Model, "embed-v4.0") }

// Validate returns an error if a field is out of range. Whether there is a key is
// seen by Embed only.
func (e Embedder) Validate() error {
	_, err := e.service()
	return err
}

func (e Embedder) service() (service, error) {
	err := checkLimits(
		limit{"Dimensions", e.Dimensions, e.Dimensions >= 0},
		limit{"BatchTexts", e.BatchTexts, e.BatchTexts >= 0},
		limit{"Concurrency", e.Concurrency, e.Concurrency >= 0},
		limit{"PricePerMillion", e.PricePerMillion, validPrice(e.PricePerMillion)},
		limit{"Timeout", e.Timeout, e.Timeout >= 0},
	)
	url := ""
	if err == nil {
		url, err = endpoint(e.BaseURL, dialects[Cohere].baseURL, "/v2/embed")
	}
	if err != nil {
		return service{}, fmt.Errorf("cohere.Embedder: %w", err)
	}
	return service{url, dialects[Cohere].baseURL, e.APIKey, cohereKeys, e.Timeout, e.Transport}, nil
}

// Embed returns the vectors of texts that are to be found. For no texts nothing
// is sent.
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
	if err != nil || len(texts) == 0 {
		return nil, err
	}
	vectors, err := e.embedAll(ctx, s, inputType, texts)
	if err != nil {
		return nil, fmt.Errorf("embedding with %s: %w", e.model(), err)
	}
	return vectors, nil
}

func (e Embedder) embedAll(ctx context.Context, s service, inputType string, texts []string) ([][]float32, error) {
	for i, text := range texts {
		if err := checkText(text); err != nil {
			return nil, fmt.Errorf("text %d %w", i, err)
		}
	}
	key, err := s.key()
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
	size := min(cmp.Or(e.BatchTexts, embedBatch), len(texts))
	batches := (len(texts) + size - 1) / size
	vectors := make([][]float32, len(texts))
	err = parallel.Do(ctx, cmp.Or(e.Concurrency, defaultConcurrency), batches, func(ctx context.Context, b int) error {
		start, end := b*size, min(b*size+size, len(texts))
		request := request
		request.Texts = texts[start:end]
		got, err := e.request(ctx, s, key, request)
		if err != nil {
			at := start + longest(request.Texts)
			return fmt.Errorf("texts %d to %d, the longest of which is text %d with %d bytes: %w", start, end-1, at, len(texts[at]), err)
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

// request returns the vectors of the texts of one request.
func (e Embedder) request(ctx context.Context, s service, key string, request embedRequest) ([][]float32, error) {
	var reply embedReply
	if err := s.post(ctx, key, request, &reply); err != nil {
		return nil, err
	}
	tokens := reply.Meta.BilledUnits.InputTokens
	ragtest.CountUsage(ctx, ragtest.Usage{
		Component: "cohere",
		Model:     e.model(),
		Calls:     1,
		Tokens:    int(tokens),
		Cost:      tokens * e.PricePerMillion / 1e6,
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
	return errors.New("embeddings.float holds null")
}
