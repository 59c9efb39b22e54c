// Package hybrid measures what each stage of a hybrid retrieval adds: dense
// retrieval, BM25 fused with it, and a reranker over the fused candidates. It
// needs no key, no server and no download:
//
//	go test -v ./examples/hybrid
//
// On the handbook of the quickstart, 116 queries, K = 5:
//
//	                        span_recall  span_mrr  span_ndcg
//	dense                   0.706        0.612     0.600
//	BM25                    0.739        0.665     0.646
//	dense + BM25            0.754        0.652     0.639
//	dense + BM25, reranked  0.758        0.700     0.671
//	BM25, reranked          0.771        0.701     0.678
//
// Fusion finds more, and the reranker puts first what was found. The last line,
// with one stage left out, says more: all three read the same words, and what a
// lexical embedder adds to BM25 is gone after reranking. So it belongs to every
// such comparison. Put your models in the place of both, and see what they add
// on your documents:
//
//	ragtest.Dense[chunk](cohere.Embedder{}, nil)
//	cohere.Reranker[chunk]{Model: "rerank-v3.5"}           // with CO_API_KEY
//	cohere.Reranker[chunk]{API: cohere.TEI, BaseURL: "http://localhost:8080"}
package hybrid

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
)

type chunk = chunkers.PositionAwareChunk

func TestEachStageAdds(t *testing.T) {
	corpus, err := fixtures.ReadDir("../quickstart/testdata/handbook")
	require.NoError(t, err)
	queries, err := fixtures.ReadTokenTruth(os.DirFS("../quickstart/testdata"), "handbook.golden.jsonl", corpus)
	require.NoError(t, err)

	// A retriever serves one evaluation: stores only append.
	dense := func() ragtest.Retriever[chunk] { return ragtest.Dense[chunk](lexical.Embedder{}, nil) }
	bm25 := func() ragtest.Retriever[chunk] { return lexical.NewBM25[chunk]() }

	run := func(name string, retriever ragtest.Retriever[chunk], reranker ragtest.Reranker[chunk], thresholds ...ragtest.TokenThreshold) *ragtest.Result {
		return ragtest.RunTokenLevel(t, ragtest.TokenLevel{
			Name:      name,
			Corpus:    corpus,
			Queries:   queries,
			Chunker:   chunkers.RecursiveCharacter{Size: 800},
			Retriever: retriever,
			Reranker:  reranker, // nil: none
			K:         5,
			FetchK:    20, // what the reranker may choose from
			Metrics:   []ragtest.TokenMetric{ragtest.SpanRecall, ragtest.SpanMRR, ragtest.SpanNDCG},
		}, thresholds...)
	}
	onlyDense := run("dense", dense(), nil)
	onlyBM25 := run("bm25", bm25(), nil)
	fused := run("fused", lexical.Fuse(dense(), bm25()), nil, ragtest.SpanRecall.AtLeast(0.74))
	reranked := run("reranked", lexical.Fuse(dense(), bm25()), proximity{}, ragtest.SpanRecall.AtLeast(0.74), ragtest.SpanNDCG.AtLeast(0.66))
	run("bm25-reranked", bm25(), proximity{}, ragtest.SpanNDCG.AtLeast(0.66))

	for _, lift := range []struct {
		metric   string
		from, to *ragtest.Result
		least    float64
	}{
		{"span_recall", onlyDense, fused, 0.04},
		{"span_recall", onlyBM25, fused, 0.01},
		{"span_mrr", onlyDense, fused, 0.03},
		{"span_ndcg", onlyDense, fused, 0.03},
		{"span_recall", fused, reranked, 0},
		{"span_mrr", fused, reranked, 0.04},
		{"span_ndcg", fused, reranked, 0.025},
	} {
		before, _ := lift.from.Score(lift.metric)
		after, _ := lift.to.Score(lift.metric)
		t.Logf("%s: %.3f %s, %.3f %s: %+.3f", lift.metric, before, lift.from.Name, after, lift.to.Name, after-before)
		if after-before < lift.least {
			t.Errorf("%s: %s adds %+.4f to %s, want at least %+.3f", lift.metric, lift.to.Name, after-before, lift.from.Name, lift.least)
		}
	}
}

// The reranker keeps the contract, as yours should.
func TestProximityIsAReranker(t *testing.T) {
	require.NoError(t, ragtest.CheckReranker(t.Context(), proximity{}))
}
