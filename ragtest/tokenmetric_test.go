package ragtest

import (
	"math"
	"testing"

	"github.com/rageval/rageval/spans"
)

var tokenMetrics = []TokenMetric{
	SpanRecall, SpanPrecision, SpanIoU, SpanPrecisionRedundant, SpanIoURedundant,
	SpanHitRate, SpanMRR, SpanNDCG, SpanMAP,
}

func in(doc spans.DocumentID, start, end int) spans.Span {
	return spans.Span{Doc: doc, Start: start, End: end}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-12 }

func TestTokenMetricsWorked(t *testing.T) {
	d2 := 1 / math.Log2(3) // the discount of rank 2; that of rank 3 is 1/2
	type scores struct {
		recall, precision, iou, precisionRedundant, iouRedundant float64
		hitRate, mrr, ndcg, ap                                   float64
	}
	tests := []struct {
		name                string
		retrieved, relevant []spans.Span
		want                scores
	}{
		{
			"half of the relevant",
			[]spans.Span{in("a", 0, 50)}, []spans.Span{in("a", 0, 100)},
			scores{0.5, 1, 0.5, 1, 0.5, 1, 1, 1, 0.5},
		},
		{
			"half of the retrieved",
			[]spans.Span{in("a", 0, 100)}, []spans.Span{in("a", 0, 50)},
			scores{1, 0.5, 0.5, 0.5, 0.5, 1, 1, 1, 0.5},
		},
		{
			"shifted",
			[]spans.Span{in("a", 50, 150)}, []spans.Span{in("a", 0, 100)},
			scores{0.5, 0.5, 1. / 3, 0.5, 1. / 3, 1, 1, 1, 0.25},
		},
		{
			"exact",
			[]spans.Span{in("a", 0, 10), in("b", 5, 9)}, []spans.Span{in("b", 5, 9), in("a", 0, 10)},
			scores{1, 1, 1, 1, 1, 1, 1, 1, 1},
		},
		{
			"the same place of another document",
			[]spans.Span{in("b", 0, 100)}, []spans.Span{in("a", 0, 100)},
			scores{},
		},
		{
			// New characters 50, 0, 50; the best single chunk holds 80, the best
			// two hold all 100; union 100, 150, 200; sum 280.
			"overlapping, one irrelevant",
			[]spans.Span{in("a", 50, 150), in("a", 100, 200), in("a", 0, 80)}, []spans.Span{in("a", 0, 100)},
			scores{1, 0.5, 0.5, 100. / 280, 100. / 280, 1, 1, 75 / ((1-d2)*80 + d2*100), 0.5*0.5 + 0.5*0.5},
		},
		{
			"irrelevant first",
			[]spans.Span{in("b", 0, 30), in("a", 0, 10)}, []spans.Span{in("a", 0, 10)},
			scores{1, 0.25, 0.25, 0.25, 0.25, 1, 0.5, d2, 0.25},
		},
		{
			// The same span again: counted once, except below the line of the
			// redundant metrics; it takes up rank 2.
			"the same chunk twice",
			[]spans.Span{in("a", 0, 10), in("a", 0, 10), in("a", 10, 20)}, []spans.Span{in("a", 0, 20)},
			scores{1, 1, 1, 20. / 30, 20. / 30, 1, 1, (10 + 10*0.5) / (10 + 10*d2), 1},
		},
		{
			"one relevant character is a hit",
			[]spans.Span{in("a", 0, 10), in("a", 9, 100)}, []spans.Span{in("a", 99, 200)},
			scores{1. / 101, 1. / 100, 1. / 200, 1. / 101, 1. / 201, 1, 0.5, d2, 1. / 101 * 1. / 100},
		},
		{
			"adjacent is no hit",
			[]spans.Span{in("a", 0, 10)}, []spans.Span{in("a", 10, 20)},
			scores{},
		},
		{
			// Relevant spans overlap: 15 characters, not 20.
			"relevant spans are merged",
			[]spans.Span{in("a", 0, 10)}, []spans.Span{in("a", 0, 10), in("a", 5, 15)},
			scores{10. / 15, 1, 10. / 15, 1, 10. / 15, 1, 1, 1, 10. / 15},
		},
		{
			"nothing relevant",
			[]spans.Span{in("a", 0, 10)}, nil,
			scores{recall: 1},
		},
		{
			"nothing retrieved",
			nil, []spans.Span{in("a", 0, 10)},
			scores{},
		},
		{
			"nothing at all",
			nil, nil,
			scores{recall: 1, iou: 1, iouRedundant: 1},
		},
		{
			"no relevant character",
			[]spans.Span{in("a", 0, 10)}, []spans.Span{in("a", 5, 5)},
			scores{recall: 1},
		},
		{
			"no retrieved character",
			[]spans.Span{in("a", 5, 5)}, []spans.Span{in("a", 0, 10)},
			scores{},
		},
		{
			"no characters at all",
			[]spans.Span{in("a", 5, 5)}, []spans.Span{in("a", 5, 5)},
			scores{recall: 1, iou: 1, iouRedundant: 1},
		},
		{
			"zero-length spans contribute nothing",
			[]spans.Span{in("a", 5, 5), in("a", 0, 10)}, []spans.Span{in("a", 0, 10), in("a", 30, 30)},
			scores{1, 1, 1, 1, 1, 1, 0.5, d2, 1},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := TokenOutcome{Retrieved: test.retrieved, Relevant: test.relevant}
			w := test.want
			want := []float64{w.recall, w.precision, w.iou, w.precisionRedundant, w.iouRedundant, w.hitRate, w.mrr, w.ndcg, w.ap}
			for i, m := range tokenMetrics {
				if got := m.Of(o); !near(got, want[i]) {
					t.Errorf("%s: got %v, want %v", m.Name(), got, want[i])
				}
			}
		})
	}
}

func TestTokenMetricAt(t *testing.T) {
	// New characters 0, 10, 10, 0; union 10, 20, 30, 40; sum 10, 20, 35, 45.
	o := TokenOutcome{
		Retrieved: []spans.Span{in("b", 0, 10), in("a", 0, 10), in("a", 5, 20), in("c", 0, 10)},
		Relevant:  []spans.Span{in("a", 0, 20), in("d", 0, 20)},
	}
	d2 := 1 / math.Log2(3)
	tests := []struct {
		metric TokenMetric
		want   [6]float64 // at 0 … 5
	}{
		{SpanRecall, [6]float64{0, 0, 0.25, 0.5, 0.5, 0.5}},
		{SpanPrecision, [6]float64{0, 0, 0.5, 2. / 3, 0.5, 0.5}},
		{SpanIoU, [6]float64{0, 0, 0.2, 0.4, 1. / 3, 1. / 3}},
		{SpanPrecisionRedundant, [6]float64{0, 0, 0.5, 20. / 35, 20. / 45, 20. / 45}},
		{SpanIoURedundant, [6]float64{0, 0, 0.2, 20. / 55, 20. / 65, 20. / 65}},
		{SpanHitRate, [6]float64{0, 0, 1, 1, 1, 1}},
		{SpanMRR, [6]float64{0, 0, 0.5, 0.5, 0.5, 0.5}},
		{SpanMAP, [6]float64{0, 0, 0.25 * 0.5, 0.25*0.5 + 0.25*2/3, 0.25*0.5 + 0.25*2/3, 0.25*0.5 + 0.25*2/3}},
		// The best single chunk holds 15, the best two 20; only at 1 does the
		// second not count.
		{SpanNDCG, [6]float64{
			0, 0, 10 * d2 / (15 + 5*d2), (10*d2 + 10*0.5) / (15 + 5*d2),
			(10*d2 + 10*0.5) / (15 + 5*d2), (10*d2 + 10*0.5) / (15 + 5*d2),
		}},
	}
	for _, test := range tests {
		for k, want := range test.want {
			if got := test.metric.At(k).Of(o); !near(got, want) {
				t.Errorf("%s: got %v, want %v", test.metric.At(k).Name(), got, want)
			}
		}
		if got, want := test.metric.Of(o), test.want[4]; !near(got, want) {
			t.Errorf("%s: got %v, want %v", test.metric.Name(), got, want)
		}
		if got := test.metric.At(-1).Of(o); !near(got, test.want[0]) {
			t.Errorf("%s: got %v, want %v", test.metric.At(-1).Name(), got, test.want[0])
		}
		// A cut-off beyond any memory must not be tried.
		if got, want := test.metric.At(math.MaxInt).Of(o), test.want[5]; !near(got, want) {
			t.Errorf("%s: got %v, want %v", test.metric.At(math.MaxInt).Name(), got, want)
		}
	}
}

// Chunk [2,8) holds most, but begins no best pair: a ranking beats the greedy
// one, by 12 % at rank 2.
func TestSpanNDCGWhereGreedyIsBeaten(t *testing.T) {
	d2 := 1 / math.Log2(3)
	left, right, middle := in("a", 0, 5), in("a", 5, 10), in("a", 2, 8)
	relevant := []spans.Span{in("a", 0, 10)}
	s := newTokenScorer([]spans.Span{left, right, middle}, 2)
	ideal := (1-d2)*6 + d2*10
	for _, test := range []struct {
		retrieved []spans.Span
		want      float64
	}{
		{[]spans.Span{left, right}, (5 + 5*d2) / ideal},
		{[]spans.Span{middle, left}, (6 + 2*d2) / ideal},
		{[]spans.Span{middle}, 6 / ideal},
		{nil, 0},
	} {
		s.load(spans.Union(relevant...), TokenOutcome{Retrieved: test.retrieved, Relevant: relevant})
		got, err := s.score(SpanNDCG)
		if err != nil || !near(got, test.want) {
			t.Errorf("%v: got %v, %v, want %v", test.retrieved, got, err, test.want)
		}
	}
}

// The index holds better chunks than those retrieved.
func TestSpanNDCGKnowsTheIndex(t *testing.T) {
	d2 := 1 / math.Log2(3)
	relevant := []spans.Span{in("a", 0, 10), in("b", 0, 10)}
	o := TokenOutcome{Retrieved: []spans.Span{in("c", 0, 50), in("a", 0, 5)}, Relevant: relevant}
	index := []spans.Span{in("c", 0, 50), in("a", 0, 5), in("a", 5, 10), in("b", 0, 20)}
	s := newTokenScorer(index, 5)
	s.load(spans.Union(relevant...), o)
	for _, test := range []struct {
		metric TokenMetric
		want   float64
	}{
		{SpanNDCG, 5 * d2 / (10 + 5*d2 + 5*0.5)},
		{SpanNDCG.At(2), 5 * d2 / (10 + 5*d2)},
		{SpanNDCG.At(1), 0},
	} {
		if got, err := s.score(test.metric); err != nil || !near(got, test.want) {
			t.Errorf("%s: got %v, %v, want %v", test.metric.Name(), got, err, test.want)
		}
	}
	if got := SpanNDCG.Of(o); !near(got, d2) {
		t.Errorf("without the index: got %v, want %v", got, d2)
	}
	empty := newTokenScorer([]spans.Span{}, 5)
	empty.load(spans.Union(relevant...), TokenOutcome{Relevant: relevant})
	if got, err := empty.score(SpanNDCG); err != nil || got != 0 {
		t.Errorf("empty index: got %v, %v, want 0", got, err)
	}
	empty.load(spans.Union(relevant...), o)
	if got, err := empty.score(SpanNDCG); err != nil || got != 0 {
		t.Errorf("retrieved from an empty index: got %v, %v, want 0", got, err)
	}
}

func TestTokenScorerJudgesKChunks(t *testing.T) {
	relevant := []spans.Span{in("a", 0, 10)}
	o := TokenOutcome{Retrieved: []spans.Span{in("b", 0, 1), in("b", 1, 2), in("a", 0, 10)}, Relevant: relevant}
	seen := NewTokenMetric("seen", func(o TokenOutcome) float64 { return float64(len(o.Retrieved)) / 10 })
	s := newTokenScorer(nil, 2)
	s.load(spans.Union(relevant...), o)
	for _, test := range []struct {
		metric TokenMetric
		want   float64
	}{{SpanRecall, 0}, {SpanHitRate, 0}, {SpanMRR, 0}, {seen, 0.2}, {seen.At(1), 0.1}} {
		if got, err := s.score(test.metric); err != nil || got != test.want {
			t.Errorf("%s: got %v, %v, want %v", test.metric.Name(), got, err, test.want)
		}
	}
}

func TestCustomTokenMetric(t *testing.T) {
	o := TokenOutcome{
		Retrieved: []spans.Span{in("b", 3, 9), in("a", 0, 4)},
		Relevant:  []spans.Span{in("a", 0, 4), in("a", 2, 6)},
	}
	var got TokenOutcome
	m := NewTokenMetric("own_2", func(o TokenOutcome) float64 {
		got = TokenOutcome{append([]spans.Span(nil), o.Retrieved...), append([]spans.Span(nil), o.Relevant...)}
		clear(o.Retrieved) // the slices are its own
		clear(o.Relevant)
		return 0.25
	})
	if score := m.Of(o); score != 0.25 || len(got.Retrieved) != 2 || len(got.Relevant) != 2 {
		t.Errorf("got %v of %v, want 0.25 of %v", score, got, o)
	}
	if m.At(1).Of(o); len(got.Retrieved) != 1 || got.Retrieved[0] != in("b", 3, 9) {
		t.Errorf("At(1): got %v, want the first of %v", got, o)
	}
	if m.At(0).Of(o); len(got.Retrieved) != 0 {
		t.Errorf("At(0): got %v, want nothing retrieved", got)
	}
	s := newTokenScorer(nil, 5)
	s.load(spans.Union(o.Relevant...), o)
	for _, bad := range []float64{-0.1, 1.1, math.NaN(), math.Inf(1)} {
		m := NewTokenMetric("bad", func(TokenOutcome) float64 { return bad })
		if score, err := s.score(m.At(3)); err == nil {
			t.Errorf("score of %v: got %v without an error", bad, score)
		} else if bad == 1.1 && err.Error() != "scoring bad@3: got 1.1, want a score between 0 and 1" {
			t.Errorf("got error %q", err)
		}
	}
}
