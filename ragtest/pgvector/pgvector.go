// Package pgvector is a vector store on PostgreSQL with the extension pgvector,
// for teams whose product uses it: exact, or through an HNSW index with the
// settings of production.
//
// A [Store] lives for one run. It creates a schema of its own with one table in
// it, and drops both when it is closed:
//
//	ordinal     place in the order of insertion, from 0
//	chunk_id    the chunk's ID
//	doc         the document
//	start_char  the chunk's span in the document, in characters;
//	end_char    NULL for chunks without a place
//	text        the text that was embedded
//	metadata    a JSON object of strings, or NULL
//	quoted      whether doc, text and metadata are Go string literals
//	embedding   the vector, scaled to length 1; NULL for the zero vector
//
// Nothing else is touched: no other schema, no setting beyond a transaction, and
// the extension must be there already (CREATE EXTENSION vector). A process that
// is killed leaves its schema behind, as [Options].Keep does; a later one takes
// the next free name. DROP SCHEMA ragtest_1 CASCADE removes it.
//
// PostgreSQL stores neither U+0000 nor invalid UTF-8 as text. A chunk with
// either, in its text, document or metadata, is stored as Go string literals,
// and comes back as it was.
//
// # Scores
//
// The score is 1 minus pgvector's cosine distance. pgvector adds up in float32,
// in an order that depends on how it was compiled: scores are within 5e-6 of the
// cosine similarity for vectors of up to 2,000 components, and within 1e-5 for
// longer ones. Chunks whose scores are that close may change places with another
// server, extension or processor; equal vectors have equal scores, and are ranked
// by insertion order. The zero vector, for which pgvector has no answer, scores 0
// with everything.
//
// A store keeps every rule of [ragtest.CheckStore], with an HNSW index as far as
// it holds no more chunks than a search has candidates.
//
// # Approximate search
//
// What an HNSW index finds depends on random numbers that pgvector draws from a
// generator which nothing seeds: two runs over the same chunks may differ. Do
// not compare such results with stored ones. An evaluation also searches
// exactly, in memory, and reports the share of what that finds that the store
// finds too as [ragtest.Diagnostics].IndexRecall.
//
// BenchmarkHNSW measured these, with PostgreSQL 17 and pgvector 0.8.0, on 100,000
// pieces of 200 characters, which overlap by 135, of the abstracts of SciFact,
// embedded by lexical.Embedder in 384 components. The share of the ten most
// similar pieces that a search finds, mean over 300 claims, is
//
//	ef_search                    10     20     40    100    200    400   building
//	m=8                       0.485  0.628  0.752  0.873  0.932  0.963       48 s
//	m=16 (the default)        0.633  0.758  0.869  0.952  0.978  0.992      113 s
//	m=16, half precision      0.617  0.758  0.861  0.944  0.977  0.991      103 s
//	m=16, ef_construction=200 0.624  0.768  0.878  0.961  0.985  0.998      430 s
//	m=32, ef_construction=200 0.764  0.859  0.932  0.984  0.997  0.999      683 s
//
// Such vectors are hard: hashed words have little of the structure that a graph
// follows. Vectors around 1,000 centres, which have much, are found at m=16 with
// 0.870, 0.936, 0.979, 0.999, 1.000 and 1.000. A search at m=16 took 0.8,
// 1.0, 1.7, 3.6, 7.2 and 13 ms, and an exact one 100 ms. All times are of two
// processors that had other work to do: they tell orders of magnitude.
//
// # Faults
//
// An Add that fails leaves the store as it was. Nothing is retried, but for a
// COPY that the server refuses: the store then sends INSERT statements instead,
// as it does from the start to PGlite, which COPY hangs. A connection that was
// lost is opened anew by the next call.
//
//	what                                                       where
//	an empty or malformed connection string (not shown)        Open
//	no connection, a refused password, no right to create      Open, New
//	no extension, or one too old for what is asked             Open, New
//	a database or client encoding other than UTF8              Open, New
//	a schema of the name that Options.Schema gives             Open, New
//	a setting of HNSW out of its range (names the field)       Open, New
//	fewer or more vectors than chunks                          Add
//	an empty vector, differing dimensions, NaN, infinity       Add, Search
//	more than 16,000 components; with an index more than       Add
//	2,000, or 4,000 at half precision
//	a negative k; with an index k above 1,000 unless           Search
//	HNSW.IterativeScan is set
//	a connection lost, a server gone, a context done           all
//	rows added or removed by others, if a search meets them    Search
//	a schema or table that is not the store's own any more,    Close
//	or in which others have put something
//
// Vectors are cheap to compare: below some 10,000 chunks exact search in the
// server takes milliseconds, and [ragtest.MemoryStore] less.
package pgvector

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
)

// Options say how a [Store] keeps and finds its chunks. The zero value is exact
// search in a schema that is dropped by Close.
type Options struct {
	// Schema is the name of the schema that the store creates. It is an error
	// if there is one of this name already. Empty: the first of ragtest_1,
	// ragtest_2, … that is free.
	Schema string

	// HNSW asks for approximate search in an index. Nil: exact search.
	HNSW *HNSW

	// Keep leaves schema and table in place on Close, to be looked at. They are
	// in the way of no later store, unless that one names the same Schema.
	Keep bool
}

// Store is a [ragtest.VectorStore] and a [ragtest.BatchSearcher] on a table of a
// PostgreSQL database. It is made by [Open] or [New] and holds the chunks that
// were added to it, no others. Any number of goroutines may search at once; a
// search that meets an Add waits for it. The maker closes it.
type Store[C chunkers.Indexed] struct {
	pool      *pgxpool.Pool
	ownsPool  bool
	server    server
	hnsw      *HNSW // nil: exact; no field is 0
	name      string
	keep      bool
	schema    string
	schemaOID uint32

	mu       sync.RWMutex // Add and Close write
	closed   bool
	copies   bool    // COPY is not known to be refused
	tableOID uint32  // 0: no table was created yet
	n        int     // chunks held: those of the ordinals below n
	dim      int     // 0 while there are none
	zeros    []int64 // ordinals of the chunks whose vector is zero, ascending

	indexing chan struct{} // holds an element while the index is built
	indexed  atomic.Bool
}

// Open connects to the database that dsn names, a URL
// (postgres://user:password@host:port/database?sslmode=disable) or a list of
// keywords (host=… dbname=…), and returns an empty store in a schema of its own.
// What dsn leaves out is taken from the variables PGHOST, PGPASSWORD and so on,
// and from ~/.pgpass; the parameters pool_max_conns, default_query_exec_mode and
// others of pgxpool are understood. At most pool_max_conns connections are open
// at once (default: 4, or the number of processors if that is greater).
//
// No error of this package contains dsn or a password.
func Open[C chunkers.Indexed](ctx context.Context, dsn string, o Options) (*Store[C], error) {
	pool, err := connect(ctx, dsn)
	if err != nil {
		return nil, fmt.Errorf("opening a pgvector store: %w", err)
	}
	s, err := newStore[C](ctx, pool, o)
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("opening a pgvector store: %w", err)
	}
	s.ownsPool = true
	return s, nil
}

// New is [Open] on a pool of connections that the caller has made, for what a
// connection string cannot say, and closes. Every connection must be to the same
// database.
func New[C chunkers.Indexed](ctx context.Context, pool *pgxpool.Pool, o Options) (*Store[C], error) {
	if pool == nil {
		return nil, errors.New("making a pgvector store: the pool is nil")
	}
	s, err := newStore[C](ctx, pool, o)
	if err != nil {
		return nil, fmt.Errorf("making a pgvector store: %w", err)
	}
	return s, nil
}

func newStore[C chunkers.Indexed](ctx context.Context, pool *pgxpool.Pool, o Options) (*Store[C], error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	s := &Store[C]{pool: pool, keep: o.Keep, name: "pgvector", indexing: make(chan struct{}, 1)}
	var err error
	if s.server, err = askServer(ctx, pool); err != nil {
		return nil, because(ctx, err)
	}
	s.copies = !s.server.pglite
	if o.HNSW != nil {
		if err := o.HNSW.supported(s.server); err != nil {
			return nil, err
		}
		s.name = "pgvector/" + o.HNSW.String()
		s.hnsw = o.HNSW.complete()
	}
	if s.schema, s.schemaOID, err = createSchema(ctx, pool, o.Schema); err != nil {
		return nil, because(ctx, err)
	}
	return s, nil
}

// String returns "pgvector" for exact search, and "pgvector/hnsw" with every
// field that was set for the other: the name of the store in
// [ragtest.Components].
func (s *Store[C]) String() string { return s.name }

// Equal reports whether both are the same store.
func (s *Store[C]) Equal(t *Store[C]) bool { return s == t }

// Schema returns the name of the store's schema.
func (s *Store[C]) Schema() string { return s.schema }

// Len returns the number of chunks that the store holds.
func (s *Store[C]) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.n
}

// closeTimeout bounds a Close whose context has no deadline.
const closeTimeout = time.Minute

// Close drops the store's table and schema, unless they are to be kept, and
// closes the connections of a store that [Open] made. It waits for searches
// that are under way; without a deadline in ctx it gives up after a minute. It
// drops nothing, and returns an error that names the schema, if the schema or
// the table is no longer the one that the store created, if others have put
// objects into the schema, or if objects elsewhere depend on the table. The
// store cannot be used afterwards; a second Close does nothing.
//
// In a test the context must be one that outlives the test's own:
//
//	t.Cleanup(func() {
//		if err := store.Close(context.Background()); err != nil {
//			t.Error(err)
//		}
//	})
func (s *Store[C]) Close(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	if s.ownsPool {
		defer s.pool.Close()
	}
	if s.keep {
		return nil
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, closeTimeout, fmt.Errorf("the server did not answer within %v", closeTimeout))
		defer cancel()
	}
	if err := s.drop(ctx); err != nil {
		return fmt.Errorf("closing the pgvector store: dropping the schema %s, which may remain: %w", s.schema, because(ctx, err))
	}
	return nil
}

var errClosed = errors.New("the store is closed")

var (
	_ ragtest.VectorStore[chunkers.Chunk]                = (*Store[chunkers.Chunk])(nil)
	_ ragtest.BatchSearcher[chunkers.PositionAwareChunk] = (*Store[chunkers.PositionAwareChunk])(nil)
)
