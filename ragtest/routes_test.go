package ragtest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// bare reorders as backwards does, leaves some out, and returns places alone: texts and
// IDs are what an evaluation knows itself.
type bare struct{ backwards }

func (bare) String() string { return "bare" }

func (b bare) Rerank(ctx context.Context, query string, chunks []ragtest.ScoredChunk[chunkers.PositionAwareChunk]) ([]ragtest.ScoredChunk[chunkers.PositionAwareChunk], error) {
	turned, err := b.backwards.Rerank(ctx, query, chunks)
	for i := range turned {
		turned[i].Chunk = chunkers.PositionAwareChunk{Span: turned[i].Chunk.Span}
	}
	return turned[len(turned)/4:], err
}

// All ways to evaluate give the result of Evaluate, whichever features come together.
func TestAllRoutesGiveTheResultOfEvaluate(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 9))
		e := randomEvaluation(t, r, true)
		for i := range e.Queries {
			e.Queries[i].Metadata = map[string]string{"kind": []string{"a", "b"}[i%2]}
		}
		e.SliceBy = [][]string{nil, {"kind"}}[r.IntN(2)]
		if r.IntN(2) == 0 {
			e.Tokens, e.TokenBudget = chunkers.Length{Name: "bytes", Of: func(text string) int { return len(text) }}, []int{0, 1 + r.IntN(150)}[r.IntN(2)]
		}
		if e.Reranker != nil && r.IntN(2) == 0 {
			e.Reranker = bare{}
		}
		once := e
		if _, err := e.Evaluate(t.Context()); err != nil {
			if !strings.Contains(err.Error(), "produced no chunk") {
				t.Fatalf("seed %d: %v", seed, err)
			}
			continue
		}
		e.Repeat = r.IntN(3)
		depth := max(e.K, e.FetchK)
		alone, err := once.Prepare(t.Context(), nil, depth)
		if err != nil {
			t.Fatal(err)
		}
		var embedded int
		judge := func(p *ragtest.PreparedTokenLevel, err error) (*ragtest.Result, error) {
			if err != nil {
				return nil, err
			}
			embedded = p.EmbeddedCharacters()
			// What was ranked and judged before must not show.
			if _, err := p.Rank(t.Context(), backwards{}, 1); err != nil {
				return nil, err
			}
			ranking, err := p.Rank(t.Context(), e.Reranker, depth)
			if err != nil {
				return nil, err
			}
			if _, err := ranking.Judge(t.Context(), "other", 1); err != nil {
				return nil, err
			}
			return ranking.Judge(t.Context(), e.Name, e.K)
		}
		for _, route := range []struct {
			name string
			e    ragtest.TokenLevel
			take func(e ragtest.TokenLevel) (*ragtest.Result, error)
		}{
			{"stream", e, func(e ragtest.TokenLevel) (*ragtest.Result, error) {
				docs := streamOf(e.Corpus)
				e.Corpus = nil
				return e.EvaluateStream(t.Context(), docs)
			}},
			{"compact store", e, func(e ragtest.TokenLevel) (*ragtest.Result, error) {
				e.Store = newCompactStore(t)
				return e.Evaluate(t.Context())
			}},
			{"steps", once, func(e ragtest.TokenLevel) (*ragtest.Result, error) {
				chunks, err := e.Chunk(t.Context())
				if err != nil {
					return nil, err
				}
				return judge(e.Prepare(t.Context(), chunks, depth+r.IntN(4)))
			}},
			{"pool", once, func(e ragtest.TokenLevel) (*ragtest.Result, error) {
				all := []chunkers.PositionAwareChunker{chunkers.FixedSize{Size: 17, Overlap: 4}, e.Chunker}
				chunks := chunked(t, e, all)
				pool, err := ragtest.NewTokenPool(e, chunks...)
				if err != nil {
					return nil, err
				}
				if _, err := judge(pool.Prepare(t.Context(), all[0], chunks[0], depth)); err != nil {
					return nil, err
				}
				return judge(pool.Prepare(t.Context(), all[1], chunks[1], depth))
			}},
			{"parts", once, func(e ragtest.TokenLevel) (*ragtest.Result, error) {
				plan, err := e.Plan(t.Context(), depth)
				if err != nil {
					return nil, err
				}
				return judge(plan.Prepare(mergeAtRandom(t, r, shards(t, r, plan))))
			}},
			{"streamed plan", once, func(e ragtest.TokenLevel) (*ragtest.Result, error) {
				docs := slices.Collect(e.Corpus.All())
				all := streamOf(e.Corpus)
				e.Corpus = nil
				plan, err := e.PlanStream(t.Context(), depth, all)
				if err != nil {
					return nil, err
				}
				var parts []*ragtest.TokenPart
				for first := 0; first < len(docs); first += 7 {
					some, err := spans.NewCorpus(docs[first:min(len(docs), first+7)]...)
					if err != nil {
						return nil, err
					}
					part, err := plan.Part(t.Context(), first, streamOf(some))
					if err != nil {
						return nil, err
					}
					parts = append(parts, roundTrip(t, part))
				}
				return judge(plan.Prepare(mergeAtRandom(t, r, parts)))
			}},
		} {
			want, err := route.e.Evaluate(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			embedded = alone.EmbeddedCharacters() // unless the route tells, too
			got, err := route.take(route.e)
			if err != nil {
				t.Fatalf("seed %d, %s: %v", seed, route.name, err)
			}
			if embedded != alone.EmbeddedCharacters() {
				t.Errorf("seed %d, %s: got %d characters embedded, want %d", seed, route.name, embedded, alone.EmbeddedCharacters())
			}
			if got.Components.Store == "compact" {
				got.Components.Store, got.Diagnostics.IndexBytes, got.Budgets = want.Components.Store, want.Diagnostics.IndexBytes, want.Budgets
			}
			if diff := cmp.Diff(encode(t, got), encode(t, want)); diff != "" {
				t.Fatalf("seed %d, %s, %s: (-%s +Evaluate)\n%s", seed, route.name, describeEvaluation(e), route.name, diff)
			}
		}
	}
}

func describeEvaluation(e ragtest.TokenLevel) string {
	return fmt.Sprintf("chunker %v, reranker %v, K %d, FetchK %d, token budget %d, equivalent text %v, repeat %d", e.Chunker, e.Reranker, e.K, e.FetchK, e.TokenBudget, e.EquivalentText, e.Repeat)
}
