package chroma_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/chroma"
	"github.com/rageval/rageval/spans"
)

// newStore returns a store that is closed when the test ends.
func newStore[C chunkers.Indexed](tb testing.TB, config chroma.Config) *chroma.Store[C] {
	tb.Helper()
	s, err := chroma.New[C](tb.Context(), config)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func numbered(n int) []chunkers.Chunk {
	chunks := make([]chunkers.Chunk, n)
	for i := range chunks {
		text := fmt.Sprintf("passage %d", i)
		chunks[i] = chunkers.Chunk{ID: chunkers.NewChunkID(text), Doc: "a.md", Text: text}
	}
	return chunks
}

// second returns the error of a call that returns something else as well.
func second(_ any, err error) error { return err }

func TestCheckStore(t *testing.T) {
	t.Run("chunks", checkStores[chunkers.Chunk])
	t.Run("position-aware chunks", checkStores[chunkers.PositionAwareChunk])
}

func checkStores[C chunkers.Indexed](t *testing.T) {
	server := newFake(t)
	server.maxBatch = 77
	err := ragtest.CheckStore(t.Context(), func() (ragtest.VectorStore[C], error) {
		return newStore[C](t, chroma.Config{Endpoint: server.URL}), nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestCloseDeletesTheOwnCollectionOnly(t *testing.T) {
	server := newFake(t)
	ctx := t.Context()
	s, err := chroma.New[chunkers.Chunk](ctx, chroma.Config{Endpoint: server.URL + "/", Prefix: "mine", HNSW: chroma.HNSW{EFSearch: 400, MaxNeighbors: 32}})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := chroma.New[chunkers.Chunk](ctx, chroma.Config{Endpoint: server.URL, Keep: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(s, " ", kept), "chroma/ef_search=400/max_neighbors=32 chroma"; got != want {
		t.Errorf("got the names %q, want %q", got, want)
	}
	if !strings.HasPrefix(s.Collection(), "mine-") || !strings.HasPrefix(kept.Collection(), "ragtest-") {
		t.Errorf("got the collections %s and %s, want mine-… and ragtest-…", s.Collection(), kept.Collection())
	}
	want := []string{s.Collection(), "production", kept.Collection()}
	if diff := cmp.Diff(want, server.names()); diff != "" {
		t.Errorf("collections (-want +got):\n%s", diff)
	}
	if err := s.Add(ctx, numbered(1), [][]float32{{1, 0}}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := errors.Join(s.Close(), kept.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want[1:], server.names()); diff != "" {
		t.Errorf("collections after closing (-want +got):\n%s", diff)
	}
	for _, err := range []error{
		s.Add(ctx, numbered(1), [][]float32{{1, 0}}),
		second(s.Search(ctx, []float32{1, 0}, 1)),
		second(kept.SearchBatch(ctx, nil, 1)),
	} {
		if err == nil || !strings.HasSuffix(err.Error(), ": the store is closed") {
			t.Errorf("using a closed store: got error %v", err)
		}
	}
	if got := server.count("DELETE"); got != 1 {
		t.Errorf("got %d requests to delete, want 1", got)
	}
}

func TestErrorsLeaveTheStoreUnchanged(t *testing.T) {
	server := newFake(t)
	ctx := t.Context()
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	s := newStore[chunkers.Chunk](t, chroma.Config{Endpoint: server.URL})
	chunks := numbered(3)
	if err := s.Add(ctx, chunks[:1], [][]float32{{1, 0}}); err != nil {
		t.Fatal(err)
	}
	nan := float32(math.NaN())
	adding, searching := "adding to the chroma collection "+s.Collection()+": ", "searching the chroma collection "+s.Collection()+": "
	bad := func(change func(c *chunkers.Chunk)) []chunkers.Chunk {
		c := slices.Clone(chunks[:2])
		change(&c[1])
		return c
	}
	two := [][]float32{{1, 2}, {3, 4}}
	for _, test := range []struct {
		err  error
		want string
	}{
		{s.Add(ctx, chunks, two), adding + "got 2 vectors for 3 chunks: chunk 2 has none"},
		{s.Add(ctx, chunks[:2], [][]float32{{1, 2}, {3}}), adding + "vector 1 has dimension 1, want 2"},
		{s.Add(ctx, chunks[:2], [][]float32{{1, 2}, {3, nan}}), adding + "vector 1 has component 1 = NaN: want a finite number"},
		{s.Add(ctx, bad(func(c *chunkers.Chunk) { c.Text = "caf\xe9" }), two), adding + "chunk 1: the text is not UTF-8 at byte 3, 0xe9: Chroma cannot hold it"},
		{s.Add(ctx, bad(func(c *chunkers.Chunk) { c.Doc = "\xff.md" }), two), adding + "chunk 1: the document ID is not UTF-8 at byte 0, 0xff: Chroma cannot hold it"},
		{s.Add(ctx, bad(func(c *chunkers.Chunk) { c.Metadata = map[string]string{"a\xff": "b"} }), two), adding + "chunk 1: a metadata key is not UTF-8 at byte 1, 0xff: Chroma cannot hold it"},
		{s.Add(ctx, bad(func(c *chunkers.Chunk) { c.Metadata = map[string]string{"a": "\ufffd\x80"} }), two), adding + `chunk 1: metadata "a" is not UTF-8 at byte 3, 0x80: Chroma cannot hold it`},
		{s.Add(cancelled, chunks[:1], two[:1]), adding + "context canceled"},
		{second(s.Search(ctx, []float32{1, 2, 3}, 1)), searching + "query has dimension 3, want 2"},
		{second(s.SearchBatch(ctx, [][]float32{{1, 2}, {nan, 2}}, 1)), searching + "query 1 has component 0 = NaN: want a finite number"},
		{second(s.Search(ctx, []float32{1, 2}, -1)), searching + "k is -1, want 0 or more"},
		{second(s.Search(cancelled, []float32{1, 2}, 1)), searching + "context canceled"},
		{second(s.Search(cancelled, []float32{1, 2}, 0)), searching + "context canceled"},
	} {
		if test.err == nil || test.err.Error() != test.want {
			t.Errorf("got error %v, want %s", test.err, test.want)
		}
	}
	if err := s.Add(ctx, nil, nil); err != nil || s.Len() != 1 || server.count("POST add") != 1 {
		t.Errorf("after errors and adding nothing: got error %v, %d chunks and %d requests to add, want none, 1 and 1", err, s.Len(), server.count("POST add"))
	}
	if err := s.Add(ctx, chunks[1:], two); err != nil || s.Len() != 3 {
		t.Errorf("adding once more: got error %v and %d chunks, want none and 3", err, s.Len())
	}
}

// odd are chunks that are hard to store.
func odd() ([]chunkers.PositionAwareChunk, [][]float32) {
	metadata := map[string]string{"": "empty key", "ragtest.doc": "own", "ragtest.metadata.x": "y", "chroma:document": "dropped?",
		"Chroma:x": "z", "#a": "1", "$and": "2", "k\x00y": "v\x00w", "int": "1", "float": "1.0", "bool": "true", "null": "null", "日本": "\u2028<&>"}
	var chunks []chunkers.PositionAwareChunk
	var vectors [][]float32
	for i, text := range []string{
		"plain", "", "\x00", "a\x00b\x00", "\ufffd\ufffe\uffff\ufeff", "e\u0301 é 🙂🏽\u200d🌾 \u202ertl\u202c", "\x01\x02\x1b\x7f\r\n\t\u2028\u2029",
		`{"a": "\ud800"} \u0000`, strings.Repeat("x", 1<<20), "plain", "plain",
	} {
		doc := spans.DocumentID(fmt.Sprintf("дом/%d & co.md", i/4))
		c := chunkers.PositionAwareChunk{ID: chunkers.NewPositionAwareChunkID(text), Span: spans.Span{Doc: doc, Start: i * 1e9, End: i*1e9 + 7}, Text: text}
		if i%3 == 0 {
			c.Metadata = metadata
		}
		chunks = append(chunks, c)
		vectors = append(vectors, []float32{1, float32(i)})
	}
	return chunks, vectors
}

func testOddChunks(t *testing.T, config chroma.Config) {
	chunks, vectors := odd()
	s, want := newStore[chunkers.PositionAwareChunk](t, config), ragtest.NewMemoryStore[chunkers.PositionAwareChunk]()
	for _, store := range []ragtest.VectorStore[chunkers.PositionAwareChunk]{s, want} {
		if err := store.Add(t.Context(), chunks, vectors); err != nil {
			t.Fatal(err)
		}
	}
	for _, query := range [][]float32{{1, 0}, {0, 1}, {0, 0}} {
		got, err := s.Search(t.Context(), query, 100)
		if err != nil {
			t.Fatal(err)
		}
		want, err := want.Search(t.Context(), query, 100)
		if err != nil {
			t.Fatal(err)
		}
		approximately := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-6 })
		if diff := cmp.Diff(want, got, approximately); diff != "" {
			t.Errorf("query %v (-want +got):\n%s", query, diff)
		}
	}
}

func TestOddChunks(t *testing.T) { testOddChunks(t, chroma.Config{Endpoint: newFake(t).URL}) }

// testTies stores four groups of vectors, interleaved over several requests, so
// that k cuts through ties everywhere.
func testTies(t *testing.T, config chroma.Config) {
	const n = 300
	s := newStore[chunkers.Chunk](t, config)
	chunks, vectors := numbered(n), make([][]float32, n)
	for i := range vectors {
		vectors[i] = [][]float32{{1, 0, 0}, {3, 4, 0}, {0, 1, 0}, {0, 0, 0}}[i%4]
	}
	for first := 0; first < n; first += 100 {
		if err := s.Add(t.Context(), chunks[first:first+100], vectors[first:first+100]); err != nil {
			t.Fatal(err)
		}
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

func TestTies(t *testing.T) { testTies(t, chroma.Config{Endpoint: newFake(t).URL}) }

// testExtremeLengths stores vectors whose squares overflow or vanish in float32.
func testExtremeLengths(t *testing.T, config chroma.Config) {
	s := newStore[chunkers.Chunk](t, config)
	if err := s.Add(t.Context(), numbered(4), [][]float32{{3e38, 3e38}, {1e-45, 0}, {-1e-40, 1e-40}, {0, 3e38}}); err != nil {
		t.Fatal(err)
	}
	found, err := s.Search(t.Context(), []float32{1e-42, 0}, 4)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		got = append(got, fmt.Sprintf("%.3f %s", f.Score, f.Chunk.Text))
	}
	want := []string{"1.000 passage 1", "0.707 passage 0", "0.000 passage 3", "-0.707 passage 2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestExtremeLengths(t *testing.T) {
	testExtremeLengths(t, chroma.Config{Endpoint: newFake(t).URL})
}

func TestLargeAddsAreSplit(t *testing.T) {
	server := newFake(t)
	const n, dim = 500, 1024 // at most 15 bytes of JSON a component: 7.3 MiB
	s := newStore[chunkers.Chunk](t, chroma.Config{Endpoint: server.URL})
	var longest int64
	server.fault = func(_ http.ResponseWriter, r *http.Request, operation string, _ int) bool {
		if operation == "POST add" {
			longest = max(longest, r.ContentLength)
		}
		return false
	}
	vectors := make([][]float32, n)
	for i := range vectors {
		vectors[i] = make([]float32, dim)
		for j := range vectors[i] {
			vectors[i][j] = float32(i*j%97) - 48
		}
	}
	if err := s.Add(t.Context(), numbered(n), vectors); err != nil {
		t.Fatal(err)
	}
	if got := server.count("POST add"); got != 2 || longest > 8<<20 {
		t.Errorf("got %d requests of up to %d bytes, want 2 of up to 6 MiB", got, longest)
	}
}

// TestManyQueries searches for more queries than one request holds, all of which
// tie with every chunk.
func TestManyQueries(t *testing.T) {
	const n, k, queries = 1200, 3, 100
	server := newFake(t)
	s := newStore[chunkers.Chunk](t, chroma.Config{Endpoint: server.URL})
	vectors := slices.Repeat([][]float32{{0, 1}}, n)
	if err := s.Add(t.Context(), numbered(n), vectors); err != nil {
		t.Fatal(err)
	}
	found, err := s.SearchBatch(t.Context(), slices.Repeat([][]float32{{1, 0}}, queries), k)
	if err != nil {
		t.Fatal(err)
	}
	for q, list := range found {
		for i, f := range list {
			if want := fmt.Sprint("passage ", i); f.Chunk.Text != want || f.Score != 0 {
				t.Errorf("query %d, rank %d: got %q %v, want %q 0", q, i+1, f.Chunk.Text, f.Score, want)
			}
		}
		if len(list) != k {
			t.Errorf("query %d: got %d chunks, want %d", q, len(list), k)
		}
	}
	// Two groups ask for 4, 8, … 1024 and all of the records; the larger one asks
	// twice in the end, where the answer would be long.
	if got := server.count("POST query"); got != 21 {
		t.Errorf("got %d requests, want 21", got)
	}
}

func TestStoreInAnEvaluation(t *testing.T) {
	server := newFake(t)
	doc, err := spans.NewDocument("compass.md", "east is red. north is cold. west is wild. south is warm.", nil)
	if err != nil {
		t.Fatal(err)
	}
	corpus, err := spans.NewCorpus(doc)
	if err != nil {
		t.Fatal(err)
	}
	e := ragtest.TokenLevel{
		Corpus:   corpus,
		Queries:  []ragtest.TokenQuery{{Query: ragtest.Query{ID: "q", Text: "cold"}, Relevant: []spans.Span{{Doc: "compass.md", Start: 13, End: 27}}}},
		Chunker:  chunkers.FixedSize{Size: 14},
		Embedder: letters{},
		Store:    newStore[chunkers.PositionAwareChunk](t, chroma.Config{Endpoint: server.URL}),
		K:        2,
	}
	r := ragtest.RunTokenLevel(t, e, ragtest.SpanRecall.AtLeast(0.5))
	if r.Components.Store != "chroma" {
		t.Errorf("got the store %q, want chroma", r.Components.Store)
	}
	if recall := r.Diagnostics.IndexRecall; recall == nil || *recall != 1 {
		t.Errorf("got the index recall %v, want 1: the fake server searches exactly", recall)
	}
}

// letters embeds a text as the counts of its letters.
type letters struct{}

func (letters) Embed(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = make([]float32, 26)
		for _, r := range text {
			if 'a' <= r && r <= 'z' {
				vectors[i][r-'a']++
			}
		}
	}
	return vectors, nil
}
