package openai_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rageval/rageval/chunkers/tokens"
	"github.com/rageval/rageval/internal/faulttest"
	"github.com/rageval/rageval/ragtest/openai"
)

// canary is the key of all tests; no output may hold it. It does not look like a
// key of OpenAI's.
const canary = "canary.0123456789"

// api is a server of the documented protocol. A request that breaks it fails the
// test, and is answered as OpenAI documents errors.
type api struct {
	t     *testing.T
	azure bool
	chat  func(chatRequest) any // the answer; nil: the last message, in capitals

	mu         sync.Mutex
	embeddings []embeddingRequest // as they came
	chats      []chatRequest
}

// style is one of the two ways of addressing the protocol.
type style struct {
	name  string
	azure bool
}

var styles = []style{{"plain", false}, {"azure", true}}

const (
	apiVersion = "2024-10-21"
	deployment = "deployed.model-1"
)

type embeddingRequest struct {
	Input          []string `json:"input"`
	Model          string   `json:"model"`
	EncodingFormat string   `json:"encoding_format"`
	Dimensions     *int     `json:"dimensions"`
}

type chatRequest struct {
	Model    string `json:"model"`
	Messages []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"messages"`
	MaxTokens           *int     `json:"max_tokens"`
	MaxCompletionTokens *int     `json:"max_completion_tokens"`
	Temperature         *float64 `json:"temperature"`
	Seed                *int64   `json:"seed"`
	Stream              *bool    `json:"stream"`
	ResponseFormat      *struct {
		Type       string `json:"type"`
		JSONSchema struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"schema"`
			Strict *bool           `json:"strict"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

// start starts the server behind the faults.
func (a *api) start(faults ...faulttest.Fault) (*faulttest.Handler, string) {
	handler := &faulttest.Handler{Next: a, Faults: faults}
	server := httptest.NewServer(handler)
	a.t.Cleanup(server.Close)
	if a.azure {
		return handler, server.URL
	}
	return handler, server.URL + "/v1"
}

// embedder returns an embedder that asks the server, with connections of its own.
func (a *api) embedder(url string) openai.Embedder {
	e := openai.Embedder{BaseURL: url, APIKey: canary, Transport: connections(a.t)}
	if a.azure {
		e.APIVersion, e.Deployment = apiVersion, deployment
	}
	return e
}

func (a *api) client(url string) openai.Client {
	c := openai.Client{BaseURL: url, APIKey: canary, Transport: connections(a.t)}
	if a.azure {
		c.APIVersion, c.Deployment = apiVersion, deployment
	}
	return c
}

func connections(t *testing.T) *http.Transport {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

func (a *api) requests() []embeddingRequest {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.embeddings)
}

// refuse answers with an error of the protocol, and fails the test unless that
// is what it is about.
func refuse(w http.ResponseWriter, status int, kind, code, message string) {
	w.WriteHeader(status)
	var c any
	if code != "" {
		c = code
	}
	json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message, "type": kind, "param": nil, "code": c}})
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	wrong := func(status int, format string, args ...any) {
		message := fmt.Sprintf(format, args...)
		a.t.Errorf("%s %s: %s", r.Method, r.URL, message)
		refuse(w, status, "invalid_request_error", "", message)
	}
	path, query := "/v1", ""
	if a.azure {
		path, query = "/openai/deployments/"+deployment, "api-version="+apiVersion
	}
	endpoint, ok := strings.CutPrefix(r.URL.Path, path)
	switch {
	case r.Method != "POST":
		wrong(405, "Not allowed to %s on %s", r.Method, r.URL.Path)
		return
	case !ok || r.URL.RawQuery != query:
		wrong(404, "Invalid URL (POST %s)", r.URL)
		return
	case r.Header.Get("Content-Type") != "application/json":
		wrong(400, "content type %q", r.Header.Get("Content-Type"))
		return
	}
	header, value, other := "Authorization", "Bearer "+canary, "Api-Key"
	if a.azure {
		header, value, other = "Api-Key", canary, "Authorization"
	}
	if got := r.Header.Values(header); len(got) != 1 || got[0] != value || r.Header.Get(other) != "" {
		// A test of wrong keys sends them on purpose. The key is repeated, as some
		// servers do.
		refuse(w, 401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided: "+strings.Join(got, ",")+r.Header.Get(other))
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	switch endpoint {
	case "/embeddings":
		a.embed(w, body, wrong)
	case "/chat/completions":
		a.complete(w, body, wrong)
	default:
		wrong(404, "Invalid URL (POST %s)", r.URL)
	}
}

// strictly decodes a body of one JSON value without unknown fields.
func strictly(body []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("more than one JSON value")
	}
	return nil
}

func (a *api) embed(w http.ResponseWriter, body []byte, wrong func(int, string, ...any)) {
	var request embeddingRequest
	if err := strictly(body, &request); err != nil {
		wrong(400, "We could not parse the JSON body of your request: %v", err)
		return
	}
	a.mu.Lock()
	a.embeddings = append(a.embeddings, request)
	a.mu.Unlock()
	dim, shortens := 0, true
	switch request.Model {
	case "text-embedding-3-small":
		dim = 1536
	case "text-embedding-3-large":
		dim = 3072
	case "text-embedding-ada-002":
		dim, shortens = 1536, false
	case "other":
		dim = 8
	default:
		refuse(w, 404, "invalid_request_error", "model_not_found", "The model `"+request.Model+"` does not exist")
		return
	}
	// Only OpenAI and Azure are sure to know base64.
	if want := map[bool]string{false: "float", true: "base64"}[a.azure]; request.EncodingFormat != want {
		wrong(400, "encoding_format is %q", request.EncodingFormat)
		return
	}
	if d := request.Dimensions; d != nil {
		if !shortens || *d < 1 || *d > dim {
			wrong(400, "This model does not support specifying dimensions %d.", *d)
			return
		}
		dim = *d
	}
	if n := len(request.Input); n == 0 || n > 2048 {
		wrong(400, "'input' has %d texts", n)
		return
	}
	sum := 0
	for i, text := range request.Input {
		n := tokens.CL100K.Count(text)
		if text == "" || n > 8191 && request.Model != "other" {
			wrong(400, "This model's maximum context length is 8192 tokens, however you requested %d tokens in text %d", n, i)
			return
		}
		sum += n
	}
	if sum > 300_000 {
		wrong(400, "Requested %d tokens, max 300000 tokens per request", sum)
		return
	}
	var answer struct {
		Object string      `json:"object"`
		Data   []embedding `json:"data"`
		Model  string      `json:"model"`
		Usage  struct {
			PromptTokens int `json:"prompt_tokens"`
			TotalTokens  int `json:"total_tokens"`
		} `json:"usage"`
	}
	answer.Object, answer.Model = "list", request.Model
	answer.Usage.PromptTokens, answer.Usage.TotalTokens = sum, sum
	for i, text := range request.Input {
		var v any = vectorOf(text, dim)
		if request.EncodingFormat == "base64" {
			v = inBase64(vectorOf(text, dim))
		}
		answer.Data = append(answer.Data, embedding{"embedding", i, v})
	}
	json.NewEncoder(w).Encode(answer)
}

type embedding struct {
	Object    string `json:"object"`
	Index     int    `json:"index"`
	Embedding any    `json:"embedding"` // []float32, or the string of inBase64
}

// inBase64 returns the bytes of a vector as the API encodes them.
func inBase64(v []float32) string {
	data, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(data)
}

// vectorOf returns the vector of a text: numbers that depend on all of it.
func vectorOf(text string, dim int) []float32 {
	h := fnv.New64a()
	io.WriteString(h, text)
	r := rand.New(rand.NewPCG(h.Sum64(), 1))
	v := make([]float32, dim)
	for i := range v {
		v[i] = r.Float32() - 0.5
	}
	return v
}

func (a *api) complete(w http.ResponseWriter, body []byte, wrong func(int, string, ...any)) {
	var request chatRequest
	if err := strictly(body, &request); err != nil {
		wrong(400, "We could not parse the JSON body of your request: %v", err)
		return
	}
	a.mu.Lock()
	a.chats = append(a.chats, request)
	a.mu.Unlock()
	switch {
	case len(request.Messages) == 0:
		wrong(400, "'messages' is empty")
		return
	case request.Stream != nil && *request.Stream:
		wrong(400, "'stream' is true")
		return
	case request.ResponseFormat != nil && (request.ResponseFormat.Type != "json_schema" || request.ResponseFormat.JSONSchema.Name == ""):
		wrong(400, "response_format is %+v", *request.ResponseFormat)
		return
	}
	if a.chat != nil {
		json.NewEncoder(w).Encode(a.chat(request))
		return
	}
	json.NewEncoder(w).Encode(completion(strings.ToUpper(request.Messages[len(request.Messages)-1].Content), "stop"))
}

// completion is an answer with one choice; its usage is 7 tokens in and 3 out.
func completion(content any, finish string) map[string]any {
	return map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1_760_000_000, "model": "m",
		"choices": []any{map[string]any{
			"index": 0, "message": map[string]any{"role": "assistant", "content": content, "refusal": nil}, "finish_reason": finish,
		}},
		"usage": map[string]any{"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
	}
}
