package lexical

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// fixed is a retriever that returns the same list for every query.
type fixed[C any] struct {
	list    []C
	indexed []C
	k       int // of the last call
	err     error
}

func (f *fixed[C]) Index(_ context.Context, chunks []C) error {
	f.indexed = chunks
	return f.err
}

func (f *fixed[C]) Retrieve(_ context.Context, queries []string, k int) ([][]ragtest.ScoredChunk[C], error) {
	f.k = k
	lists := make([][]ragtest.ScoredChunk[C], len(queries))
	for i := range lists {
		for j, c := range f.list[:min(k, len(f.list))] {
			lists[i] = append(lists[i], ragtest.ScoredChunk[C]{Chunk: c, Score: float64(len(f.list) - j)})
		}
	}
	return lists, f.err
}

// lists returns one fixed retriever for each string, of its words.
func lists(orders ...string) []ragtest.Retriever[string] {
	retrievers := make([]ragtest.Retriever[string], len(orders))
	for i, order := range orders {
		retrievers[i] = &fixed[string]{list: strings.Fields(order)}
	}
	return retrievers
}

func TestFuse(t *testing.T) {
	for _, test := range []struct {
		name    string
		indexed string // "": Index is not called
		lists   []string
		k       int
		want    string
	}{
		{"one list", "", []string{"c a b"}, 3, "c 1/61, a 1/62, b 1/63"},
		{"sums", "", []string{"a b c", "c b"}, 3, "c 1/61+1/63, b 1/62+1/62, a 1/61"},
		{"k", "", []string{"a b c", "c b"}, 1, "c 1/61+1/63"},
		{"no k", "", []string{"a b c", "c b"}, 0, ""},
		{"ties by insertion", "a b c d", []string{"d c", "c d", "b"}, 4, "c 1/61+1/62, d 1/61+1/62, b 1/61"},
		{"ties by appearance", "", []string{"d c", "c d", "b"}, 4, "d 1/61+1/62, c 1/61+1/62, b 1/61"},
		{"not indexed after indexed", "z a", []string{"y a", "x z"}, 4, "y 1/61, x 1/61, z 1/62, a 1/62"},
		{"the same ranks in three lists", "q p", []string{"p q r", "q r p", "r p q"}, 3, "q 1/61+1/62+1/63, p 1/61+1/62+1/63, r 1/61+1/62+1/63"},
		{"twice in a list", "", []string{"a b a c"}, 9, "a 1/61, b 1/62, c 1/64"},
		{"indexed twice", "a a b b", []string{"b"}, 9, "b 1/61"},
		{"what no list holds is not found", "a b c d", []string{"d", ""}, 9, "d 1/61"},
		{"nothing found or indexed", "", []string{"", ""}, 9, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := Fuse(lists(test.lists...)...)
			if test.indexed != "" {
				index(t, r, strings.Fields(test.indexed))
			}
			var got []string
			for _, c := range retrieve(t, r, "query", test.k) {
				got = append(got, fmt.Sprintf("%s %.9f", c.Chunk, c.Score))
			}
			var want []string
			for part := range strings.SplitSeq(test.want, ", ") {
				if part == "" {
					continue
				}
				chunk, sum, _ := strings.Cut(part, " ")
				var score float64
				for term := range strings.SplitSeq(sum, "+") {
					if _, denominator, ok := strings.Cut(term, "/"); ok {
						var d float64
						if _, err := fmt.Sscan(denominator, &d); err != nil {
							t.Fatal(err)
						}
						score += 1 / d
					}
				}
				want = append(want, fmt.Sprintf("%s %.9f", chunk, score))
			}
			if diff := cmp.Diff(got, want); diff != "" {
				t.Errorf("(-got +want):\n%s", diff)
			}
		})
	}
}

// TestFuseEqualRanks checks that the order in which the lists are given does
// not show in the last bits of scores.
func TestFuseEqualRanks(t *testing.T) {
	filler := strings.Fields(strings.Repeat("x ", 100))
	for i := range filler {
		filler[i] = fmt.Sprintf("x%d", i)
	}
	order := func(at map[int]string) string {
		list := append([]string(nil), filler...)
		for rank, chunk := range at {
			list[rank-1] = chunk
		}
		return strings.Join(list, " ")
	}
	r := Fuse(lists(order(map[int]string{3: "a", 17: "b"}), order(map[int]string{17: "a", 90: "b"}), order(map[int]string{90: "a", 3: "b"}))...)
	got := retrieve(t, r, "query", 200)
	scores := make(map[string]float64)
	for _, c := range got {
		scores[c.Chunk] = c.Score
	}
	if scores["a"] != scores["b"] || scores["a"] == 0 {
		t.Errorf("got the scores %v and %v for the same ranks, want them equal", scores["a"], scores["b"])
	}
}

func TestFuseCandidates(t *testing.T) {
	f := &fixed[string]{list: strings.Fields("a b c")}
	r := Fuse[string](f)
	for _, test := range []struct{ k, want int }{{1, 100}, {100, 100}, {101, 101}, {5000, 5000}} {
		retrieve(t, r, "query", test.k)
		if f.k != test.want {
			t.Errorf("k = %d: asked for %d candidates, want %d", test.k, f.k, test.want)
		}
	}
}

func TestFuseIdentity(t *testing.T) {
	places := newPlaces("same", "same", "other")
	for i := range places {
		places[i].Metadata = map[string]string{"n": fmt.Sprint(i)}
	}
	withoutMetadata := newPlaces("same", "same", "other")
	r := Fuse[chunkers.PositionAwareChunk](&fixed[chunkers.PositionAwareChunk]{list: places[:2]}, &fixed[chunkers.PositionAwareChunk]{list: []chunkers.PositionAwareChunk{withoutMetadata[1], withoutMetadata[0]}})
	index(t, r, places)
	var got []chunkers.PositionAwareChunk
	for _, c := range retrieve(t, r, "query", 2) {
		got = append(got, c.Chunk)
	}
	if diff := cmp.Diff(got, places[:2]); diff != "" {
		t.Errorf("equal texts at two places (-got +want):\n%s", diff)
	}

	chunks := newChunks("same", "same", "other")
	chunks[1].Doc = "another"
	bare := []chunkers.Chunk{{Text: "other"}, {Text: "same"}}
	rc := Fuse[chunkers.Chunk](&fixed[chunkers.Chunk]{list: chunks}, &fixed[chunkers.Chunk]{list: bare})
	index(t, rc, chunks)
	var gotChunks []chunkers.Chunk
	for _, c := range retrieve(t, rc, "query", 9) {
		gotChunks = append(gotChunks, c.Chunk)
	}
	if diff := cmp.Diff(gotChunks, []chunkers.Chunk{chunks[0], chunks[2]}); diff != "" {
		t.Errorf("chunks by ID, or text (-got +want):\n%s", diff)
	}

	unlocated := []chunkers.PositionAwareChunk{{Text: "a"}, {Text: "b"}}
	if got := retrieve(t, Fuse[chunkers.PositionAwareChunk](&fixed[chunkers.PositionAwareChunk]{list: unlocated}), "query", 9); len(got) != 2 {
		t.Errorf("chunks without a place: got %d, want 2", len(got))
	}

	// Values of interface type show only when used whether they are comparable.
	ra := Fuse[any](&fixed[any]{list: []any{1, "x", &chunks[0]}})
	if got := retrieve(t, ra, "query", 9); len(got) != 3 {
		t.Errorf("got %d values of interface type, want 3", len(got))
	}
	ra = Fuse[any](&fixed[any]{list: []any{1, []int{2}}})
	_, err := ra.Retrieve(t.Context(), []string{"query"}, 9)
	if want := "fusing the results of query 0: rank 2 of retriever 0: a chunk of type []int cannot be compared: want a chunk of package chunkers or a comparable type, for instance a pointer"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	if err := ra.Index(t.Context(), []any{[]int{2}}); err == nil {
		t.Error("indexing a value that cannot be compared: got no error")
	}
}

// TestFuseFillers checks that chunks that BM25 returns only to fill a list do
// not count, however deeply it is fused.
func TestFuseFillers(t *testing.T) {
	chunks := newPlaces("invoices are sent monthly", "shipping takes a week", "reset your password", "the office dog")
	other := &fixed[chunkers.PositionAwareChunk]{list: []chunkers.PositionAwareChunk{chunks[3], chunks[2]}}
	for _, r := range []ragtest.Retriever[chunkers.PositionAwareChunk]{
		Fuse(NewBM25[chunkers.PositionAwareChunk](), other),
		Fuse(Fuse[chunkers.PositionAwareChunk](NewBM25[chunkers.PositionAwareChunk]()), other),
	} {
		index(t, r, chunks)
		for _, test := range []struct {
			query string
			want  []int
		}{
			{"password", []int{2, 3}},
			{"xylophone", []int{3, 2}},
		} {
			got := places(retrieve(t, r, test.query, 9))
			var want []spans.Span
			for _, i := range test.want {
				want = append(want, chunks[i].Span)
			}
			if diff := cmp.Diff(got, want); diff != "" {
				t.Errorf("%v, query %s (-got +want):\n%s", r, test.query, diff)
			}
		}
	}
}

type tooFew struct{ fixed[string] }

func (tooFew) Retrieve(context.Context, []string, int) ([][]ragtest.ScoredChunk[string], error) {
	return nil, nil
}

func TestFuseErrors(t *testing.T) {
	cause := errors.New("server is down")
	down := Fuse[string](&fixed[string]{}, &fixed[string]{err: cause})
	if err := down.Index(t.Context(), []string{"a"}); !errors.Is(err, cause) || err.Error() != "indexing for retriever 1 of 2: server is down" {
		t.Errorf("Index: got error %v", err)
	}
	if _, err := down.Retrieve(t.Context(), []string{"q"}, 1); !errors.Is(err, cause) || err.Error() != "retrieving from retriever 1 of 2: server is down" {
		t.Errorf("Retrieve: got error %v", err)
	}
	if _, err := Fuse[string](&tooFew{}).Retrieve(t.Context(), []string{"q", "r"}, 1); err == nil || err.Error() != "retriever 0 of 1 returned 0 lists: want one for each of 2 queries" {
		t.Errorf("too few lists: got error %v", err)
	}
	if _, err := Fuse(lists("a")...).Retrieve(t.Context(), []string{"q"}, -1); err == nil || err.Error() != "retrieving -1 chunks: want 0 or more" {
		t.Errorf("k = -1: got error %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := Fuse(lists("a")...).Retrieve(ctx, []string{"q"}, 1); !errors.Is(err, cause) {
		t.Errorf("cancelled: got error %v, want %v", err, cause)
	}
	invalid := NewBM25[chunkers.Chunk]()
	invalid.B = math.Inf(1)
	if err := Fuse(ragtest.Retriever[chunkers.Chunk](invalid)).(chunkers.Validator).Validate(); err == nil || err.Error() != "retriever 0: lexical.BM25: B is +Inf: want 0 <= B <= 1" {
		t.Errorf("Validate: got error %v", err)
	}
}

func TestFusePanics(t *testing.T) {
	for _, test := range []struct {
		want string
		f    func()
	}{
		{"no retrievers", func() { Fuse[string]() }},
		{"retriever 1 is nil", func() { Fuse[string](&fixed[string]{}, nil) }},
		{"[]int cannot be compared", func() { Fuse[[]int](&fixed[[]int]{}) }},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, test.want) {
					t.Errorf("got panic %q, want one with %q", got, test.want)
				}
			}()
			test.f()
		}()
	}
}

func TestFuseString(t *testing.T) {
	r := Fuse[chunkers.Chunk](NewBM25[chunkers.Chunk](), &fixed[chunkers.Chunk]{})
	if got, want := fmt.Sprint(r), "rrf(bm25/k1=1.2/b=0.75, *lexical.fixed[github.com/rageval/rageval/chunkers.Chunk])"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
