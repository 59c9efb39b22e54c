package ragtest_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
)

var (
	_ ragtest.VectorStore[chunkers.Chunk]                = (*ragtest.MemoryStore[chunkers.Chunk])(nil)
	_ ragtest.BatchSearcher[chunkers.PositionAwareChunk] = (*ragtest.MemoryStore[chunkers.PositionAwareChunk])(nil)
)

func ExampleMemoryStore() {
	ctx := context.Background()
	store := ragtest.NewMemoryStore[chunkers.Chunk]()
	err := store.Add(ctx, []chunkers.Chunk{{Text: "east"}, {Text: "north"}, {Text: "north-east"}},
		[][]float32{{1, 0}, {0, 1}, {1, 1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	found, err := store.Search(ctx, []float32{0.6, 0.8}, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range found {
		fmt.Printf("%.3f %s\n", f.Score, f.Chunk.Text)
	}
	// Output:
	// 0.990 north-east
	// 0.800 north
}

func TestMemoryStoreErrorsLeaveItUnchanged(t *testing.T) {
	ctx := t.Context()
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	s := ragtest.NewMemoryStore[string]()
	add := func(ctx context.Context, n int, vectors ...[]float32) error {
		return s.Add(ctx, []string{"a", "b", "c"}[:n], vectors)
	}
	if err := add(ctx, 1, []float32{1, 0}); err != nil {
		t.Fatal(err)
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	second := func(_ any, err error) error { return err }
	for _, test := range []struct {
		err  error
		want string
	}{
		{add(ctx, 3, []float32{1, 2}, []float32{3, 4}), "adding to the memory store: got 2 vectors for 3 chunks: chunk 2 has none"},
		{add(ctx, 1, []float32{1, 2}, []float32{3, 4}), "adding to the memory store: got 2 vectors for 1 chunks: vector 1 has no chunk"},
		{add(ctx, 2, []float32{1, 2}, []float32{1, 2, 3}), "adding to the memory store: vector 1 has dimension 3, want 2"},
		{add(ctx, 2, []float32{1, 2}, nil), "adding to the memory store: vector 1 is empty: want at least one component"},
		{add(ctx, 2, []float32{1, 2}, []float32{nan, 1}), "adding to the memory store: vector 1 has component 0 = NaN: want a finite number"},
		{add(ctx, 1, []float32{1, inf}), "adding to the memory store: vector 0 has component 1 = +Inf: want a finite number"},
		{add(cancelled, 1, []float32{1, 1}), "adding to the memory store: context canceled"},
		{second(s.Search(ctx, []float32{1, 2, 3}, 1)), "searching the memory store: query has dimension 3, want 2"},
		{second(s.Search(ctx, []float32{1, nan}, 1)), "searching the memory store: query has component 1 = NaN: want a finite number"},
		{second(s.Search(ctx, nil, 1)), "searching the memory store: query is empty: want at least one component"},
		{second(s.Search(ctx, []float32{1, 2}, -1)), "searching the memory store: k is -1, want 0 or more"},
		{second(s.Search(cancelled, []float32{1, 2}, 1)), "searching the memory store: context canceled"},
		{second(s.SearchBatch(ctx, [][]float32{{1, 2}, {1}}, 1)), "searching the memory store: query 1 has dimension 1, want 2"},
		{second(s.SearchBatch(ctx, nil, -2)), "searching the memory store: k is -2, want 0 or more"},
	} {
		if test.err == nil || test.err.Error() != test.want {
			t.Errorf("got error %v, want %s", test.err, test.want)
		}
	}
	if got := s.Len(); got != 1 {
		t.Errorf("after errors: got %d chunks, want 1", got)
	}
	if err := add(ctx, 0); err != nil {
		t.Errorf("adding nothing: %v", err)
	}
	got, err := s.Search(ctx, []float32{1, 0}, 5)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]ragtest.ScoredChunk[string]{{Chunk: "a", Score: 1}}, got); diff != "" {
		t.Errorf("after errors (-want +got):\n%s", diff)
	}
}

func TestMemoryStoreWithoutChunksHasNoDimension(t *testing.T) {
	s := ragtest.NewMemoryStore[string]()
	if err := s.Add(t.Context(), []string{"a"}, [][]float32{{1, 2}, {3, 4}}); err == nil {
		t.Fatal("got no error for two vectors and one chunk")
	}
	found, err := s.SearchBatch(t.Context(), [][]float32{{1, 2, 3}, {1}}, 3)
	if err != nil || len(found) != 2 || len(found[0])+len(found[1]) != 0 {
		t.Errorf("got %v and error %v, want two empty lists", found, err)
	}
	if err := s.Add(t.Context(), []string{"a"}, [][]float32{{1, 2, 3}}); err != nil {
		t.Errorf("adding a vector of dimension 3 after a failed one of 2: %v", err)
	}
}

func TestMemoryStoreSearchesWhileAdding(t *testing.T) {
	s := ragtest.NewMemoryStore[int]()
	const n, dim = 400, 24
	r := rand.New(rand.NewPCG(1, 1))
	vectors := make([][]float32, n)
	for i := range vectors {
		vectors[i] = make([]float32, dim)
		for j := range vectors[i] {
			vectors[i][j] = r.Float32() - 0.5
		}
	}
	done := make(chan error)
	go func() {
		for i := range n {
			if err := s.Add(t.Context(), []int{i}, vectors[i:i+1]); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for {
		held := s.Len()
		found, err := s.Search(t.Context(), vectors[0], n)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) < held || held > 0 && found[0].Chunk != 0 {
			t.Fatalf("got %d chunks, want at least %d and chunk 0 first", len(found), held)
		}
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
		}
	}
}

func TestMemoryStoreCancelledBySearch(t *testing.T) {
	s := ragtest.NewMemoryStore[int]()
	vector := make([]float32, 64)
	vector[0] = 1
	n := 5000
	if err := s.Add(t.Context(), make([]int, n), slices.Repeat([][]float32{vector}, n)); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	if _, err := s.SearchBatch(ctx, slices.Repeat([][]float32{vector}, 100), 3); !errors.Is(err, stop) {
		t.Errorf("got error %v, want one that wraps the cause %v", err, stop)
	}
}
