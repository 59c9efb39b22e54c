package ragtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/cputime"
)

var chunkMetrics = []ChunkMetric{
	ChunkRecall, ChunkPrecision, ChunkF1, ChunkHitRate, ChunkMRR, ChunkNDCG, ChunkMAP,
}

// ids returns the ID of each word.
func ids(words string) []chunkers.ChunkID {
	var list []chunkers.ChunkID
	for _, w := range strings.Fields(words) {
		list = append(list, chunkers.NewChunkID(w))
	}
	return list
}

func TestChunkMetricsWorked(t *testing.T) {
	d2, d4 := 1/math.Log2(3), 1/math.Log2(5) // the discounts of ranks 2 and 4; that of 3 is 1/2
	type scores struct{ recall, precision, f1, hitRate, mrr, ndcg, ap float64 }
	tests := []struct {
		name                string
		retrieved, relevant string
		want                scores
	}{
		{"perfect", "a b", "b a", scores{1, 1, 1, 1, 1, 1, 1}},
		{"half of the relevant", "a", "a b", scores{0.5, 1, 2. / 3, 1, 1, 1, 0.5}},
		{"half of the retrieved", "a x", "a", scores{1, 0.5, 2. / 3, 1, 1, 1, 1}},
		{"second", "x a", "a", scores{1, 0.5, 2. / 3, 1, 0.5, d2, 0.5}},
		{
			"second and fourth of three", "x a y b", "a b c",
			scores{2. / 3, 0.5, 4. / 7, 1, 0.5, (d2 + d4) / (1 + d2 + 0.5), (1./2 + 2./4) / 3},
		},
		{"none of the relevant", "x y", "a", scores{}},
		{"nothing relevant", "x y", "", scores{recall: 1}},
		{"nothing retrieved", "", "a", scores{}},
		{"nothing at all", "", "", scores{recall: 1}},
		// Later copies are taken out before ranks are counted.
		{"retrieved twice", "x x a a x", "a b", scores{0.5, 0.5, 0.5, 1, 0.5, d2 / (1 + d2), 0.25}},
		{"relevant twice", "a", "a a b b", scores{0.5, 1, 2. / 3, 1, 1, 1, 0.5}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := ChunkOutcome{Retrieved: ids(test.retrieved), Relevant: ids(test.relevant)}
			w := test.want
			want := []float64{w.recall, w.precision, w.f1, w.hitRate, w.mrr, w.ndcg, w.ap}
			for i, m := range chunkMetrics {
				if got := m.Of(o); !near(got, want[i]) {
					t.Errorf("%s: got %v, want %v", m.Name(), got, want[i])
				}
			}
		})
	}
}

func TestChunkMetricAt(t *testing.T) {
	o := ChunkOutcome{Retrieved: ids("x x a b y"), Relevant: ids("a b c")} // x a b y
	d2 := 1 / math.Log2(3)
	tests := []struct {
		metric ChunkMetric
		want   [6]float64 // at 0 … 5
	}{
		{ChunkRecall, [6]float64{0, 0, 1. / 3, 2. / 3, 2. / 3, 2. / 3}},
		{ChunkPrecision, [6]float64{0, 0, 1. / 2, 2. / 3, 2. / 4, 2. / 4}},
		{ChunkF1, [6]float64{0, 0, 2. / 5, 4. / 6, 4. / 7, 4. / 7}},
		{ChunkHitRate, [6]float64{0, 0, 1, 1, 1, 1}},
		{ChunkMRR, [6]float64{0, 0, 0.5, 0.5, 0.5, 0.5}},
		{ChunkNDCG, [6]float64{0, 0, d2 / (1 + d2), (d2 + 0.5) / (1.5 + d2), (d2 + 0.5) / (1.5 + d2), (d2 + 0.5) / (1.5 + d2)}},
		{ChunkMAP, [6]float64{0, 0, 0.5 / 3, (1./2 + 2./3) / 3, (1./2 + 2./3) / 3, (1./2 + 2./3) / 3}},
	}
	for _, test := range tests {
		for k, want := range test.want {
			if got := test.metric.At(k).Of(o); !near(got, want) {
				t.Errorf("%s: got %v, want %v", test.metric.At(k).Name(), got, want)
			}
		}
		for k, want := range map[int]float64{-1: test.want[0], math.MaxInt: test.want[5]} {
			if got := test.metric.At(k).Of(o); !near(got, want) {
				t.Errorf("%s: got %v, want %v", test.metric.At(k).Name(), got, want)
			}
		}
		if got, want := test.metric.Of(o), test.want[4]; !near(got, want) {
			t.Errorf("%s: got %v, want %v", test.metric.Name(), got, want)
		}
	}
}

// The ideal of nDCG has K ranks even if fewer chunks were retrieved.
func TestChunkNDCGOfAShortList(t *testing.T) {
	d2 := 1 / math.Log2(3)
	o := ChunkOutcome{Retrieved: ids("a"), Relevant: ids("a b")}
	s := newChunkScorer(5)
	s.load(o)
	if got, err := s.score(ChunkNDCG); err != nil || !near(got, 1/(1+d2)) {
		t.Errorf("K = 5: got %v, %v, want %v", got, err, 1/(1+d2))
	}
	if got := ChunkNDCG.Of(o); got != 1 {
		t.Errorf("Of: got %v, want 1", got)
	}
	if got := ChunkNDCG.At(5).Of(o); !near(got, 1/(1+d2)) {
		t.Errorf("At(5).Of: got %v, want %v", got, 1/(1+d2))
	}
}

func TestCustomChunkMetric(t *testing.T) {
	o := ChunkOutcome{Retrieved: ids("x x a y"), Relevant: ids("a a b")}
	var got ChunkOutcome
	m := NewChunkMetric("own", func(o ChunkOutcome) float64 {
		got = ChunkOutcome{slices.Clone(o.Retrieved), slices.Clone(o.Relevant)}
		clear(o.Retrieved) // the slices are its own
		clear(o.Relevant)
		return 1
	})
	if score := m.Of(o); score != 1 || !slices.Equal(got.Retrieved, ids("x a y")) || !slices.Equal(got.Relevant, ids("a b")) {
		t.Errorf("got %v of %v, want 1 of x a y and a b", score, got)
	}
	if m.At(2).Of(o); !slices.Equal(got.Retrieved, ids("x a")) {
		t.Errorf("At(2): got %v, want x a", got.Retrieved)
	}
	s := newChunkScorer(5)
	s.load(o)
	for _, bad := range []float64{-0.1, 1.1, math.NaN()} {
		m := NewChunkMetric("bad", func(ChunkOutcome) float64 { return bad })
		if score, err := s.score(m); err == nil || !strings.Contains(err.Error(), "scoring bad: got ") {
			t.Errorf("score of %v: got %v, %v, want an error", bad, score, err)
		}
	}
	s.load(o)
	if got, err := s.score(ChunkRecall); err != nil || got != 0.5 {
		t.Errorf("recall after custom metrics: got %v, %v, want 0.5", got, err)
	}
}

func TestChunkMetricsAreBetween0And1(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	words := ids("a b c d e f g h i j k l m n o p q r s t u v w x y z")
	draw := func() []chunkers.ChunkID {
		list := make([]chunkers.ChunkID, random.IntN(30))
		for i := range list {
			list[i] = words[random.IntN(len(words))]
		}
		return list
	}
	s := newChunkScorer(10)
	for range 2000 {
		o := ChunkOutcome{draw(), draw()}
		s.load(o)
		for _, m := range chunkMetrics {
			for k := 1; k <= 10; k++ {
				got, err := s.score(m.At(k))
				if err != nil {
					t.Fatalf("%v: %v", o, err)
				}
				if alone := m.At(k).Of(o); got != alone {
					t.Fatalf("%s of %v: got %v, alone %v", m.At(k).Name(), o, got, alone)
				}
				if k > 1 && m.Equal(ChunkRecall) && got < ChunkRecall.At(k-1).Of(o) {
					t.Fatalf("recall of %v falls at %d", o, k)
				}
			}
		}
		o.Retrieved = slices.Clone(o.Relevant)
		if len(o.Relevant) == 0 {
			continue
		}
		for _, m := range chunkMetrics {
			if got := m.Of(o); got != 1 {
				t.Fatalf("%s of the perfect %v: got %v, want exactly 1", m.Name(), o, got)
			}
		}
	}
}

func TestChunkScorerDoesNotAllocate(t *testing.T) {
	o := ChunkOutcome{ids("a b c d e f g h i j"), ids("z y b d f")}
	s := newChunkScorer(10)
	if n := testing.AllocsPerRun(100, func() {
		s.load(o)
		for _, m := range chunkMetrics {
			if _, err := s.score(m.At(7)); err != nil {
				t.Fatal(err)
			}
		}
	}); n != 0 {
		t.Errorf("got %v allocations a query, want 0", n)
	}
}

// BenchmarkChunkScorer scores one query by all metrics. Numbers stand for IDs that were met
// before; aligned marks tell which of the ranks are relevant: what is left are the metrics.
func BenchmarkChunkScorer(b *testing.B) {
	for _, size := range []struct{ retrieved, relevant int }{{5, 5}, {100, 20}} {
		var o ChunkOutcome
		for i := range size.retrieved {
			o.Retrieved = append(o.Retrieved, chunkers.NewChunkID(fmt.Sprint(i)))
		}
		for i := range size.relevant {
			o.Relevant = append(o.Relevant, chunkers.NewChunkID(fmt.Sprint(i*size.retrieved/size.relevant*2)))
		}
		s := newChunkScorer(size.retrieved)
		s.load(o)
		retrieved, relevant := slices.Clone(s.ranked), slices.Clone(s.relevant)
		hits := make([]bool, size.retrieved)
		for i := range hits {
			hits[i] = s.hits[i+1] > s.hits[i]
		}
		for _, impl := range []struct {
			name string
			load func()
		}{
			{"ids", func() { s.load(o) }},
			{"numbers", func() {
				s.judge(relevant)
				for _, n := range retrieved {
					s.rank(n)
				}
			}},
			{"aligned", func() {
				s.hits, s.firstHit = append(s.hits[:0], 0), 0
				found := 0
				for i, hit := range hits {
					if hit {
						found++
						if s.firstHit == 0 {
							s.firstHit = i + 1
						}
					}
					s.hits = append(s.hits, found)
				}
			}},
		} {
			b.Run(fmt.Sprintf("retrieved=%d/relevant=%d/impl=%s", size.retrieved, size.relevant, impl.name), func(b *testing.B) {
				b.ReportAllocs()
				cpu := cputime.Used(b)
				for b.Loop() {
					impl.load()
					for _, m := range chunkMetrics {
						if _, err := s.score(m); err != nil {
							b.Fatal(err)
						}
					}
				}
				b.ReportMetric(float64(cputime.Used(b)-cpu)/float64(b.N), "cpu-ns/op")
			})
		}
	}
}
