package chroma_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest/chroma"
)

// FuzzAnswers searches a server that answers with anything: a search either
// fails or finds chunks that were added, each once, by falling score.
func FuzzAnswers(f *testing.F) {
	const (
		query = `{"ids":[["1","0"]],"distances":[[0.0,0.39999998]],"documents":null,"include":["distances"]}`
		get   = `{"ids":["0","1"],"documents":["passage 0","b\u0000"],"metadatas":[{"ragtest.kind":"chunk","ragtest.id":"chunk_b5bb9d8014a0","ragtest.doc":"a.md"},{"ragtest.kind":"chunk","ragtest.id":"chunk_b5bb9d8014a0","ragtest.doc":"a.md","page":"7"}]}`
	)
	f.Add([]byte(query), []byte(get))
	f.Add([]byte(strings.Replace(query, "0.0", "null", 1)), []byte(get))
	f.Add([]byte(strings.Replace(query, "0.0", "1e39", 1)), []byte(get))
	f.Add([]byte(strings.Replace(query, "0.0", "-3e38", 1)), []byte(get))
	f.Add([]byte(query), []byte(strings.Replace(get, `"7"`, "7", 1)))
	f.Add([]byte(query), []byte(strings.Replace(get, `"documents"`, `"Documents"`, 1)))
	f.Add([]byte(`{"ids":[[]],"distances":[[]]}`), []byte(`{}`))
	f.Add([]byte(`{"ids":null,"distances":[[1,2]]}`), []byte(`null`))
	f.Add([]byte(`[`), []byte(`{"error":"x"}`))
	f.Fuzz(func(t *testing.T, query, get []byte) {
		server := newFakeInMemory()
		transport := roundTripper(func(r *http.Request) (*http.Response, error) {
			body := query
			switch operation, _ := server.operation(r); operation {
			case "POST query":
			case "POST get":
				body = get
			default:
				return server.RoundTrip(r)
			}
			status := http.StatusOK
			if !json.Valid(body) {
				status = http.StatusTeapot // else it would be asked for again
			}
			return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(body)), Request: r}, nil
		})
		s := newStore[chunkers.Chunk](t, chroma.Config{Endpoint: server.URL, Transport: transport})
		if err := s.Add(t.Context(), numbered(2), [][]float32{{3, 4}, {1, 0}}); err != nil {
			t.Fatal(err)
		}
		found, err := s.Search(t.Context(), []float32{1, 0}, 2)
		if err != nil {
			if found != nil {
				t.Errorf("got %v with the error %v", found, err)
			}
			return
		}
		if len(found) > 2 {
			t.Errorf("got %d chunks, want at most 2", len(found))
		}
		for i, c := range found {
			if math.IsNaN(c.Score) || math.IsInf(c.Score, 0) || i > 0 && c.Score > found[i-1].Score {
				t.Errorf("rank %d: got the score %v", i+1, c.Score)
			}
		}
	})
}
