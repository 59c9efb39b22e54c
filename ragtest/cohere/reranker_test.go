package cohere_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/cohere"
)

// canary is the key of every test: it must not come out again.
const canary = "canary-7f3a91"

var apis = []cohere.API{cohere.Cohere, cohere.Jina, cohere.Voyage, cohere.TEI}

type (
	reranker = cohere.Reranker[chunkers.Chunk]
	ranking  = []ragtest.ScoredChunk[chunkers.Chunk]
)

// candidates returns chunks of the texts, with scores that fall.
func candidates(texts ...string) ranking {
	var all ranking
	for i, text := range texts {
		all = append(all, ragtest.ScoredChunk[chunkers.Chunk]{
			Chunk: chunkers.Chunk{ID: chunkers.NewChunkID(text), Doc: "a.md", Text: text, Metadata: map[string]string{"n": fmt.Sprint(i)}},
			Score: 1 / float64(i+1),
		})
	}
	return all
}

// places returns what candidates numbered the chunks with.
func places(r ranking) []string {
	var all []string
	for _, c := range r {
		all = append(all, c.Chunk.Metadata["n"])
	}
	return all
}

// eachAPI runs a test against a server of each protocol.
func eachAPI(t *testing.T, test func(t *testing.T, s *server, r reranker)) {
	for _, api := range apis {
		t.Run(api.String(), func(t *testing.T) {
			s := &server{api: api, key: canary}
			test(t, s, reranker{API: api, BaseURL: s.start(t), APIKey: canary})
		})
	}
}

func TestRerankerKeepsTheContract(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *server, r reranker) {
		if err := ragtest.CheckReranker(t.Context(), r); err != nil {
			t.Error(err)
		}
		r.BatchTexts = 2
		if err := ragtest.CheckReranker(t.Context(), r); err != nil {
			t.Errorf("in batches of 2: %v", err)
		}
		positions := cohere.Reranker[chunkers.PositionAwareChunk]{API: r.API, BaseURL: r.BaseURL, APIKey: canary}
		if err := ragtest.CheckReranker(t.Context(), positions); err != nil {
			t.Errorf("at token level: %v", err)
		}
	})
}

// The server returns equal scores last first; so do the batches no harm.
func TestEqualScoresKeepTheOrderGiven(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *server, r reranker) {
		given := candidates("no word of it", "red", "blue", "a red car", "also red", "red car in town", "nothing")
		for _, size := range []int{0, 1, 2, 3, 7, math.MaxInt} {
			r.BatchTexts = size
			got, err := r.Rerank(t.Context(), "red car", given)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"3", "5", "1", "4", "0", "2", "6"}, places(got)); diff != "" {
				t.Errorf("BatchTexts %d: the order differs (-want +got):\n%s", size, diff)
			}
			for _, c := range got {
				if want := relevance("red car", c.Chunk.Text); c.Score != want {
					t.Errorf("BatchTexts %d: the score of %q: got %v, want that of the server, %v", size, c.Chunk.Text, c.Score, want)
				}
			}
		}
	})
}

func TestRequestsOfEachProtocol(t *testing.T) {
	tests := []struct {
		name string
		r    reranker
		want string
	}{
		{"cohere", reranker{}, `{"model":"rerank-english-v3.0","query":"q <&>","documents":["a","b"]}`},
		{"cohere, all fields", reranker{Model: "rerank-v3.5", MaxTokensPerDoc: 512}, `{"model":"rerank-v3.5","query":"q <&>","documents":["a","b"],"max_tokens_per_doc":512}`},
		{"jina", reranker{API: cohere.Jina}, `{"model":"jina-reranker-v2-base-multilingual","query":"q <&>","documents":["a","b"],"return_documents":false}`},
		{"voyage", reranker{API: cohere.Voyage}, `{"model":"rerank-2.5","query":"q <&>","documents":["a","b"],"truncation":false}`},
		{"voyage, all fields", reranker{API: cohere.Voyage, Model: "rerank-2", Truncate: true}, `{"model":"rerank-2","query":"q <&>","documents":["a","b"],"truncation":true}`},
		{"tei", reranker{API: cohere.TEI}, `{"query":"q <&>","texts":["a","b"],"truncate":false}`},
		{"tei, all fields", reranker{API: cohere.TEI, Truncate: true}, `{"query":"q <&>","texts":["a","b"],"truncate":true}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := &server{api: test.r.API, key: canary}
			test.r.BaseURL, test.r.APIKey = s.start(t), canary
			if _, err := test.r.Rerank(t.Context(), "q <&>", candidates("a", "b")); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{test.want}, bodies(t, s)); diff != "" {
				t.Errorf("the requests differ (-want +got):\n%s", diff)
			}
		})
	}
}

// bodies returns what was sent, with characters instead of escapes.
func bodies(t *testing.T, s *server) []string {
	t.Helper()
	var all []string
	for _, body := range s.sent() {
		var b strings.Builder
		for part := range strings.SplitSeq(string(body), `\u00`) {
			if b.Len() == 0 {
				b.WriteString(part)
				continue
			}
			var r string
			if err := json.Unmarshal([]byte(`"\u00`+part[:2]+`"`), &r); err != nil {
				t.Fatal(err)
			}
			b.WriteString(r + part[2:])
		}
		all = append(all, b.String())
	}
	return all
}

// Above the limits of a service, candidates go in several requests, and are
// ordered as if in one.
func TestCandidatesAboveTheLimit(t *testing.T) {
	words := []string{"red", "blue", "car", "house", "tree", "big", "small"}
	rng := rand.New(rand.NewPCG(1, 2))
	texts := make([]string, 2345)
	for i := range texts {
		texts[i] = fmt.Sprintf("%s %s %d", words[rng.IntN(len(words))], words[rng.IntN(len(words))], i)
	}
	given := candidates(texts...)
	const query = "big red car"
	want := slices.Clone(given)
	for i := range want {
		want[i].Score = relevance(query, want[i].Chunk.Text)
	}
	slices.SortStableFunc(want, func(a, b ragtest.ScoredChunk[chunkers.Chunk]) int {
		if a.Score > b.Score {
			return -1
		} else if a.Score < b.Score {
			return 1
		}
		return 0
	})
	eachAPI(t, func(t *testing.T, s *server, r reranker) {
		requests := 3
		if r.API == cohere.TEI {
			requests = 74 // of 32
		}
		got, err := r.Rerank(t.Context(), query, given)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(s.sent()); n != requests {
			t.Errorf("got %d requests, want %d", n, requests)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the ranking differs (-want +got):\n%s", diff)
		}
	})
}

func TestBatchTextsAboveTheServersIsAnError(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *server, r reranker) {
		s.limit, r.BatchTexts = 2, 3
		_, err := r.Rerank(t.Context(), "q", candidates("a", "b", "c", "d"))
		wantError(t, err, "candidates 0 to 2: POST "+r.BaseURL, "(1 attempt)")
	})
}

func TestLongTexts(t *testing.T) {
	long := strings.Repeat("word ", 600)
	s := &server{api: cohere.TEI}
	r := reranker{API: cohere.TEI, BaseURL: s.start(t)}
	_, err := r.Rerank(t.Context(), "word", candidates("a", long))
	wantError(t, err, `413 Request Entity Too Large: "`+"`inputs` must have less than 512 tokens. Given: 600")
	r.Truncate = true
	got, err := r.Rerank(t.Context(), "word", candidates("a", long))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1", "0"}, places(got)); diff != "" {
		t.Errorf("the order differs (-want +got):\n%s", diff)
	}
}

// What no service takes, or would read otherwise, is not sent.
func TestTextsThatAreNotSent(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *server, r reranker) {
		for _, test := range []struct {
			query, text, want string
		}{
			{"", "a", "the query is empty"},
			{"q", "", "candidate 1 is empty"},
			{"q\xff", "a", "the query is not valid UTF-8 at byte 1"},
			{"q", "é\ufffd\xc3", "candidate 1 is not valid UTF-8 at byte 5"},
		} {
			_, err := r.Rerank(t.Context(), test.query, candidates("a", test.text))
			wantError(t, err, "reranking with ", test.want)
			if n := len(s.sent()); n != 0 {
				t.Errorf("got %d requests, want none", n)
			}
		}
	})
}

// An evaluation counts what the service billed.
func TestUsageOfAnEvaluation(t *testing.T) {
	eachAPI(t, func(t *testing.T, s *server, r reranker) {
		r.PricePerThousand, r.PricePerMillion = 2, 0.05
		if r.API != cohere.Cohere {
			r.PricePerThousand = 0
		}
		result := evaluate(t, r)
		want := []ragtest.Usage{{Component: r.API.String(), Calls: 2}}
		switch r.API {
		case cohere.Cohere:
			want[0].Model, want[0].Cost = "rerank-english-v3.0", 0.002+0.002
		case cohere.Jina:
			want[0].Model, want[0].Tokens = "jina-reranker-v2-base-multilingual", 30
		case cohere.Voyage:
			want[0].Model, want[0].Tokens = "rerank-2.5", 30
		}
		if want[0].Tokens > 0 {
			want[0].Cost = 15*0.05/1e6 + 15*0.05/1e6
		}
		if diff := cmp.Diff(want, result.Diagnostics.Usage); diff != "" {
			t.Errorf("the usage differs (-want +got):\n%s", diff)
		}
		if strings.Contains(fmt.Sprintf("%+v", result), canary) {
			t.Error("the result holds the key")
		}
	})
}

// evaluate reranks all three chunks for two queries.
func evaluate(t *testing.T, r ragtest.Reranker[chunkers.Chunk]) *ragtest.Result {
	t.Helper()
	corpus := corpusOf(t, "red house", "blue car", "old tree")
	list := candidates("red house", "blue car", "old tree")
	result, err := ragtest.ChunkLevel{
		Corpus: corpus,
		Queries: []ragtest.ChunkQuery{
			{Query: ragtest.Query{Text: "which blue car"}, Relevant: []chunkers.ChunkID{chunkers.NewChunkID("blue car")}},
			{Query: ragtest.Query{Text: "the old tree"}, Relevant: []chunkers.ChunkID{chunkers.NewChunkID("old tree")}},
		},
		Retriever: ragtest.RetrieverFunc[chunkers.Chunk](func(_ context.Context, _ string, k int) (ranking, error) { return list[:min(k, len(list))], nil }),
		Reranker:  r,
		K:         1,
		FetchK:    3,
	}.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := result.Score("chunk_recall"); got != 1 {
		t.Errorf("chunk_recall: got %v, want 1 after reranking", got)
	}
	return result
}
