package chroma_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/chroma"
	"github.com/rageval/rageval/ragtest/lexical"
)

// realServer returns the URL of a real server for tests.
func realServer(tb testing.TB) string {
	tb.Helper()
	endpoint := os.Getenv("RAGTEST_CHROMA_URL")
	if endpoint == "" {
		tb.Skip("RAGTEST_CHROMA_URL is not set: it names a Chroma server, such as http://127.0.0.1:8000, in which the test makes collections and deletes them")
	}
	return endpoint
}

// collectionsOf returns the URL of the collections of the default database.
func collectionsOf(endpoint string) string { return endpoint + fakeDatabase }

// complete makes a graph of 300 chunks in which each may be the neighbour of every
// other, so that a search reaches all: one by Chroma's own settings misses one of
// some hundred chunks now and then, where many of their vectors are equal.
var complete = chroma.HNSW{EFConstruction: 320, EFSearch: 320, MaxNeighbors: 320}

func TestRealServer(t *testing.T) {
	endpoint := realServer(t)
	before := request(t, http.MethodGet, collectionsOf(endpoint), "")
	t.Run("stores", func(t *testing.T) {
		t.Run("CheckStore/chunks", func(t *testing.T) { checkReal[chunkers.Chunk](t, endpoint) })
		t.Run("CheckStore/position-aware chunks", func(t *testing.T) { checkReal[chunkers.PositionAwareChunk](t, endpoint) })
		config := chroma.Config{Endpoint: endpoint, HNSW: complete}
		t.Run("odd chunks", func(t *testing.T) { testOddChunks(t, config) })
		t.Run("ties", func(t *testing.T) { testTies(t, config) })
		t.Run("extreme lengths", func(t *testing.T) { testExtremeLengths(t, config) })
		t.Run("settings", func(t *testing.T) {
			newStore[chunkers.Chunk](t, chroma.Config{Endpoint: endpoint, HNSW: chroma.HNSW{EFConstruction: 200, EFSearch: 300, MaxNeighbors: 48}})
		})
	})
	if after := request(t, http.MethodGet, collectionsOf(endpoint), ""); after != before {
		t.Errorf("got the collections %s after the test, %s before", after, before)
	}
}

func checkReal[C chunkers.Indexed](t *testing.T, endpoint string) {
	err := ragtest.CheckStore(t.Context(), func() (ragtest.VectorStore[C], error) {
		return newStore[C](t, chroma.Config{Endpoint: endpoint, HNSW: complete}), nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestWhatChromaDoes holds what the package comment says of the server itself:
// if a version does otherwise, the store may need to change.
func TestWhatChromaDoes(t *testing.T) {
	endpoint := realServer(t)
	s := newStore[chunkers.Chunk](t, chroma.Config{Endpoint: endpoint})
	base := collectionsOf(endpoint) + "/"
	id := collectionID(t, base+s.Collection())
	post := func(path, body string) string { return request(t, http.MethodPost, base+id+path, body) }
	for _, step := range []struct{ name, path, body, want string }{
		{"adding", "/add", `{"ids":["0","1"],"embeddings":[[1,0],[0,0]],"documents":["a","zero"],"metadatas":[{"chroma:x":"y","z":1},null]}`, `201 {}`},
		{"an ID that is there is ignored", "/add", `{"ids":["0"],"embeddings":[[0,1]],"documents":["b"]}`, `201 {}`},
		{"the zero vector is at distance 1", "/query", `{"query_embeddings":[[1,0],[0,0]],"n_results":9,"include":["distances"]}`, `"distances":[[0.0,1.0],[1.0,1.0]]`},
		{"keys of chroma: are dropped", "/get", `{"ids":["0"],"include":["documents","metadatas"]}`, `"documents":["a"],"uris":null,"metadatas":[{"z":1}]`},
		{"lengths are computed in float32", "/query", `{"query_embeddings":[[1e-30,0]],"n_results":1,"include":["distances"]}`, `"distances":[[-99.0]]`},
		{"another dimension", "/query", `{"query_embeddings":[[1,0,0]],"n_results":9}`, "expecting embedding with dimension of 2, got 3"},
		{"half a surrogate pair", "/add", `{"ids":["9"],"embeddings":[[1,0]],"documents":["\ud800"]}`, "400 "},
	} {
		if got := post(step.path, step.body); !strings.Contains(got, step.want) {
			t.Errorf("%s: got %s, want %s", step.name, got, step.want)
		}
	}
}

func collectionID(t *testing.T, collection string) string {
	t.Helper()
	_, rest, _ := strings.Cut(request(t, http.MethodGet, collection, ""), `"id":"`)
	id, _, ok := strings.Cut(rest, `"`)
	if !ok {
		t.Fatalf("got no ID of %s", collection)
	}
	return id
}

// request returns the status and the body of the answer.
func request(t *testing.T, method, url, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d %s", resp.StatusCode, answer)
}

// TestChangesBehindTheStore adds and deletes records by other means.
func TestChangesBehindTheStore(t *testing.T) {
	endpoint := realServer(t)
	ctx := t.Context()
	s := newStore[chunkers.Chunk](t, chroma.Config{Endpoint: endpoint})
	if err := s.Add(ctx, numbered(2), [][]float32{{1, 0}, {0, 1}}); err != nil {
		t.Fatal(err)
	}
	base := collectionsOf(endpoint) + "/"
	id := collectionID(t, base+s.Collection())
	request(t, http.MethodPost, base+id+"/add", `{"ids":["stranger"],"embeddings":[[1,0]],"documents":["x"]}`)
	if _, err := s.Search(ctx, []float32{1, 0}, 2); err == nil || !strings.Contains(err.Error(), `a record "stranger" that was not added by this store`) {
		t.Errorf("searching: got error %v", err)
	}
	if err := s.Add(ctx, numbered(1), [][]float32{{1, 1}}); err == nil || !strings.Contains(err.Error(), "the collection holds 4 records, want 3: it was changed by other means") {
		t.Errorf("adding: got error %v", err)
	}

	deleted, err := chroma.New[chunkers.Chunk](ctx, chroma.Config{Endpoint: endpoint})
	if err != nil {
		t.Fatal(err)
	}
	if err := deleted.Add(ctx, numbered(2), [][]float32{{1, 0}, {0, 1}}); err != nil {
		t.Fatal(err)
	}
	request(t, http.MethodDelete, base+deleted.Collection(), "")
	if _, err := deleted.Search(ctx, []float32{1, 0}, 2); err == nil || !strings.Contains(err.Error(), "404 Not Found") {
		t.Errorf("searching a collection that was deleted: got error %v", err)
	}
	if err := deleted.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
}

// proxy passes connections on to a server until it is cut.
type proxy struct {
	endpoint string
	listener net.Listener
	to       string

	mu    sync.Mutex
	left  int // bytes of requests until it cuts everything; below 0: no limit
	conns []net.Conn
	wg    sync.WaitGroup
}

func newProxy(t *testing.T, server string) *proxy {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{endpoint: "http://" + l.Addr().String(), listener: l, to: u.Host, left: -1}
	p.wg.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", p.to)
			if err != nil {
				_ = in.Close()
				continue
			}
			p.mu.Lock()
			p.conns = append(p.conns, in, out)
			p.mu.Unlock()
			p.wg.Go(func() { _, _ = io.Copy(in, out); _ = in.Close() })
			p.wg.Go(func() { p.pass(out, in) })
		}
	})
	t.Cleanup(func() { p.cut(); p.wg.Wait() })
	return p
}

// pass copies what the client sends.
func (p *proxy) pass(to, from net.Conn) {
	defer to.Close()
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		last := p.left >= 0 && n >= p.left
		if p.left >= 0 {
			p.left -= min(n, p.left)
		}
		p.mu.Unlock()
		if last {
			p.cut()
			return
		}
		if _, errTo := to.Write(buf[:n]); err != nil || errTo != nil {
			return
		}
	}
}

// cut ends all connections and refuses further ones.
func (p *proxy) cut() {
	_ = p.listener.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		_ = c.Close()
	}
}

// TestServerGoneInTheMiddle loses the server while chunks are added, and before
// a search.
func TestServerGoneInTheMiddle(t *testing.T) {
	endpoint := realServer(t)
	ctx := t.Context()
	vectors := randomVectors(1, 2000, 64)
	for _, test := range []struct {
		name string
		left int
	}{{"while adding", 500_000}, {"before searching", 0}} {
		t.Run(test.name, func(t *testing.T) {
			p := newProxy(t, endpoint)
			s, err := chroma.New[chunkers.Chunk](ctx, chroma.Config{Endpoint: p.endpoint})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { request(t, http.MethodDelete, collectionsOf(endpoint)+"/"+s.Collection(), "") }()
			if test.left > 0 {
				p.mu.Lock()
				p.left = test.left
				p.mu.Unlock()
				err = s.Add(ctx, numbered(len(vectors)), vectors)
			} else {
				if err := s.Add(ctx, numbered(len(vectors)), vectors); err != nil {
					t.Fatal(err)
				}
				p.cut()
				_, err = s.Search(ctx, vectors[0], 5)
			}
			if err == nil || !strings.Contains(err.Error(), s.Collection()) || !strings.Contains(err.Error(), "refused") {
				t.Errorf("got error %v, want one that names the collection and says refused", err)
			}
			if err := s.Close(); err == nil || !strings.Contains(err.Error(), "deleting the chroma collection "+s.Collection()) {
				t.Errorf("closing: got error %v, want one that names the collection that is left", err)
			}
		})
	}
}

// thorough makes a graph that misses none of a few thousand chunks: see the table of
// the package comment.
var thorough = chroma.HNSW{EFConstruction: 400, EFSearch: 400, MaxNeighbors: 64}

// TestServerRestarts has the server killed between adding and searching, and
// started again on the same port and directory.
func TestServerRestarts(t *testing.T) {
	endpoint := realServer(t)
	wish := os.Getenv("RAGTEST_CHROMA_RESTART")
	if wish == "" {
		t.Skip("RAGTEST_CHROMA_RESTART is not set: whoever started the server restarts it when the file of this name appears, and removes the file then")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	s := newStore[chunkers.Chunk](t, chroma.Config{Endpoint: endpoint, HNSW: thorough})
	const n, k = 3000, 10
	vectors := randomVectors(2, n, 32)
	if err := s.Add(ctx, numbered(n/2), vectors[:n/2]); err != nil {
		t.Fatal(err)
	}
	want, err := s.Search(ctx, vectors[0], k)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(wish, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(wish); os.IsNotExist(err) {
			break
		}
		if err := ctx.Err(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	got, err := s.Search(ctx, vectors[0], k)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != k || got[0].Chunk.Text != want[0].Chunk.Text {
		t.Errorf("got %v after the restart, %v before", got, want)
	}
	if err := s.Add(ctx, numbered(n)[n/2:], vectors[n/2:]); err != nil {
		t.Fatal(err)
	}
	if found, err := s.Search(ctx, vectors[n-1], 1); err != nil || len(found) != 1 || found[0].Chunk.Text != fmt.Sprint("passage ", n-1) {
		t.Errorf("got %v and error %v, want passage %d", found, err, n-1)
	}
}

func randomVectors(seed uint64, n, dim int) [][]float32 {
	r := rand.New(rand.NewPCG(seed, 0))
	vectors := make([][]float32, n)
	for i := range vectors {
		vectors[i] = make([]float32, dim)
		for j := range vectors[i] {
			vectors[i][j] = float32(r.NormFloat64())
		}
	}
	return vectors
}

// TestRecall evaluates Chroma's own corpora, and reports which share of the
// chunks of exact search Chroma finds. The least is far under what was measured,
// since no two graphs are equal: see the package comment.
func TestRecall(t *testing.T) {
	endpoint := realServer(t)
	collection, err := fixtures.ReadChroma(os.DirFS(realdata.Dir(t, "data", "chroma")))
	if err != nil {
		t.Fatal(err)
	}
	recall := func(t *testing.T, hnsw chroma.HNSW) float64 {
		store := newStore[chunkers.PositionAwareChunk](t, chroma.Config{Endpoint: endpoint, HNSW: hnsw})
		r := ragtest.RunTokenLevel(t, ragtest.TokenLevel{
			Name:     store.String(),
			Corpus:   collection.Corpus,
			Queries:  collection.Queries,
			Chunker:  chunkers.RecursiveCharacter{Size: 400},
			Embedder: lexical.Embedder{},
			Store:    store,
		})
		if r.Diagnostics.IndexRecall == nil {
			t.Fatal("got no recall of the index")
		}
		t.Logf("%v: index recall %.4f of %d chunks", store, *r.Diagnostics.IndexRecall, r.Chunks)
		return *r.Diagnostics.IndexRecall
	}
	plain, hasty := recall(t, chroma.HNSW{}), recall(t, chroma.HNSW{EFSearch: 10})
	if plain < 0.95 || hasty < 0.7 || hasty >= plain {
		t.Errorf("got index recall %v with Chroma's own settings and %v with ef_search = 10, want at least 0.95 and something between that and 0.7", plain, hasty)
	}
}
