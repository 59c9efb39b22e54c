package ragtest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
)

func ExampleNewCompactStore() {
	store, err := ragtest.NewCompactStore[chunkers.Chunk]("")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	ctx := context.Background()
	if err := store.Add(ctx, []chunkers.Chunk{{Text: "east"}, {Text: "north"}}, [][]float32{{1, 0}, {0, 1}}); err != nil {
		fmt.Println(err)
		return
	}
	found, err := store.Search(ctx, []float32{0.6, 0.8}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f %s\n", found[0].Score, found[0].Chunk.Text)
	// Output: 0.800 north
}

func newCompactStore(t *testing.T) *ragtest.MemoryStore[chunkers.PositionAwareChunk] {
	t.Helper()
	store, err := ragtest.NewCompactStore[chunkers.PositionAwareChunk](t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func TestCompactStore(t *testing.T) {
	err := ragtest.CheckStore(t.Context(), func() (ragtest.VectorStore[chunkers.PositionAwareChunk], error) { return newCompactStore(t), nil })
	if err != nil {
		t.Error(err)
	}
}

func TestCompactStoreGivesTheResultOfMemory(t *testing.T) {
	for seed := range uint64(20) {
		e := randomEvaluation(t, rand.New(rand.NewPCG(seed, 3)), true)
		e.Chunker = chunkers.FixedSize{Size: 20, Overlap: 5}
		want, err := e.Evaluate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		store := newCompactStore(t)
		e.Store = store
		got, err := e.Evaluate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got.Components.Store != "compact" || *got.Diagnostics.IndexBytes != int64(got.Chunks*(32+8)) {
			t.Errorf("seed %d: got the store %s of %d bytes for %d vectors of 26 components", seed, got.Components.Store, *got.Diagnostics.IndexBytes, got.Chunks)
		}
		got.Components.Store, got.Diagnostics.IndexBytes, got.Budgets = want.Components.Store, want.Diagnostics.IndexBytes, want.Budgets
		if diff := cmp.Diff(encode(t, got), encode(t, want)); diff != "" {
			t.Fatalf("seed %d (-compact +memory):\n%s", seed, diff)
		}
	}
}

func TestCompactStoreCleansUp(t *testing.T) {
	dir := t.TempDir()
	store, err := ragtest.NewCompactStore[chunkers.Chunk](dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Add(t.Context(), []chunkers.Chunk{{Text: "a"}}, [][]float32{{1}}); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	if err := store.Close(); err != nil {
		t.Errorf("closing it again: %v", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, error %v", left, err)
	}
	if _, err := store.Search(t.Context(), []float32{1}, 1); err == nil {
		t.Error("searching a closed store is no error")
	}
	if _, err := ragtest.NewCompactStore[chunkers.Chunk](dir + "/none"); err == nil || !strings.Contains(err.Error(), "making a compact store") {
		t.Errorf("in no folder: got error %v", err)
	}
	if err := ragtest.NewMemoryStore[chunkers.Chunk]().Close(); err != nil {
		t.Errorf("closing a memory store: %v", err)
	}
}
