package ownpipeline

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
	"github.com/stretchr/testify/require"
)

// The commonest first use: a search that is in production already. It is asked
// over HTTP, and answers with the ID of a document, a passage of it, and a
// score; where the passage stands, it does not say.
func TestSearchService(t *testing.T) {
	corpus, err := fixtures.ReadDir("../quickstart/testdata/handbook")
	require.NoError(t, err)
	queries, err := fixtures.ReadTokenTruth(os.DirFS("../quickstart/testdata"), "handbook.golden.jsonl", corpus)
	require.NoError(t, err)
	service := httptest.NewServer(searchService(corpus))
	t.Cleanup(service.Close)

	ragtest.RunTokenLevel(t, ragtest.TokenLevel{
		Corpus:    corpus,
		Queries:   queries,
		Retriever: remoteSearch(service.URL+"/search", corpus),
		K:         5,
	}, ragtest.SpanRecall.AtLeast(0.4))
}

type searchRequest struct {
	Query string `json:"query"`
	Limit int    `json:"limit"`
}

type searchHit struct {
	Document string  `json:"document"`
	Passage  string  `json:"passage"`
	Score    float64 `json:"score"`
}

// remoteSearch asks the service at url. Chunker, embedder and store stay nil:
// nothing is chunked or indexed here.
func remoteSearch(url string, corpus *spans.Corpus) ragtest.RetrieverFunc[chunkers.PositionAwareChunk] {
	return func(ctx context.Context, query string, k int) ([]ragtest.ScoredChunk[chunkers.PositionAwareChunk], error) {
		body, err := json.Marshal(searchRequest{query, k})
		if err != nil {
			return nil, err
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("the search answered %s", response.Status)
		}
		var hits []searchHit
		if err := json.NewDecoder(response.Body).Decode(&hits); err != nil {
			return nil, fmt.Errorf("decoding the search's answer: %w", err)
		}
		found := make([]ragtest.ScoredChunk[chunkers.PositionAwareChunk], len(hits))
		for i, hit := range hits {
			doc, ok := corpus.Document(spans.DocumentID(hit.Document))
			if !ok {
				return nil, fmt.Errorf("the search found %q, which is not in the corpus", hit.Document)
			}
			span, err := chunkers.Locate(doc, hit.Passage)
			if err != nil {
				return nil, err
			}
			found[i] = ragtest.ScoredChunk[chunkers.PositionAwareChunk]{
				Chunk: chunkers.PositionAwareChunk{Span: span, Text: hit.Passage},
				Score: hit.Score,
			}
		}
		return found, nil
	}
}

// searchService stands for what runs in production: it ranks paragraphs by how
// many different words of the query they contain, and returns them with white
// space folded.
func searchService(corpus *spans.Corpus) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /search", func(w http.ResponseWriter, r *http.Request) {
		var request searchRequest
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		words := slices.DeleteFunc(strings.Fields(strings.ToLower(request.Query)), func(w string) bool { return len(w) < 4 })
		hits := []searchHit{}
		for doc := range corpus.All() {
			for _, paragraph := range strings.Split(doc.Text(), "\n\n") {
				text := strings.ToLower(paragraph)
				score := 0.0
				for _, word := range words {
					if strings.Contains(text, strings.Trim(word, "?,.")) {
						score++
					}
				}
				if score > 0 && strings.Count(doc.Text(), paragraph) == 1 {
					hits = append(hits, searchHit{string(doc.ID()), strings.Join(strings.Fields(paragraph), " "), score})
				}
			}
		}
		slices.SortStableFunc(hits, func(a, b searchHit) int { return cmp.Compare(b.Score, a.Score) })
		json.NewEncoder(w).Encode(hits[:min(request.Limit, len(hits))])
	})
	return mux
}
