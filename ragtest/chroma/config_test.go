package chroma_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest/chroma"
)

func TestNoServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	endpoint := "http://" + l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CHROMA_ENDPOINT", endpoint)
	if _, err := chroma.New[chunkers.Chunk](t.Context(), chroma.Config{}); err == nil || !strings.Contains(err.Error(), endpoint) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("got error %v, want one that names %s and says refused", err, endpoint)
	}
}

func TestConfigs(t *testing.T) {
	for _, test := range []struct {
		config chroma.Config
		want   string
	}{
		{chroma.Config{Endpoint: "localhost:8000"}, `field Endpoint (or CHROMA_ENDPOINT): got "localhost:8000", want a URL such as http://localhost:8000`},
		{chroma.Config{Endpoint: "ftp://localhost"}, `got "ftp://localhost", want a URL`},
		{chroma.Config{Endpoint: "http://"}, `got "http:", want a URL`},
		{chroma.Config{Endpoint: "http://localhost:8000?key=1"}, "want a URL"},
		{chroma.Config{Endpoint: "http://me:canary-1234@localhost:port"}, "not a URL"},
		{chroma.Config{Prefix: "a b"}, `field Prefix: got "a b", want`},
		{chroma.Config{Prefix: "-a"}, `field Prefix: got "-a", want`},
		{chroma.Config{HNSW: chroma.HNSW{EFSearch: -1}}, "field HNSW: ef_search is -1, want 0 or more"},
		{chroma.Config{Timeout: -1}, "field Timeout: got -1ns, want 0 or more"},
	} {
		_, err := chroma.New[chunkers.Chunk](t.Context(), test.config)
		if err == nil || !strings.HasPrefix(err.Error(), "making a chroma store: field ") || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("got error %v, want %s", err, test.want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	var paths []string
	var key, authorization string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paths = append(paths, r.URL.EscapedPath())
		key, authorization = r.Header.Get("x-chroma-token"), r.Header.Get("Authorization")
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"max_batch_size": 10}`)
			return
		}
		w.WriteHeader(http.StatusTeapot)
	}))
	defer server.Close()
	t.Setenv("CHROMA_ENDPOINT", server.URL+"/proxied/")
	t.Setenv("CHROMA_TENANT", "ten/ant")
	t.Setenv("CHROMA_DATABASE", "data base")
	t.Setenv("CHROMA_API_KEY", "from the environment")
	for _, test := range []struct {
		config         chroma.Config
		wantPath, want string
	}{
		{chroma.Config{}, "/proxied/api/v2/tenants/ten%2Fant/databases/data%20base/collections", "from the environment"},
		{chroma.Config{Endpoint: server.URL + "/api/v2/", Tenant: "t", Database: "d", APIKey: "k"}, "/api/v2/tenants/t/databases/d/collections", "k"},
	} {
		test.config.Header = http.Header{"Authorization": {"Bearer proxy"}}
		if _, err := chroma.New[chunkers.Chunk](t.Context(), test.config); err == nil {
			t.Error("got no error of a server that is a teapot")
		}
		if got := paths[len(paths)-1]; got != test.wantPath || key != test.want || authorization != "Bearer proxy" {
			t.Errorf("got path %s, key %q and authorization %q, want %s and %q", got, key, authorization, test.wantPath, test.want)
		}
	}
}

// TestKeysDoNotShow looks for a key in all that a store says, of a server that
// repeats it.
func TestKeysDoNotShow(t *testing.T) {
	const canary, password = "canary-key-8421", "canary-password-77"
	var said bytes.Buffer
	for _, operation := range operations {
		for _, header := range []http.Header{nil, {"Authorization": {"Bearer " + password}}} {
			server := newFake(t)
			server.key = canary
			server.fault = func(w http.ResponseWriter, r *http.Request, got string, n int) bool {
				if got != operation {
					return false
				}
				w.WriteHeader(400)
				fmt.Fprintf(w, `{"error":"E","message":"bad key %s or %s"}`, r.Header.Get("x-chroma-token"), r.Header.Get("Authorization"))
				return true
			}
			endpoint := strings.Replace(server.URL, "http://", "http://me:"+password+"@", 1)
			s, err := chroma.New[chunkers.Chunk](t.Context(), chroma.Config{Endpoint: endpoint, APIKey: canary, Header: header})
			fmt.Fprintln(&said, s, err)
			if err != nil {
				continue
			}
			fmt.Fprintln(&said, s.Collection(), s.Add(t.Context(), numbered(1), [][]float32{{1}}))
			_, err = s.Search(t.Context(), []float32{1}, 1)
			fmt.Fprintln(&said, err, s.Close())
		}
	}
	// bWU6Y2… is "me:canary-password-77" in the Authorization of basic access.
	if got := said.String(); strings.Contains(got, "canary") || strings.Contains(got, "bWU6Y2") || strings.Count(got, "bad key") != 2*len(operations) {
		t.Errorf("got the errors %s, want %d without keys", got, 2*len(operations))
	}

	server := newFake(t)
	server.key = canary
	if err := use(t.Context(), chroma.Config{Endpoint: server.URL, APIKey: canary}); err != nil {
		t.Errorf("with the key: %v", err)
	}
	if err := use(t.Context(), chroma.Config{Endpoint: server.URL, APIKey: "canary-wrong"}); err == nil || !strings.Contains(err.Error(), "401") || strings.Contains(err.Error(), "canary") {
		t.Errorf("with a wrong key: got error %v, want status 401 and no key", err)
	}
}
