package retryhttp

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"", "0", "20", "1.5", "-1", "1e400", "NaN", "Inf", "0x10", "Fri, 31 Dec 1999 23:59:59 GMT", "Friday, 31-Dec-99 23:59:59 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, name := range []string{"Retry-After", "Retry-After-Ms"} {
			if d := retryAfter(http.Header{name: {s}}); d < 0 {
				t.Errorf("%s: %q: got %v, want 0 or more", name, s, d)
			}
		}
		w := newWaits(time.Second, time.Minute)
		w.asked = retryAfter(http.Header{"Retry-After": {s}})
		w.Reset()
		if d := w.NextBackOff(); d < w.asked {
			t.Errorf("%q: got a wait of %v, want %v or more", s, d, w.asked)
		}
	})
}

func FuzzMessage(f *testing.F) {
	const secret = "canary-0123456789"
	for _, s := range []string{
		"", secret, `{"error":{"message":"canary-0123456789","code":"canary-0123456789"}}`, `{"error":"canary-0123456789"}`, `{"message":1}`,
		`{"detail":["canary-0123456789"]}`, `{"error":{"message":"\u0063anary-0123456789","code":{"a":"canary-0123456789"}}}`, `[null]`, "canary-\xff0123456789",
	} {
		f.Add([]byte(s))
	}
	transport := &Transport{Secrets: []string{secret}}
	f.Fuzz(func(t *testing.T, body []byte) {
		message, code := transport.message(body)
		for _, s := range []string{message, code} {
			if strings.Contains(s, secret) || strings.ContainsAny(s, "\n\r\t") || len(s) > 310 || strings.ToValidUTF8(s, "") != s {
				t.Errorf("%q: got %q, want a short line of UTF-8 without the secret", body, s)
			}
		}
	})
}
