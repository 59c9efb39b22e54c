package retryhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rageval/rageval/internal/retryhttp"
)

// answer is what a scripted server does with a request.
type answer func(r *http.Request) (*http.Response, error)

// script answers the n-th request as its n-th answer says, and later ones as the
// last.
type script struct {
	answers []answer
	bodies  []string
	times   []time.Duration // since the first request
	start   time.Time
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	if len(s.times) == 0 {
		s.start = time.Now()
	}
	s.times = append(s.times, time.Since(s.start))
	if r.Body != nil {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r.Body.Close()
		s.bodies = append(s.bodies, string(data))
	}
	a := s.answers[min(len(s.times), len(s.answers))-1]
	return a(r)
}

func status(code int, body string, headers ...string) answer {
	return func(*http.Request) (*http.Response, error) {
		h := http.Header{}
		for i := 0; i < len(headers); i += 2 {
			h.Set(headers[i], headers[i+1])
		}
		return &http.Response{StatusCode: code, Header: h, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

func broken(err error) answer {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

// silent never answers.
func silent(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// slow answers with the beginning of a body whose end never comes.
func slow(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Body: io.NopCloser(io.MultiReader(strings.NewReader(`{"a":`), waiter{r.Context()}))}, nil
}

type waiter struct{ ctx context.Context }

func (w waiter) Read([]byte) (int, error) {
	<-w.ctx.Done()
	return 0, w.ctx.Err()
}

var ok = status(200, `{"ok":true,"error":null}`)

func post(t *testing.T, transport *retryhttp.Transport, ctx context.Context) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, "POST", "http://user:password@models.test/v1/x?key=in-the-query", strings.NewReader("the request"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := transport.Client().Do(req)
	if err != nil {
		return "", retryhttp.Cause(err)
	}
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data), nil
}

func TestAttempts(t *testing.T) {
	overloaded := status(503, `{"error":{"message":"overloaded"}}`)
	for _, test := range []struct {
		name     string
		answers  []answer
		attempts int
		want     string // of the error; "": none
	}{
		{"success", []answer{ok}, 1, ""},
		{"429", []answer{status(429, ""), ok}, 2, ""},
		{"408, 500, 502, 503, 504, 529", []answer{status(408, ""), status(500, ""), status(502, ""), status(503, ""), status(504, ""), status(529, ""), ok}, 7, ""},
		{"reset", []answer{broken(&net.OpError{Op: "read", Err: syscall.ECONNRESET}), ok}, 2, ""},
		{"closed while writing", []answer{broken(&net.OpError{Op: "write", Err: net.ErrClosed}), ok}, 2, ""},
		{"closed", []answer{broken(io.EOF), ok}, 2, ""},
		{"DNS for now", []answer{broken(&net.DNSError{IsTemporary: true}), ok}, 2, ""},
		{"silent", []answer{silent, ok}, 2, ""},
		{"slow", []answer{slow, ok}, 2, ""},
		{"cut short", []answer{status(200, `{"a":[1,2`), status(200, ""), status(200, " "), ok}, 4, ""},
		{"400", []answer{status(400, `{"error":{"message":"bad","code":"too_long"}}`)}, 1, `400 Bad Request: "bad", code "too_long" (1 attempt)`},
		{"401", []answer{status(401, `{"message":"who"}`)}, 1, `401 Unauthorized: "who" (1 attempt)`},
		{"404", []answer{status(404, `{"error":"NotFoundError","message":"no such collection"}`)}, 1, `404 Not Found: "no such collection" (1 attempt)`},
		{"403", []answer{status(403, `{"detail":"no"}`)}, 1, `403 Forbidden: "no" (1 attempt)`},
		{"404", []answer{status(404, `{"error":"model \"m\" not found"}`)}, 1, `404 Not Found: "model \"m\" not found" (1 attempt)`},
		{"422", []answer{status(422, `{"detail":[{"loc":["body"]}]}`)}, 1, `422 Unprocessable Entity: "{\"detail\":[{\"loc\":[\"body\"]}]}" (1 attempt)`},
		{"501", []answer{status(501, "")}, 1, `501 Not Implemented (1 attempt)`},
		{"redirect", []answer{status(307, "", "Location", "https://u:p@elsewhere.test/x?y=z")}, 1, `redirected to https://elsewhere.test/x, which is not followed; last answer: 307 Temporary Redirect (1 attempt)`},
		{"refused", []answer{broken(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED})}, 1, `dial: connection refused (1 attempt)`},
		{"no such host", []answer{broken(&net.DNSError{Err: "no such host", Name: "models.test", IsNotFound: true})}, 1, `lookup models.test: no such host (1 attempt)`},
		{"no JSON", []answer{status(200, "<html>\n Ollama is\trunning")}, 1, `the answer is not JSON: invalid character '<' looking for beginning of value; last answer: 200 OK: "<html> Ollama is running" (1 attempt)`},
		{"NaN", []answer{status(200, `{"a":[NaN]}`)}, 1, `the answer is not JSON: invalid character 'N' looking for beginning of value; last answer: 200 OK: "{\"a\":[NaN]}" (1 attempt)`},
		{"no error", []answer{status(200, `{"ok":true,"error":""}`)}, 1, "-"},
		{"an error as an answer", []answer{status(200, `{"error":{"message":"no provider","code":502}}`)}, 1, `the answer is an error in spite of its status; last answer: 200 OK: "no provider", code "502" (1 attempt)`},
		{"always 503", []answer{overloaded}, 7, `503 Service Unavailable: "overloaded" (7 attempts)`},
		{"always cut short", []answer{status(200, `{"a":`)}, 7, `the answer is cut short after 5 bytes; last answer: 200 OK (7 attempts)`},
		{"reset at last", []answer{overloaded, broken(syscall.ECONNRESET)}, 7, `connection reset by peer (7 attempts)`},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{answers: test.answers}
				got, err := post(t, &retryhttp.Transport{Base: s}, t.Context())
				const prefix = "POST http://models.test/v1/x: "
				switch {
				case test.want == "-" && err != nil:
					t.Error(err)
				case test.want == "-":
				case test.want == "" && (err != nil || got != `{"ok":true,"error":null}`):
					t.Errorf("got %q and %v, want the answer", got, err)
				case test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), prefix) || !strings.HasSuffix(err.Error(), test.want)):
					t.Errorf("got error\n%v, want\n%s", err, prefix+test.want)
				}
				if n := len(s.times); n != test.attempts {
					t.Errorf("got %d attempts, want %d", n, test.attempts)
				}
				for i, body := range s.bodies {
					if body != "the request" {
						t.Errorf("attempt %d sent %q, want the whole body", i+1, body)
					}
				}
			})
		})
	}
}

// The waits are uniform from 0 to 1, 2, 4, 8, 8 seconds.
func TestWaitsGrowWithFullJitter(t *testing.T) {
	const runs = 400
	longest := []float64{1, 2, 4, 8, 8}
	sums := make([]float64, len(longest))
	highest := make([]float64, len(longest))
	for range runs {
		synctest.Test(t, func(t *testing.T) {
			s := &script{answers: []answer{status(500, "")}}
			_, err := post(t, &retryhttp.Transport{Base: s, MaxAttempts: 6, LongestWait: 8 * time.Second}, t.Context())
			if err == nil || len(s.times) != 6 {
				t.Fatalf("got %d attempts and %v, want 6 and an error", len(s.times), err)
			}
			for i := range longest {
				wait := (s.times[i+1] - s.times[i]).Seconds()
				if wait < 0 || wait > longest[i]+1e-6 {
					t.Errorf("wait %d is %vs, want at most %vs", i, wait, longest[i])
				}
				sums[i] += wait
				highest[i] = max(highest[i], wait)
			}
		})
	}
	for i, l := range longest {
		// The mean has a standard deviation of l/√(12·runs), 0.0144·l; chance
		// exceeds seven of them less than once in 10¹¹.
		if mean := sums[i] / runs; mean < 0.4*l || mean > 0.6*l {
			t.Errorf("wait %d: mean %.3fs, want about %vs", i, mean, l/2)
		}
		if highest[i] < 0.9*l {
			t.Errorf("wait %d: longest %.3fs of %d, want nearly %vs", i, highest[i], runs, l)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	for _, test := range []struct {
		name     string
		headers  func(now time.Time) []string
		min, max float64 // seconds
	}{
		{"seconds", func(time.Time) []string { return []string{"Retry-After", "20"} }, 20, 21},
		{"zero", func(time.Time) []string { return []string{"Retry-After", "0"} }, 0, 1},
		{"a fraction", func(time.Time) []string { return []string{"Retry-After", "1.5"} }, 1.5, 2.5},
		{"milliseconds", func(time.Time) []string { return []string{"Retry-After-Ms", "2500", "Retry-After", "3"} }, 2.5, 3.5},
		{"date", func(now time.Time) []string {
			return []string{"Retry-After", now.Add(30 * time.Second).UTC().Format(http.TimeFormat)}
		}, 30, 31},
		{"past date", func(now time.Time) []string {
			return []string{"Retry-After", now.Add(-time.Hour).UTC().Format(http.TimeFormat)}
		}, 0, 1},
		{"negative", func(time.Time) []string { return []string{"Retry-After", "-5"} }, 0, 1},
		{"nonsense", func(time.Time) []string { return []string{"Retry-After", "soon"} }, 0, 1},
		{"NaN", func(time.Time) []string { return []string{"Retry-After", "NaN"} }, 0, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{answers: []answer{status(429, "", test.headers(time.Now())...), ok}}
				if _, err := post(t, &retryhttp.Transport{Base: s}, t.Context()); err != nil {
					t.Fatal(err)
				}
				if wait := s.times[1].Seconds(); wait < test.min || wait > test.max {
					t.Errorf("waited %vs, want from %v to %v", wait, test.min, test.max)
				}
			})
		})
	}
}

// What one answer asks for does not count for the next attempt.
func TestRetryAfterIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []answer{status(429, "", "Retry-After", "20"), broken(io.EOF), ok}}
		if _, err := post(t, &retryhttp.Transport{Base: s}, t.Context()); err != nil {
			t.Fatal(err)
		}
		if wait := (s.times[2] - s.times[1]).Seconds(); wait > 2 {
			t.Errorf("waited %vs after an attempt without an answer, want at most 2", wait)
		}
	})
}

// closer counts how often it is closed.
type closer struct {
	io.Reader
	closed *int
}

func (c closer) Close() error { *c.closed++; return nil }

func TestBodiesAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, code := range []int{200, 400, 500} {
			opened, closed, sent := 0, 0, 0
			s := &script{answers: []answer{func(*http.Request) (*http.Response, error) {
				opened++
				return &http.Response{StatusCode: code, Body: closer{strings.NewReader("{}"), &closed}}, nil
			}}}
			req, err := http.NewRequestWithContext(t.Context(), "POST", "http://models.test", closer{strings.NewReader("the request"), &sent})
			if err != nil {
				t.Fatal(err)
			}
			_, err = (&retryhttp.Transport{Base: s}).RoundTrip(req)
			if (err != nil) != (code != 200) || opened == 0 || closed != opened || sent != 1 {
				t.Errorf("status %d: got %v, %d bodies of answers closed of %d, and that of the request %d times", code, err, closed, opened, sent)
			}
		}
	})
}

func TestRetryAfterTooLong(t *testing.T) {
	for _, after := range []string{"3600", "1e300", "99999999999999999999999"} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			s := &script{answers: []answer{status(429, `{"message":"slow down"}`, "Retry-After", after)}}
			_, err := post(t, &retryhttp.Transport{Base: s}, t.Context())
			if err == nil || !strings.Contains(err.Error(), "too long for a request that may take 5m0s; last answer: 429") {
				t.Errorf("Retry-After %s: got %v, want an error that says it is too long", after, err)
			}
			if len(s.times) != 1 || time.Since(start) != 0 {
				t.Errorf("Retry-After %s: got %d attempts in %v, want 1 at once", after, len(s.times), time.Since(start))
			}
		})
	}
}

func TestLimitsOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		s := &script{answers: []answer{silent}}
		_, err := post(t, &retryhttp.Transport{Base: s, MaxAttempts: 3, AttemptTimeout: 2 * time.Second}, t.Context())
		want := "POST http://models.test/v1/x: no complete answer within 2s (3 attempts)"
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if d := time.Since(start); d < 6*time.Second || d > 9*time.Second {
			t.Errorf("took %v, want 3 attempts of 2s and waits of up to 3s", d)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		s := &script{answers: []answer{status(500, "down"), silent}}
		_, err := post(t, &retryhttp.Transport{Base: s, MaxElapsed: 10 * time.Second}, t.Context())
		want := `POST http://models.test/v1/x: no success within 10s; last answer: 500 Internal Server Error: "down" (2 attempts)`
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if d := time.Since(start); d != 10*time.Second {
			t.Errorf("took %v, want 10s", d)
		}
	})
}

// More time for an attempt is more time in all.
func TestLongAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		s := &script{answers: []answer{silent}}
		_, err := post(t, &retryhttp.Transport{Base: s, AttemptTimeout: 10 * time.Minute}, t.Context())
		want := "POST http://models.test/v1/x: no success within 50m0s (5 attempts)"
		if err == nil || err.Error() != want || time.Since(start) != 50*time.Minute {
			t.Errorf("got %v in %v, want %s", err, time.Since(start), want)
		}
	})
}

func TestContextEndsARequest(t *testing.T) {
	for name, first := range map[string]answer{
		"while it waits to be repeated": status(429, `{"message":"slow down"}`, "Retry-After", "60"),
		"while no answer comes":         silent,
		"within an answer":              slow,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				start := time.Now()
				time.AfterFunc(3*time.Second, cancel)
				_, err := post(t, &retryhttp.Transport{Base: &script{answers: []answer{first}}}, ctx)
				if !errors.Is(err, context.Canceled) {
					t.Errorf("got %v, want context.Canceled", err)
				}
				if d := time.Since(start); d != 3*time.Second {
					t.Errorf("took %v, want 3s", d)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("the test is over")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Second, why)
		defer cancel()
		_, err := post(t, &retryhttp.Transport{Base: &script{answers: []answer{status(429, "", "Retry-After", "60")}}}, ctx)
		if !errors.Is(err, why) || !strings.Contains(err.Error(), "429 Too Many Requests") {
			t.Errorf("got %v, want the cause and the last answer", err)
		}
	})
}

func TestContextThatIsDone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := &script{answers: []answer{ok}}
	req, err := http.NewRequestWithContext(ctx, "POST", "http://models.test/v1/x", strings.NewReader("the request"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = (&retryhttp.Transport{Base: s}).RoundTrip(req)
	if !errors.Is(err, context.Canceled) || len(s.times) != 0 {
		t.Errorf("got %v after %d attempts, want context.Canceled after none", err, len(s.times))
	}
}

func TestMaxResponse(t *testing.T) {
	for n, want := range map[int]string{
		100: "",
		101: "POST http://models.test/v1/x: the answer is longer than 100 bytes; last answer: 200 OK (1 attempt)",
	} {
		s := &script{answers: []answer{status(200, `"`+strings.Repeat("a", n-2)+`"`)}}
		_, err := post(t, &retryhttp.Transport{Base: s, MaxResponse: 100}, t.Context())
		if got := fmt.Sprint(err); err == nil && want != "" || err != nil && got != want {
			t.Errorf("%d bytes: got %v, want %q", n, err, want)
		}
	}
}

func TestFinal(t *testing.T) {
	s := &script{answers: []answer{status(429, `{"error":{"message":"no money left","code":"insufficient_quota"}}`, "Retry-After", "1")}}
	transport := &retryhttp.Transport{Base: s, Final: func(status int, body []byte) bool {
		return status == 429 && strings.Contains(string(body), "insufficient_quota")
	}}
	_, err := post(t, transport, t.Context())
	want := `POST http://models.test/v1/x: 429 Too Many Requests: "no money left", code "insufficient_quota" (1 attempt)`
	if err == nil || err.Error() != want || len(s.times) != 1 {
		t.Errorf("got %v after %d attempts, want %s", err, len(s.times), want)
	}
}
