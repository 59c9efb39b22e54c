package ragtest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

func TestPrecisionOmega(t *testing.T) {
	tests := []struct {
		name             string
		chunks, relevant []spans.Span
		want             float64
	}{
		{"exactly one chunk", []spans.Span{in("a", 0, 10), in("a", 10, 20)}, []spans.Span{in("a", 0, 10)}, 1},
		{"within one chunk", []spans.Span{in("a", 0, 10), in("a", 10, 20)}, []spans.Span{in("a", 2, 7)}, 0.5},
		{"across two chunks", []spans.Span{in("a", 10, 20), in("a", 0, 10), in("a", 20, 30)}, []spans.Span{in("a", 8, 12)}, 0.2},
		{"overlapping chunks are merged", []spans.Span{in("a", 0, 20), in("a", 10, 30), in("a", 25, 60)}, []spans.Span{in("a", 5, 15)}, 10. / 30},
		{"relevant spans are merged", []spans.Span{in("a", 0, 20)}, []spans.Span{in("a", 0, 10), in("a", 5, 15)}, 0.75},
		{"uncovered stands below", []spans.Span{in("a", 0, 10)}, []spans.Span{in("a", 5, 25)}, 5. / 25},
		{"uncovered in another document", []spans.Span{in("a", 0, 10)}, []spans.Span{in("a", 0, 5), in("b", 0, 5)}, 5. / 15},
		{"two documents", []spans.Span{in("a", 0, 10), in("b", 0, 10)}, []spans.Span{in("a", 0, 5), in("b", 5, 15)}, 10. / 25},
		{"an edge is no character", []spans.Span{in("a", 0, 10), in("a", 10, 20), in("a", 20, 30)}, []spans.Span{in("a", 10, 20)}, 1},
		{"nothing touches", []spans.Span{in("a", 0, 10)}, []spans.Span{in("b", 0, 10)}, 0},
		{"no chunks", nil, []spans.Span{in("a", 0, 10)}, 0},
		{"nothing relevant", []spans.Span{in("a", 0, 10)}, nil, 0},
		{"no relevant character", []spans.Span{in("a", 0, 10)}, []spans.Span{in("a", 3, 3)}, 0},
		{"empty chunk", []spans.Span{in("a", 5, 5), in("a", 7, 3)}, []spans.Span{in("a", 0, 10)}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := PrecisionOmega(test.chunks, test.relevant); !near(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestPrecisionOmegaEdges(t *testing.T) {
	in := func(start, end int) spans.Span { return spans.Span{Doc: "a", Start: start, End: end} }
	chunks := []spans.Span{in(0, 10), in(10, 20), in(20, 30), in(31, 40)}
	for _, test := range []struct {
		relevant []spans.Span
		want     float64
	}{
		{[]spans.Span{in(10, 20)}, 10. / 30},
		{[]spans.Span{in(11, 19)}, 0.8},
		{[]spans.Span{in(20, 30)}, 10. / 20}, // the last chunk is a character away
		{[]spans.Span{in(0, 10), in(5, 20)}, 20. / 30},
		{nil, 0},
	} {
		if got := PrecisionOmegaEdges(chunks, test.relevant); !near(got, test.want) {
			t.Errorf("%v: got %v, want %v", test.relevant, got, test.want)
		}
	}
}

// BenchmarkPrecisionOmega judges the chunks of five documents for as many queries as
// Chroma's evaluation has: by looking through all chunks for each, as the function
// does, and by searching them sorted, as an evaluation does.
func BenchmarkPrecisionOmega(b *testing.B) {
	random := rand.New(rand.NewPCG(2, 3))
	var index []spans.Span
	var chunks []chunkers.PositionAwareChunk
	for doc := range 5 {
		for start := 0; start < 280*1050; start += 280 {
			index = append(index, in(spans.DocumentID(fmt.Sprint("d", doc)), start, start+280))
			chunks = append(chunks, chunkers.PositionAwareChunk{Span: index[len(index)-1]})
		}
	}
	queries := make([]spans.Set, 472)
	for i := range queries {
		doc := spans.DocumentID(fmt.Sprint("d", random.IntN(5)))
		var relevant []spans.Span
		for range 1 + random.IntN(3) {
			start := random.IntN(280 * 1040)
			relevant = append(relevant, in(doc, start, start+250))
		}
		queries[i] = spans.Union(relevant...)
	}
	b.Run("impl=through", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, set := range queries {
				omega(touching(index, set), set)
			}
		}
	})
	b.Run("impl=sorted", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			l := tokenLevel{spanOf: index, places: newPlaces(chunks)}
			for _, set := range queries {
				omega(l.touching(set), set)
			}
		}
	})
}
