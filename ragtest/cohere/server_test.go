package cohere_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rageval/rageval/ragtest/cohere"
)

// server is a rerank and embed service that refuses what its vendor's
// documentation does not allow: another method, path, type or key, fields that
// it does not know, too many texts, empty ones.
type server struct {
	api   cohere.API
	key   string // "": none is asked for
	limit int    // documents in a rerank request; 0: the vendor's

	mu       sync.Mutex
	requests []json.RawMessage // the bodies of all well-formed requests
}

// refusal is an error of the service.
type refusal struct {
	status int
	text   string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, err := s.answer(r)
	if err != nil {
		s.refuse(w, *err)
		return
	}
	write(w, http.StatusOK, answer)
}

func write(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body)
}

// refuse answers with an error in the vendor's form.
func (s *server) refuse(w http.ResponseWriter, r refusal) {
	var body any
	switch s.api {
	case cohere.Cohere:
		body = map[string]any{"id": "8d4f", "message": r.text}
	case cohere.Jina, cohere.Voyage:
		body = map[string]any{"detail": r.text}
	case cohere.TEI:
		body = map[string]any{"error": r.text, "error_type": "Validation"}
	}
	write(w, r.status, encode(body))
}

func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

func (s *server) rerankPath() string {
	return map[cohere.API]string{cohere.Cohere: "/v2/rerank", cohere.Jina: "/v1/rerank", cohere.Voyage: "/v1/rerank", cohere.TEI: "/rerank"}[s.api]
}

func (s *server) answer(r *http.Request) ([]byte, *refusal) {
	embed := s.api == cohere.Cohere && r.URL.Path == "/v2/embed"
	if r.URL.Path != s.rerankPath() && !embed || r.URL.RawQuery != "" {
		return nil, &refusal{404, "no such path"}
	}
	if r.Method != http.MethodPost {
		return nil, &refusal{405, "method not allowed"}
	}
	switch got := r.Header.Values("Authorization"); {
	case s.key == "" && len(got) > 0:
		return nil, &refusal{401, "this server has no keys"}
	case s.key != "" && !slices.Equal(got, []string{"Bearer " + s.key}):
		return nil, &refusal{401, "invalid api token"}
	}
	if got := r.Header.Get("Content-Type"); got != "application/json" {
		return nil, &refusal{415, "content type " + got}
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, &refusal{400, err.Error()}
	}
	if int64(len(body)) != r.ContentLength {
		return nil, &refusal{411, "no content length"}
	}
	s.mu.Lock()
	s.requests = append(s.requests, body)
	s.mu.Unlock()
	switch {
	case embed:
		return s.embed(body)
	case s.api == cohere.TEI:
		return s.rerankTEI(body)
	}
	return s.rerank(body)
}

// strict decodes one JSON value without unknown fields.
func strict(body []byte, v any) *refusal {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return &refusal{422, "invalid request: " + err.Error()}
	}
	if _, err := d.Token(); err != io.EOF {
		return &refusal{400, "invalid request: more than one value"}
	}
	return nil
}

type scored struct {
	index int
	score float64
}

func (s *server) rerank(body []byte) ([]byte, *refusal) {
	var q struct {
		Model     *string  `json:"model"`
		Query     string   `json:"query"`
		Documents []string `json:"documents"`
	}
	var rest struct {
		Model           json.RawMessage `json:"model"`
		Query           json.RawMessage `json:"query"`
		Documents       json.RawMessage `json:"documents"`
		TopN            *int            `json:"top_n"`
		TopK            *int            `json:"top_k"`
		MaxTokensPerDoc *int            `json:"max_tokens_per_doc"`
		ReturnDocuments *bool           `json:"return_documents"`
		Truncation      *bool           `json:"truncation"`
	}
	if r := strict(body, &rest); r != nil {
		return nil, r
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, &refusal{422, err.Error()}
	}
	known := map[cohere.API]bool{
		cohere.Cohere: rest.TopK == nil && rest.ReturnDocuments == nil && rest.Truncation == nil,
		cohere.Jina:   rest.TopK == nil && rest.MaxTokensPerDoc == nil && rest.Truncation == nil,
		cohere.Voyage: rest.TopN == nil && rest.MaxTokensPerDoc == nil,
	}
	limit := cmp.Or(s.limit, 1000)
	switch {
	case !known[s.api]:
		return nil, &refusal{422, "invalid request: a field of another API"}
	case q.Model == nil || *q.Model == "":
		return nil, &refusal{400, "invalid request: model is required"}
	case strings.TrimSpace(q.Query) == "":
		return nil, &refusal{400, "invalid request: query must not be empty or be only whitespace"}
	case len(q.Documents) == 0:
		return nil, &refusal{400, "invalid request: list of documents must not be empty"}
	case len(q.Documents) > limit:
		return nil, &refusal{400, fmt.Sprintf("invalid request: number of documents must be at most %d - received %d", limit, len(q.Documents))}
	case slices.Contains(q.Documents, ""):
		return nil, &refusal{400, "invalid request: documents must not be empty"}
	}
	if s.api == cohere.Voyage && rest.Truncation != nil && !*rest.Truncation {
		for _, d := range q.Documents {
			if n := len(strings.Fields(d)) + len(strings.Fields(q.Query)); n > 32000 {
				return nil, &refusal{400, fmt.Sprintf("query and document have %d tokens, more than 32000", n)}
			}
		}
	}
	var results []map[string]any
	for _, r := range rank(q.Query, q.Documents) {
		result := map[string]any{"index": r.index, "relevance_score": r.score}
		if s.api == cohere.Jina && (rest.ReturnDocuments == nil || *rest.ReturnDocuments) {
			result["document"] = map[string]any{"text": q.Documents[r.index]}
		}
		results = append(results, result)
	}
	tokens := len(strings.Fields(q.Query)) * len(q.Documents)
	for _, d := range q.Documents {
		tokens += len(strings.Fields(d))
	}
	switch s.api {
	case cohere.Jina:
		return encode(map[string]any{"model": q.Model, "results": results, "usage": map[string]any{"total_tokens": tokens}}), nil
	case cohere.Voyage:
		return encode(map[string]any{"object": "list", "model": q.Model, "data": results, "usage": map[string]any{"total_tokens": tokens}}), nil
	}
	units := (len(q.Documents) + 99) / 100
	return encode(map[string]any{"id": "07734bd2", "results": results, "meta": map[string]any{
		"api_version": map[string]any{"version": "2"}, "billed_units": map[string]any{"search_units": units},
	}}), nil
}

func (s *server) rerankTEI(body []byte) ([]byte, *refusal) {
	var q struct {
		Query               *string  `json:"query"`
		Texts               []string `json:"texts"`
		RawScores           bool     `json:"raw_scores"`
		ReturnText          bool     `json:"return_text"`
		Truncate            bool     `json:"truncate"`
		TruncationDirection string   `json:"truncation_direction"`
	}
	if r := strict(body, &q); r != nil {
		return nil, r
	}
	limit := cmp.Or(s.limit, 32)
	switch {
	case q.Query == nil:
		return nil, &refusal{422, "missing field `query`"}
	case len(q.Texts) == 0:
		return nil, &refusal{422, "`texts` cannot be empty"}
	case len(q.Texts) > limit:
		return nil, &refusal{413, fmt.Sprintf("batch size %d > maximum allowed batch size %d", len(q.Texts), limit)}
	}
	results := []map[string]any{}
	for _, r := range rank(*q.Query, q.Texts) {
		if n := len(strings.Fields(q.Texts[r.index])); n > 512 && !q.Truncate {
			return nil, &refusal{413, fmt.Sprintf("`inputs` must have less than 512 tokens. Given: %d", n)}
		}
		results = append(results, map[string]any{"index": r.index, "score": r.score})
	}
	return encode(results), nil
}

// relevance stands in for a cross-encoder: the share of the query's words that
// are in the text. It depends on nothing else.
func relevance(query, text string) float64 {
	words := strings.Fields(strings.ToLower(query))
	found := 0
	for _, w := range words {
		if strings.Contains(strings.ToLower(text), w) {
			found++
		}
	}
	return float64(found) / float64(len(words))
}

// rank returns the documents best first, equal scores last first: a server owes
// no order of these.
func rank(query string, texts []string) []scored {
	all := make([]scored, len(texts))
	for i, text := range texts {
		all[i] = scored{i, relevance(query, text)}
	}
	slices.SortFunc(all, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.index, a.index))
	})
	return all
}

func (s *server) embed(body []byte) ([]byte, *refusal) {
	var q struct {
		Model           string   `json:"model"`
		InputType       string   `json:"input_type"`
		Texts           []string `json:"texts"`
		EmbeddingTypes  []string `json:"embedding_types"`
		OutputDimension *int     `json:"output_dimension"`
		MaxTokens       *int     `json:"max_tokens"`
		Truncate        string   `json:"truncate"`
	}
	if r := strict(body, &q); r != nil {
		return nil, r
	}
	dim := 8
	if q.OutputDimension != nil {
		dim = *q.OutputDimension
	}
	switch {
	case q.Model == "":
		return nil, &refusal{400, "invalid request: model is required"}
	case !slices.Contains([]string{"search_document", "search_query", "classification", "clustering"}, q.InputType):
		return nil, &refusal{400, "invalid request: valid input_type must be provided with the provided model"}
	case !slices.Equal(q.EmbeddingTypes, []string{"float"}):
		return nil, &refusal{400, "invalid request: embedding_types"}
	case q.OutputDimension != nil && !slices.Contains([]int{256, 512, 1024, 1536}, dim):
		return nil, &refusal{400, fmt.Sprintf("invalid request: output_dimension %d", dim)}
	case !slices.Contains([]string{"NONE", "START", "END"}, q.Truncate):
		return nil, &refusal{400, "invalid request: truncate"}
	case len(q.Texts) == 0:
		return nil, &refusal{400, "invalid request: at least one text must be provided"}
	case len(q.Texts) > 96:
		return nil, &refusal{400, fmt.Sprintf("invalid request: total number of texts must be at most 96 - received %d", len(q.Texts))}
	case slices.Contains(q.Texts, ""):
		return nil, &refusal{400, "invalid request: texts must not be empty"}
	}
	tokens := 0
	vectors := make([][]float32, len(q.Texts))
	for i, text := range q.Texts {
		n := len(strings.Fields(text))
		if n > 512 && q.Truncate == "NONE" {
			return nil, &refusal{400, fmt.Sprintf("too many tokens: total number of tokens cannot exceed 512 - received %d", n)}
		}
		tokens += n
		vectors[i] = vectorOf(q.InputType, text, dim)
	}
	return encode(map[string]any{
		"id": "5807ee2e", "embeddings": map[string]any{"float": vectors}, "texts": q.Texts, "response_type": "embeddings_by_type",
		"meta": map[string]any{"api_version": map[string]any{"version": "2"}, "billed_units": map[string]any{"input_tokens": tokens}},
	}), nil
}

// vectorOf stands in for a model: letters counted by their code, and a last
// component that tells the input type.
func vectorOf(inputType, text string, dim int) []float32 {
	v := make([]float32, dim)
	for _, r := range text {
		v[int(r)%(dim-1)]++
	}
	v[dim-1] = float32(len(inputType))
	return v
}

// start serves s on loopback until the test ends and returns its address.
func (s *server) start(tb testing.TB) string {
	tb.Helper()
	ts := httptest.NewServer(s)
	tb.Cleanup(ts.Close)
	return ts.URL
}

// RoundTrip serves s without a network.
func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	return handlerTransport{s}.RoundTrip(r)
}

// handlerTransport serves a handler without a network. Answers come whole.
type handlerTransport struct{ http.Handler }

func (h handlerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), nil
}

// sent returns the bodies of the requests that came, in their order.
func (s *server) sent() []json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}
