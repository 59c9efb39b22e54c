package ragtest

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rageval/rageval/internal/cputime"
	"github.com/rageval/rageval/spans"
)

// mask returns the characters of s as bits: documents "a" and "b" have 32 each.
func mask(s spans.Span) uint64 {
	var m uint64
	for i := s.Start; i < s.End; i++ {
		m |= 1 << (i + 32*int(s.Doc[0]-'a'))
	}
	return m
}

// modelScores computes all token metrics at k by their definitions, over bits.
func modelScores(index []spans.Span, o TokenOutcome, k int) map[string]float64 {
	var relevant, retrieved uint64
	for _, r := range o.Relevant {
		relevant |= mask(r)
	}
	size := func(m uint64) float64 { return float64(bits.OnesCount64(m)) }
	ratio := func(a, b, otherwise float64) float64 {
		if b == 0 {
			return otherwise
		}
		return a / b
	}
	summed, gain, ap := 0.0, 0.0, 0.0
	firstHit := 0
	for i, r := range o.Retrieved[:min(k, len(o.Retrieved))] {
		added := size(mask(r) & relevant &^ retrieved)
		retrieved |= mask(r)
		summed += size(mask(r))
		gain += added / math.Log2(float64(i+2))
		ap += added * ratio(size(retrieved&relevant), size(retrieved), 0)
		if firstHit == 0 && mask(r)&relevant != 0 {
			firstHit = i + 1
		}
	}
	both := size(retrieved & relevant)

	best := make([]float64, k+2) // best[i] by any i chunks
	for subset := range 1 << len(index) {
		var covered uint64
		for i, c := range index {
			if subset>>i&1 == 1 {
				covered |= mask(c) & relevant
			}
		}
		if n := bits.OnesCount(uint(subset)); n <= k {
			best[n] = max(best[n], size(covered))
		}
	}
	ideal := 0.0
	for i := 1; i <= k; i++ {
		best[i] = max(best[i], best[i-1])
		weight := 1 / math.Log2(float64(i+1))
		if i < k {
			weight -= 1 / math.Log2(float64(i+2))
		}
		ideal += weight * best[i]
	}
	hit := 0.0
	if firstHit > 0 {
		hit = 1
	}
	return map[string]float64{
		"span_recall":              ratio(both, size(relevant), 1),
		"span_precision":           ratio(both, size(retrieved), 0),
		"span_iou":                 ratio(both, size(retrieved|relevant), 1),
		"span_precision_redundant": ratio(both, summed, 0),
		"span_iou_redundant":       ratio(both, summed+size(relevant&^retrieved), 1),
		"span_hit_rate":            hit,
		"span_mrr":                 ratio(hit, float64(firstHit), 0),
		"span_ndcg":                ratio(gain, ideal, 0),
		"span_map":                 ratio(ap, size(relevant), 0),
	}
}

func checkAgainstModel(t *testing.T, s *tokenScorer, index []spans.Span, o TokenOutcome) {
	t.Helper()
	s.load(spans.Union(o.Relevant...), o)
	for k := 1; k <= s.k; k++ {
		want := modelScores(index, o, k)
		for _, m := range tokenMetrics {
			got, err := s.score(m.At(k)) // an error beyond 1, even by one bit
			if err != nil {
				t.Fatalf("index %v, outcome %v: %v", index, o, err)
			}
			if !near(got, want[m.Name()]) {
				t.Fatalf("%s: index %v, outcome %v: got %v, want %v", m.At(k).Name(), index, o, got, want[m.Name()])
			}
		}
	}
}

// drawSpans returns up to n spans of documents "a" and "b".
func drawSpans(random *rand.Rand, n, longest int) []spans.Span {
	list := make([]spans.Span, random.IntN(n+1))
	for i := range list {
		start := random.IntN(33)
		doc := spans.DocumentID([]string{"a", "b"}[random.IntN(2)])
		list[i] = in(doc, start, min(32, start+random.IntN(longest+1)))
	}
	return list
}

func TestTokenScorerAgainstBitmaps(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 1000 {
		index := drawSpans(random, 8, 1+random.IntN(16))
		relevant := drawSpans(random, 5, 1+random.IntN(16))
		known := newTokenScorer(index, 1+random.IntN(8))
		unknown := newTokenScorer(nil, 1+random.IntN(8))
		for range 3 { // the memory of one query must not reach into the next
			order := random.Perm(len(index))
			retrieved := make([]spans.Span, random.IntN(len(index)+1))
			for i := range retrieved {
				retrieved[i] = index[order[i]]
			}
			o := TokenOutcome{retrieved, relevant}
			checkAgainstModel(t, known, index, o)
			checkAgainstModel(t, unknown, retrieved, o)
		}
	}
}

func FuzzTokenScorer(f *testing.F) {
	f.Add([]byte{0, 5, 5, 5, 2, 6}, []byte{0, 10}, byte(3))
	f.Add([]byte{0x80, 31, 0, 31, 0x9f, 1}, []byte{0x80, 3, 4, 5}, byte(2))
	decode := func(data []byte) []spans.Span {
		var list []spans.Span
		for ; len(data) >= 2 && len(list) < 5; data = data[2:] {
			start := int(data[0] & 31)
			doc := spans.DocumentID([]string{"a", "b"}[data[0]>>7])
			list = append(list, in(doc, start, min(32, start+int(data[1]&31))))
		}
		return list
	}
	f.Fuzz(func(t *testing.T, retrieved, relevant []byte, k byte) {
		o := TokenOutcome{decode(retrieved), decode(relevant)}
		cut := 1 + int(k%7)
		checkAgainstModel(t, newTokenScorer(nil, cut), o.Retrieved, o)
		index := append(decode(relevant), o.Retrieved...)
		checkAgainstModel(t, newTokenScorer(index, cut), index, o)
		want := modelScores(o.Retrieved, o, cut)
		for _, m := range tokenMetrics {
			if got := m.At(cut).Of(o); !near(got, want[m.Name()]) {
				t.Fatalf("%s of %v: got %v, want %v", m.At(cut).Name(), o, got, want[m.Name()])
			}
		}
	})
}

func TestTokenMetricProperties(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	sets := []TokenMetric{SpanRecall, SpanPrecision, SpanIoU, SpanPrecisionRedundant, SpanIoURedundant, SpanHitRate}
	for range 2000 {
		o := TokenOutcome{drawSpans(random, 10, 12), drawSpans(random, 5, 12)}
		for k := 1; k < len(o.Retrieved); k++ {
			if a, b := SpanRecall.At(k).Of(o), SpanRecall.At(k+1).Of(o); a > b {
				t.Fatalf("recall of %v falls from %v to %v at %d", o, a, b, k+1)
			}
		}
		reordered := TokenOutcome{slices.Clone(o.Retrieved), slices.Clone(o.Relevant)}
		random.Shuffle(len(o.Retrieved), func(i, j int) {
			reordered.Retrieved[i], reordered.Retrieved[j] = reordered.Retrieved[j], reordered.Retrieved[i]
		})
		slices.Reverse(reordered.Relevant)
		for _, m := range sets {
			if a, b := m.Of(o), m.Of(reordered); a != b {
				t.Fatalf("%s of %v: got %v, in another order %v", m.Name(), o, a, b)
			}
		}
		retrieved, relevant := spans.Union(o.Retrieved...), spans.Union(o.Relevant...)
		if got, want := SpanRecall.Of(o), spans.Recall(retrieved, relevant); got != want {
			t.Fatalf("recall of %v: got %v, that of the sets is %v", o, got, want)
		}
		if got, want := SpanPrecision.Of(o), spans.Precision(retrieved, relevant); got != want {
			t.Fatalf("precision of %v: got %v, that of the sets is %v", o, got, want)
		}
		if got, want := SpanIoU.Of(o), spans.IoU(retrieved, relevant); got != want {
			t.Fatalf("IoU of %v: got %v, that of the sets is %v", o, got, want)
		}
		if relevant.Empty() {
			continue
		}
		perfect := TokenOutcome{Relevant: o.Relevant, Retrieved: slices.SortedStableFunc(relevant.All(), func(a, b spans.Span) int {
			return cmp.Compare(b.Len(), a.Len())
		})}
		for _, m := range tokenMetrics {
			if got := m.Of(perfect); got != 1 {
				t.Fatalf("%s of the perfect %v: got %v, want exactly 1", m.Name(), perfect, got)
			}
		}
	}
}

// Chunks that do not overlap, ordered by what they hold, are the ideal of nDCG:
// exactly 1, whatever the discounts are.
func TestSpanNDCGOfTheIdealIsExactly1(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for range 200 {
		var index, relevant []spans.Span
		for i := range 40 {
			start := 100 * i
			index = append(index, in("a", start, start+100))
			relevant = append(relevant, in("a", start, start+random.IntN(101)))
		}
		ranking := slices.Clone(index)
		truth := spans.Union(relevant...)
		slices.SortStableFunc(ranking, func(a, b spans.Span) int {
			return cmp.Compare(spans.OverlapLen(spans.Union(b), truth), spans.OverlapLen(spans.Union(a), truth))
		})
		s := newTokenScorer(index, 20)
		s.load(truth, TokenOutcome{ranking[:20], relevant})
		for k := 1; k <= 20; k++ {
			if got, err := s.score(SpanNDCG.At(k)); err != nil || got != 1 {
				t.Fatalf("at %d: got %v, %v, want exactly 1", k, got, err)
			}
		}
	}
}

// scoringCase is a run of chunks of 400 characters that overlap by half, and a
// query with relevant spans spread over several documents.
func scoringCase(retrieved, relevant int) (index []spans.Span, o TokenOutcome) {
	random := rand.New(rand.NewPCG(11, 12))
	for doc := range 10 {
		for start := 0; start < 100_000; start += 200 {
			index = append(index, in(spans.DocumentID(fmt.Sprintf("handbook/part%d.md", doc)), start, start+400))
		}
	}
	for range relevant {
		at := index[random.IntN(len(index))]
		o.Relevant = append(o.Relevant, in(at.Doc, at.Start+50, at.Start+300))
	}
	for i := range retrieved {
		if i%2 == 0 { // every other chunk holds something relevant
			r := o.Relevant[i/2%relevant]
			o.Retrieved = append(o.Retrieved, in(r.Doc, r.Start-50, r.Start+350))
			continue
		}
		o.Retrieved = append(o.Retrieved, index[random.IntN(len(index))])
	}
	return index, o
}

func TestTokenScorerDoesNotAllocate(t *testing.T) {
	for _, size := range [][2]int{{5, 5}, {100, 20}} {
		index, o := scoringCase(size[0], size[1])
		truth := spans.Union(o.Relevant...)
		for name, s := range map[string]*tokenScorer{"known": newTokenScorer(index, size[0]), "unknown": newTokenScorer(nil, size[0])} {
			if n := testing.AllocsPerRun(20, func() {
				s.load(truth, o)
				for _, m := range tokenMetrics {
					for _, k := range []int{1, 3, size[0]} {
						if _, err := s.score(m.At(k)); err != nil {
							t.Fatal(err)
						}
					}
				}
			}); n != 0 {
				t.Errorf("%d × %d, %s index: got %v allocations a query, want 0", size[0], size[1], name, n)
			}
		}
	}
}

// BenchmarkTokenScorer scores one query. The metrics called chroma are those of Chroma's
// chunking evaluation. The unit cpu-ns/op is the time of all processors, which a
// busy machine changes less.
func BenchmarkTokenScorer(b *testing.B) {
	sets := []TokenMetric{SpanRecall, SpanPrecision, SpanIoU}
	chroma := []TokenMetric{SpanRecall, SpanPrecisionRedundant, SpanIoURedundant}
	for _, size := range [][2]int{{5, 2}, {5, 5}, {20, 2}, {100, 2}, {100, 5}, {100, 20}, {200, 40}, {400, 80}, {800, 160}, {1600, 320}, {3200, 640}, {6400, 1280}} {
		index, o := scoringCase(size[0], size[1])
		truth := spans.Union(o.Relevant...)
		for _, bench := range []struct {
			name    string
			metrics []TokenMetric
		}{{"chroma", chroma}, {"sets", sets}, {"all", tokenMetrics}} {
			b.Run(fmt.Sprintf("retrieved=%d/relevant=%d/metrics=%s", size[0], size[1], bench.name), func(b *testing.B) {
				s := newTokenScorer(index, size[0])
				b.ReportAllocs()
				cpu := cputime.Used(b)
				for b.Loop() {
					s.load(truth, o)
					for _, m := range bench.metrics {
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
