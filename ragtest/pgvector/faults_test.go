package pgvector

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rageval/rageval/chunkers"
)

func isCopy(kind byte, body []byte) bool {
	return kind == 'Q' && bytes.HasPrefix(body, []byte("copy "))
}

// isSearch is true for the first message that a search sends over a new
// connection, in every mode of the protocol.
func isSearch(kind byte, body []byte) bool {
	return (kind == 'P' || kind == 'Q') && bytes.Contains(body, []byte("ORDER BY distance"))
}

func TestRefusedCopy(t *testing.T) {
	pool, p := proxied(t)
	s, err := freshStore[chunkers.Chunk](t, pool, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var copies atomic.Int32
	p.on(func(kind byte, body []byte) action {
		if isCopy(kind, body) {
			copies.Add(1)
			return refuse
		}
		return pass
	})
	s.copies = true
	const n = insertBatch + 10
	vectors := randomVectors(1, n, 3)
	for i := 0; i < n; i += n / 2 {
		if err := s.Add(t.Context(), numbered(n)[i:i+n/2], vectors[i:i+n/2]); err != nil {
			t.Fatal(err)
		}
	}
	if got := copies.Load(); got != 1 {
		t.Errorf("got %d COPY statements, want 1 and no more after it was refused", got)
	}
	found, err := s.Search(t.Context(), vectors[n-1], n)
	if err != nil || len(found) != n || found[0].Chunk.Text != fmt.Sprintf("passage %d", n-1) {
		t.Errorf("got %d chunks and error %v, want %d", len(found), err, n)
	}
}

func TestConnectionLostWhileAdding(t *testing.T) {
	pool, p := proxied(t)
	s, err := freshStore[chunkers.Chunk](t, pool, Options{})
	if err != nil {
		t.Fatal(err)
	}
	const n = 2000
	vectors := randomVectors(2, n, 20)
	p.on(func(kind byte, body []byte) action {
		// In the middle of the data of COPY, or of the statements.
		if kind == 'd' || kind != 'd' && bytes.Contains(body, []byte("INSERT INTO")) {
			return cut
		}
		return pass
	})
	err = s.Add(t.Context(), numbered(n), vectors)
	wantError(t, err, "adding to the pgvector store: ")
	if s.Len() != 0 {
		t.Errorf("got %d chunks, want none", s.Len())
	}
	p.on(func(byte, []byte) action { return pass })
	if err := s.Add(t.Context(), numbered(n), vectors); err != nil {
		t.Fatal(err)
	}
	if found, err := s.Search(t.Context(), vectors[7], n+1); err != nil || len(found) != n || found[0].Chunk.Text != "passage 7" {
		t.Errorf("after another Add: got %d chunks and error %v, want %d", len(found), err, n)
	}
}

// TestLostEndOfAnAdd has the server commit what the store takes for failed.
func TestLostEndOfAnAdd(t *testing.T) {
	pool, p := proxied(t)
	s, err := freshStore[chunkers.Chunk](t, pool, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p.on(func(kind byte, body []byte) action {
		if bytes.HasPrefix(bytes.ToLower(body), []byte("commit")) {
			return passAway
		}
		return pass
	})
	wantError(t, s.Add(t.Context(), oneChunk, oneVector), "adding to the pgvector store: ")
	p.on(func(byte, []byte) action { return pass })
	wantError(t, s.Add(t.Context(), oneChunk, oneVector), `creating the table: ERROR: relation "chunks" already exists`)
	if err := s.Close(t.Context()); err != nil || schemaExists(t, pool, s.Schema()) {
		t.Errorf("closing: got error %v, want the table dropped", err)
	}
}

func TestConnectionLostWhileSearching(t *testing.T) {
	pool, p := proxied(t)
	for _, h := range []*HNSW{nil, {}} {
		s := mustStore(t, pool, Options{HNSW: h}, oneChunk, oneVector)
		p.on(func(kind byte, body []byte) action {
			if isSearch(kind, body) {
				return cut
			}
			return pass
		})
		pool.Reset() // connections that know the statement
		_, err := s.Search(t.Context(), oneVector[0], 1)
		wantError(t, err, "searching the pgvector store: ")
		_, err = s.SearchBatch(t.Context(), [][]float32{oneVector[0], oneVector[0]}, 1)
		wantError(t, err, "searching the pgvector store: ")
		p.on(func(byte, []byte) action { return pass })
		if found, err := s.Search(t.Context(), oneVector[0], 1); err != nil || len(found) != 1 {
			t.Errorf("searching again: got %v and error %v", found, err)
		}
	}
}

func TestServerGone(t *testing.T) {
	pool, p := proxied(t)
	s, err := New[chunkers.Chunk](t.Context(), pool, Options{HNSW: &HNSW{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Add(t.Context(), oneChunk, oneVector); err != nil {
		t.Fatal(err)
	}
	p.close()
	_, err = s.Search(t.Context(), oneVector[0], 1)
	wantError(t, err, "searching the pgvector store: ")
	wantError(t, s.Add(t.Context(), oneChunk, oneVector), "adding to the pgvector store: ")
	wantError(t, s.Close(t.Context()), "closing the pgvector store: dropping the schema "+s.Schema()+", which may remain: ")
	if err := s.Close(t.Context()); err != nil {
		t.Errorf("closing again: got error %v, want none", err)
	}
	pool.Close()
	direct := newPool(t, nil)
	if !schemaExists(t, direct, s.Schema()) {
		t.Errorf("the schema %s is gone", s.Schema())
	}
	mustExec(t, direct, "DROP SCHEMA "+s.Schema()+" CASCADE")
}

// TestDoneContextEndsWhatIsUnderWay has a server that does not answer.
func TestDoneContextEndsWhatIsUnderWay(t *testing.T) {
	pool, p := proxied(t)
	exactly := mustStore(t, pool, Options{}, oneChunk, oneVector)
	indexed := mustStore(t, pool, Options{HNSW: &HNSW{}}, oneChunk, oneVector)
	stop := errors.New("stopped by the test")
	for _, test := range []struct {
		name string
		call func(ctx context.Context) error
	}{
		{"Search", func(ctx context.Context) error { _, err := exactly.Search(ctx, oneVector[0], 1); return err }},
		{"SearchBatch", func(ctx context.Context) error {
			_, err := exactly.SearchBatch(ctx, [][]float32{oneVector[0], oneVector[0]}, 1)
			return err
		}},
		{"building the index", func(ctx context.Context) error { _, err := indexed.Search(ctx, oneVector[0], 1); return err }},
		{"Add", func(ctx context.Context) error { return exactly.Add(ctx, oneChunk, oneVector) }},
		{"New", func(ctx context.Context) error { _, err := New[chunkers.Chunk](ctx, pool, Options{}); return err }},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			var stalled atomic.Bool
			p.on(func(byte, []byte) action {
				stalled.Store(true)
				time.AfterFunc(20*time.Millisecond, func() { cancel(stop) })
				return swallow
			})
			defer p.on(func(byte, []byte) action { return pass })
			if err := test.call(ctx); !errors.Is(err, stop) || !stalled.Load() {
				t.Errorf("got error %v, want %v", err, stop)
			}
			p.cutAll() // a connection that was given up waits for the server to close it
		})
	}
	if exactly.Len() != 1 {
		t.Errorf("after an Add that was stopped: got %d chunks, want 1", exactly.Len())
	}
	if found, err := indexed.Search(t.Context(), oneVector[0], 1); err != nil || len(found) != 1 {
		t.Errorf("searching again: got %v and error %v", found, err)
	}
}

func TestClosingLeavesNoGoroutine(t *testing.T) {
	server := dsn(t)
	before := runtime.NumGoroutine()
	s, err := Open[chunkers.Chunk](t.Context(), server, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Add(t.Context(), oneChunk, oneVector); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SearchBatch(t.Context(), [][]float32{oneVector[0], oneVector[0]}, 1); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	stacks := make([]byte, 1<<16)
	t.Errorf("got %d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
}

// refusingServer refuses every password, at an address of the loopback
// interface that it returns.
func refusingServer(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			backend := pgproto3.NewBackend(conn, conn)
			if _, err := backend.ReceiveStartupMessage(); err == nil {
				backend.Send(&pgproto3.AuthenticationCleartextPassword{})
				backend.Flush()
				backend.Receive()
				backend.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "28P01", Message: `password authentication failed for user "someone"`})
				backend.Flush()
			}
			conn.Close()
		}
	}()
	return listener.Addr().String()
}

// TestNoErrorShowsThePassword needs no server of PostgreSQL.
func TestNoErrorShowsThePassword(t *testing.T) {
	for _, name := range []string{"PGPASSWORD", "PGHOST", "PGSERVICE", "PGPASSFILE"} {
		t.Setenv(name, "")
	}
	const canary = "c4n4ry"
	address := refusingServer(t)
	host, port, _ := net.SplitHostPort(address)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := closed.Addr().String()
	closed.Close()
	for _, test := range []struct{ name, dsn, want string }{
		{"refused", "postgres://someone:" + canary + "@" + address + "/db?sslmode=disable", "password authentication failed"},
		{"refused, keywords", "user=someone password='" + canary + " " + canary + "' host=" + host + " port=" + port + " sslmode=disable", "password authentication failed"},
		{"refused, as a parameter", "postgres://someone@" + address + "/db?sslmode=disable&password=" + canary, "password authentication failed"},
		{"nobody there", "postgres://someone:" + canary + "@" + nobody + "/db?sslmode=disable", "connect"},
		{"a slash", "postgres://someone:pass/" + canary + "@" + address + "/db", "parsing the connection string"},
		{"a percent sign", "postgres://someone:%zz" + canary + "@" + address + "/db", "parsing the connection string"},
		{"a number sign", "postgres://someone:123#" + canary + "@" + address + "/db?sslmode=disable", ""},
		{"a number sign last", "postgres://someone:12" + canary + "#@" + address + "/db?sslmode=disable", ""},
		{"a question mark", "postgres://someone:123?" + canary + "=@" + address + "/db", ""},
		{"a space among keywords", "user=someone password=secret " + canary + " host=" + host, "parsing the connection string"},
		{"an unknown mode", "postgres://someone:" + canary + "@" + address + "/db?sslmode=" + canary, "parsing the connection string"},
		{"no number of connections", "postgres://someone:" + canary + "@" + address + "/db?pool_max_conns=" + canary, "parsing the connection string"},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			s, err := Open[chunkers.Chunk](ctx, test.dsn, Options{})
			wantError(t, err, "opening a pgvector store: ")
			wantError(t, err, test.want)
			for _, shown := range []string{fmt.Sprint(err), fmt.Sprintf("%+v %#v", err, err), fmt.Sprintf("%+v", s)} {
				if strings.Contains(shown, canary) {
					t.Errorf("the password is in %s", shown)
				}
			}
			for e := err; e != nil; e = errors.Unwrap(e) {
				if strings.Contains(fmt.Sprintf("%v %+v", e, e), canary) {
					t.Errorf("the password is in the wrapped error %v", e)
				}
			}
		})
	}
	config, err := pgxpool.ParseConfig("postgres://someone:" + canary + "@" + nobody + "/db?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	s := &Store[chunkers.Chunk]{pool: pool, name: "pgvector", n: 1, dim: 2, schema: "ragtest_1"}
	_, searching := s.Search(t.Context(), oneVector[0], 1)
	for _, err := range []error{searching, s.Add(t.Context(), oneChunk, oneVector), s.Close(t.Context())} {
		if err == nil || strings.Contains(fmt.Sprintf("%v %+v", err, err), canary) {
			t.Errorf("got error %v, want one without the password", err)
		}
	}
	if shown := fmt.Sprintf("%v %+v %#v", s, s, s); strings.Contains(shown, canary) {
		t.Errorf("the password is in %s", shown)
	}
}
