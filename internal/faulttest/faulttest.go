// Package faulttest makes the HTTP servers of tests fail on purpose, in the ways
// in which services fail.
package faulttest

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
)

// Fault answers a request in the place of next, which may help. Nil is no fault.
type Fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

// Handler answers as Next does, but for the faults: the n-th request gets the
// n-th of them, and those beyond get none.
type Handler struct {
	Next   http.Handler
	Faults []Fault

	mu       sync.Mutex
	requests int
}

// ServeHTTP answers a request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	n := h.requests
	h.requests++
	h.mu.Unlock()
	if n < len(h.Faults) && h.Faults[n] != nil {
		h.Faults[n](w, r, h.Next)
		return
	}
	h.Next.ServeHTTP(w, r)
}

// Requests returns how many requests came.
func (h *Handler) Requests() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.requests
}

// Repeat returns n times the fault.
func Repeat(n int, f Fault) []Fault {
	faults := make([]Fault, n)
	for i := range faults {
		faults[i] = f
	}
	return faults
}

// Status answers with a status, a body and headers, given as names and values.
func Status(code int, body string, headers ...string) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		drain(r)
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

// Reset resets the connection without an answer. It needs HTTP/1.
func Reset(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	drain(r)
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(fmt.Sprintf("faulttest.Reset: %v", err))
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	conn.Close()
}

// Hang never answers. It returns when the client is gone.
func Hang(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	drain(r)
	<-r.Context().Done()
}

// SlowBody sends half of the answer, and nothing after that until the client is
// gone.
func SlowBody(w http.ResponseWriter, r *http.Request, next http.Handler) {
	answer := record(w, r, next)
	w.Write(answer[:len(answer)/2])
	http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// BreakOff announces the whole answer, sends half of it and closes the
// connection.
func BreakOff(w http.ResponseWriter, r *http.Request, next http.Handler) {
	answer := record(w, r, next)
	w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
	w.Write(answer[:len(answer)/2])
	http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// CutShort sends half of the answer as if it were all.
func CutShort(w http.ResponseWriter, r *http.Request, next http.Handler) {
	answer := record(w, r, next)
	w.Write(answer[:len(answer)/2])
}

// Rewrite sends what f makes of the answer.
func Rewrite(f func(answer []byte) []byte) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		w.Write(f(record(w, r, next)))
	}
}

// record returns the body of next's answer, and copies its headers to w. It
// panics if next answers with an error: the request is then wrong.
func record(w http.ResponseWriter, r *http.Request, next http.Handler) []byte {
	rec := httptest.NewRecorder()
	next.ServeHTTP(rec, r)
	drain(r)
	if rec.Code != http.StatusOK {
		panic(fmt.Sprintf("faulttest: the answer to be spoilt has status %d: %s", rec.Code, rec.Body))
	}
	maps.Copy(w.Header(), rec.Header())
	w.Header().Del("Content-Length")
	return rec.Body.Bytes()
}

// drain reads the request to its end: only then is its context done when the
// client is gone.
func drain(r *http.Request) { io.Copy(io.Discard, r.Body) }
