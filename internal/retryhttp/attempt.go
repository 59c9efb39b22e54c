package retryhttp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
)

// errAttempt is the cause of an attempt's end that took longer than
// AttemptTimeout.
var errAttempt = errors.New("the attempt took too long")

// send sends the request once and reads the answer.
func (c *call) send(ctx context.Context) (*http.Response, *failure) {
	t := c.transport
	ctx, cancel := context.WithTimeoutCause(ctx, t.AttemptTimeout, errAttempt)
	defer cancel()
	req := c.req.Clone(ctx)
	if c.body != nil {
		body, err := c.body()
		if err != nil {
			return nil, &failure{err: fmt.Errorf("reading the body of the request: %w", err), final: true}
		}
		req.Body, req.GetBody = body, c.body
	}
	c.waits.asked = 0
	resp, err := t.Base.RoundTrip(req)
	if err != nil {
		return nil, c.broken(ctx, 0, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, c.refused(resp)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, t.MaxResponse+1))
	if err != nil {
		return nil, c.broken(ctx, resp.StatusCode, err)
	}
	if int64(len(data)) > t.MaxResponse {
		err := fmt.Errorf("the answer is longer than %d bytes", t.MaxResponse)
		return nil, &failure{status: resp.StatusCode, err: err, final: true}
	}
	if err, final := checkJSON(data); err != nil {
		f := &failure{status: resp.StatusCode, err: err, final: final}
		if final {
			f.message, f.code = t.message(data)
		}
		return nil, f
	}
	resp.Body = io.NopCloser(bytes.NewReader(data))
	resp.ContentLength = int64(len(data))
	return resp, nil
}

// broken is the failure of an attempt without a complete answer.
func (c *call) broken(ctx context.Context, status int, err error) *failure {
	if context.Cause(ctx) == errAttempt {
		return &failure{status: status, err: fmt.Errorf("no complete answer within %v", c.transport.AttemptTimeout)}
	}
	return &failure{status: status, err: err, final: !passes(err)}
}

// passes reports whether an error of a connection may be gone next time.
func passes(err error) bool {
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return dns.IsTimeout || dns.IsTemporary
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return true
	}
	var reset streamError
	if errors.As(err, &reset) {
		return true
	}
	// A connection that breaks while the request is written may be closed by
	// net/http before the write says why.
	for _, target := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// streamError is what net/http's error of a reset HTTP/2 stream, which is not
// exported, converts to in errors.As: a struct of the same fields.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (streamError) Error() string { return "stream reset" }

// refused is the failure of an attempt whose answer is a status of no success.
func (c *call) refused(resp *http.Response) *failure {
	t := c.transport
	// A body that breaks off says as much as it says.
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	f := &failure{status: resp.StatusCode, final: true}
	f.message, f.code = t.message(body)
	switch s := resp.StatusCode; {
	case s >= 300 && s < 400:
		if to, err := url.Parse(resp.Header.Get("Location")); err == nil && to.String() != "" {
			f.err = fmt.Errorf("redirected to %s, which is not followed", t.redact(plainURL(to)))
		}
	case s == http.StatusNotImplemented, s == http.StatusHTTPVersionNotSupported:
	case s == http.StatusRequestTimeout, s == http.StatusTooManyRequests, s >= 500:
		f.final = t.Final != nil && t.Final(s, body)
		c.waits.asked = retryAfter(resp.Header)
	}
	return f
}

// checkJSON returns an error unless data is JSON that holds no error itself, and
// whether another attempt would get the same.
func checkJSON(data []byte) (err error, final bool) {
	if json.Valid(data) {
		if isError(data) {
			return errors.New("the answer is an error in spite of its status"), true
		}
		return nil, false
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return errors.New("the answer is empty"), false
	}
	var raw json.RawMessage
	err = json.Unmarshal(data, &raw)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && syntax.Offset >= int64(len(data)) {
		return fmt.Errorf("the answer is cut short after %d bytes", len(data)), false
	}
	return fmt.Errorf("the answer is not JSON: %w", err), true
}

// isError reports whether JSON is an object with a member "error" that is an
// object or a text.
func isError(data []byte) bool {
	if !bytes.Contains(data, []byte(`"error"`)) {
		return false
	}
	var answer struct {
		Error any `json:"error"`
	}
	if json.Unmarshal(data, &answer) != nil {
		return false
	}
	switch e := answer.Error.(type) {
	case map[string]any:
		return true
	case string:
		return e != ""
	}
	return false
}
