package pgvector

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/spans"
)

func randomVectors(seed uint64, n, dim int) [][]float32 {
	r := rand.New(rand.NewPCG(seed, uint64(dim)))
	vectors := make([][]float32, n)
	for i := range vectors {
		vectors[i] = make([]float32, dim)
		for j := range vectors[i] {
			vectors[i][j] = float32(r.NormFloat64())
		}
	}
	return vectors
}

func mustExec(t *testing.T, pool *pgxpool.Pool, sql string) {
	t.Helper()
	if _, err := pool.Exec(context.Background(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func query[T any](t *testing.T, pool *pgxpool.Pool, sql string, args ...any) (value T) {
	t.Helper()
	if err := pool.QueryRow(context.Background(), sql, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}

func schemaExists(t *testing.T, pool *pgxpool.Pool, name string) bool {
	t.Helper()
	return query[bool](t, pool, "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)", name)
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want %q", err, want)
	}
}

func mustStore[C chunkers.Indexed](t *testing.T, pool *pgxpool.Pool, o Options, chunks []C, vectors [][]float32) *Store[C] {
	t.Helper()
	s, err := freshStore[C](t, pool, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Add(t.Context(), chunks, vectors); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestScoresAreThoseOfMemoryStore holds the tolerances that the package comment
// states.
func TestScoresAreThoseOfMemoryStore(t *testing.T) {
	pool := newPool(t, nil)
	for _, test := range []struct {
		n, dim    int
		tolerance float64
	}{{300, 1, 5e-6}, {300, 384, 5e-6}, {100, 2000, 5e-6}, {20, 16_000, 1e-5}} {
		t.Run(fmt.Sprintf("dim=%d", test.dim), func(t *testing.T) {
			vectors := randomVectors(1, test.n, test.dim)
			centre := randomVectors(6, 1, test.dim)[0]
			for i, v := range vectors { // some close to each other, of any length
				for j := range v {
					v[j] = (v[j] + float32(i%2*5)*centre[j]) * []float32{1, 1e-30, 1e30}[i%3]
				}
			}
			chunks := numbered(test.n)
			memory := ragtest.NewMemoryStore[chunkers.Chunk]()
			if err := memory.Add(t.Context(), chunks, vectors); err != nil {
				t.Fatal(err)
			}
			s := mustStore(t, pool, Options{}, chunks, vectors)
			for _, q := range slices.Concat(randomVectors(2, 3, test.dim), vectors[:3]) {
				want := map[string]float64{}
				exactly, err := memory.Search(t.Context(), q, test.n)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range exactly {
					want[f.Chunk.Text] = f.Score
				}
				found, err := s.Search(t.Context(), q, test.n)
				if err != nil {
					t.Fatal(err)
				}
				for i, f := range found {
					if math.Abs(f.Score-want[f.Chunk.Text]) > test.tolerance || math.Abs(f.Score-exactly[i].Score) > test.tolerance {
						t.Fatalf("rank %d: got %q with score %v, want %v, and %v at this rank", i+1, f.Chunk.Text, f.Score, want[f.Chunk.Text], exactly[i].Score)
					}
				}
			}
		})
	}
}

func TestColumns(t *testing.T) {
	pool := newPool(t, nil)
	chunks := []chunkers.PositionAwareChunk{
		{Span: spans.Span{Doc: "a.md", Start: 3, End: 9}, Text: "Größe", Metadata: map[string]string{"heading": "\"A\""}},
		{Span: spans.Span{Doc: "a.md", Start: 9, End: math.MaxInt}, Text: "NUL \x00 and \xff"},
		{Span: spans.Span{Doc: "b\x00.md"}, Text: `"\x00"`, Metadata: map[string]string{"\x00": "\xc3\x28", "": `\u0000`}},
	}
	for i := range chunks {
		chunks[i].ID = chunkers.NewPositionAwareChunkID(chunks[i].Text)
	}
	vectors := [][]float32{{3, 4}, {0, 0}, {-1, 1e30}}
	for _, copies := range []bool{true, false} {
		s, err := freshStore[chunkers.PositionAwareChunk](t, pool, Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.copies = s.copies && copies
		if err := s.Add(t.Context(), chunks, vectors); err != nil {
			t.Fatal(err)
		}
		rows, err := pool.Query(t.Context(), "SELECT format('%s|%s|%s|%s|%s|%s|%s|%s|%s', ordinal, chunk_id, doc, start_char, end_char, text, metadata, quoted, embedding) FROM "+s.table()+" ORDER BY ordinal")
		if err != nil {
			t.Fatal(err)
		}
		got, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		want := []string{
			"0|" + chunks[0].ID.String() + `|a.md|3|9|Größe|{"heading": "\"A\""}|f|[0.6,0.8]`,
			"1|" + chunks[1].ID.String() + `|"a.md"|9|9223372036854775807|"NUL \x00 and \xff"||t|`,
			"2|" + chunks[2].ID.String() + `|"b\x00.md"|0|0|"\"\\x00\""|{"\"\"": "\"\\\\u0000\"", "\"\\x00\"": "\"\\xc3(\""}|t|[-1e-30,1]`,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("COPY %v (-want +got):\n%s", s.copies, diff)
		}
		found, err := s.Search(t.Context(), []float32{0, 1}, 3)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]chunkers.PositionAwareChunk{chunks[2], chunks[0], chunks[1]}, []chunkers.PositionAwareChunk{found[0].Chunk, found[1].Chunk, found[2].Chunk}); diff != "" {
			t.Errorf("COPY %v (-want +got):\n%s", s.copies, diff)
		}
	}
}

func TestIndexIsUsedAndBuiltOnce(t *testing.T) {
	pool := newPool(t, nil)
	for _, h := range []HNSW{{}, {M: 5, EfConstruction: 20, EfSearch: 7, HalfPrecision: true}} {
		vectors := randomVectors(3, 60, 8)
		s := mustStore(t, pool, Options{HNSW: &h}, numbered(60)[:50], vectors[:50])
		indexes := func() string {
			return query[string](t, pool, "SELECT coalesce(string_agg(indexdef, ' '), '') FROM pg_indexes WHERE schemaname = $1 AND indexname = 'chunks_hnsw'", s.Schema())
		}
		if got := indexes(); got != "" {
			t.Errorf("before the first search: got the index %s, want none", got)
		}
		for range 2 {
			if _, err := s.SearchBatch(t.Context(), vectors[:40], 3); err != nil {
				t.Fatal(err)
			}
		}
		c := h.complete()
		if got, want := indexes(), fmt.Sprintf("(m='%d', ef_construction='%d')", c.M, c.EfConstruction); !strings.Contains(got, want) || strings.Contains(got, "halfvec") != h.HalfPrecision {
			t.Errorf("got the index %s, want one with %s", got, want)
		}
		if err := s.Add(t.Context(), numbered(60)[50:], vectors[50:]); err != nil {
			t.Fatal(err)
		}
		if found, err := s.Search(t.Context(), vectors[55], 1); err != nil || len(found) != 1 || found[0].Chunk.Text != "passage 55" {
			t.Errorf("searching for what was added to the index: got %v and error %v", found, err)
		}

		tx, err := pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		settings, values := s.settings(7)
		if _, err := tx.Exec(t.Context(), settings, values...); err != nil {
			t.Fatal(err)
		}
		rows, err := tx.Query(t.Context(), "EXPLAIN "+s.indexStatement(), vectorText(unitVector(vectors[0])), 3, 7, []int64{})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(plan, "\n"); !strings.Contains(got, "Index Scan using chunks_hnsw") || strings.Contains(got, "Seq Scan") {
			t.Errorf("got the plan\n%s\nwant an index scan using chunks_hnsw", got)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestManyWanted searches for more than a scan of the index has candidates.
func TestManyWanted(t *testing.T) {
	pool := newPool(t, nil)
	const n = 1200
	vectors := randomVectors(4, n, 8)
	s := mustStore(t, pool, Options{HNSW: &HNSW{}}, numbered(n), vectors)
	if found, err := s.Search(t.Context(), vectors[0], 300); err != nil || len(found) != 300 {
		t.Errorf("k = 300 with 40 candidates: got %d chunks and error %v", len(found), err)
	}
	_, err := s.Search(t.Context(), vectors[0], 1100)
	wantError(t, err, "k is 1100: an HNSW index finds at most 1000 chunks unless HNSW.IterativeScan is set")

	for _, order := range []string{"strict_order", "relaxed_order"} {
		s = mustStore(t, pool, Options{HNSW: &HNSW{IterativeScan: order, EfSearch: 10}}, numbered(n), vectors)
		found, err := s.Search(t.Context(), vectors[0], n)
		if err != nil || len(found) <= 1000 {
			t.Errorf("%s: got %d chunks and error %v, want more than 1000", order, len(found), err)
		}
		if !slices.IsSortedFunc(found, func(a, b ragtest.ScoredChunk[chunkers.Chunk]) int { return -cmpFloat(a.Score, b.Score) }) {
			t.Errorf("%s: the chunks are not sorted by score", order)
		}
	}
}

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func TestRowsThatOthersChange(t *testing.T) {
	pool := newPool(t, nil)
	vectors := randomVectors(5, 3, 2)
	s := mustStore(t, pool, Options{}, numbered(3), vectors)
	mustExec(t, pool, "DELETE FROM "+s.table()+" WHERE ordinal = 1")
	_, err := s.Search(t.Context(), vectors[0], 5)
	wantError(t, err, s.table()+" holds 2 rows, want 3: it was changed by other means")
	mustExec(t, pool, "UPDATE "+s.table()+" SET ordinal = 17 WHERE ordinal = 2")
	_, err = s.Search(t.Context(), vectors[2], 1)
	wantError(t, err, s.table()+" holds a row of ordinal 17, want 0 to 2: it was changed by other means")
	mustExec(t, pool, "UPDATE "+s.table()+" SET ordinal = 3 WHERE ordinal = 17")
	err = s.Add(t.Context(), numbered(2), vectors[:2])
	wantError(t, err, "Key (ordinal)=(3) already exists")
	if got := s.Len(); got != 3 {
		t.Errorf("after an Add that failed: got %d chunks, want 3", got)
	}
}

func TestEvaluation(t *testing.T) {
	pool := newPool(t, nil)
	evaluation := func(s ragtest.VectorStore[chunkers.PositionAwareChunk]) *ragtest.Result {
		t.Helper()
		r, err := handbook(t, s).Evaluate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	want := evaluation(nil)
	exactly, err := freshStore[chunkers.PositionAwareChunk](t, pool, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := evaluation(exactly)
	if got.Components.Store != "pgvector" {
		t.Errorf("got the store %q, want pgvector", got.Components.Store)
	}
	if r := got.Diagnostics.IndexRecall; r == nil || *r != 1 {
		t.Errorf("got index recall %v, want 1", r)
	}
	if diff := cmp.Diff(want.Metrics, got.Metrics); diff != "" {
		t.Errorf("metrics (-memory +pgvector):\n%s", diff)
	}
	indexed, err := freshStore[chunkers.PositionAwareChunk](t, pool, Options{HNSW: &HNSW{M: 4, EfConstruction: 8, EfSearch: 20}})
	if err != nil {
		t.Fatal(err)
	}
	got = evaluation(indexed)
	if got.Components.Store != "pgvector/hnsw/m=4/ef_construction=8/ef_search=20" {
		t.Errorf("got the store %q", got.Components.Store)
	}
	if r := got.Diagnostics.IndexRecall; r == nil || *r != 1 {
		t.Errorf("got index recall %v, want 1", r)
	}
}

// handbook returns an evaluation of three documents.
func handbook(t *testing.T, store ragtest.VectorStore[chunkers.PositionAwareChunk]) ragtest.TokenLevel {
	t.Helper()
	document := func(id spans.DocumentID, text string) *spans.Document {
		d, err := spans.NewDocument(id, text, nil)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	corpus, err := spans.NewCorpus(
		document("leave.md", "Employees have thirty days of leave. Unused days expire in March."),
		document("travel.md", "Trains are booked by the office. Flights need the approval of a manager."),
		document("equipment.md", "Laptops are replaced every four years. Broken ones are repaired at once."),
	)
	if err != nil {
		t.Fatal(err)
	}
	return ragtest.TokenLevel{
		Corpus: corpus,
		Queries: []ragtest.TokenQuery{
			{Query: ragtest.Query{Text: "When does unused leave expire?"}, Relevant: []spans.Span{{Doc: "leave.md", Start: 37, End: 65}}},
			{Query: ragtest.Query{Text: "Who gives approval for flights?"}, Relevant: []spans.Span{{Doc: "travel.md", Start: 33, End: 72}}},
			{Query: ragtest.Query{Text: "How old are laptops when they are replaced?"}, Relevant: []spans.Span{{Doc: "equipment.md", Start: 0, End: 38}}},
		},
		Chunker:  chunkers.RecursiveCharacter{Size: 40},
		Embedder: lexical.Embedder{Dim: 512},
		Store:    store,
		K:        2,
	}
}
