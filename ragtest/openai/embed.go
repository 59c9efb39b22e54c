package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	sdk "github.com/sashabaranov/go-openai"

	"github.com/rageval/rageval/internal/parallel"
	"github.com/rageval/rageval/internal/retryhttp"
	"github.com/rageval/rageval/ragtest"
)

// Embed returns one vector for each text, in their order. Texts are sent in as
// few requests as the limits allow, several at once.
func (e Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return e.embed(ctx, e.DocumentPrefix, texts)
}

// EmbedQueries does what Embed does, with the prefix of queries.
func (e Embedder) EmbedQueries(ctx context.Context, queries []string) ([][]float32, error) {
	return e.embed(ctx, e.QueryPrefix, queries)
}

func (e Embedder) embed(ctx context.Context, prefix string, texts []string) ([][]float32, error) {
	if err := e.Validate(); err != nil {
		return nil, err
	}
	vectors, err := e.embedAll(ctx, prefix, texts)
	if err != nil {
		return nil, fmt.Errorf("embedding with %s: %w", e.model(), err)
	}
	return vectors, nil
}

func (e Embedder) embedAll(ctx context.Context, prefix string, texts []string) ([][]float32, error) {
	sent, batches, err := e.prepare(ctx, prefix, texts)
	if err != nil {
		return nil, err
	}
	client, err := e.service().client(exchange{answer: findNull})
	if err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(texts))
	err = parallel.Do(ctx, cmp.Or(e.Concurrency, defaultConcurrency), len(batches), func(ctx context.Context, i int) error {
		b := batches[i]
		if err := e.request(ctx, client, b, sent[b.start:b.end], vectors[b.start:b.end]); err != nil {
			return fmt.Errorf("texts %d to %d: %w", b.start, b.end-1, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return vectors, nil
}

// request embeds the texts of a batch in one request.
func (e Embedder) request(ctx context.Context, client *sdk.Client, b batch, texts []string, vectors [][]float32) error {
	request := sdk.EmbeddingRequest{
		Input:          texts,
		Model:          sdk.EmbeddingModel(e.model()),
		EncodingFormat: sdk.EmbeddingEncodingFormatFloat,
	}
	if s := e.service(); s.isOpenAI() || s.isAzure() {
		// Half the bytes in a third of the time; not all other servers know it.
		request.EncodingFormat = sdk.EmbeddingEncodingFormatBase64
	}
	if m, _ := e.known(); m.shortens {
		request.Dimensions = e.Dimensions
	}
	answer, err := client.CreateEmbeddings(ctx, request)
	if err != nil {
		var null nullComponent
		if errors.As(err, &null) {
			return fmt.Errorf("the server answered with null for component %d of the vector for text %d, want a number", null.component, b.start+null.index)
		}
		return retryhttp.Cause(err)
	}
	used := max(answer.Usage.TotalTokens, answer.Usage.PromptTokens)
	ragtest.CountUsage(ctx, ragtest.Usage{
		Component: "openai", Model: e.model(), Calls: 1, Tokens: used, Truncated: b.truncated,
		Cost: float64(used) * e.PricePerMillion / 1e6,
	})
	return place(answer.Data, vectors, b.start, e.dim())
}

// place puts the vectors of an answer in the order of the texts, the first of
// which is the given one of the call. They must have the dimension dim or, if
// that is 0, that of the first.
func place(answers []sdk.Embedding, vectors [][]float32, first, dim int) error {
	if len(answers) != len(vectors) {
		return fmt.Errorf("the server answered with %d vectors for %d texts", len(answers), len(vectors))
	}
	for _, a := range answers {
		if a.Index < 0 || a.Index >= len(vectors) {
			return fmt.Errorf("the server answered with a vector of index %d, want 0 to %d", a.Index, len(vectors)-1)
		}
		if vectors[a.Index] != nil {
			return fmt.Errorf("the server answered with two vectors of index %d", a.Index)
		}
		if len(a.Embedding) == 0 {
			return fmt.Errorf("the server answered with an empty vector for text %d", first+a.Index)
		}
		vectors[a.Index] = a.Embedding
	}
	for i, v := range vectors {
		if dim == 0 {
			dim = len(v)
		}
		if len(v) != dim {
			return fmt.Errorf("the server answered with a vector of %d components for text %d, want %d", len(v), first+i, dim)
		}
		if j := slices.IndexFunc(v, func(x float32) bool { return x*0 != 0 }); j >= 0 {
			return fmt.Errorf("the server answered with %v for component %d of the vector for text %d, want a finite number", v[j], j, first+i)
		}
	}
	return nil
}

// nullComponent is the error of a vector with a component that is null.
type nullComponent struct{ index, component int }

func (n nullComponent) Error() string {
	return fmt.Sprintf("component %d of vector %d is null", n.component, n.index)
}

// findNull returns a nullComponent if a vector of the answer has one. The SDK
// takes null for 0: it is how some servers write NaN.
func findNull(body []byte) error {
	if !bytes.Contains(body, []byte("null")) {
		return nil
	}
	var answer struct {
		Data []struct {
			Index     int             `json:"index"`
			Embedding json.RawMessage `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil // the SDK tells what is wrong
	}
	for _, d := range answer.Data {
		if !bytes.Contains(d.Embedding, []byte("null")) {
			continue
		}
		var components []any
		if err := json.Unmarshal(d.Embedding, &components); err != nil {
			return nil
		}
		if i := slices.Index(components, nil); i >= 0 {
			return nullComponent{d.Index, i}
		}
	}
	return nil
}
