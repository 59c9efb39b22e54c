package openai

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rageval/rageval/chunkers/tokens"
)

// Embedder is a [ragtest.Embedder] and a [ragtest.QueryEmbedder] that asks a
// server for vectors. The zero value asks OpenAI for those of
// text-embedding-3-small, with the key in OPENAI_API_KEY. It is a value: copies
// are independent, and it may be used concurrently. It keeps no vectors.
//
// Vectors are as the server sends them. Those of OpenAI differ a little from
// call to call: keep them in a cache where results must be reproducible.
type Embedder struct {
	Model      string // "": text-embedding-3-small
	Dimensions int    // of the vectors; 0: as many as the model has. Not for text-embedding-ada-002

	BaseURL    string // what /embeddings is appended to; "": https://api.openai.com/v1. Azure: that of the resource
	APIKey     string `json:"-"` // "": from the environment; see the package documentation
	APIVersion string // of Azure OpenAI, such as 2024-10-21; "": the server is not Azure, or is Azure with a BaseURL in /openai/v1
	Deployment string // Azure's name for the deployed model; "": Model

	DocumentPrefix string // put before each text of Embed, for models that want it; counts as part of the text
	QueryPrefix    string // put before each text of EmbedQueries

	Truncate  bool             // cut a text with too many tokens at its end, instead of an error
	MaxTokens int              // that a text may have; 0: 8,191 with OpenAI's models, no limit with others
	Tokenizer tokens.Tokenizer // nil: cl100k with OpenAI's models, one token a byte with others

	BatchTexts  int // most texts of a request; 0: 2,048 with OpenAI's models, 32 with others
	BatchTokens int // most tokens of a request of more than one text; 0: 300,000
	Concurrency int // most requests of one call at once; 0: 2. An evaluation makes up to four calls at once

	PricePerMillion float64 // US dollars for a million tokens, for the diagnostics; 0: no cost is told

	Timeout   time.Duration     // of one attempt at a request, with its answer; 0: 1 minute. A server without a GPU may need more
	Transport http.RoundTripper // sends each attempt; nil: http.DefaultTransport
}

const (
	defaultEmbeddingModel = "text-embedding-3-small"
	defaultBatchTokens    = 300_000
	defaultConcurrency    = 2
)

// embeddingModel is what is known of a model.
type embeddingModel struct {
	dim       int  // components of the vectors
	shortens  bool // whether fewer can be asked for
	maxTokens int  // of a text
	maxTexts  int  // of a request
}

var embeddingModels = map[string]embeddingModel{
	"text-embedding-3-small": {dim: 1536, shortens: true, maxTokens: 8191, maxTexts: 2048},
	"text-embedding-3-large": {dim: 3072, shortens: true, maxTokens: 8191, maxTexts: 2048},
	"text-embedding-ada-002": {dim: 1536, maxTokens: 8191, maxTexts: 2048},
}

// otherModel is assumed of models that are not known.
var otherModel = embeddingModel{shortens: true, maxTexts: 32}

func (e Embedder) model() string { return cmp.Or(e.Model, defaultEmbeddingModel) }

// known returns what is known of the model, and whether it is one of OpenAI's.
func (e Embedder) known() (embeddingModel, bool) {
	if m, ok := embeddingModels[e.model()]; ok {
		return m, true
	}
	return otherModel, false
}

// String returns openai/ and the model, with every other field that may change a
// vector, as in "openai/text-embedding-3-large/dimensions=256". Of BaseURL it
// has host and path.
func (e Embedder) String() string {
	var b strings.Builder
	b.WriteString("openai/" + e.model())
	if e.Dimensions != 0 {
		fmt.Fprintf(&b, "/dimensions=%d", e.Dimensions)
	}
	if e.BaseURL != "" {
		b.WriteString("/baseurl=" + e.service().place())
	}
	if e.Deployment != "" {
		b.WriteString("/deployment=" + e.Deployment)
	}
	for name, prefix := range e.prefixes() {
		if prefix != "" {
			fmt.Fprintf(&b, "/%s=%q", strings.ToLower(name), prefix)
		}
	}
	if e.Truncate {
		b.WriteString("/truncate")
		if e.MaxTokens != 0 {
			fmt.Fprintf(&b, "=%d", e.MaxTokens)
		}
		if e.Tokenizer != nil {
			fmt.Fprintf(&b, "/tokenizer=%v", e.Tokenizer)
		}
	}
	return b.String()
}

// prefixes yields the fields that hold one, by name.
func (e Embedder) prefixes() iter.Seq2[string, string] {
	return func(yield func(name, prefix string) bool) {
		if yield("DocumentPrefix", e.DocumentPrefix) {
			yield("QueryPrefix", e.QueryPrefix)
		}
	}
}

// GoString returns what String does: no format shows the key.
func (e Embedder) GoString() string { return e.String() }

// Validate returns an error if fields are out of range or contradict each other.
// Whether there is a key is seen by Embed only.
func (e Embedder) Validate() error {
	if p := e.problem(); p != "" {
		return errors.New("openai.Embedder: " + p)
	}
	return nil
}

// problem returns what is wrong with the fields, "" if nothing is.
func (e Embedder) problem() string {
	for _, field := range []struct {
		name  string
		value int
	}{
		{"Dimensions", e.Dimensions}, {"MaxTokens", e.MaxTokens}, {"BatchTexts", e.BatchTexts},
		{"BatchTokens", e.BatchTokens}, {"Concurrency", e.Concurrency},
	} {
		if field.value < 0 {
			return fmt.Sprintf("%s is %d: want 0, for the default, or more", field.name, field.value)
		}
	}
	m, isOpenAIs := e.known()
	switch {
	case isOpenAIs && e.Dimensions > m.dim:
		return fmt.Sprintf("Dimensions is %d: %s has %d", e.Dimensions, e.model(), m.dim)
	case isOpenAIs && !m.shortens && e.Dimensions != 0 && e.Dimensions != m.dim:
		return fmt.Sprintf("Dimensions is %d: %s has %d and cannot give fewer", e.Dimensions, e.model(), m.dim)
	case e.Truncate && e.maxTokens() == 0:
		return fmt.Sprintf("Truncate is set, but what %s takes is not known: set MaxTokens", e.model())
	case e.Truncate && e.tokenizer() == nil && e.MaxTokens < utf8.UTFMax:
		return fmt.Sprintf("MaxTokens is %d: without a Tokenizer, where each byte counts as a token, want %d or more", e.MaxTokens, utf8.UTFMax)
	}
	for name, prefix := range e.prefixes() {
		if !utf8.ValidString(prefix) {
			return fmt.Sprintf("%s is %q: want valid UTF-8", name, prefix)
		}
	}
	return cmp.Or(priceProblem("PricePerMillion", e.PricePerMillion), e.service().problem())
}

func priceProblem(name string, price float64) string {
	if price >= 0 && !math.IsInf(price, 0) {
		return ""
	}
	return fmt.Sprintf("%s is %v: want a finite number of dollars, 0 or more", name, price)
}

func (e Embedder) service() service {
	return service{
		model: e.model(), baseURL: e.BaseURL, apiKey: e.APIKey, apiVersion: e.APIVersion, deployment: e.Deployment,
		timeout: e.Timeout, transport: e.Transport,
	}
}

// dim returns the number of components that vectors must have, 0 if it is not
// known.
func (e Embedder) dim() int {
	m, _ := e.known()
	return cmp.Or(e.Dimensions, m.dim)
}

// maxTokens returns how many tokens a text may have, 0 if it is not known.
func (e Embedder) maxTokens() int {
	m, _ := e.known()
	return cmp.Or(e.MaxTokens, m.maxTokens)
}

func (e Embedder) maxTexts() int {
	m, _ := e.known()
	return cmp.Or(e.BatchTexts, m.maxTexts)
}
