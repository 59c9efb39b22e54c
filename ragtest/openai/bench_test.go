package openai_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/rageval/rageval/ragtest/openai"
)

// fixed answers every request with the same body.
type fixed []byte

func (f fixed) RoundTrip(r *http.Request) (*http.Response, error) {
	io.Copy(io.Discard, r.Body)
	r.Body.Close()
	return &http.Response{StatusCode: 200, Body: io.NopCloser(bytes.NewReader(f))}, nil
}

// One call as an evaluation makes it: 256 texts, vectors of 1,536 components.
func BenchmarkEmbed(b *testing.B) {
	for name, e := range map[string]openai.Embedder{
		"base64": {APIKey: canary},
		"float":  {BaseURL: "http://models.test/v1", Model: "other", BatchTexts: 256},
	} {
		b.Run(name, func(b *testing.B) {
			texts := numbered(256)
			var a answers
			for i, text := range texts {
				var v any = vectorOf(text, 1536)
				if name == "base64" {
					v = inBase64(vectorOf(text, 1536))
				}
				a.Data = append(a.Data, map[string]any{"index": i, "embedding": v})
			}
			a.Usage = map[string]int{"total_tokens": 1000}
			body, err := json.Marshal(a)
			if err != nil {
				b.Fatal(err)
			}
			e.Transport = fixed(body)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Embed(b.Context(), texts); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
