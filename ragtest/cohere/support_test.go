package cohere_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/rageval/rageval/spans"
)

// clearKeys makes the environment one without keys.
func clearKeys(t *testing.T) {
	t.Helper()
	for _, name := range []string{"CO_API_KEY", "COHERE_API_KEY", "JINA_API_KEY", "VOYAGE_API_KEY"} {
		t.Setenv(name, "")
	}
}

// wantError fails the test unless err holds the texts, and not the key.
func wantError(t *testing.T, err error, texts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("got no error, want one with %q", texts)
		return
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("got the error %q, want one with %q", err, text)
		}
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%q"} {
		if strings.Contains(fmt.Sprintf(verb, err), canary) {
			t.Errorf("the error holds the key: "+verb, err)
		}
	}
}

// redirected serves requests to the vendors' addresses.
type redirected struct {
	server *server
	t      *testing.T
}

func (d redirected) RoundTrip(r *http.Request) (*http.Response, error) {
	want := map[string]string{"cohere": "api.cohere.com", "jina": "api.jina.ai", "voyage": "api.voyageai.com"}[d.server.api.String()]
	if r.URL.Scheme != "https" || r.URL.Host != want {
		d.t.Errorf("got a request to %s, want one to https://%s", r.URL, want)
	}
	return d.server.RoundTrip(r)
}

func corpusOf(tb testing.TB, texts ...string) *spans.Corpus {
	tb.Helper()
	var docs []*spans.Document
	for i, text := range texts {
		doc, err := spans.NewDocument(spans.DocumentID(fmt.Sprintf("%d.md", i)), text, nil)
		if err != nil {
			tb.Fatal(err)
		}
		docs = append(docs, doc)
	}
	corpus, err := spans.NewCorpus(docs...)
	if err != nil {
		tb.Fatal(err)
	}
	return corpus
}

// pipes is a network in memory, for servers in a bubble of testing/synctest,
// whose clock stands still while something waits for a real one.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	conn, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (p pipes) Close() error { return nil }

func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes"} }

// serve returns a transport to a server in memory, both of which end with the
// test.
func serve(t *testing.T, h http.Handler) http.RoundTripper {
	p := make(pipes)
	s := &http.Server{Handler: h}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Serve(p)
	}()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		client, server := net.Pipe()
		select {
		case p <- server:
			return client, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		close(p)
		s.Close()
		<-done
	})
	return transport
}
