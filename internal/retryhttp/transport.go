package retryhttp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Transport is an [http.RoundTripper] that repeats requests. The zero value is
// ready for use. It is safe for concurrent use, and keeps nothing from request
// to request: connections are kept by Base.
//
// Unlike other transports it returns a status that is not 2xx as an error, an
// [*Error] like all of its errors; see [Cause].
type Transport struct {
	Base           http.RoundTripper // nil: http.DefaultTransport
	MaxAttempts    int               // 0: 7
	MaxElapsed     time.Duration     // of all attempts and waits of a request; 0: 5 minutes, or 5 attempts' time if that is more
	AttemptTimeout time.Duration     // of one attempt, from connecting to the end of the answer; 0: 1 minute
	FirstWait      time.Duration     // longest wait before the second attempt; 0: 1 second
	LongestWait    time.Duration     // of those before later ones, Retry-After apart; 0: 1 minute
	MaxResponse    int64             // bytes of an answer; 0: 256 MiB

	// Secrets do not appear in errors, not even if the server repeats them.
	Secrets []string

	// Final reports whether an error that would be repeated, by its status,
	// will not pass; body holds the first 64 KiB of the answer. Nil: none.
	Final func(status int, body []byte) bool
}

const (
	defaultMaxAttempts    = 7
	defaultMaxElapsed     = 5 * time.Minute
	defaultAttemptTimeout = time.Minute
	defaultFirstWait      = time.Second
	defaultLongestWait    = time.Minute
	defaultMaxResponse    = 256 << 20

	maxErrorBody = 64 << 10
)

// withDefaults returns a copy of t in which no limit is zero.
func (t *Transport) withDefaults() *Transport {
	c := *t
	if c.Base == nil {
		c.Base = http.DefaultTransport
	}
	if c.MaxAttempts <= 0 {
		c.MaxAttempts = defaultMaxAttempts
	}
	if c.MaxResponse <= 0 {
		c.MaxResponse = defaultMaxResponse
	}
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&c.AttemptTimeout, defaultAttemptTimeout},
		{&c.MaxElapsed, max(defaultMaxElapsed, 5*c.AttemptTimeout)},
		{&c.FirstWait, defaultFirstWait},
		{&c.LongestWait, defaultLongestWait},
	} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	return &c
}

// Client returns a client that sends its requests through t.
func (t *Transport) Client() *http.Client { return &http.Client{Transport: t} }

// errElapsed is the cause of a request's end that took longer than MaxElapsed.
var errElapsed = errors.New("the request took too long in all")

// RoundTrip sends the request until it is answered with success, and returns
// the answer with a body that is in memory. The request's context ends it at
// once, also while it waits.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	t = t.withDefaults()
	c := &call{transport: t, req: req, waits: newWaits(t.FirstWait, t.LongestWait)}
	body, err := replayable(req)
	if err != nil {
		return nil, c.fail(fmt.Errorf("reading the body of the request: %w", err))
	}
	c.body = body
	if req.Context().Err() != nil {
		return nil, c.fail(context.Cause(req.Context()))
	}
	ctx, cancel := context.WithTimeoutCause(req.Context(), t.MaxElapsed, errElapsed)
	defer cancel()
	resp, err := backoff.Retry(ctx, func() (*http.Response, error) { return c.attempt(ctx) },
		backoff.WithBackOff(c.waits),
		backoff.WithMaxTries(uint(t.MaxAttempts)),
		backoff.WithMaxElapsedTime(t.MaxElapsed))
	if err == nil {
		return resp, nil
	}
	return nil, c.fail(c.reason(ctx))
}

// replayable returns a function that returns the body of the request, as often
// as it is called, or nil if there is none. It closes the body.
func replayable(req *http.Request) (func() (io.ReadCloser, error), error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	defer req.Body.Close()
	if req.GetBody != nil {
		return req.GetBody, nil
	}
	data, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }, nil
}

// call is a request under way.
type call struct {
	transport *Transport
	req       *http.Request
	body      func() (io.ReadCloser, error) // nil: none
	waits     *waits
	attempts  int
	last      failure // of the last attempt that failed
}

// failure is what an attempt failed with.
type failure struct {
	status  int    // 0: no answer
	message string // of the answer, redacted, and its code
	code    string
	err     error // what went wrong; nil: the status says it
	final   bool  // will not pass
}

// errFailed tells backoff that an attempt failed; what is told in the end is in
// call.last.
var errFailed = errors.New("the attempt failed")

// attempt sends the request once.
func (c *call) attempt(ctx context.Context) (*http.Response, error) {
	c.attempts++
	resp, f := c.send(ctx)
	if f == nil {
		return resp, nil
	}
	if ctx.Err() != nil {
		return nil, backoff.Permanent(errFailed) // the last answer says more
	}
	c.last = *f
	if f.final {
		return nil, backoff.Permanent(errFailed)
	}
	return nil, errFailed
}

// reason returns why the request failed beside, or instead of, its last status:
// nil if that says it all.
func (c *call) reason(ctx context.Context) error {
	switch {
	case c.req.Context().Err() != nil:
		return context.Cause(c.req.Context())
	case ctx.Err() != nil:
		return fmt.Errorf("no success within %v", c.transport.MaxElapsed)
	case !c.last.final && c.attempts < c.transport.MaxAttempts && c.waits.asked > 0:
		return fmt.Errorf("the server asks to wait %v, too long for a request that may take %v", c.waits.asked, c.transport.MaxElapsed)
	case !c.last.final && c.attempts < c.transport.MaxAttempts:
		return errors.Join(c.last.err, fmt.Errorf("no success within %v", c.transport.MaxElapsed))
	}
	return c.last.err
}
