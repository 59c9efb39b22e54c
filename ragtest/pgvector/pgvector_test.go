package pgvector

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
)

// dsn returns the connection string of the server that tests run on, or skips
// the test.
func dsn(tb testing.TB) string {
	tb.Helper()
	s := os.Getenv("RAGTEST_PG_DSN")
	if s == "" {
		tb.Skip("RAGTEST_PG_DSN is not set: it names a PostgreSQL database that has pgvector; .ci/legs/pgvector and testdata/postgres17.sh start one")
	}
	return s
}

// newPool returns a pool that is closed at the end of the test: the server may
// know one connection only, so that no two tests and no two pools can be at work
// at once.
func newPool(tb testing.TB, change func(*pgxpool.Config)) *pgxpool.Pool {
	tb.Helper()
	config, err := pgxpool.ParseConfig(dsn(tb))
	if err != nil {
		tb.Fatal("parsing RAGTEST_PG_DSN")
	}
	if change != nil {
		change(config)
	}
	pool, err := pgxpool.NewWithConfig(tb.Context(), config)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(pool.Close)
	return pool
}

// freshStore returns a store that is closed at the end of the test.
func freshStore[C chunkers.Indexed](tb testing.TB, pool *pgxpool.Pool, o Options) (*Store[C], error) {
	tb.Helper()
	s, err := New[C](tb.Context(), pool, o)
	if err == nil {
		tb.Cleanup(func() {
			if err := s.Close(context.Background()); err != nil {
				tb.Error(err)
			}
		})
	}
	return s, err
}

func TestCheckStore(t *testing.T) {
	t.Run("chunks", checkStores[chunkers.Chunk])
	t.Run("position-aware chunks", checkStores[chunkers.PositionAwareChunk])
}

func checkStores[C chunkers.Indexed](t *testing.T) {
	mode := func(m pgx.QueryExecMode) func(*pgxpool.Config) {
		return func(c *pgxpool.Config) { c.ConnConfig.DefaultQueryExecMode = m }
	}
	for _, test := range []struct {
		name    string
		config  func(*pgxpool.Config)
		options Options
		inserts bool // without COPY
	}{
		{name: "exact"},
		{name: "inserted", inserts: true},
		{name: "hnsw", options: Options{HNSW: &HNSW{EfSearch: 400}}},
		{name: "hnsw at half precision", options: Options{HNSW: &HNSW{EfSearch: 400, HalfPrecision: true, IterativeScan: "strict_order"}}},
		{name: "statements described", config: mode(pgx.QueryExecModeCacheDescribe)},
		{name: "simple protocol", config: mode(pgx.QueryExecModeSimpleProtocol), inserts: true, options: Options{HNSW: &HNSW{EfSearch: 400}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			pool := newPool(t, test.config)
			err := ragtest.CheckStore(t.Context(), func() (ragtest.VectorStore[C], error) {
				s, err := freshStore[C](t, pool, test.options)
				if err == nil && test.inserts {
					s.copies = false
				}
				return s, err
			})
			if err != nil {
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
