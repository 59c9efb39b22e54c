package exact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// naiveScore follows the package comment word for word.
func naiveScore(q, v []float32) float32 {
	q, v = naiveNormalize(q), naiveNormalize(v)
	var l [8]float32
	for i := range q {
		product := q[i] * v[i]
		l[i%8] = l[i%8] + float32(product)
	}
	a, b, c, d := l[0]+l[4], l[1]+l[5], l[2]+l[6], l[3]+l[7]
	return (a + c) + (b + d)
}

func naiveNormalize(v []float32) []float32 {
	var l [8]float64
	for i, x := range v {
		square := float64(x) * float64(x)
		l[i%8] = l[i%8] + square
	}
	a, b, c, d := l[0]+l[4], l[1]+l[5], l[2]+l[6], l[3]+l[7]
	sum := (a + c) + (b + d)
	unit := make([]float32, len(v))
	for i := range v {
		if sum != 0 {
			unit[i] = float32(float64(v[i]) * (1 / math.Sqrt(sum)))
		}
	}
	return unit
}

// naiveSearch sorts all scores.
func naiveSearch(vectors [][]float32, query []float32, k int) []Hit {
	hits := make([]Hit, len(vectors))
	for i, v := range vectors {
		hits[i] = Hit{i, naiveScore(query, v)}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
	return hits[:min(k, len(hits))]
}

func newMatrix(tb testing.TB, vectors ...[]float32) *Matrix {
	tb.Helper()
	m := new(Matrix)
	if err := m.Append(tb.Context(), vectors); err != nil {
		tb.Fatal(err)
	}
	return m
}

// randomVectors returns vectors with components on a coarse grid, so that many
// scores are equal, if levels is small.
func randomVectors(r *rand.Rand, n, dim, levels int) [][]float32 {
	vectors := make([][]float32, n)
	for i := range vectors {
		vectors[i] = make([]float32, dim)
		for j := range vectors[i] {
			vectors[i][j] = float32(r.IntN(2*levels+1)-levels) / float32(levels)
		}
	}
	return vectors
}

// sparseVectors returns vectors of which at most count components are not 0.
func sparseVectors(r *rand.Rand, n, dim, count int) [][]float32 {
	vectors := make([][]float32, n)
	for i := range vectors {
		vectors[i] = make([]float32, dim)
		for range count {
			vectors[i][r.IntN(dim)] = float32(r.IntN(7)-3) / 3
		}
	}
	return vectors
}

// Sparse queries meet segments with postings, and a last one without.
func TestSearchOfSparseVectorsEqualsSorting(t *testing.T) {
	const dim, k = 2048, 30
	r := rand.New(rand.NewPCG(23, 24))
	vectors := sparseVectors(r, 300, dim, 60)
	vectors[200] = make([]float32, dim)
	queries := append(sparseVectors(r, 12, dim, 10), make([]float32, dim))
	pieces := new(Matrix)
	for batch := range slices.Chunk(vectors, 47) {
		if err := pieces.Append(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	for name, m := range map[string]*Matrix{"at once": newMatrix(t, vectors...), "in pieces": pieces} {
		packed := m.pack(queries)
		for i, s := range m.segments {
			if full := i < len(m.segments)-1; packed.suit(s) != full {
				t.Fatalf("appended %s: the queries suit segment %d: %t, want %t", name, i, !full, full)
			}
		}
		got, err := m.Search(t.Context(), queries, k)
		if err != nil {
			t.Fatal(err)
		}
		for q, query := range queries {
			if diff := cmp.Diff(naiveSearch(vectors, query, k), got[q]); diff != "" {
				t.Errorf("appended %s, query %d (-want +got):\n%s", name, q, diff)
			}
		}
	}
}

// Little more than the vectors is kept, whether they come at once or in batches.
func TestMatrixIsLittleLargerThanItsVectors(t *testing.T) {
	const dim = 384
	batch := randomVectors(rand.New(rand.NewPCG(25, 26)), 64, dim, 9)
	m := new(Matrix)
	for range 100 {
		if err := m.Append(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	held := 0
	for _, s := range m.segments {
		held += cap(s.rows)
	}
	if raw := m.Len() * dim; float64(held) > 1.1*float64(raw) {
		t.Errorf("%d components are held for %d", held, raw)
	}
}

func TestSearchEqualsSorting(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, dim := range []int{1, 2, 3, 7, 8, 9, 15, 16, 17, 64, 100, 384} {
		for _, n := range []int{1, 2, 3, 5, 64, 301} {
			for _, levels := range []int{1, 1 << 20} {
				vectors := randomVectors(r, n, dim, levels)
				queries := randomVectors(r, r.IntN(9)+1, dim, levels)
				m := newMatrix(t, vectors...)
				for _, k := range []int{1, 2, 10, n, n + 7} {
					got, err := m.Search(t.Context(), queries, k)
					if err != nil {
						t.Fatal(err)
					}
					for q, query := range queries {
						want := naiveSearch(vectors, query, k)
						if diff := cmp.Diff(want, got[q]); diff != "" {
							t.Fatalf("dim %d, %d vectors, levels %d, query %d, k %d (-want +got):\n%s", dim, n, levels, q, k, diff)
						}
					}
				}
			}
		}
	}
}

func TestSearchAndRank(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for _, dim := range []int{3, 1 << 13} {
		vectors := randomVectors(r, 100, dim, 2)
		vectors = append(vectors, vectors[:20]...)
		m := newMatrix(t, vectors...)
		queries := randomVectors(r, groupQueries+9, dim, 2)
		queries[1] = make([]float32, dim)
		rows := make([][]int, len(queries))
		want := make([][]int, len(queries))
		for q := range queries {
			all, err := m.Search(t.Context(), queries[q:q+1], len(vectors))
			if err != nil {
				t.Fatal(err)
			}
			want[q] = []int{}
			for range r.IntN(9) {
				row := r.IntN(len(vectors))
				rows[q] = append(rows[q], row)
				want[q] = append(want[q], 1+slices.IndexFunc(all[0], func(h Hit) bool { return h.Index == row }))
			}
		}
		wantHits, err := m.Search(t.Context(), queries, 7)
		if err != nil {
			t.Fatal(err)
		}
		hits, ranks, err := m.SearchAndRank(t.Context(), queries, 7, rows)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, ranks); diff != "" {
			t.Errorf("dimension %d: ranks (-want +got):\n%s", dim, diff)
		}
		if diff := cmp.Diff(wantHits, hits); diff != "" {
			t.Errorf("dimension %d: hits (-want +got):\n%s", dim, diff)
		}
	}
}

func TestSearchSpansSegmentsAndGroups(t *testing.T) {
	const dim, k = 1 << 13, 5 // 32 rows a segment
	r := rand.New(rand.NewPCG(3, 4))
	vectors := randomVectors(r, 150, dim, 1)
	vectors = append(vectors, vectors[:10]...)
	queries := slices.Concat(vectors[:3], randomVectors(r, 2, dim, 1))
	for len(queries) < groupQueries+4 {
		queries = append(queries, queries[len(queries)%5])
	}
	whole := newMatrix(t, vectors...)
	pieces := new(Matrix)
	for rest := vectors; len(rest) > 0; {
		n := min(len(rest), 1+r.IntN(50))
		if err := pieces.Append(t.Context(), rest[:n]); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	if got := len(whole.segments); got != 5 {
		t.Fatalf("got %d segments, want 5", got)
	}
	want := make([][]Hit, len(queries))
	for q := range queries {
		if q < 5 {
			want[q] = naiveSearch(vectors, queries[q], k)
		} else {
			want[q] = want[q%5]
		}
	}
	for name, m := range map[string]*Matrix{"at once": whole, "in pieces": pieces} {
		got, err := m.Search(t.Context(), queries, k)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("appended %s (-want +got):\n%s", name, diff)
		}
	}
}

func TestSearchIsTheSameHoweverItIsSharedOut(t *testing.T) {
	const dim = 1 << 12
	r := rand.New(rand.NewPCG(5, 6))
	m := newMatrix(t, randomVectors(r, 500, dim, 100)...)
	queries := randomVectors(r, 7, dim, 100)
	want, err := m.Search(t.Context(), queries, 20)
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 3, 16} {
		runtime.GOMAXPROCS(procs)
		got, err := m.Search(t.Context(), queries, 20)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("GOMAXPROCS=%d (-want +got):\n%s", procs, diff)
		}
		for q := range queries {
			for _, k := range []int{1, 19, 21} {
				got, err := m.Search(t.Context(), queries[q:q+1], k)
				if err != nil {
					t.Fatal(err)
				}
				n := min(k, 20)
				if diff := cmp.Diff(want[q][:n], got[0][:n]); diff != "" {
					t.Errorf("query %d alone, k %d (-batch +single):\n%s", q, k, diff)
				}
			}
		}
	}
}

// TestScoresAreTheSameOnEveryMachine compares the bits of many scores with what
// was recorded on amd64.
func TestScoresAreTheSameOnEveryMachine(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	h := sha256.New()
	for _, dim := range []int{1, 7, 64, 100, 384, 1001} {
		m := newMatrix(t, randomVectors(r, 101, dim, 1<<20)...)
		found, err := m.Search(t.Context(), randomVectors(r, 8, dim, 1<<20), m.Len())
		if err != nil {
			t.Fatal(err)
		}
		for _, hit := range slices.Concat(found...) {
			fmt.Fprintf(h, "%d %08x\n", hit.Index, math.Float32bits(hit.Score))
		}
	}
	const want = "46d1d85fe9f3d1979c884820c33aa49453b4910bf3a814d415019a6cd6823cc2"
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("got scores of digest %s, want %s", got, want)
	}
}

func TestExtremeMagnitudes(t *testing.T) {
	m := newMatrix(t,
		[]float32{1e30, 1e30, 0}, []float32{1e-30, -1e-30, 0}, []float32{0, 0, 0},
		[]float32{math.MaxFloat32, 0, 0}, []float32{math.SmallestNonzeroFloat32, 0, 0})
	got, err := m.Search(t.Context(), [][]float32{{math.SmallestNonzeroFloat32, 0, 0}, {0, 0, 0}, {-3e38, 0, 0}}, 5)
	if err != nil {
		t.Fatal(err)
	}
	const half = float32(0.70710677)
	want := [][]Hit{
		{{3, 1}, {4, 1}, {0, half}, {1, half}, {2, 0}},
		{{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}},
		{{2, 0}, {0, -half}, {1, -half}, {3, -1}, {4, -1}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSearchOfNothing(t *testing.T) {
	m := newMatrix(t, []float32{1, 0})
	for name, search := range map[string]func() ([][]Hit, error){
		"no rows":    func() ([][]Hit, error) { return new(Matrix).Search(t.Context(), [][]float32{{1}, {2}}, 3) },
		"k = 0":      func() ([][]Hit, error) { return m.Search(t.Context(), [][]float32{{1, 2}, {3, 4}}, 0) },
		"no queries": func() ([][]Hit, error) { return m.Search(t.Context(), nil, 3) },
	} {
		got, err := search()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, hits := range got {
			if len(hits) > 0 {
				t.Errorf("%s: got %v, want none", name, hits)
			}
		}
	}
	if _, err := m.Search(t.Context(), [][]float32{{1, 2}}, -1); err == nil || !strings.Contains(err.Error(), "k is -1") {
		t.Errorf("k = -1: got error %v, want one that names k", err)
	}
}

func TestCancellation(t *testing.T) {
	m := newMatrix(t, []float32{1, 0}, []float32{0, 1})
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	if _, err := m.Search(ctx, [][]float32{{1, 0}}, 1); !errors.Is(err, stop) {
		t.Errorf("searching: got error %v, want %v", err, stop)
	}
	if err := m.Append(ctx, [][]float32{{1, 1}}); !errors.Is(err, stop) || m.Len() != 2 {
		t.Errorf("appending: got error %v and %d rows, want %v and 2 rows", err, m.Len(), stop)
	}
}

// cancelAfter is a context that is done from the n-th time on that it is asked.
type cancelAfter struct {
	context.Context
	n int
}

func (c *cancelAfter) Err() error {
	if c.n--; c.n < 0 {
		return context.Canceled
	}
	return nil
}

func TestCancellationBetweenBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for name, vectors := range map[string][][]float32{
		"dense":  randomVectors(r, 1000, 64, 9),
		"sparse": sparseVectors(r, 384, 2048, 60),
	} {
		m := newMatrix(t, vectors...)
		queries := m.pack(vectors[:1])
		if sparse := queries.suit(m.segments[0]); sparse != (name == "sparse") {
			t.Fatalf("%s vectors are searched by postings: %t", name, sparse)
		}
		rows := 0
		all := share{0, 1, 0, len(m.segments)}
		err := m.scan(&cancelAfter{t.Context(), 2}, queries, all, func(_, _ int, scores []float32) { rows += len(scores) })
		if err == nil || rows == 0 {
			t.Errorf("%s: got %d rows and error %v: the context was done after 2 of 3 blocks", name, rows, err)
		}
	}
}

func TestAppendIsUndoneByCancellation(t *testing.T) {
	const dim = 1 << 17 // two rows a segment
	vector := func(i int) []float32 { v := make([]float32, dim); v[i] = 1; return v }
	m := newMatrix(t, vector(0))
	if err := m.Append(&cancelAfter{t.Context(), 0}, [][]float32{vector(1), vector(2), vector(3), vector(4)}); err == nil {
		t.Fatal("got no error, want that of the context")
	}
	if err := m.Append(t.Context(), [][]float32{vector(5)}); err != nil {
		t.Fatal(err)
	}
	got, err := m.Search(t.Context(), [][]float32{vector(5)}, 9)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]Hit{{{1, 1}, {0, 0}}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestValidateChunks(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	for _, test := range []struct {
		n       int
		vectors [][]float32
		dim     int
		want    string // "": valid
	}{
		{0, nil, 0, ""},
		{0, nil, 3, ""},
		{2, [][]float32{{1, 2}, {3, 4}}, 0, ""},
		{2, [][]float32{{1, 2}, {3, 4}}, 2, ""},
		{2, [][]float32{{1, 2}}, 2, "got 1 vectors for 2 chunks: chunk 1 has none"},
		{1, [][]float32{{1}, {2}}, 0, "got 2 vectors for 1 chunks: vector 1 has no chunk"},
		{2, [][]float32{{1, 2}, {3}}, 0, "vector 1 has dimension 1, want 2"},
		{1, [][]float32{{1, 2}}, 3, "vector 0 has dimension 2, want 3"},
		{1, [][]float32{{}}, 0, "vector 0 is empty: want at least one component"},
		{1, [][]float32{nil}, 2, "vector 0 is empty: want at least one component"},
		{2, [][]float32{{1, 2}, {1, nan}}, 0, "vector 1 has component 1 = NaN: want a finite number"},
		{1, [][]float32{{inf, 2}}, 0, "vector 0 has component 0 = -Inf: want a finite number"},
	} {
		got := ""
		if err := ValidateChunks(test.n, test.vectors, test.dim); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%d chunks, vectors %v, dimension %d: got %q, want %q", test.n, test.vectors, test.dim, got, test.want)
		}
	}
}

func TestSearchAndCount(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for _, dim := range []int{3, 1 << 13} {
		vectors := randomVectors(r, 90, dim, 1)
		vectors = append(vectors, vectors[:30]...)
		m := newMatrix(t, vectors...)
		queries := randomVectors(r, groupQueries+9, dim, 1)
		all, err := m.Search(t.Context(), queries, len(vectors))
		if err != nil {
			t.Fatal(err)
		}
		rungs, want := make([][]Hit, len(queries)), make([][]int, len(queries))
		for q := range queries {
			want[q] = []int{}
			for range r.IntN(9) {
				rung := all[q][r.IntN(len(vectors))]
				if r.IntN(3) == 0 { // no row has this score
					rung.Score = math.Nextafter32(rung.Score, 2)
				}
				rungs[q] = append(rungs[q], rung)
			}
			slices.SortFunc(rungs[q], Compare)
			before := 0
			for _, rung := range rungs[q] {
				n := 0
				for _, h := range all[q] {
					if Compare(h, rung) < 0 {
						n++
					}
				}
				want[q] = append(want[q], n-before)
				before = n
			}
		}
		rungs[1], want[1] = nil, []int{}
		found, got, err := m.SearchAndCount(t.Context(), queries, 7, rungs)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("dimension %d: (-want +got):\n%s", dim, diff)
		}
		for q := range found {
			if diff := cmp.Diff(all[q][:7], found[q]); diff != "" {
				t.Errorf("dimension %d, query %d: hits (-want +got):\n%s", dim, q, diff)
			}
		}
	}
	if _, got, err := new(Matrix).SearchAndCount(t.Context(), [][]float32{{1}}, 3, [][]Hit{{{0, 1}}}); err != nil || !slices.Equal(got[0], []int{0}) {
		t.Errorf("no rows: got %v and error %v, want one 0", got, err)
	}
	if _, ranks, err := new(Matrix).SearchAndRank(t.Context(), [][]float32{{1}}, 3, [][]int{nil}); err != nil || len(ranks) != 1 {
		t.Errorf("no rows: got ranks %v and error %v, want one list", ranks, err)
	}
}
