package cohere_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rageval/rageval/ragtest/cohere"
)

// The zero value reads the key when it is used, and an own field goes first.
func TestKeys(t *testing.T) {
	for _, test := range []struct {
		api      cohere.API
		variable string
	}{
		{cohere.Cohere, "CO_API_KEY"}, {cohere.Cohere, "COHERE_API_KEY"}, {cohere.Jina, "JINA_API_KEY"}, {cohere.Voyage, "VOYAGE_API_KEY"},
	} {
		t.Run(test.variable, func(t *testing.T) {
			clearKeys(t)
			s := &server{api: test.api, key: canary}
			r := reranker{API: test.api, Transport: redirected{s, t}}
			_, err := r.Rerank(t.Context(), "q", candidates("a"))
			wantError(t, err, "there is no API key: set ", test.variable, ", or the field APIKey")
			if n := len(s.sent()); n != 0 {
				t.Errorf("got %d requests without a key, want none", n)
			}
			t.Setenv(test.variable, canary)
			if _, err := r.Rerank(t.Context(), "q", candidates("a")); err != nil {
				t.Error(err)
			}
			s.key, r.APIKey = canary+"2", canary+"2"
			if _, err := r.Rerank(t.Context(), "q", candidates("a")); err != nil {
				t.Errorf("with the field: %v", err)
			}
		})
	}
	t.Run("of no use", func(t *testing.T) {
		clearKeys(t)
		for _, key := range []string{canary + "\n" + canary, canary + " x", "ключ" + canary, canary + "\x00"} {
			_, err := reranker{APIKey: key}.Rerank(t.Context(), "q", candidates("a"))
			wantError(t, err, "the API key in APIKey has a character that no key has")
			if !strings.Contains(key, "\x00") { // which no environment can hold
				t.Setenv("COHERE_API_KEY", key)
				_, err = reranker{}.Rerank(t.Context(), "q", candidates("a"))
				wantError(t, err, "the API key in COHERE_API_KEY has a character that no key has")
			}
		}
	})
	t.Run("with white space around it", func(t *testing.T) {
		s := &server{key: canary}
		r := reranker{APIKey: " " + canary + "\r\n", Transport: redirected{s, t}}
		if _, err := r.Rerank(t.Context(), "q", candidates("a")); err != nil {
			t.Error(err)
		}
	})
	t.Run("none", func(t *testing.T) {
		clearKeys(t)
		for _, api := range apis {
			s := &server{api: api}
			r := reranker{API: api, BaseURL: s.start(t)}
			if _, err := r.Rerank(t.Context(), "q", candidates("a")); err != nil {
				t.Errorf("%v: %v", api, err)
			}
		}
	})
}

func TestValidate(t *testing.T) {
	clearKeys(t)
	tests := []struct {
		r    reranker
		want string // "": valid
	}{
		{reranker{APIKey: "k"}, ""},
		{reranker{API: cohere.TEI, BaseURL: "http://localhost:8080"}, ""},
		{reranker{BaseURL: "https://proxy.example/rerank/"}, ""},
		{reranker{}, ""}, // the key is for Rerank to find
		{reranker{API: cohere.TEI, BaseURL: "http://h", Model: "bge-reranker-base"}, ""},
		{reranker{API: 4}, "API is 4: want Cohere, Jina, Voyage or TEI"},
		{reranker{API: -1}, "API is -1: want"},
		{reranker{API: cohere.TEI}, "BaseURL is empty: want that of your server"},
		{reranker{API: cohere.Jina, APIKey: "k", MaxTokensPerDoc: 1}, "MaxTokensPerDoc is 1: want 0, the protocol of jina"},
		{reranker{MaxTokensPerDoc: -1}, "MaxTokensPerDoc is -1: want"},
		{reranker{BatchTexts: -1}, "BatchTexts is -1: want a finite number, 0 or more"},
		{reranker{Concurrency: -2}, "Concurrency is -2: want"},
		{reranker{Timeout: -time.Second}, "Timeout is -1s: want"},
		{reranker{PricePerMillion: -0.5}, "PricePerMillion is -0.5: want"},
		{reranker{PricePerThousand: math.Inf(1)}, "PricePerThousand is +Inf: want"},
		{reranker{PricePerThousand: math.NaN()}, "PricePerThousand is NaN: want"},
		{reranker{BaseURL: "localhost:8080"}, "BaseURL is not an absolute http or https URL"},
		{reranker{BaseURL: "ftp://h"}, "BaseURL is not an absolute http or https URL"},
		{reranker{BaseURL: "http://"}, "BaseURL is not an absolute http or https URL"},
		{reranker{BaseURL: "http://h/?key=" + canary}, "BaseURL has a query or a fragment"},
		{reranker{BaseURL: "http://h/#" + canary}, "BaseURL has a query or a fragment"},
		{reranker{BaseURL: "http://u:" + canary + "@h"}, "BaseURL has a user name"},
		{reranker{BaseURL: "http://h:" + canary + "x"}, "BaseURL is not a URL"},
	}
	for _, test := range tests {
		err := test.r.Validate()
		if test.want == "" {
			if err != nil {
				t.Errorf("%v: %v", test.r, err)
			}
			continue
		}
		wantError(t, err, test.want)
		if _, err := test.r.Rerank(t.Context(), "q", nil); err == nil || err.Error() != test.r.Validate().Error() {
			t.Errorf("%v: Rerank does not validate", test.r)
		}
	}
}

func TestString(t *testing.T) {
	for _, test := range []struct {
		of   fmt.Stringer
		want string
	}{
		{reranker{}, "cohere/rerank-english-v3.0"},
		{reranker{Model: "rerank-v3.5", MaxTokensPerDoc: 512, AllowMissing: true, BaseURL: "http://x", APIKey: canary}, "cohere/rerank-v3.5/host=x/maxtokens=512/allowmissing"},
		{reranker{API: cohere.Voyage, Truncate: true}, "voyage/rerank-2.5/truncate"},
		{reranker{API: cohere.TEI}, "tei"},
		{reranker{API: 7}, "API(7)"},
		{cohere.Embedder{}, "cohere/embed-v4.0"},
		{cohere.Embedder{Model: "embed-english-v3.0", Truncate: true, Dimensions: 256, APIKey: canary}, "cohere/embed-english-v3.0/dimensions=256/truncate"},
	} {
		for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
			if got := fmt.Sprintf(format, test.of); got != test.want {
				t.Errorf("%s: got %q, want %q", format, got, test.want)
			}
		}
		if data, err := json.Marshal(test.of); err != nil || strings.Contains(string(data), canary) {
			t.Errorf("got the JSON form %s and %v, want one without the key", data, err)
		}
	}
}

func TestBaseURLMayHoldThePath(t *testing.T) {
	clearKeys(t)
	for _, test := range []struct {
		api       cohere.API
		base      string
		requested string
	}{
		{cohere.Cohere, "http://h", "/v2/rerank"},
		{cohere.Cohere, "http://h/", "/v2/rerank"},
		{cohere.Cohere, "http://h/v2/", "/v2/rerank"},
		{cohere.Cohere, "http://h/v2/rerank", "/v2/rerank"},
		{cohere.Cohere, "http://h/proxy", "/proxy/v2/rerank"},
		{cohere.Cohere, "http://h/proxy/v1", "/proxy/v1/v2/rerank"},
		{cohere.Jina, "http://h/v1", "/v1/rerank"},
		{cohere.Jina, "http://h/v1/rerank/", "/v1/rerank"},
		{cohere.Jina, "http://h/rerank", "/rerank"},
		{cohere.Voyage, "http://h/v1", "/v1/rerank"},
		{cohere.TEI, "http://h", "/rerank"},
		{cohere.TEI, "http://h/rerank", "/rerank"},
		{cohere.TEI, "http://h/models/rerank/", "/models/rerank"},
		{cohere.TEI, "http://rerank", "/rerank"},
	} {
		got := ""
		r := reranker{API: test.api, BaseURL: test.base, Transport: handlerTransport{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = r.URL.Path
			s := &server{api: test.api}
			r.URL.Path = s.rerankPath()
			s.ServeHTTP(w, r)
		})}}
		if _, err := r.Rerank(t.Context(), "q", candidates("a")); err != nil || got != test.requested {
			t.Errorf("%v at %q: got a request to %q and %v, want one to %q", test.api, test.base, got, err, test.requested)
		}
	}
}
