package spans

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnion(t *testing.T) {
	for _, test := range []struct {
		name  string
		spans []Span
		want  []Span
	}{
		{"nothing", nil, nil},
		{"overlapping", []Span{in("a", 0, 50), in("a", 30, 80)}, []Span{in("a", 0, 80)}},
		{"adjacent", []Span{in("a", 0, 50), in("a", 50, 100)}, []Span{in("a", 0, 100)}},
		{"a gap of one", []Span{in("a", 0, 50), in("a", 51, 100)}, []Span{in("a", 0, 50), in("a", 51, 100)}},
		{"within", []Span{in("a", 0, 100), in("a", 10, 20), in("a", 30, 40)}, []Span{in("a", 0, 100)}},
		{"twice", []Span{in("a", 5, 9), in("a", 5, 9)}, []Span{in("a", 5, 9)}},
		{"unsorted", []Span{in("a", 60, 70), in("a", 0, 10), in("a", 5, 20)}, []Span{in("a", 0, 20), in("a", 60, 70)}},
		{"never across documents", []Span{in("b", 0, 50), in("a", 0, 50), in("a", 50, 60)}, []Span{in("a", 0, 60), in("b", 0, 50)}},
		{"empty and inverted contribute nothing", []Span{in("a", 5, 5), in("a", 9, 3), in("b", 1, 2)}, []Span{in("b", 1, 2)}},
		{"an empty span joins nothing", []Span{in("a", 0, 5), in("a", 6, 6), in("a", 7, 9)}, []Span{in("a", 0, 5), in("a", 7, 9)}},
		{"only empty", []Span{in("a", 5, 5)}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			given := slices.Clone(test.spans)
			s := Union(test.spans...)
			if got := slices.Collect(s.All()); !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
			chars := 0
			for _, w := range test.want {
				chars += w.Len()
			}
			if s.Len() != chars || s.Empty() != (chars == 0) {
				t.Errorf("got %d characters (empty %v), want %d", s.Len(), s.Empty(), chars)
			}
			if !slices.Equal(given, test.spans) {
				t.Errorf("the argument became %v", test.spans)
			}
		})
	}
}

func TestUnionKeepsNoArgument(t *testing.T) {
	list := []Span{in("a", 0, 5), in("a", 7, 9)}
	s := Union(list...)
	list[0] = in("z", 1, 2)
	if got := s.String(); got != "{a[0:5] a[7:9]}" {
		t.Errorf("got %s", got)
	}
}

func TestMeasures(t *testing.T) {
	for _, test := range []struct {
		name                   string
		retrieved, relevant    []Span
		recall, precision, iou float64
	}{
		{"half of the relevant", []Span{in("a", 0, 50)}, []Span{in("a", 0, 100)}, 0.5, 1, 0.5},
		{"half of the retrieved", []Span{in("a", 0, 100)}, []Span{in("a", 0, 50)}, 1, 0.5, 0.5},
		{"shifted", []Span{in("a", 50, 150)}, []Span{in("a", 0, 100)}, 0.5, 0.5, 1. / 3},
		{"another document", []Span{in("b", 0, 100)}, []Span{in("a", 0, 100)}, 0, 0, 0},
		{"overlapping count once", []Span{in("a", 0, 60), in("a", 40, 100)}, []Span{in("a", 0, 100)}, 1, 1, 1},
		{"two documents", []Span{in("a", 0, 10), in("b", 0, 30)}, []Span{in("b", 20, 40), in("c", 0, 20)}, 0.25, 0.25, 1. / 7},
		{"nothing retrieved", nil, []Span{in("a", 0, 1)}, 0, 0, 0},
		{"nothing relevant", []Span{in("a", 0, 1)}, nil, 1, 0, 0},
		{"nothing at all", nil, nil, 1, 0, 1},
		{"no characters", []Span{in("a", 3, 3)}, []Span{in("a", 3, 3)}, 1, 0, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			retrieved, relevant := Union(test.retrieved...), Union(test.relevant...)
			if got := Recall(retrieved, relevant); got != test.recall {
				t.Errorf("recall: got %v, want %v", got, test.recall)
			}
			if got := Precision(retrieved, relevant); got != test.precision {
				t.Errorf("precision: got %v, want %v", got, test.precision)
			}
			if got := IoU(retrieved, relevant); got != test.iou {
				t.Errorf("IoU: got %v, want %v", got, test.iou)
			}
			if got := IoU(relevant, retrieved); got != test.iou {
				t.Errorf("IoU the other way round: got %v, want %v", got, test.iou)
			}
		})
	}
}

func TestSetAlgebraWorked(t *testing.T) {
	a := Union(in("a", 0, 10), in("a", 20, 30), in("b", 0, 5))
	b := Union(in("a", 5, 25), in("b", 5, 9), in("c", 0, 1))
	for _, test := range []struct {
		name string
		got  Set
		want string
	}{
		{"a ∩ b", a.Intersect(b), "{a[5:10] a[20:25]}"},
		{"b ∩ a", b.Intersect(a), "{a[5:10] a[20:25]}"},
		{"a \\ b", a.Subtract(b), "{a[0:5] a[25:30] b[0:5]}"},
		{"b \\ a", b.Subtract(a), "{a[10:20] b[5:9] c[0:1]}"},
		{"a \\ a", a.Subtract(a), "{}"},
		{"a ∩ a", a.Intersect(a), "{a[0:10] a[20:30] b[0:5]}"},
		{"a ∩ ∅", a.Intersect(Set{}), "{}"},
		{"a \\ ∅", a.Subtract(Set{}), "{a[0:10] a[20:30] b[0:5]}"},
		{"∅ \\ a", Set{}.Subtract(a), "{}"},
		{"one cut by many", Union(in("a", 0, 100)).Subtract(Union(in("a", 10, 20), in("a", 30, 40), in("a", 90, 120))), "{a[0:10] a[20:30] a[40:90]}"},
		{"many cut by one", Union(in("a", 0, 10), in("a", 12, 15), in("a", 20, 30)).Subtract(Union(in("a", 5, 25))), "{a[0:5] a[25:30]}"},
	} {
		if got := test.got.String(); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

func TestSetComparesWithCmp(t *testing.T) {
	type holder struct{ Set Set }
	a, b := Union(in("a", 0, 5), in("a", 5, 9)), Union(in("a", 0, 9))
	if diff := cmp.Diff(holder{a}, holder{b}); diff != "" {
		t.Errorf("equal sets differ (-first +second):\n%s", diff)
	}
	if cmp.Equal(holder{a}, holder{Union(in("a", 0, 8))}) || cmp.Equal(holder{a}, holder{}) {
		t.Error("different sets are equal")
	}
	if !cmp.Equal(Set{}, a.Subtract(b)) {
		t.Error("the empty set is not the zero value")
	}
}

// bitmap is the model of a set: characters of documents "a", "b" and "c".
type bitmap [3][64]bool

func modelOf(spans []Span) (m bitmap) {
	for _, s := range spans {
		for i := s.Start; i < s.End; i++ {
			m[s.Doc[0]-'a'][i] = true
		}
	}
	return m
}

func (m bitmap) combine(n bitmap, f func(a, b bool) bool) (out bitmap) {
	for d := range m {
		for i := range m[d] {
			out[d][i] = f(m[d][i], n[d][i])
		}
	}
	return out
}

func (m bitmap) len() (n int) {
	for d := range m {
		for _, set := range m[d] {
			if set {
				n++
			}
		}
	}
	return n
}

// spans returns the maximal runs of m.
func (m bitmap) spans() (runs []Span) {
	for d := range m {
		for i := 0; i < len(m[d]); i++ {
			if !m[d][i] {
				continue
			}
			start := i
			for i < len(m[d]) && m[d][i] {
				i++
			}
			runs = append(runs, in(DocumentID('a'+rune(d)), start, i))
		}
	}
	return runs
}

func checkAlgebra(t *testing.T, p, q []Span) {
	t.Helper()
	a, b := Union(p...), Union(q...)
	m, n := modelOf(p), modelOf(q)
	both := m.combine(n, func(a, b bool) bool { return a && b })
	either := m.combine(n, func(a, b bool) bool { return a || b })
	for _, test := range []struct {
		name string
		got  Set
		want bitmap
	}{
		{"union", a, m},
		{"union of both", Union(slices.Concat(p, q)...), either},
		{"intersection", a.Intersect(b), both},
		{"difference", a.Subtract(b), m.combine(n, func(a, b bool) bool { return a && !b })},
	} {
		if got, want := slices.Collect(test.got.All()), test.want.spans(); !slices.Equal(got, want) {
			t.Fatalf("%s of %v and %v: got %v, want %v", test.name, p, q, got, want)
		}
		if got, want := test.got.Len(), test.want.len(); got != want || test.got.Empty() != (want == 0) {
			t.Fatalf("length of the %s of %v and %v: got %d, want %d", test.name, p, q, got, want)
		}
	}
	share := func(n, of int, otherwise float64) float64 {
		if of == 0 {
			return otherwise
		}
		return float64(n) / float64(of)
	}
	if got, want := OverlapLen(a, b), both.len(); got != want {
		t.Fatalf("overlap of %v and %v: got %d, want %d", p, q, got, want)
	}
	if got, want := Recall(a, b), share(both.len(), n.len(), 1); got != want {
		t.Fatalf("recall of %v of %v: got %v, want %v", p, q, got, want)
	}
	if got, want := Precision(a, b), share(both.len(), m.len(), 0); got != want {
		t.Fatalf("precision of %v of %v: got %v, want %v", p, q, got, want)
	}
	if got, want := IoU(a, b), share(both.len(), either.len(), 1); got != want {
		t.Fatalf("IoU of %v and %v: got %v, want %v", p, q, got, want)
	}
	if a.Equal(b) != (m == n) {
		t.Fatalf("%v equals %v: got %v", p, q, a.Equal(b))
	}
}

func TestSetAlgebraAgainstBitmaps(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	draw := func() []Span {
		list := make([]Span, random.IntN(10))
		for i := range list {
			start := random.IntN(64)
			list[i] = in(DocumentID('a'+rune(random.IntN(3))), start, min(64, start-2+random.IntN(20)))
		}
		return list
	}
	for range 5000 {
		checkAlgebra(t, draw(), draw())
	}
}

func FuzzSetAlgebra(f *testing.F) {
	f.Add([]byte{0, 50, 30, 80}, []byte{0, 50, 50, 100})
	f.Add([]byte{64, 3, 128, 5}, []byte{128, 0, 130, 9})
	// Two bytes a span: document and start, length; longer than 56 is inverted.
	decode := func(data []byte) []Span {
		var list []Span
		for ; len(data) >= 2; data = data[2:] {
			start, length := int(data[0]&63), int(data[1]&63)
			if length > 56 {
				length = 56 - length
			}
			list = append(list, in(DocumentID('a'+rune(data[0]>>6%3)), start, min(64, start+length)))
		}
		return list
	}
	f.Fuzz(func(t *testing.T, p, q []byte) { checkAlgebra(t, decode(p), decode(q)) })
}

// apart returns n spans of 100 characters over two documents. With a shift of 50,
// every other one overlaps half of its twin without a shift.
func apart(n, shift int) Set {
	var list []Span
	for i := range n {
		start := 300*i + i%2*shift
		list = append(list, in(DocumentID(fmt.Sprintf("handbook/part%d.md", 2*i/n)), start, start+100))
	}
	return Union(list...)
}

func TestMeasuresDoNotAllocate(t *testing.T) {
	retrieved, relevant := apart(5, 0), apart(5, 50)
	if n := testing.AllocsPerRun(100, func() {
		Recall(retrieved, relevant)
		Precision(retrieved, relevant)
		IoU(retrieved, relevant)
		OverlapLen(retrieved, relevant)
	}); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

func BenchmarkMeasures(b *testing.B) {
	for _, n := range []int{5, 100} {
		retrieved, relevant := apart(n, 0), apart(n, 50)
		for _, measure := range []struct {
			name string
			of   func(a, b Set) float64
		}{{"recall", Recall}, {"precision", Precision}, {"iou", IoU}} {
			b.Run(fmt.Sprintf("%s/spans=%dx%d", measure.name, n, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					measure.of(retrieved, relevant)
				}
			})
		}
	}
}

func BenchmarkUnion(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	var list []Span
	for range 1000 {
		start := random.IntN(100_000)
		list = append(list, in("handbook/leave.md", start, start+200))
	}
	sorted := slices.SortedFunc(slices.Values(list), compare)
	for _, bench := range []struct {
		name  string
		spans []Span
	}{{"random", list}, {"sorted", sorted}} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Union(bench.spans...)
			}
		})
	}
}
