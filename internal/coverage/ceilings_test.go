package coverage

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rageval/rageval/spans"
)

// bestOfAll searches through all choices of n chunks.
func bestOfAll(chunks []spans.Span, relevant spans.Set, n int) (precision, iou float64) {
	for subset := range 1 << len(chunks) {
		if bits.OnesCount(uint(subset)) != n {
			continue
		}
		var chosen []spans.Span
		for i, c := range chunks {
			if subset>>i&1 == 1 {
				chosen = append(chosen, c)
			}
		}
		set := spans.Union(chosen...)
		precision, iou = max(precision, spans.Precision(set, relevant)), max(iou, spans.IoU(set, relevant))
	}
	return precision, iou
}

func TestCeilings(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	docs := []spans.DocumentID{"a", "b"}
	kinds := []string{"apart", "overlapping", "nested"}
	bounds := make([]int, len(kinds))
	exact := make([]int, len(kinds))
	for trial := range 3000 {
		kind := trial % len(kinds)
		var chunks []spans.Span
		for _, doc := range docs {
			at := 0
			for range random.IntN(7) {
				length := 1 + random.IntN(9)
				switch kind {
				case 0:
					at += random.IntN(3)
				case 1:
					// Ends increase too.
					if n := len(chunks); n > 0 && chunks[n-1].Doc == doc {
						previous := chunks[n-1]
						at = previous.Start + 1 + random.IntN(previous.Len()+1)
						length = max(length, previous.End-at+1)
					}
				case 2:
					at = random.IntN(20)
				}
				chunks = append(chunks, spans.Span{Doc: doc, Start: at, End: at + length})
				at += length
			}
		}
		if len(chunks) == 0 {
			continue
		}
		random.Shuffle(len(chunks), func(i, j int) { chunks[i], chunks[j] = chunks[j], chunks[i] })
		var parts []spans.Span
		for range random.IntN(4) {
			start := random.IntN(25)
			parts = append(parts, spans.Span{Doc: docs[random.IntN(2)], Start: start, End: start + random.IntN(10)})
		}
		relevant := spans.Union(parts...)
		k := 1 + random.IntN(5)
		c := NewCeilings(NewIndex(chunks), k)
		for n := range min(k, len(chunks)) + 1 {
			precision, iou := c.Best(relevant, n)
			wantPrecision, wantIoU := bestOfAll(chunks, relevant, n)
			for _, x := range []struct {
				what string
				got  Ceiling
				want float64
			}{{"precision", precision, wantPrecision}, {"IoU", iou, wantIoU}} {
				if x.got.Bound {
					bounds[kind]++
				} else {
					exact[kind]++
				}
				if x.got.Value < x.want || !x.got.Bound && x.got.Value > x.want {
					t.Fatalf("%s of %d of %v over %v (%s): got %+v, want %v", x.what, n, chunks, relevant, kinds[kind], x.got, x.want)
				}
			}
		}
	}
	if bounds[0] > 0 || exact[1] < bounds[1] {
		t.Errorf("got %v bounds and %v exact values of %v, want no bound where chunks are apart, and few where they overlap", bounds, exact, kinds)
	}
}

func TestCeilingsOfHighlyOverlappingChunks(t *testing.T) {
	var chunks []spans.Span
	for i := range 2000 {
		chunks = append(chunks, spans.Span{Doc: "a", Start: i, End: i + 500})
	}
	x := NewIndex(chunks)
	relevant := spans.Union(spans.Span{Doc: "a", Start: 700, End: 800})
	precision, iou := NewCeilings(x, 5).Best(relevant, 5)
	if want := (Ceiling{1, true}); precision != want || iou != want {
		t.Errorf("got %v and %v, want %v for too many candidates", precision, iou, want)
	}
}

func BenchmarkCeilings(b *testing.B) {
	for _, overlap := range []int{0, 200} {
		b.Run(fmt.Sprintf("overlap=%d", overlap), func(b *testing.B) {
			var chunks []spans.Span
			for i := range 5000 {
				chunks = append(chunks, spans.Span{Doc: "a", Start: i * (400 - overlap), End: i*(400-overlap) + 400 - i%7})
			}
			slices.Reverse(chunks)
			x := NewIndex(chunks)
			relevant := spans.Union(spans.Span{Doc: "a", Start: 10100, End: 10900}, spans.Span{Doc: "a", Start: 80100, End: 80200})
			b.Run("new", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					NewCeilings(x, 5)
				}
			})
			b.Run("best", func(b *testing.B) {
				c := NewCeilings(x, 5)
				b.ReportAllocs()
				for b.Loop() {
					c.Best(relevant, 5)
				}
			})
		})
	}
}

func TestSmallestUnions(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	for range 2000 {
		var chunks []spans.Span
		for at, n := 0, 1+r.IntN(8); len(chunks) < n; {
			length := r.IntN(9)
			chunks = append(chunks, spans.Span{Doc: "a", Start: at, End: at + length})
			if at += length + r.IntN(3); r.IntN(10) == 0 {
				at = max(0, at-r.IntN(6)) // the next one overlaps, or lies within
			}
		}
		k := r.IntN(len(chunks) + 2)
		got, overlapping, nested := SmallestUnions(chunks, k)
		c := NewCeilings(NewIndex(chunks), 0)
		c.pad(min(k, len(c.index.chunks)))
		var want []int
		for _, p := range c.padding[1:] {
			want = append(want, p.chars)
		}
		if !slices.Equal(got, want) || overlapping != c.overlapping || nested != (c.index.dropped > 0) {
			t.Fatalf("the %d smallest of %v: got %v, %v and %v, want %v, %v and %v", k, chunks, got, overlapping, nested, want, c.overlapping, c.index.dropped > 0)
		}
	}
}
