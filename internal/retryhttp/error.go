package retryhttp

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Error says how a request failed. It unwraps to the cause of the request's
// context if that ended it.
type Error struct {
	Method   string
	URL      string // without user, query and fragment
	Attempts int
	Status   int    // of the last answer; 0: none came
	Message  string // of the last answer, abbreviated; "": none
	Code     string // of the last answer, for programs, such as "insufficient_quota"; "": none
	Err      error  // what went wrong beside the status; nil: nothing
}

// Error is one line, such as
//
//	POST https://api.openai.com/v1/embeddings: 429 Too Many Requests: "Rate limit reached" (7 attempts)
//
// Secrets and what looks like a key are replaced in it.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: ", e.Method, e.URL)
	if e.Err != nil {
		b.WriteString(e.Err.Error())
		if e.Status != 0 {
			b.WriteString("; last answer: ")
		}
	}
	if e.Status != 0 {
		b.WriteString(strings.TrimSpace(fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))))
	}
	if e.Message != "" {
		b.WriteString(": " + strconv.Quote(e.Message))
	}
	if e.Code != "" {
		fmt.Fprintf(&b, ", code %q", e.Code)
	}
	switch e.Attempts {
	case 0:
	case 1:
		b.WriteString(" (1 attempt)")
	default:
		fmt.Fprintf(&b, " (%d attempts)", e.Attempts)
	}
	return b.String()
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Cause returns the [*Error] that err wraps, else err: what an [http.Client]
// and the SDKs above it say around it repeats the URL, with its query.
func Cause(err error) error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return err
}

// fail returns the error of the call for the given reason.
func (c *call) fail(reason error) *Error {
	t := c.transport
	if reason != nil {
		if text := reason.Error(); t.redact(text) != text || strings.Contains(text, "\n") {
			reason = errors.New(strings.ReplaceAll(t.redact(text), "\n", "; "))
		}
	}
	return &Error{
		Method:   c.req.Method,
		URL:      t.redact(plainURL(c.req.URL)),
		Attempts: c.attempts,
		Status:   c.last.status,
		Message:  c.last.message,
		Code:     c.last.code,
		Err:      reason,
	}
}

// plainURL returns the URL without what may be secret.
func plainURL(u *url.URL) string {
	plain := *u
	plain.User, plain.RawQuery, plain.ForceQuery, plain.Fragment, plain.RawFragment = nil, "", false, "", ""
	return plain.String()
}

// What looks like a key of some service, or follows the word that announces one.
var keys = regexp.MustCompile(`\b(?:sk|jina|hf)[-_][A-Za-z0-9_\-]{16,}|(?i:\bbearer\s+)[^\s"']{16,}`)

const redacted = "[redacted]"

// redact replaces secrets in s.
func (t *Transport) redact(s string) string {
	for _, secret := range t.Secrets {
		if secret == "" {
			continue
		}
		for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret)} {
			s = strings.ReplaceAll(s, form, redacted)
		}
	}
	return keys.ReplaceAllString(s, redacted)
}

// message returns what the body of an error says, and its code if it has one,
// in the forms that APIs use:
//
//	{"error": {"message": …, "code": …}}   OpenAI, Azure, vLLM
//	{"error": …}                           Ollama, Text Embeddings Inference
//	{"message": …}                         Cohere
//	{"error": …, "message": …}             Chroma, whose error is the kind alone
//	{"detail": …}                          Jina, Voyage
//
// and the body itself in any other.
func (t *Transport) message(body []byte) (message, code string) {
	var answer struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	// A body of another form leaves the fields empty.
	_ = json.Unmarshal(body, &answer)
	var inner struct {
		Message string `json:"message"`
		Code    any    `json:"code"`
	}
	if json.Unmarshal(answer.Error, &inner) == nil && inner.Message != "" {
		if inner.Code != nil {
			code = t.abbreviate(fmt.Sprint(inner.Code))
		}
		return t.abbreviate(inner.Message), code
	}
	if answer.Message != "" {
		return t.abbreviate(answer.Message), ""
	}
	text := string(body)
	for _, raw := range []json.RawMessage{answer.Error, answer.Detail} {
		var s string
		if json.Unmarshal(raw, &s) == nil && s != "" {
			text = s
		}
	}
	return t.abbreviate(text), ""
}

// abbreviate redacts a server's text and returns the beginning of it, in one
// line.
func (t *Transport) abbreviate(text string) string {
	const most = 300 // bytes
	text = t.redact(strings.ToValidUTF8(text, string(utf8.RuneError)))
	// Far more than is shown, far less than was read: no secret is cut in two.
	text = strings.Join(strings.Fields(text[:min(len(text), 16*most)]), " ")
	if len(text) <= most {
		return strings.ToValidUTF8(text, "")
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
