package beam

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestElementsReadBackEqual(t *testing.T) {
	at := chunkPlace{place{3, 1 << 40}, 7}
	check(t, encodeDocument, decodeDocument, Document{File: 2, Offset: 1 << 50, ID: "a", Text: "é", Metadata: map[string]string{"k": "v", "j": ""}})
	check(t, encodeDocument, decodeDocument, Document{})
	check(t, encodeOccurrence, decodeOccurrence, occurrence{chunker: 1, at: at, text: "text"})
	check(t, encodeTally, decodeTally, tally{1, 2, 3, 4, 5, "first", place{5, 6}})
	check(t, encodeRanking, decodeRanking, ranking{[]hit{{-0.5, at, math.MaxUint64}, {float32(math.Copysign(0, -1)), chunkPlace{}, 1 << 63}}})
	check(t, encodeVectors, decodeVectors, vectors{1, [][]float32{{1, 2}, {math.MaxFloat32, math.SmallestNonzeroFloat32}}})
	check(t, encodeWanted, decodeWanted, wanted{[]place{{1, 2}, {3, 4}}, []string{"a", ""}})
}

func check[T any](t *testing.T, encode func(T) []byte, decode func([]byte) (T, error), x T) {
	t.Helper()
	data := encode(x)
	got, err := decode(data)
	if diff := cmp.Diff(x, got, cmp.AllowUnexported(occurrence{}, chunkPlace{}, place{}, tally{}, ranking{}, hit{}, vectors{}, wanted{})); diff != "" || err != nil {
		t.Errorf("%T (-want +got):\n%s, %v", x, diff, err)
	}
	for n := range data {
		if _, err := decode(data[:n]); err == nil {
			t.Errorf("%T: the first %d of %d bytes decode without an error", x, n, len(data))
		}
	}
	if _, err := decode(append(data, 0)); err == nil {
		t.Errorf("%T: a byte too many decodes without an error", x)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encodeDocument(Document{ID: "a", Text: "b", Metadata: map[string]string{"k": "v"}}))
	f.Add(encodeRanking(ranking{[]hit{{score: 1}}}))
	f.Add(encodeVectors(vectors{0, [][]float32{{1}}}))
	f.Add(encodeWanted(wanted{[]place{{1, 2}}, []string{"a"}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		// None panics, or takes more memory than the data is worth.
		decodeDocument(data)
		decodeOccurrence(data)
		decodeTally(data)
		decodeRanking(data)
		decodeVectors(data)
		decodeWanted(data)
	})
}
