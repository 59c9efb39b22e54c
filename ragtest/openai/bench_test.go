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
	texts := numbered(256)
	var a answers
	for i, text := range texts {
		a.Data = append(a.Data, map[string]any{"index": i, "embedding": vectorOf(text, 1536)})
	}
	body, err := json.Marshal(a)
	if err != nil {
		b.Fatal(err)
	}
	e := openai.Embedder{APIKey: canary, Transport: fixed(body)}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Embed(b.Context(), texts); err != nil {
			b.Fatal(err)
		}
	}
}
