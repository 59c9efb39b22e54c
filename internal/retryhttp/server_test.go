package retryhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rageval/rageval/internal/faulttest"
	"github.com/rageval/rageval/internal/retryhttp"
)

// echo answers with the body of the request, as a JSON string.
var echo = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprintf(w, "%q", data)
})

// quick repeats at once, with connections of its own.
func quick(t *testing.T) *retryhttp.Transport {
	base := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(base.CloseIdleConnections)
	return &retryhttp.Transport{Base: base, FirstWait: time.Nanosecond, LongestWait: time.Nanosecond}
}

func TestRealConnections(t *testing.T) {
	for _, test := range []struct {
		name   string
		faults []faulttest.Fault
	}{
		{"no fault", nil},
		{"statuses", []faulttest.Fault{faulttest.Status(429, "", "Retry-After", "0"), faulttest.Status(500, ""), faulttest.Status(503, "")}},
		{"resets", faulttest.Repeat(3, faulttest.Reset)},
		{"broken off", faulttest.Repeat(3, faulttest.BreakOff)},
		{"cut short", faulttest.Repeat(3, faulttest.CutShort)},
		{"silence", faulttest.Repeat(2, faulttest.Hang)},
		{"a slow body", faulttest.Repeat(2, faulttest.SlowBody)},
	} {
		t.Run(test.name, func(t *testing.T) {
			handler := &faulttest.Handler{Next: echo, Faults: test.faults}
			server := httptest.NewServer(handler)
			defer server.Close()
			transport := quick(t)
			if test.name == "silence" || test.name == "a slow body" {
				transport.AttemptTimeout = 500 * time.Millisecond
			}
			// Without GetBody, for the transport to keep the body itself.
			req, err := http.NewRequestWithContext(t.Context(), "POST", server.URL, io.NopCloser(strings.NewReader("hello")))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := transport.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(resp.Body)
			if err != nil || string(data) != `"hello"` || resp.ContentLength != 7 {
				t.Errorf("got %q of length %d and %v, want the echo", data, resp.ContentLength, err)
			}
			// A slow machine may need more attempts, never fewer.
			if got := handler.Requests(); got < len(test.faults)+1 {
				t.Errorf("got %d requests, want %d", got, len(test.faults)+1)
			}
		})
	}
}

func TestResetStreamOfHTTP2(t *testing.T) {
	handler := &faulttest.Handler{Next: echo, Faults: faulttest.Repeat(3, faulttest.BreakOff)}
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	transport := quick(t)
	transport.Base = server.Client().Transport
	req, err := http.NewRequestWithContext(t.Context(), "POST", server.URL, strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	if resp.ProtoMajor != 2 || handler.Requests() != 4 {
		t.Errorf("got HTTP/%d and %d requests, want HTTP/2 and 4", resp.ProtoMajor, handler.Requests())
	}
}

func TestNobodyListens(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + listener.Addr().String()
	listener.Close()
	req, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = quick(t).RoundTrip(req)
	if err == nil || !strings.HasSuffix(err.Error(), "connection refused (1 attempt)") {
		t.Errorf("got %v, want that the connection was refused, once", err)
	}
}

// Many requests end at once when their context is done, and leave no goroutine.
func TestCancellationLeavesNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	func() {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { faulttest.Hang(w, r, nil) }))
		defer server.Close()
		transport := quick(t)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				req, err := http.NewRequestWithContext(ctx, "POST", server.URL, strings.NewReader("hello"))
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := transport.RoundTrip(req); !errors.Is(err, context.Canceled) {
					t.Errorf("got %v, want context.Canceled", err)
				}
			})
		}
		time.AfterFunc(50*time.Millisecond, cancel)
		wg.Wait()
		transport.Base.(*http.Transport).CloseIdleConnections()
	}()
	for wait := time.Millisecond; runtime.NumGoroutine() > before; wait *= 2 {
		if wait > 10*time.Second {
			t.Fatalf("got %d goroutines, want %d as before", runtime.NumGoroutine(), before)
		}
		time.Sleep(wait)
	}
}
