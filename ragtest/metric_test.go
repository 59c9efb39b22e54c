package ragtest

import (
	"math"
	"strings"
	"testing"
)

func TestMetricNames(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{SpanRecall.Name(), "span_recall"},
		{SpanPrecision.Name(), "span_precision"},
		{SpanIoU.Name(), "span_iou"},
		{SpanHitRate.Name(), "span_hit_rate"},
		{SpanMRR.Name(), "span_mrr"},
		{SpanNDCG.Name(), "span_ndcg"},
		{SpanMAP.Name(), "span_map"},
		{SpanPrecisionRedundant.Name(), "span_precision_redundant"},
		{SpanIoURedundant.Name(), "span_iou_redundant"},
		{ChunkRecall.Name(), "chunk_recall"},
		{ChunkPrecision.Name(), "chunk_precision"},
		{ChunkF1.Name(), "chunk_f1"},
		{ChunkHitRate.Name(), "chunk_hit_rate"},
		{ChunkMRR.Name(), "chunk_mrr"},
		{ChunkNDCG.Name(), "chunk_ndcg"},
		{ChunkMAP.Name(), "chunk_map"},
		{SpanRecall.At(3).Name(), "span_recall@3"},
		{SpanRecall.At(3).At(10).Name(), "span_recall@10"},
		{SpanRecall.At(-1).Name(), "span_recall@-1"},
		{ChunkMAP.At(3).Name(), "chunk_map@3"},
		{TokenMetric{}.Name(), ""},
		{ChunkMetric{}.Name(), ""},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

func TestNewMetricPanics(t *testing.T) {
	caught := func(f func()) (message string) {
		defer func() { message, _ = recover().(string) }()
		f()
		return ""
	}
	token := func(TokenOutcome) float64 { return 0 }
	chunk := func(ChunkOutcome) float64 { return 0 }
	for _, name := range []string{"", "A", "aB", "1a", "_a", "a-b", "a@3", "a b", "ä", "aä"} {
		if got := caught(func() { NewTokenMetric(name, token) }); !strings.HasPrefix(got, "ragtest.NewTokenMetric: metric name") {
			t.Errorf("NewTokenMetric(%q): got panic %q", name, got)
		}
		if got := caught(func() { NewChunkMetric(name, chunk) }); !strings.HasPrefix(got, "ragtest.NewChunkMetric: metric name") {
			t.Errorf("NewChunkMetric(%q): got panic %q", name, got)
		}
	}
	if got, want := caught(func() { NewTokenMetric("a", nil) }), "ragtest.NewTokenMetric: metric a: want a function that scores, got nil"; got != want {
		t.Errorf("got panic %q, want %q", got, want)
	}
	if got := caught(func() { NewChunkMetric("a", nil) }); got == "" {
		t.Errorf("NewChunkMetric with nil: got no panic")
	}
	for _, name := range []string{"a", "a1", "a_1_b", "z__"} {
		if got := caught(func() { NewTokenMetric(name, token); NewChunkMetric(name, chunk) }); got != "" {
			t.Errorf("%q: got panic %q", name, got)
		}
	}
}

func TestZeroMetric(t *testing.T) {
	if got := (TokenMetric{}).Of(TokenOutcome{}); !math.IsNaN(got) {
		t.Errorf("got %v, want NaN", got)
	}
	if got := (ChunkMetric{}).Of(ChunkOutcome{}); !math.IsNaN(got) {
		t.Errorf("got %v, want NaN", got)
	}
	for _, err := range []error{
		TokenMetric{}.validate(5), ChunkMetric{}.validate(5), TokenMetric{}.At(1).validate(5),
		TokenThreshold{}.validate(), ChunkThreshold{}.validate(), TokenMetric{}.AtLeast(0.5).validate(),
	} {
		if err == nil {
			t.Error("got no error, want one")
		}
	}
}

func TestMetricValidate(t *testing.T) {
	const k = 5
	for at, want := range map[int]string{
		-1: "metric span_recall@-1: want a cut-off between 1 and K = 5",
		0:  "metric span_recall@0: want a cut-off between 1 and K = 5",
		1:  "",
		5:  "",
		6:  "metric span_recall@6: want a cut-off between 1 and K = 5",
	} {
		message := ""
		if err := SpanRecall.At(at).validate(k); err != nil {
			message = err.Error()
		}
		if message != want {
			t.Errorf("got error %q, want %q", message, want)
		}
		if err := ChunkRecall.At(at).validate(k); (err == nil) != (want == "") {
			t.Errorf("chunk_recall@%d: got error %v", at, err)
		}
	}
	if err := SpanRecall.validate(k); err != nil {
		t.Error(err)
	}
}

func TestThresholds(t *testing.T) {
	tests := []struct {
		threshold   TokenThreshold
		text        string
		holds       []float64
		holdsNot    []float64
		wantInvalid string
	}{
		{
			threshold: SpanRecall.At(3).AtLeast(0.8),
			text:      "span_recall@3 >= 0.8",
			holds:     []float64{0.8, 0.81, 1},
			holdsNot:  []float64{0.79, 0, math.NaN()},
		},
		{
			threshold: SpanPrecisionRedundant.AtMost(0.25),
			text:      "span_precision_redundant <= 0.25",
			holds:     []float64{0, 0.25},
			holdsNot:  []float64{0.26, 1, math.NaN()},
		},
		{threshold: SpanIoU.AtLeast(0), text: "span_iou >= 0", holds: []float64{0, 1}},
		{threshold: SpanIoU.AtMost(1), text: "span_iou <= 1", holds: []float64{0, 1}},
		{
			threshold:   SpanIoU.AtLeast(80),
			text:        "span_iou >= 80",
			wantInvalid: "threshold span_iou >= 80: want a bound between 0 and 1",
		},
		{
			threshold:   SpanIoU.AtMost(-0.1),
			text:        "span_iou <= -0.1",
			wantInvalid: "threshold span_iou <= -0.1: want a bound between 0 and 1",
		},
		{
			threshold:   SpanIoU.AtLeast(math.NaN()),
			text:        "span_iou >= NaN",
			wantInvalid: "threshold span_iou >= NaN: want a bound between 0 and 1",
		},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			if got := test.threshold.String(); got != test.text {
				t.Errorf("got %q, want %q", got, test.text)
			}
			if got := test.threshold.metric().Name() + " " + test.threshold.want().String(); got != test.text {
				t.Errorf("got metric and bound %q, want %q", got, test.text)
			}
			for _, score := range test.holds {
				if !test.threshold.want().holds(score) {
					t.Errorf("does not hold for %v", score)
				}
			}
			for _, score := range test.holdsNot {
				if test.threshold.want().holds(score) {
					t.Errorf("holds for %v", score)
				}
			}
			invalid := ""
			if err := test.threshold.validate(); err != nil {
				invalid = err.Error()
			}
			if invalid != test.wantInvalid {
				t.Errorf("got error %q, want %q", invalid, test.wantInvalid)
			}
		})
	}
	chunk := ChunkNDCG.AtMost(0.5)
	if got, want := chunk.String(), "chunk_ndcg <= 0.5"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !chunk.want().holds(0.5) || chunk.want().holds(0.6) || !ChunkNDCG.AtLeast(0.5).want().holds(0.6) || chunk.validate() != nil {
		t.Errorf("%v does not judge", chunk)
	}
	if ChunkNDCG.AtLeast(1.5).validate() == nil || !chunk.metric().Equal(ChunkNDCG) {
		t.Error("want an error for a bound of 1.5, and the metric back")
	}
}

func TestMetricsAndThresholdsEqual(t *testing.T) {
	own := NewTokenMetric("own", func(TokenOutcome) float64 { return 0 })
	twin := NewTokenMetric("own", func(TokenOutcome) float64 { return 0 })
	metrics := []TokenMetric{{}, SpanRecall, SpanRecall.At(0), SpanRecall.At(3), SpanPrecision, own, own.At(2), twin}
	for i, m := range metrics {
		for j, n := range metrics {
			if got, want := m.Equal(n), i == j; got != want {
				t.Errorf("%q equals %q: got %v, want %v", m.Name(), n.Name(), got, want)
			}
		}
	}
	if !SpanRecall.At(1).At(3).Equal(SpanRecall.At(3)) || !ChunkF1.At(2).Equal(ChunkF1.At(2)) || ChunkF1.Equal(ChunkMAP) {
		t.Error("At makes no equal metrics")
	}
	nan := math.NaN()
	thresholds := []TokenThreshold{
		{}, SpanRecall.AtLeast(0.5), SpanRecall.AtMost(0.5), SpanRecall.AtLeast(0.6), SpanRecall.At(2).AtLeast(0.5),
		SpanIoU.AtLeast(0.5), SpanIoU.AtLeast(nan),
	}
	for i, t1 := range thresholds {
		for j, t2 := range thresholds {
			if got, want := t1.Equal(t2), i == j; got != want {
				t.Errorf("%v equals %v: got %v, want %v", t1, t2, got, want)
			}
		}
	}
	if !ChunkF1.AtLeast(0.5).Equal(ChunkF1.AtLeast(0.5)) || ChunkF1.AtLeast(0.5).Equal(ChunkF1.AtMost(0.5)) {
		t.Error("chunk thresholds do not compare")
	}
}

// Scores have the same bits on every machine: no logarithm of the platform, no
// fused multiply-add: at these cut-offs, one would show.
func TestScoresAreTheSameOnEveryMachine(t *testing.T) {
	var tokens TokenOutcome
	var chunks ChunkOutcome
	all := ids("a b c d e f g h i j k l m n o p q r s t u v w x y z")
	for i := range 20 {
		start := i * 37 % 100
		tokens.Retrieved = append(tokens.Retrieved, in("a", start, start+13))
		tokens.Relevant = append(tokens.Relevant, in("a", 5*i, 5*i+1+i%4))
		chunks.Retrieved = append(chunks.Retrieved, all[i*7%26])
	}
	chunks.Relevant = all[:13]
	for _, test := range []struct {
		name      string
		got, want float64
	}{
		{"span_ndcg", SpanNDCG.At(6).Of(tokens), 0x1.a0a9080963f6bp-01},
		{"span_map", SpanMAP.At(3).Of(tokens), 0x1.4c67f9b2ce603p-03},
		{"chunk_ndcg", ChunkNDCG.At(7).Of(chunks), 0x1.4e1b8145d7cf6p-01},
		{"chunk_map", ChunkMAP.Of(chunks), 0x1.ff3846eb870bcp-02},
	} {
		if test.got != test.want {
			t.Errorf("%s: got %x, want %x", test.name, test.got, test.want)
		}
	}
}
