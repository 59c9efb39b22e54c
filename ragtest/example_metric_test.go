package ragtest_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

func ExampleTokenMetric_Of() {
	o := ragtest.TokenOutcome{
		Retrieved: []spans.Span{
			{Doc: "handbook/leave.md", Start: 400, End: 600},
			{Doc: "handbook/leave.md", Start: 550, End: 750},
		},
		Relevant: []spans.Span{{Doc: "handbook/leave.md", Start: 500, End: 700}},
	}
	for _, m := range []ragtest.TokenMetric{
		ragtest.SpanRecall,
		ragtest.SpanRecall.At(1),
		ragtest.SpanPrecision,
		ragtest.SpanPrecisionRedundant,
		ragtest.SpanIoU,
	} {
		fmt.Printf("%s %.3f\n", m.Name(), m.Of(o))
	}
	// Output:
	// span_recall 1.000
	// span_recall@1 0.500
	// span_precision 0.571
	// span_precision_redundant 0.500
	// span_iou 0.571
}

func ExampleChunkMetric_Of() {
	leave := chunkers.NewChunkID("Every employee has 28 days of leave.")
	carry := chunkers.NewChunkID("Up to five days carry over.")
	pension := chunkers.NewChunkID("The pension scheme is voluntary.")
	o := ragtest.ChunkOutcome{
		Retrieved: []chunkers.ChunkID{pension, leave},
		Relevant:  []chunkers.ChunkID{leave, carry},
	}
	for _, m := range []ragtest.ChunkMetric{
		ragtest.ChunkRecall,
		ragtest.ChunkPrecision,
		ragtest.ChunkMRR,
		ragtest.ChunkNDCG.At(2),
	} {
		fmt.Printf("%s %.3f\n", m.Name(), m.Of(o))
	}
	// Output:
	// chunk_recall 0.500
	// chunk_precision 0.500
	// chunk_mrr 0.500
	// chunk_ndcg@2 0.387
}

func ExampleNewTokenMetric() {
	// Nothing relevant is missed in the document that matters most.
	contract := ragtest.NewTokenMetric("contract_complete", func(o ragtest.TokenOutcome) float64 {
		elsewhere := func(s spans.Span) bool { return s.Doc != "contract.md" }
		relevant := spans.Union(slices.DeleteFunc(o.Relevant, elsewhere)...)
		if spans.Recall(spans.Union(o.Retrieved...), relevant) < 1 {
			return 0
		}
		return 1
	})
	fmt.Println(contract.Of(ragtest.TokenOutcome{
		Retrieved: []spans.Span{{Doc: "contract.md", Start: 0, End: 800}},
		Relevant: []spans.Span{
			{Doc: "contract.md", Start: 100, End: 200},
			{Doc: "notes.md", Start: 0, End: 50},
		},
	}))
	fmt.Println(contract.At(3).AtLeast(0.95))
	// Output:
	// 1
	// contract_complete@3 >= 0.95
}

func ExampleNewChunkMetric() {
	firstIsRelevant := ragtest.NewChunkMetric("first_is_relevant", func(o ragtest.ChunkOutcome) float64 {
		if len(o.Retrieved) > 0 && slices.Contains(o.Relevant, o.Retrieved[0]) {
			return 1
		}
		return 0
	})
	leave := chunkers.NewChunkID("Every employee has 28 days of leave.")
	fmt.Println(firstIsRelevant.Of(ragtest.ChunkOutcome{
		Retrieved: []chunkers.ChunkID{leave},
		Relevant:  []chunkers.ChunkID{leave},
	}))
	// Output: 1
}

func ExampleTokenMetric_AtLeast() {
	fmt.Println(ragtest.SpanRecall.At(3).AtLeast(0.8))
	fmt.Println(ragtest.SpanPrecisionRedundant.AtMost(0.5))
	// Output:
	// span_recall@3 >= 0.8
	// span_precision_redundant <= 0.5
}

func ExamplePrecisionOmega() {
	// The answer lies in the first two of three chunks of 100 characters.
	chunks := []spans.Span{
		{Doc: "faq.md", Start: 0, End: 100},
		{Doc: "faq.md", Start: 100, End: 200},
		{Doc: "faq.md", Start: 200, End: 300},
	}
	relevant := []spans.Span{{Doc: "faq.md", Start: 80, End: 130}}
	fmt.Println(ragtest.PrecisionOmega(chunks, relevant))
	// Output: 0.25
}

func TestMetricsCompareWithCmp(t *testing.T) {
	type all struct {
		Token      []ragtest.TokenMetric
		Chunk      []ragtest.ChunkMetric
		Thresholds []ragtest.TokenThreshold
		ChunkLimit ragtest.ChunkThreshold
		Outcome    ragtest.TokenOutcome
		Chunks     ragtest.ChunkOutcome
	}
	value := func(k int) all {
		return all{
			Token:      []ragtest.TokenMetric{{}, ragtest.SpanRecall, ragtest.SpanMAP.At(k)},
			Chunk:      []ragtest.ChunkMetric{{}, ragtest.ChunkF1.At(k)},
			Thresholds: []ragtest.TokenThreshold{ragtest.SpanIoU.At(k).AtMost(0.5)},
			ChunkLimit: ragtest.ChunkF1.AtLeast(0.5),
			Outcome:    ragtest.TokenOutcome{Relevant: []spans.Span{{Doc: "a", Start: 0, End: k}}},
			Chunks:     ragtest.ChunkOutcome{Relevant: []chunkers.ChunkID{chunkers.NewChunkID("a")}},
		}
	}
	if diff := cmp.Diff(value(3), value(3)); diff != "" {
		t.Errorf("equal values differ (-first +second):\n%s", diff)
	}
	if cmp.Equal(value(3), value(4)) {
		t.Error("different values are equal")
	}
}
