package coverage

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rageval/rageval/spans"
)

func TestCurve(t *testing.T) {
	span := func(doc spans.DocumentID, start, end int) spans.Span {
		return spans.Span{Doc: doc, Start: start, End: end}
	}
	tests := []struct {
		name             string
		chunks, relevant []spans.Span
		k                int
		want             []int
	}{
		{
			// The greedy choice takes the middle chunk first and needs three.
			name:     "greedy is beaten",
			chunks:   []spans.Span{span("a", 0, 5), span("a", 5, 10), span("a", 2, 8)},
			relevant: []spans.Span{span("a", 0, 10)},
			k:        3,
			want:     []int{6, 10},
		},
		{
			name:     "documents are apart",
			chunks:   []spans.Span{span("a", 0, 10), span("b", 0, 10), span("c", 0, 10)},
			relevant: []spans.Span{span("a", 0, 3), span("b", 5, 20), span("d", 0, 9)},
			k:        5,
			want:     []int{5, 8},
		},
		{
			name:     "one chunk over several relevant spans",
			chunks:   []spans.Span{span("a", 10, 90), span("a", 0, 12), span("a", 80, 100)},
			relevant: []spans.Span{span("a", 0, 20), span("a", 40, 50), span("a", 85, 95)},
			k:        5,
			want:     []int{25, 35, 40},
		},
		{
			name:     "cut at k",
			chunks:   []spans.Span{span("a", 0, 1), span("a", 1, 2), span("a", 2, 3)},
			relevant: []spans.Span{span("a", 0, 3)},
			k:        2,
			want:     []int{1, 2},
		},
		{
			name:     "nothing relevant",
			chunks:   []spans.Span{span("a", 0, 10)},
			relevant: nil,
			k:        2,
			want:     []int{},
		},
		{
			name:     "no chunk touches",
			chunks:   []spans.Span{span("a", 0, 10), span("a", 10, 10), span("a", 15, 12)},
			relevant: []spans.Span{span("a", 10, 20)},
			k:        2,
			want:     []int{},
		},
		{
			name:     "k of zero",
			chunks:   []spans.Span{span("a", 0, 10)},
			relevant: []spans.Span{span("a", 0, 10)},
			k:        0,
			want:     []int{},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var o Optimum
			got := o.Curve(NewIndex(test.chunks), spans.Union(test.relevant...), test.k)
			if !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// bestOfAllSubsets is the definition: the most that any choice of i chunks
// covers, for i = 1 … k. Documents "a" and "b" have 32 characters each, the bits
// of one number.
func bestOfAllSubsets(chunks, relevant []spans.Span, k int) []int {
	mask := func(s spans.Span) uint64 {
		var m uint64
		for i := s.Start; i < s.End; i++ {
			m |= 1 << (i + 32*int(s.Doc[0]-'a'))
		}
		return m
	}
	var truth uint64
	for _, r := range relevant {
		truth |= mask(r)
	}
	best := make([]int, k)
	for subset := range 1 << len(chunks) {
		var covered uint64
		for i, c := range chunks {
			if subset>>i&1 == 1 {
				covered |= mask(c) & truth
			}
		}
		for n := bits.OnesCount(uint(subset)); n <= k; n++ {
			if n > 0 {
				best[n-1] = max(best[n-1], bits.OnesCount64(covered))
			}
		}
	}
	return best
}

func checkAgainstSubsets(t *testing.T, o *Optimum, chunks, relevant []spans.Span, k int) {
	t.Helper()
	got := slices.Clone(o.Curve(NewIndex(chunks), spans.Union(relevant...), k))
	if len(got) > k {
		t.Fatalf("chunks %v, relevant %v: got %d numbers, want at most %d", chunks, relevant, len(got), k)
	}
	for len(got) < k {
		last := 0
		if len(got) > 0 {
			last = got[len(got)-1]
		}
		got = append(got, last)
	}
	if want := bestOfAllSubsets(chunks, relevant, k); !slices.Equal(got, want) {
		t.Fatalf("chunks %v, relevant %v: got %v, want %v", chunks, relevant, got, want)
	}
}

func TestCurveIsTheBestOfAllSubsets(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	draw := func(n, longest int) []spans.Span {
		list := make([]spans.Span, n)
		for i := range list {
			start := random.IntN(33)
			list[i] = spans.Span{
				Doc:   spans.DocumentID([]string{"a", "b"}[random.IntN(2)]),
				Start: start,
				End:   min(32, start+random.IntN(longest+1)),
			}
		}
		return list
	}
	var o Optimum
	for range 3000 {
		chunks := draw(random.IntN(9), 1+random.IntN(16))
		relevant := draw(random.IntN(6), 1+random.IntN(16))
		checkAgainstSubsets(t, &o, chunks, relevant, 1+random.IntN(9))
	}
}

func FuzzCurve(f *testing.F) {
	f.Add([]byte{0, 5, 5, 5, 2, 6}, []byte{0, 10}, byte(3))
	f.Add([]byte{0x80, 31, 0, 31, 0x9f, 1}, []byte{0x80, 3, 4, 5}, byte(2))
	decode := func(data []byte, most int) []spans.Span {
		var list []spans.Span
		for ; len(data) >= 2 && len(list) < most; data = data[2:] {
			start := int(data[0] & 31)
			list = append(list, spans.Span{
				Doc:   spans.DocumentID([]string{"a", "b"}[data[0]>>7]),
				Start: start,
				End:   min(32, start+int(data[1]&31)),
			})
		}
		return list
	}
	f.Fuzz(func(t *testing.T, chunks, relevant []byte, k byte) {
		checkAgainstSubsets(t, new(Optimum), decode(chunks, 10), decode(relevant, 10), 1+int(k%10))
	})
}

func TestCurveDoesNotAllocate(t *testing.T) {
	var chunks []spans.Span
	for start := 0; start < 10000; start += 20 {
		chunks = append(chunks, spans.Span{Doc: "a", Start: start, End: start + 50})
	}
	x := NewIndex(chunks)
	relevant := spans.Union(spans.Span{Doc: "a", Start: 100, End: 400}, spans.Span{Doc: "a", Start: 5000, End: 5100})
	var o Optimum
	var own Index
	if n := testing.AllocsPerRun(100, func() {
		o.Curve(x, relevant, 10)
		own.Reset(chunks[:10])
		o.Curve(&own, relevant, 10)
	}); n != 0 {
		t.Errorf("got %v allocations a call, want 0", n)
	}
}

func BenchmarkCurve(b *testing.B) {
	var chunks []spans.Span
	for start := 0; start < 1_000_000; start += 200 {
		chunks = append(chunks, spans.Span{Doc: "handbook/leave.md", Start: start, End: start + 400})
	}
	x := NewIndex(chunks)
	var truth []spans.Span
	for start := 1000; len(truth) < 20; start += 40_000 {
		truth = append(truth, spans.Span{Doc: "handbook/leave.md", Start: start, End: start + 700})
	}
	for _, bench := range []struct {
		name  string
		truth []spans.Span
		k     int
	}{{"relevant=5/k=5", truth[:5], 5}, {"relevant=20/k=100", truth, 100}} {
		relevant := spans.Union(bench.truth...)
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			var o Optimum
			for b.Loop() {
				o.Curve(x, relevant, bench.k)
			}
		})
	}
}

// With aliases the curve is never below the best choice, and equals it where it
// does not say that it is a bound.
func TestCurveOfAliases(t *testing.T) {
	random := rand.New(rand.NewPCG(31, 32))
	span := func(from, length int) spans.Span { return spans.Span{Doc: "a", Start: from, End: from + length} }
	bounds, exact := 0, 0
	for range 2000 {
		// The relevant text is in [0, 20), aliases of it in [20, 60).
		relevant := spans.Union(span(random.IntN(8), 1+random.IntN(5)), span(10+random.IntN(5), 1+random.IntN(5)))
		var aliases []Alias
		at := 20
		for r := range relevant.All() {
			for range random.IntN(3) {
				at += random.IntN(3)
				length := 1 + random.IntN(r.Len())
				start := r.Start + random.IntN(r.Len()-length+1)
				aliases = append(aliases, Alias{span(at, length), span(start, length)})
				at += length
			}
		}
		var chunks []spans.Span
		for range random.IntN(8) {
			chunks = append(chunks, span(random.IntN(50), 1+random.IntN(12)))
		}
		k := 1 + random.IntN(4)
		var o Optimum
		all, got := o.Reach(NewIndex(chunks), relevant, k, aliases...)
		cover := func(subset int) int {
			held := map[int]bool{}
			for i, c := range chunks {
				if subset>>i&1 == 0 {
					continue
				}
				for r := range relevant.All() {
					for at := max(r.Start, c.Start); at < min(r.End, c.End); at++ {
						held[at] = true
					}
				}
				for _, a := range aliases {
					for at := max(a.From.Start, c.Start); at < min(a.From.End, c.End); at++ {
						held[a.To.Start+at-a.From.Start] = true
					}
				}
			}
			return len(held)
		}
		want := 0
		for subset := range 1 << len(chunks) {
			if bits.OnesCount(uint(subset)) <= k {
				want = max(want, cover(subset))
			}
		}
		if o.Bound() {
			bounds++
		} else {
			exact++
		}
		if got < want || !o.Bound() && got != want || all != cover(1<<len(chunks)-1) {
			t.Fatalf("chunks %v, relevant %v, aliases %v: got %d of %d (bound: %v), want %d of %d", chunks, relevant, aliases, got, all, o.Bound(), want, cover(1<<len(chunks)-1))
		}
	}
	if bounds == 0 || exact < bounds {
		t.Errorf("got %d bounds and %d exact values", bounds, exact)
	}
}
