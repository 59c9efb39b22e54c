package exact

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func newCompact(tb testing.TB, vectors [][]float32, batches int) *Compact {
	tb.Helper()
	file, err := os.Create(filepath.Join(tb.TempDir(), "vectors"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { file.Close() })
	c := NewCompact(file)
	for batch := range slices.Chunk(vectors, max(1, len(vectors)/batches)) {
		if err := c.Append(tb.Context(), batch); err != nil {
			tb.Fatal(err)
		}
	}
	return c
}

func TestCompactFindsWhatAMatrixFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for _, dim := range []int{1, 2, 7, 16, 17, 100, 384, 9000} {
		for _, n := range []int{1, 70, 1000} {
			if n*dim > 1<<20 {
				continue
			}
			for _, levels := range []int{1, 3, 1 << 20} {
				vectors := randomVectors(r, n, dim, levels)
				vectors = append(vectors, make([]float32, dim))
				vectors = append(vectors, vectors[:n/3]...)
				vectors = append(vectors, sparseVectors(r, n/2, dim, 5)...)
				queries := append(randomVectors(r, 1+r.IntN(5), dim, levels), vectors[0], make([]float32, dim))
				m, c := newMatrix(t, vectors...), newCompact(t, vectors, 1+r.IntN(4))
				wanted := make([][]int, len(queries))
				for q := range wanted {
					for range r.IntN(5) {
						wanted[q] = append(wanted[q], r.IntN(len(vectors)))
					}
				}
				for _, k := range []int{0, 10, len(vectors) + 1} {
					want, err := m.Search(t.Context(), queries, k)
					if err != nil {
						t.Fatal(err)
					}
					got, _, err := c.SearchAndRank(t.Context(), queries, k, nil)
					if err != nil {
						t.Fatal(err)
					}
					equalHits(t, fmt.Sprintf("dim %d, %d vectors, levels %d, k %d", dim, n, levels, k), got, want)
					want, wantRanks, err := m.SearchAndRank(t.Context(), queries, k, wanted)
					if err != nil {
						t.Fatal(err)
					}
					got, ranks, err := c.SearchAndRank(t.Context(), queries, k, wanted)
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(wantRanks, ranks); diff != "" {
						t.Fatalf("dim %d, %d vectors, levels %d, k %d: ranks (-matrix +compact):\n%s", dim, n, levels, k, diff)
					}
					equalHits(t, fmt.Sprintf("dim %d, %d vectors, levels %d, k %d, with ranks", dim, n, levels, k), got, want)
				}
			}
		}
	}
}

func equalHits(t *testing.T, what string, got, want [][]Hit) {
	t.Helper()
	for q := range want {
		if !slices.Equal(got[q], want[q]) {
			t.Fatalf("%s, query %d (-want +got):\n%s", what, q, cmp.Diff(want[q], got[q]))
		}
	}
}

// The bounds hold for every pair, whatever the search makes of them.
func TestCodesBoundScores(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 44))
	for _, dim := range []int{1, 5, 64, 384, 1000, 20000} {
		vectors := append(randomVectors(r, 20, dim, 1<<20), sparseVectors(r, 20, dim, 3)...)
		m := newMatrix(t, vectors...)
		hits, err := m.Search(t.Context(), vectors, len(vectors))
		if err != nil {
			t.Fatal(err)
		}
		c := newCompact(t, vectors, 1)
		unit := make([]float32, dim)
		widest := 0.0
		for q, v := range vectors {
			Normalize(unit, v)
			of := make([]int16, codeSize(dim))
			scale, rest := encode(of, unit, levelsFor(dim))
			query := newCodedQuery(of, scale, rest, dim)
			for _, h := range hits[q] {
				part := &c.parts[h.Index/c.partRows()]
				at := h.Index % c.partRows()
				var sum [1]int32
				codeDots(sum[:], of, part.of[at*len(of):(at+1)*len(of)])
				about := float64(sum[0]) * scale * float64(part.scales[at])
				off := query.fixed + query.each*float64(part.rests[at])
				if score := float64(h.Score); score < about-off || score > about+off {
					t.Errorf("dimension %d, query %d, row %d: the score %v is not within %v of %v", dim, q, h.Index, score, off, about)
				}
				widest = max(widest, off)
			}
		}
		if widest > 0.1 {
			t.Errorf("dimension %d: a score is known to within %v only", dim, widest)
		}
	}
}

func TestCompactStops(t *testing.T) {
	c := newCompact(t, randomVectors(rand.New(rand.NewPCG(1, 1)), 300, 8, 9), 1)
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	query := [][]float32{make([]float32, 8)}
	if _, _, err := c.SearchAndRank(ctx, query, 1, nil); !errors.Is(err, stop) {
		t.Errorf("searching: got error %v, want %v", err, stop)
	}
	if err := c.Append(ctx, query); !errors.Is(err, stop) || c.Len() != 300 {
		t.Errorf("appending: got error %v and %d rows, want %v and 300", err, c.Len(), stop)
	}
	c.file.Close()
	if err := c.Append(t.Context(), query); !errors.Is(err, os.ErrClosed) || c.Len() != 300 {
		t.Errorf("appending to a closed file: got error %v and %d rows", err, c.Len())
	}
	if _, _, err := c.SearchAndRank(t.Context(), query, 1, nil); !errors.Is(err, os.ErrClosed) {
		t.Errorf("searching a closed file: got error %v", err)
	}
	if _, _, err := c.SearchAndRank(t.Context(), query, 1, [][]int{{3}}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("ranking in a closed file: got error %v", err)
	}
	if _, _, err := c.SearchAndRank(t.Context(), query, -1, nil); err == nil {
		t.Error("k = -1 is no error")
	}
}

// FuzzCodeDots compares all kernels with sums in 64 bits.
func FuzzCodeDots(f *testing.F) {
	f.Add([]byte{1, 2, 3, 200, 90}, uint8(5), uint8(1))
	f.Add([]byte{0x7f, 0xff, 0x80, 0x81}, uint8(9), uint8(40))
	f.Fuzz(func(t *testing.T, data []byte, rows, blocks uint8) {
		size := (1 + int(blocks)%64) * codeLanes
		n := 1 + int(rows)%13
		at := 0
		next := func() byte {
			at++
			if len(data) == 0 {
				return byte(at * 37)
			}
			return data[at%len(data)] + byte(at/len(data)*37)
		}
		query, codes := make([]int16, size), make([]int8, n*size)
		levels := levelsFor(size)
		for i := range query {
			query[i] = int16(max(-levels, min(levels, int(int16(binary.LittleEndian.Uint16([]byte{next(), next()})))>>4)))
		}
		for i := range codes {
			codes[i] = max(-vectorLevels, int8(next()))
		}
		got, inGo := make([]int32, n), make([]int32, n)
		codeDots(got, query, codes)
		goCodeDots(inGo, query, codes)
		for i := range n {
			want := int64(0)
			for j, x := range query {
				want += int64(x) * int64(codes[i*size+j])
			}
			if int64(got[i]) != want || int64(inGo[i]) != want {
				t.Errorf("row %d of %d, %d codes: got %d, in Go %d, want %d", i, n, size, got[i], inGo[i], want)
			}
		}
	})
}

// The largest codes of the largest dimension overflow nothing.
func TestCodeDotsDoNotOverflow(t *testing.T) {
	for _, dim := range []int{16, 8240, 8272, 1 << 17} {
		size := codeSize(dim)
		levels := levelsFor(dim)
		query, rows := make([]int16, size), make([]int8, 4*size)
		for i := range dim {
			query[i] = int16(levels)
			for row := range 4 {
				rows[row*size+i] = -vectorLevels
			}
		}
		sums := make([]int32, 4)
		codeDots(sums, query, rows)
		for _, sum := range sums {
			if want := -int64(dim) * int64(levels) * vectorLevels; int64(sum) != want {
				t.Errorf("dimension %d: got %d, want %d", dim, sum, want)
			}
		}
	}
}
