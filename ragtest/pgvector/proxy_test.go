package pgvector

import (
	"encoding/binary"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"
)

// action is what a proxy does with a message of the client.
type action int

const (
	pass     action = iota
	cut             // closes both connections
	refuse          // answers that the feature is not supported
	swallow         // and all that follows
	passAway        // passes the message and closes when the answer comes, which is lost
)

// proxy stands between the store and the server.
type proxy struct {
	listener net.Listener
	server   string
	inspect  atomic.Pointer[func(kind byte, body []byte) action] // called for each message; nil: pass
	wg       sync.WaitGroup
	mu       sync.Mutex
	open     []net.Conn
}

// proxied returns a pool whose connections go through a proxy.
func proxied(t *testing.T) (*pgxpool.Pool, *proxy) {
	t.Helper()
	p := new(proxy)
	var err error
	if p.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	pool := newPool(t, func(c *pgxpool.Config) {
		if strings.HasPrefix(c.ConnConfig.Host, "/") {
			t.Skip("the server of RAGTEST_PG_DSN does not listen on TCP")
		}
		p.server = net.JoinHostPort(c.ConnConfig.Host, strconv.Itoa(int(c.ConnConfig.Port)))
		here := p.listener.Addr().(*net.TCPAddr)
		c.ConnConfig.Host, c.ConnConfig.Port = here.IP.String(), uint16(here.Port)
		c.ConnConfig.TLSConfig, c.ConnConfig.Fallbacks = nil, nil
	})
	p.wg.Go(func() {
		for {
			conn, err := p.listener.Accept()
			if err != nil {
				return
			}
			p.wg.Go(func() { p.serve(conn) })
		}
	})
	return pool, p
}

// on has the proxy decide by inspect from now on.
func (p *proxy) on(inspect func(kind byte, body []byte) action) { p.inspect.Store(&inspect) }

// cutAll cuts the connections that are open.
func (p *proxy) cutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.open {
		c.Close()
	}
	p.open = nil
}

// close refuses further connections and cuts those that are open.
func (p *proxy) close() {
	p.listener.Close()
	p.cutAll()
	p.wg.Wait()
}

func (p *proxy) serve(client net.Conn) {
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		client.Close()
		return
	}
	p.mu.Lock()
	p.open = append(p.open, client, server)
	p.mu.Unlock()
	var away atomic.Bool
	p.wg.Go(func() {
		defer client.Close()
		defer server.Close()
		answers := make([]byte, 1<<16)
		for {
			n, err := server.Read(answers)
			if n > 0 && away.Load() || err != nil {
				return
			}
			if _, err := client.Write(answers[:n]); err != nil {
				return
			}
		}
	})
	defer client.Close()
	defer server.Close()
	first := true // the first message has no kind
	for {
		header := make([]byte, 5)
		if first {
			header = header[:4]
		}
		if _, err := io.ReadFull(client, header); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(header[len(header)-4:])-4)
		if _, err := io.ReadFull(client, body); err != nil {
			return
		}
		what := pass
		if inspect := p.inspect.Load(); inspect != nil && !first {
			what = (*inspect)(header[0], body)
		}
		first = false
		switch what {
		case cut:
			return
		case swallow:
			io.Copy(io.Discard, client)
			return
		case refuse:
			answer, err := (&pgproto3.ErrorResponse{Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: "0A000", Message: "the feature is not supported"}).Encode(nil)
			if err == nil {
				answer, err = (&pgproto3.ReadyForQuery{TxStatus: 'T'}).Encode(answer)
			}
			if err != nil {
				panic(err)
			}
			client.Write(answer)
			continue
		case passAway:
			away.Store(true)
		}
		if _, err := server.Write(append(header, body...)); err != nil {
			return
		}
		// After a request to cancel the server closes; PGlite does not.
		if len(header) == 4 && binary.BigEndian.Uint32(body) == cancelRequest {
			return
		}
	}
}

const cancelRequest = 80877102
