package openai_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/faulttest"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/llm"
	"github.com/rageval/rageval/ragtest/openai"
	"github.com/rageval/rageval/spans"
)

func TestKeys(t *testing.T) {
	const other = "http://127.0.0.1:1/v1"
	for _, test := range []struct {
		name                          string
		field, openAI, azure          string
		baseURL, version              string
		wantAuthorization, wantAPIKey string
		wantErr                       string
	}{
		{name: "environment", openAI: "from-env", wantAuthorization: "Bearer from-env"},
		{name: "field", field: "from-field", openAI: "from-env", wantAuthorization: "Bearer from-field"},
		{name: "white space", openAI: " from-env\n", wantAuthorization: "Bearer from-env"},
		{name: "none", wantErr: "there is no API key: set OPENAI_API_KEY, or the field APIKey"},
		{name: "blank", field: " ", openAI: "\n", wantErr: "there is no API key: set OPENAI_API_KEY, or the field APIKey"},
		{name: "a line end", openAI: canary + "\n" + canary, wantErr: "the API key in OPENAI_API_KEY has a character that no key has, such as a space or a line end within it"},
		{name: "no ASCII", field: canary + "é", wantErr: "the API key in APIKey has a character that no key has, such as a space or a line end within it"},
		{name: "another server", baseURL: other, openAI: "from-env", wantAuthorization: "Bearer from-env"},
		{name: "another server, none", baseURL: other},
		{name: "Azure", baseURL: other, version: apiVersion, azure: "from-azure", openAI: "from-env", wantAPIKey: "from-azure"},
		{name: "Azure as OpenAI", baseURL: "https://x.openai.azure.com/openai/v1", azure: "from-azure", openAI: "from-env", wantAuthorization: "Bearer from-azure"},
		{name: "Azure, OpenAI's", baseURL: other, version: apiVersion, openAI: "from-env", wantAPIKey: "from-env"},
		{name: "Azure, none", baseURL: other, version: apiVersion, wantErr: "there is no API key: set AZURE_OPENAI_API_KEY or OPENAI_API_KEY, or the field APIKey"},
		{name: "Azure's without Azure", azure: "from-azure", wantErr: "there is no API key: set OPENAI_API_KEY, or the field APIKey"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("OPENAI_API_KEY", test.openAI)
			t.Setenv("AZURE_OPENAI_API_KEY", test.azure)
			var got http.Header
			spy := inMemory{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = r.Header
				w.WriteHeader(400)
			})}
			_, embedErr := openai.Embedder{APIKey: test.field, BaseURL: test.baseURL, APIVersion: test.version, Transport: spy}.Embed(t.Context(), []string{"a"})
			embedHeader := got
			_, askErr := openai.Client{APIKey: test.field, BaseURL: test.baseURL, APIVersion: test.version, Transport: spy}.Complete(t.Context(), llm.Request{Messages: user("hi")})
			for _, err := range []error{embedErr, askErr} {
				if err == nil || !strings.HasSuffix(err.Error(), test.wantErr) || strings.Contains(err.Error(), canary) {
					t.Errorf("got %v, want %q", err, test.wantErr)
				}
			}
			for _, h := range []http.Header{embedHeader, got} {
				if h.Get("Authorization") != test.wantAuthorization || h.Get("Api-Key") != test.wantAPIKey {
					t.Errorf("got Authorization %q and Api-Key %q, want %q and %q", h.Get("Authorization"), h.Get("Api-Key"), test.wantAuthorization, test.wantAPIKey)
				}
			}
		})
	}
}

// leave is a small corpus with a question.
func leave(t *testing.T) (*spans.Corpus, []ragtest.TokenQuery) {
	t.Helper()
	doc, err := spans.NewDocument("leave.md", "Annual leave is 28 days. Printers are on every floor. Badges expire in May.", nil)
	if err != nil {
		t.Fatal(err)
	}
	corpus, err := spans.NewCorpus(doc)
	if err != nil {
		t.Fatal(err)
	}
	return corpus, []ragtest.TokenQuery{{Query: ragtest.Query{ID: "q", Text: "How long is annual leave?"}, Relevant: []spans.Span{{Doc: "leave.md", Start: 0, End: 24}}}}
}

func TestUsageOfAnEvaluation(t *testing.T) {
	corpus, queries := leave(t)
	a := &api{t: t}
	_, url := a.start(faulttest.Status(500, ""))
	e := a.embedder(url)
	e.Dimensions, e.BatchTexts, e.PricePerMillion = 16, 2, 1e4
	e.MaxTokens, e.Truncate = 5, true
	result, err := ragtest.TokenLevel{
		Name: "usage", Corpus: corpus, Queries: queries, Embedder: e, Chunker: chunkers.FixedSize{Size: 26},
	}.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sum, long := 0, 0
	for _, r := range a.requests() {
		for _, text := range r.Input {
			sum += countTokens(text)
			if countTokens(text) == 5 {
				long++
			}
		}
	}
	want := ragtest.Usage{Component: "openai", Model: "text-embedding-3-small", Calls: 3, Tokens: sum, Truncated: long, Cost: float64(sum) / 100}
	usage := result.Diagnostics.Usage
	if len(usage) == 1 && usage[0].Cost > want.Cost-1e-9 && usage[0].Cost < want.Cost+1e-9 {
		want.Cost = usage[0].Cost
	}
	if len(usage) != 1 || usage[0] != want || long != 4 {
		t.Errorf("got %+v, want %+v, and all four texts truncated", usage, want)
	}
	if got := result.Components.Embedder; !strings.HasPrefix(got, "openai/text-embedding-3-small/dimensions=16/baseurl=127.0.0.1:") {
		t.Errorf("got component %q", got)
	}
}

// The key is in nothing that the package returns or the library writes, although
// the server repeats it wherever it can.
func TestKeyStaysSecret(t *testing.T) {
	corpus, queries := leave(t)
	for _, style := range styles {
		faults := []faulttest.Fault{
			faulttest.Status(400, `{"error":{"message":"`+canary+`","code":"`+canary+`"}}`),
			faulttest.Status(400, canary),
			faulttest.Status(429, `{"error":"`+canary+`"}`, "Retry-After", "9999"),
			faulttest.Status(200, canary),
			faulttest.Status(200, `{"error":"`+canary+`"}`),
			faulttest.Status(302, "", "Location", "/"+canary),
			faulttest.Rewrite(func([]byte) []byte {
				return []byte(`{"data":[{"index":0,"embedding":"` + canary + `"}],"choices":"` + canary + `"}`)
			}),
			faulttest.Rewrite(func([]byte) []byte { return []byte(`{"data":[{"` + canary + `":null}],"choices":[]}`) }),
		}
		for i, fault := range faults {
			a := &api{t: t, azure: style.azure}
			_, url := a.start(fault, fault)
			e, c := a.embedder(url), a.client(url)
			vectors, embedErr := e.Embed(t.Context(), []string{"a"})
			response, askErr := c.Complete(t.Context(), llm.Request{Messages: user("hi")})
			for _, value := range []any{vectors, embedErr, response, askErr, e, c, e.Validate(), c.Validate()} {
				asJSON, err := json.Marshal(value)
				if err != nil && value != any(e) && value != any(c) {
					t.Errorf("fault %d: %v", i, err)
				}
				if text := fmt.Sprintf("%v %+v %#v %s", value, value, value, asJSON); strings.Contains(text, "canary") {
					t.Errorf("fault %d: the key shows in %s", i, text)
				}
			}
		}
		a := &api{t: t, azure: style.azure}
		_, url := a.start()
		e := a.embedder(url)
		e.Dimensions = 16
		result, err := ragtest.TokenLevel{Name: "key", Corpus: corpus, Queries: queries, Embedder: e, Chunker: chunkers.FixedSize{Size: 26}}.Evaluate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		written, err := json.Marshal(result)
		if err != nil || strings.Contains(string(written), "canary") || strings.Contains(fmt.Sprintf("%+v", result), "canary") {
			t.Errorf("got %v, or the key shows in the result: %s", err, written)
		}
	}
}
