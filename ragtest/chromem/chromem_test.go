package chromem_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	chromemgo "github.com/philippgille/chromem-go"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/chromem"
	"github.com/rageval/rageval/spans"
)

func Example() {
	ctx := context.Background()
	store, err := chromem.NewInMemory[chunkers.PositionAwareChunk]()
	if err != nil {
		fmt.Println(err)
		return
	}
	err = store.Add(ctx, []chunkers.PositionAwareChunk{
		{Span: spans.Span{Doc: "compass.md", Start: 0, End: 4}, Text: "east"},
		{Span: spans.Span{Doc: "compass.md", Start: 5, End: 10}, Text: "north"},
	}, [][]float32{{1, 0}, {0, 1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	found, err := store.Search(ctx, []float32{0.6, 0.8}, 5)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range found {
		fmt.Printf("%.2f %v %s\n", f.Score, f.Chunk.Span, f.Chunk.Text)
	}
	// Output:
	// 0.80 compass.md[5:10] north
	// 0.60 compass.md[0:4] east
}

func TestCheckStore(t *testing.T) {
	t.Run("chunks", checkStores[chunkers.Chunk])
	t.Run("position-aware chunks", checkStores[chunkers.PositionAwareChunk])
}

func checkStores[C chunkers.Indexed](t *testing.T) {
	for name, newStore := range map[string]func(t *testing.T) (*chromem.Store[C], error){
		"in memory":      func(*testing.T) (*chromem.Store[C], error) { return chromem.NewInMemory[C]() },
		"in a directory": func(t *testing.T) (*chromem.Store[C], error) { return chromem.Open[C](t.TempDir()) },
		"compressed": func(t *testing.T) (*chromem.Store[C], error) {
			db, err := chromemgo.NewPersistentDB(t.TempDir(), true)
			if err != nil {
				return nil, err
			}
			collection, err := db.CreateCollection("compressed", nil, nil)
			if err != nil {
				return nil, err
			}
			return chromem.New[C](collection)
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := ragtest.CheckStore(t.Context(), func() (ragtest.VectorStore[C], error) { return newStore(t) }); err != nil {
				t.Error(err)
			}
		})
	}
}

func numbered(n int) []chunkers.Chunk {
	chunks := make([]chunkers.Chunk, n)
	for i := range chunks {
		text := fmt.Sprintf("passage %d", i)
		chunks[i] = chunkers.Chunk{ID: chunkers.NewChunkID(text), Doc: "a.md", Text: text}
	}
	return chunks
}

func randomVectors(seed uint64, n, dim int) [][]float32 {
	r := rand.New(rand.NewPCG(seed, 0))
	all := make([]float32, n*dim)
	for i := range all {
		all[i] = r.Float32() - 0.5
	}
	vectors := make([][]float32, n)
	for i := range vectors {
		vectors[i] = all[i*dim : (i+1)*dim : (i+1)*dim]
	}
	return vectors
}

func TestStoreNamesItself(t *testing.T) {
	s, err := chromem.NewInMemory[chunkers.Chunk]()
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(s); got != "chromem" {
		t.Errorf("got %q, want chromem", got)
	}
}

func TestReopening(t *testing.T) {
	ctx, dir := t.Context(), filepath.Join(t.TempDir(), "new", "store")
	chunks := numbered(12)
	chunks[3].Metadata = map[string]string{"ragtest.doc": "user's own", "ragtest.metadata.x": "y", "": "no key"}
	vectors := [][]float32{{1, 0}, {0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, 0}, {1, 0}, {3, 4}, {1, 0}, {1, 0}, {0, -1}, {1e30, 1e-30}}
	want := ragtest.NewMemoryStore[chunkers.Chunk]()
	for _, n := range []int{0, 5, 11, 12} {
		s, err := chromem.Open[chunkers.Chunk](dir)
		if err != nil {
			t.Fatal(err)
		}
		held := s.Len()
		if held != want.Len() {
			t.Fatalf("reopened: got %d chunks, want %d", held, want.Len())
		}
		for _, store := range []ragtest.VectorStore[chunkers.Chunk]{s, want} {
			if err := store.Add(ctx, chunks[held:n], vectors[held:n]); err != nil {
				t.Fatal(err)
			}
		}
	}
	s, err := chromem.Open[chunkers.Chunk](dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range [][]float32{{1, 0}, {0, 0}, {-2, 0}} {
		for k := range 14 {
			got, err := s.Search(ctx, query, k)
			if err != nil {
				t.Fatal(err)
			}
			want, err := want.Search(ctx, query, k)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("query %v, k %d (-want +got):\n%s", query, k, diff)
			}
		}
	}
	if err := s.Add(ctx, chunks[:1], [][]float32{{1, 2, 3}}); err == nil || !strings.Contains(err.Error(), "vector 0 has dimension 3, want 2") {
		t.Errorf("adding another dimension to a reopened store: got error %v", err)
	}
	if _, err := chromem.Open[chunkers.PositionAwareChunk](dir); err == nil ||
		!strings.Contains(err.Error(), `document "0": ragtest.kind is "chunk", want "position-aware chunk"`) {
		t.Errorf("opening with the other kind of chunk: got error %v", err)
	}
}

func TestTiesAreStable(t *testing.T) {
	const n = 300
	s, err := chromem.NewInMemory[chunkers.Chunk]()
	if err != nil {
		t.Fatal(err)
	}
	chunks, vectors := numbered(n), make([][]float32, n)
	for i := range vectors {
		vectors[i] = [][]float32{{1, 0, 0}, {3, 4, 0}, {0, 1, 0}, {0, 0, 0}}[i%4]
	}
	if err := s.Add(t.Context(), chunks, vectors); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, residue := range []int{0, 1} {
		for i := residue; i < n; i += 4 {
			want = append(want, chunks[i].Text)
		}
	}
	for i := range n {
		if i%4 >= 2 { // score 0: orthogonal and zero vectors by insertion order
			want = append(want, chunks[i].Text)
		}
	}
	for _, k := range []int{1, 3, 74, 75, 76, 149, 150, 151, 152, 200, n} {
		for range 3 {
			found, err := s.Search(t.Context(), []float32{2, 0, 0}, k)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range found {
				got = append(got, f.Chunk.Text)
			}
			if diff := cmp.Diff(want[:k], got); diff != "" {
				t.Fatalf("k %d (-want +got):\n%s", k, diff)
			}
		}
	}
}

func TestErrorsLeaveTheStoreUnchanged(t *testing.T) {
	ctx := t.Context()
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	s, err := chromem.NewInMemory[chunkers.Chunk]()
	if err != nil {
		t.Fatal(err)
	}
	chunks := numbered(3)
	if err := s.Add(ctx, chunks[:1], [][]float32{{1, 0}}); err != nil {
		t.Fatal(err)
	}
	nan := float32(math.NaN())
	second := func(_ any, err error) error { return err }
	for _, test := range []struct {
		err  error
		want string
	}{
		{s.Add(ctx, chunks, [][]float32{{1, 2}, {3, 4}}), "adding to the chromem store: got 2 vectors for 3 chunks: chunk 2 has none"},
		{s.Add(ctx, chunks[:2], [][]float32{{1, 2}, {3}}), "adding to the chromem store: vector 1 has dimension 1, want 2"},
		{s.Add(ctx, chunks[:2], [][]float32{{1, 2}, {3, nan}}), "adding to the chromem store: vector 1 has component 1 = NaN: want a finite number"},
		{s.Add(cancelled, chunks[:1], [][]float32{{1, 1}}), "adding to the chromem store: chunk 0: context canceled"},
		{second(s.Search(ctx, []float32{1, 2, 3}, 1)), "searching the chromem store: query has dimension 3, want 2"},
		{second(s.Search(ctx, []float32{nan, 2}, 1)), "searching the chromem store: query has component 0 = NaN: want a finite number"},
		{second(s.Search(ctx, []float32{1, 2}, -1)), "searching the chromem store: k is -1, want 0 or more"},
		{second(s.Search(cancelled, []float32{1, 2}, 1)), "searching the chromem store: context canceled"},
		{second(chromem.New[chunkers.Chunk](nil)), "making a chromem store: the collection is nil"},
		{second(chromem.Open[chunkers.Chunk]("")), "opening a chromem store: the directory is empty, want a path"},
	} {
		if test.err == nil || test.err.Error() != test.want {
			t.Errorf("got error %v, want %s", test.err, test.want)
		}
	}
	if err := s.Add(ctx, nil, nil); err != nil || s.Len() != 1 {
		t.Errorf("after errors and adding nothing: got error %v and %d chunks, want none and 1", err, s.Len())
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

func TestAFailingAddIsUndone(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	open := func() *chromem.Store[chunkers.Chunk] {
		s, err := chromem.Open[chunkers.Chunk](dir)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	chunks, vectors := numbered(20), randomVectors(1, 20, 4)
	if err := s.Add(ctx, chunks[:5], vectors[:5]); err != nil {
		t.Fatal(err)
	}

	if err := s.Add(&cancelAfter{ctx, 7}, chunks[5:], vectors[5:]); err == nil {
		t.Error("adding with a context that is done half-way: got no error")
	}
	// A directory where chromem-go wants to write the file of document 9:
	// 19581e27 begins the SHA-256 of "9".
	collections, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(collections) != 1 {
		t.Fatalf("got collections %v and error %v, want one", collections, err)
	}
	if err := os.Mkdir(filepath.Join(collections[0], "19581e27.gob"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := s.Add(ctx, chunks[5:], vectors[5:]); err == nil || !strings.Contains(err.Error(), "chunk 4: ") {
		t.Errorf("adding with an obstacle: got error %v, want one that names chunk 4", err)
	}
	if s.Len() != 5 || open().Len() != 5 {
		t.Errorf("got %d chunks, after reopening %d, want 5", s.Len(), open().Len())
	}
	if err := s.Add(ctx, chunks[5:], vectors[5:]); err != nil {
		t.Errorf("adding once more: %v", err)
	}
	found, err := open().Search(ctx, vectors[13], 20)
	if err != nil || len(found) != 20 || found[0].Chunk.Text != "passage 13" {
		t.Errorf("got %d chunks and error %v, want 20 with passage 13 first", len(found), err)
	}
}

func TestForeignDocuments(t *testing.T) {
	ctx := t.Context()
	newCollection := func() *chromemgo.Collection {
		c, err := chromemgo.NewDB().CreateCollection("mine", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	add := func(c *chromemgo.Collection, id string, embedding ...float32) {
		if err := c.AddDocument(ctx, chromemgo.Document{ID: id, Embedding: embedding, Content: id}); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[string]string{
		"doc-1": `reading the chromem collection "mine": chunk 0: document with ID '0' not found: the collection holds documents that were not added by this package`,
		"0":     `reading the chromem collection "mine": document "0": ragtest.kind is "", want "chunk"`,
	} {
		c := newCollection()
		add(c, id, 1, 0)
		if _, err := chromem.New[chunkers.Chunk](c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a collection with document %q: got error %v, want %s", id, err, want)
		}
	}

	c := newCollection()
	s, err := chromem.New[chunkers.Chunk](c)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Add(ctx, numbered(2), [][]float32{{1, 0}, {0, 1}}); err != nil {
		t.Fatal(err)
	}
	add(c, "behind its back", 1, 0)
	const changed = "the collection holds 3 documents, want 2: it was changed by other means"
	if _, err := s.Search(ctx, []float32{1, 0}, 2); err == nil || !strings.Contains(err.Error(), changed) {
		t.Errorf("searching: got error %v, want %s", err, changed)
	}
	if err := s.Add(ctx, numbered(1), [][]float32{{1, 0}}); err == nil || !strings.Contains(err.Error(), changed) {
		t.Errorf("adding: got error %v, want %s", err, changed)
	}
	if err := c.Delete(ctx, nil, nil, "1"); err != nil {
		t.Fatal(err)
	}
	for id := range map[string]bool{"behind its back": true, "99999999": true} {
		if err := c.Delete(ctx, nil, nil, "behind its back"); err != nil {
			t.Fatal(err)
		}
		add(c, id, 1, 0)
		if _, err := s.Search(ctx, []float32{1, 0}, 2); err == nil || !strings.Contains(err.Error(), "not added by this package") {
			t.Errorf("searching with document %q for another: got error %v", id, err)
		}
		if err := c.Delete(ctx, nil, nil, id); err != nil {
			t.Fatal(err)
		}
	}
}
