package pgvector

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
)

var oneChunk, oneVector = numbered(1), [][]float32{{1, 0}}

func TestLifeOfASchema(t *testing.T) {
	pool := newPool(t, nil)
	ctx := context.Background()
	a := mustStore(t, pool, Options{}, oneChunk, oneVector)
	b := mustStore(t, pool, Options{}, oneChunk, oneVector)
	if _, err := a.Search(ctx, []float32{1, 0}, 1); err != nil { // whose statement connections remember
		t.Error(err)
	}
	if a.Schema() == b.Schema() || !strings.HasPrefix(a.Schema(), "ragtest_") {
		t.Errorf("got the schemas %q and %q, want two that begin with ragtest_", a.Schema(), b.Schema())
	}
	for range 2 {
		if err := a.Close(ctx); err != nil {
			t.Error(err)
		}
	}
	if schemaExists(t, pool, a.Schema()) || !schemaExists(t, pool, b.Schema()) {
		t.Error("closing: want the first schema gone, and the second there")
	}
	_, err := a.Search(ctx, []float32{1, 0}, 1)
	wantError(t, err, "searching the pgvector store: the store is closed")
	_, err = a.SearchBatch(ctx, nil, 1)
	wantError(t, err, "the store is closed")
	wantError(t, a.Add(ctx, oneChunk, oneVector), "adding to the pgvector store: the store is closed")

	again := mustStore(t, pool, Options{Schema: a.Schema()}, numbered(2), [][]float32{{1, 0, 0}, {0, 1, 0}})
	if found, err := again.Search(ctx, []float32{0, 1, 0}, 5); err != nil || len(found) != 2 || found[0].Chunk.Text != "passage 1" {
		t.Errorf("in a schema of a name that was used before: got %v and error %v", found, err)
	}

	empty, err := New[chunkers.Chunk](ctx, pool, Options{Schema: `My "own" schéma`})
	if err != nil {
		t.Fatal(err)
	}
	if !schemaExists(t, pool, `My "own" schéma`) {
		t.Error("the schema was not created")
	}
	if err := empty.Close(ctx); err != nil || schemaExists(t, pool, empty.Schema()) {
		t.Errorf("closing an empty store: got error %v", err)
	}
}

func TestKeep(t *testing.T) {
	pool := newPool(t, nil)
	s := mustStore(t, pool, Options{Keep: true}, oneChunk, oneVector)
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := query[string](t, pool, "SELECT text FROM "+s.table()); got != "passage 0" {
		t.Errorf("got %q, want passage 0", got)
	}
	mustExec(t, pool, "DROP SCHEMA "+s.Schema()+" CASCADE")
}

func TestSchemasOfOthers(t *testing.T) {
	pool := newPool(t, nil)
	mustExec(t, pool, "CREATE SCHEMA others; CREATE TABLE others.chunks (x int)")
	defer mustExec(t, pool, "DROP SCHEMA others CASCADE")
	_, err := New[chunkers.Chunk](t.Context(), pool, Options{Schema: "others"})
	wantError(t, err, `the schema "others" exists already`)
	if !query[bool](t, pool, "SELECT to_regclass('others.chunks') IS NOT NULL") {
		t.Error("the table of others is gone")
	}
}

// TestCloseLeavesWhatOthersMade changes the schema of a store behind it.
func TestCloseLeavesWhatOthersMade(t *testing.T) {
	pool := newPool(t, nil)
	for _, test := range []struct {
		name, change, want, cleanup string // %s: the schema
		there                       string // a relation that must remain
	}{
		{"a table in the schema", "CREATE TABLE %s.mine (x int)", "table %[1]s.mine depends on schema %[1]s", "DROP SCHEMA %s CASCADE", "%s.mine"},
		{"a view of the table", "CREATE VIEW public.mine AS SELECT text FROM %s.chunks", "view mine depends on table %s.chunks", "DROP VIEW public.mine; DROP SCHEMA %s CASCADE", "public.mine"},
		{"another table in its place", "DROP TABLE %[1]s.chunks; CREATE TABLE %[1]s.chunks (x int)", "its table chunks is not the one that the store created", "DROP SCHEMA %s CASCADE", "%s.chunks"},
		{"another schema in its place", "DROP SCHEMA %[1]s CASCADE; CREATE SCHEMA %[1]s; CREATE TABLE %[1]s.chunks (x int)", "no longer the one that the store created", "DROP SCHEMA %s CASCADE", "%s.chunks"},
		{"no schema", "DROP SCHEMA %s CASCADE", "it is gone", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := New[chunkers.Chunk](t.Context(), pool, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Add(t.Context(), oneChunk, oneVector); err != nil {
				t.Fatal(err)
			}
			in := func(format string) string {
				if !strings.Contains(format, "%") {
					return format
				}
				return fmt.Sprintf(format, s.Schema())
			}
			mustExec(t, pool, in(test.change))
			err = s.Close(t.Context())
			wantError(t, err, in(test.want))
			wantError(t, err, "dropping the schema "+s.Schema()+", which may remain")
			if test.there != "" && !query[bool](t, pool, "SELECT to_regclass($1) IS NOT NULL", in(test.there)) {
				t.Errorf("%s is gone", in(test.there))
			}
			if test.cleanup != "" {
				mustExec(t, pool, in(test.cleanup))
			}
		})
	}
	t.Run("a table dropped", func(t *testing.T) {
		s := mustStore(t, pool, Options{}, oneChunk, oneVector)
		mustExec(t, pool, "DROP TABLE "+s.table())
		_, err := s.Search(t.Context(), []float32{1, 0}, 1)
		wantError(t, err, "does not exist")
		if err := s.Close(t.Context()); err != nil || schemaExists(t, pool, s.Schema()) {
			t.Errorf("closing: got error %v, want the empty schema dropped", err)
		}
	})
}

// TestNamesAreTakenAtOnce opens stores from as many connections at the same
// time.
func TestNamesAreTakenAtOnce(t *testing.T) {
	pool := newPool(t, nil)
	const stores = 8
	var wg sync.WaitGroup
	names := make([]string, stores)
	for i := range stores {
		wg.Go(func() {
			s, err := New[chunkers.Chunk](t.Context(), pool, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			names[i] = s.Schema()
			t.Cleanup(func() {
				if err := s.Close(context.Background()); err != nil {
					t.Error(err)
				}
			})
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			t.Errorf("two stores have the schema %s", name)
		}
		seen[name] = true
	}
}

// inDatabase returns a pool of connections to a new database, where the server
// can have more than one.
func inDatabase(t *testing.T, options string) *pgxpool.Pool {
	t.Helper()
	const name = "ragtest_of_a_test"
	pool := newPool(t, nil)
	if strings.Contains(query[string](t, pool, "SELECT version()"), "PGlite") {
		t.Skip("PGlite has one database")
	}
	mustExec(t, pool, "CREATE DATABASE "+name+" TEMPLATE template0 "+options)
	t.Cleanup(func() { mustExec(t, pool, "DROP DATABASE "+name+" WITH (FORCE)") })
	return newPool(t, func(c *pgxpool.Config) { c.ConnConfig.Database = name })
}

func TestDatabasesThatWillNotDo(t *testing.T) {
	for _, test := range []struct{ name, options, want string }{
		{"no extension", "", `the database "ragtest_of_a_test" does not have the extension vector: run CREATE EXTENSION vector in it`},
		{"another encoding", "ENCODING LATIN1 LOCALE 'C'", `the database "ragtest_of_a_test" has the encoding LATIN1, want UTF8`},
	} {
		t.Run(test.name, func(t *testing.T) {
			pool := inDatabase(t, test.options)
			_, err := New[chunkers.Chunk](t.Context(), pool, Options{})
			wantError(t, err, test.want)
			if schemaExists(t, pool, "ragtest_1") {
				t.Error("a schema was created")
			}
		})
	}
}

func TestExtensionInASchemaOfItsOwn(t *testing.T) {
	pool := inDatabase(t, "")
	mustExec(t, pool, `CREATE SCHEMA "Ex""t"; CREATE EXTENSION vector SCHEMA "Ex""t"`)
	for _, o := range []Options{{}, {HNSW: &HNSW{EfSearch: 400, HalfPrecision: true}}} {
		for _, copies := range []bool{true, false} {
			err := ragtest.CheckStore(t.Context(), func() (ragtest.VectorStore[chunkers.Chunk], error) {
				s, err := freshStore[chunkers.Chunk](t, pool, o)
				if err == nil {
					s.copies = copies
				}
				return s, err
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
}
