package ragtest_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
)

func ExampleCheckStore() {
	newStore := func() (ragtest.VectorStore[chunkers.PositionAwareChunk], error) {
		return ragtest.NewMemoryStore[chunkers.PositionAwareChunk](), nil // your own store
	}
	fmt.Println(ragtest.CheckStore(context.Background(), newStore))
	// Output: <nil>
}

func TestMemoryStorePassesCheckStore(t *testing.T) {
	t.Run("chunks", checkMemoryStore[chunkers.Chunk])
	t.Run("position-aware chunks", checkMemoryStore[chunkers.PositionAwareChunk])
}

func checkMemoryStore[C chunkers.Indexed](t *testing.T) {
	if err := ragtest.CheckStore(t.Context(), func() (ragtest.VectorStore[C], error) {
		return ragtest.NewMemoryStore[C](), nil
	}); err != nil {
		t.Error(err)
	}
}

func TestCheckStoreReportsAnUnusableMakerOnce(t *testing.T) {
	type maker = func() (ragtest.VectorStore[chunkers.Chunk], error)
	made := 0
	for _, test := range []struct {
		want     string
		newStore maker
		made     int
	}{
		{"checking the store: newStore is nil: want a function that makes a store", nil, 0},
		{"empty store: making a store: no server", func() (ragtest.VectorStore[chunkers.Chunk], error) {
			made++
			return nil, errors.New("no server")
		}, 1},
		{"empty store: making a store: got nil", func() (ragtest.VectorStore[chunkers.Chunk], error) {
			made++
			return nil, nil
		}, 1},
		{"dimension: making a store: no more", func() (ragtest.VectorStore[chunkers.Chunk], error) {
			if made++; made > 7 {
				return nil, errors.New("no more")
			}
			return ragtest.NewMemoryStore[chunkers.Chunk](), nil
		}, 8},
	} {
		made = 0
		err := ragtest.CheckStore(t.Context(), test.newStore)
		if err == nil || err.Error() != test.want || made != test.made {
			t.Errorf("got %d stores and error\n%v\nwant %d and\n%s", made, err, test.made, test.want)
		}
	}
}

func TestCheckStoreFindsAReusedStore(t *testing.T) {
	held := ragtest.NewMemoryStore[chunkers.Chunk]()
	err := ragtest.CheckStore(t.Context(), func() (ragtest.VectorStore[chunkers.Chunk], error) { return held, nil })
	if want := "k: searching for [1 0] with k = 4: got"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error:\n%v\nwant one that contains %q", err, want)
	}
}

func TestCheckStoreStopsWhenCancelled(t *testing.T) {
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	made := 0
	err := ragtest.CheckStore(ctx, func() (ragtest.VectorStore[chunkers.Chunk], error) {
		if made++; made == 3 {
			cancel(stop)
		}
		return ragtest.NewMemoryStore[chunkers.Chunk](), nil
	})
	if !errors.Is(err, stop) || made != 3 {
		t.Errorf("got error %v after %d stores, want %v after 3", err, made, stop)
	}
}

type (
	chunk   = chunkers.PositionAwareChunk
	ranking = []ragtest.ScoredChunk[chunk]
	memory  = ragtest.MemoryStore[chunk]
)

// broken is a correct store but for the hooks that are not nil.
type broken struct {
	memory *memory
	add    func(ctx context.Context, m *memory, chunks []chunk, vectors [][]float32) error
	search func(ctx context.Context, m *memory, query []float32, k int) (ranking, error)
}

func (b *broken) Add(ctx context.Context, chunks []chunk, vectors [][]float32) error {
	if b.add != nil {
		return b.add(ctx, b.memory, chunks, vectors)
	}
	return b.memory.Add(ctx, chunks, vectors)
}

func (b *broken) Search(ctx context.Context, query []float32, k int) ([]ragtest.ScoredChunk[chunk], error) {
	if b.search != nil {
		return b.search(ctx, b.memory, query, k)
	}
	return b.memory.Search(ctx, query, k)
}

// checkBroken checks stores that newStore makes, without their memory.
func checkBroken(t *testing.T, newStore func() ragtest.VectorStore[chunk], want string) {
	t.Helper()
	err := ragtest.CheckStore(t.Context(), func() (ragtest.VectorStore[chunk], error) {
		s := newStore()
		switch s := s.(type) {
		case *broken:
			s.memory = ragtest.NewMemoryStore[chunk]()
		case *brokenBatch:
			s.memory = ragtest.NewMemoryStore[chunk]()
		}
		return s, nil
	})
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error:\n%v\nwant one that contains %q", err, want)
	}
}

// sortedBy returns a search that sorts all chunks, in order of insertion before,
// by compare, and cuts at k.
func sortedBy(compare func(a, b ragtest.ScoredChunk[chunk]) int) func(context.Context, *memory, []float32, int) (ranking, error) {
	return func(ctx context.Context, m *memory, query []float32, k int) (ranking, error) {
		all, err := m.Search(ctx, query, m.Len())
		slices.SortStableFunc(all, compare)
		return all[:min(k, len(all))], err
	}
}

// changed returns a search that changes what a correct one finds.
func changed(change func(found ranking, k int) ranking) func(context.Context, *memory, []float32, int) (ranking, error) {
	return func(ctx context.Context, m *memory, query []float32, k int) (ranking, error) {
		found, err := m.Search(ctx, query, k)
		return change(found, k), err
	}
}

// clean returns the vector without components that are not finite.
func clean(v []float32) []float32 {
	v = slices.Clone(v)
	for i, x := range v {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			v[i] = 0
		}
	}
	return v
}

// resized returns the vector with n components.
func resized(v []float32, n int) []float32 {
	return append(slices.Clone(v), make([]float32, n)...)[:n]
}

func dimensionOf(m *memory, otherwise int) int {
	if m.Len() == 0 {
		return otherwise
	}
	for dim := 1; ; dim++ {
		if _, err := m.Search(context.Background(), make([]float32, dim), 0); err == nil {
			return dim
		}
	}
}

// panicking panics when nothing is asked for.
type panicking struct {
	*ragtest.MemoryStore[chunkers.Chunk]
}

func (s panicking) Search(ctx context.Context, query []float32, k int) ([]ragtest.ScoredChunk[chunkers.Chunk], error) {
	if k == 0 {
		panic("no k")
	}
	return s.MemoryStore.Search(ctx, query, k)
}

func TestCheckStoreReportsPanics(t *testing.T) {
	err := ragtest.CheckStore(t.Context(), func() (ragtest.VectorStore[chunkers.Chunk], error) {
		return panicking{ragtest.NewMemoryStore[chunkers.Chunk]()}, nil
	})
	if err == nil || !strings.Contains(err.Error(), "k: the store panicked: no k") {
		t.Errorf("got %v, want the rule and what the store panicked with", err)
	}
}
