package chroma_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/chroma"
)

// BenchmarkAdd measures what the client does for a block of chunks, without a
// network or a server.
func BenchmarkAdd(b *testing.B) {
	const n, dim = 4096, 384
	chunks, vectors := numbered(n), randomVectors(3, n, dim)
	server := newFakeInMemory()
	added := 0
	transport := roundTripper(func(r *http.Request) (*http.Response, error) {
		operation, _ := server.operation(r)
		switch operation {
		case "POST add":
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return nil, err
			}
			return textResponse("{}"), nil
		case "GET count":
			added += n
			return textResponse(fmt.Sprint(added)), nil
		}
		return server.RoundTrip(r)
	})
	s := newStore[chunkers.Chunk](b, chroma.Config{Endpoint: server.URL, Transport: transport})
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Add(b.Context(), chunks, vectors); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/chunk")
}

func textResponse(body string) *http.Response {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

// BenchmarkRealServer compares searches of a real server with MemoryStore.
func BenchmarkRealServer(b *testing.B) {
	endpoint := realServer(b)
	const n, dim, k, batch = 5000, 384, 10, 256
	chunks, vectors, queries := numbered(n), randomVectors(4, n, dim), randomVectors(5, batch, dim)
	memory := ragtest.NewMemoryStore[chunkers.Chunk]()
	real := newStore[chunkers.Chunk](b, chroma.Config{Endpoint: endpoint})
	for _, s := range []ragtest.VectorStore[chunkers.Chunk]{memory, real} {
		if err := s.Add(b.Context(), chunks, vectors); err != nil {
			b.Fatal(err)
		}
	}
	for _, impl := range []struct {
		name  string
		store ragtest.BatchSearcher[chunkers.Chunk]
	}{{"memory", memory}, {"chroma", real}} {
		for _, size := range []int{1, batch} {
			b.Run(fmt.Sprintf("impl=%s/batch=%d", impl.name, size), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := impl.store.SearchBatch(b.Context(), queries[:size], k); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/query")
			})
		}
	}
}
