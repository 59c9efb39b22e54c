package openai_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/internal/faulttest"
	"github.com/rageval/rageval/ragtest/openai"
)

// answers is an answer of the embeddings endpoint.
type answers struct {
	Object string           `json:"object"`
	Data   []map[string]any `json:"data"`
	Model  string           `json:"model"`
	Usage  map[string]int   `json:"usage"`
}

// edit returns a function that changes the vectors of an answer.
func edit(f func(a *answers)) func([]byte) []byte {
	return func(body []byte) []byte {
		var a answers
		if err := json.Unmarshal(body, &a); err != nil {
			panic(err)
		}
		f(&a)
		changed, err := json.Marshal(a)
		if err != nil {
			panic(err)
		}
		return changed
	}
}

var reverse = edit(func(a *answers) { slices.Reverse(a.Data) })

func TestFaults(t *testing.T) {
	const rateLimit = `{"error":{"message":"Rate limit reached for requests","type":"requests","param":null,"code":"rate_limit_exceeded"}}`
	const quota = `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`
	for _, test := range []struct {
		name     string
		faults   []faulttest.Fault
		requests int
		want     string // within the error; "": none
		timeout  time.Duration
	}{
		{"429", []faulttest.Fault{faulttest.Status(429, rateLimit)}, 2, "", 0},
		{"429, Retry-After", []faulttest.Fault{faulttest.Status(429, rateLimit, "Retry-After", "0"), faulttest.Status(429, rateLimit, "Retry-After-Ms", "5")}, 3, "", 0},
		{"429, Retry-After too long", faulttest.Repeat(9, faulttest.Status(429, rateLimit, "Retry-After", "3600")), 1,
			`the server asks to wait 1h0m0s, too long for a request that may take 5m0s; last answer: 429 Too Many Requests: "Rate limit reached for requests", code "rate_limit_exceeded" (1 attempt)`, 0},
		{"429 always", faulttest.Repeat(9, faulttest.Status(429, rateLimit)), 7, `429 Too Many Requests: "Rate limit reached for requests", code "rate_limit_exceeded" (7 attempts)`, 0},
		{"quota", faulttest.Repeat(9, faulttest.Status(429, quota)), 1, `429 Too Many Requests: "You exceeded your current quota", code "insufficient_quota" (1 attempt)`, 0},
		{"500", []faulttest.Fault{faulttest.Status(500, `{"error":{"message":"oops","type":"server_error","param":null,"code":null}}`)}, 2, "", 0},
		{"500 always", faulttest.Repeat(9, faulttest.Status(500, `{"error":{"message":"oops","type":"server_error","param":null,"code":null}}`)), 7, `500 Internal Server Error: "oops" (7 attempts)`, 0},
		{"502, 503, 504", []faulttest.Fault{faulttest.Status(502, "<html>Bad Gateway"), faulttest.Status(503, ""), faulttest.Status(504, "")}, 4, "", 0},
		{"400", faulttest.Repeat(9, faulttest.Status(400, `{"error":{"message":"bad","type":"invalid_request_error","param":null,"code":null}}`)), 1, `400 Bad Request: "bad" (1 attempt)`, 0},
		{"401", faulttest.Repeat(9, faulttest.Status(401, `{"error":{"message":"Incorrect API key provided: `+canary+`.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`)), 1,
			`401 Unauthorized: "Incorrect API key provided: [redacted].", code "invalid_api_key" (1 attempt)`, 0},
		{"Azure's 401", faulttest.Repeat(9, faulttest.Status(401, `{"error":{"code":"401","message":"Access denied due to invalid subscription key"}}`)), 1, `401 Unauthorized: "Access denied due to invalid subscription key", code "401" (1 attempt)`, 0},
		{"403", faulttest.Repeat(9, faulttest.Status(403, ``)), 1, `403 Forbidden (1 attempt)`, 0},
		{"404", faulttest.Repeat(9, faulttest.Status(404, `{"error":{"message":"no such model"}}`)), 1, `404 Not Found: "no such model" (1 attempt)`, 0},
		{"422", faulttest.Repeat(9, faulttest.Status(422, `{"detail":"bad"}`)), 1, `422 Unprocessable Entity: "bad" (1 attempt)`, 0},
		{"redirect", faulttest.Repeat(9, faulttest.Status(308, ``, "Location", "http://elsewhere.test/")), 1, `redirected to http://elsewhere.test/, which is not followed; last answer: 308 Permanent Redirect (1 attempt)`, 0},
		{"reset", faulttest.Repeat(2, faulttest.Reset), 3, "", 0},
		{"slow body", []faulttest.Fault{faulttest.SlowBody}, 2, "", 500 * time.Millisecond},
		{"slow body always", faulttest.Repeat(9, faulttest.SlowBody), 7, `no complete answer within 50ms`, 50 * time.Millisecond},
		{"silence", []faulttest.Fault{faulttest.Hang}, 2, "", 500 * time.Millisecond},
		{"broken off", []faulttest.Fault{faulttest.BreakOff}, 2, "", 0},
		{"cut short", []faulttest.Fault{faulttest.CutShort}, 2, "", 0},
		{"no JSON", faulttest.Repeat(9, faulttest.Status(200, "<html>Welcome")), 1, `the answer is not JSON: invalid character '<' looking for beginning of value; last answer: 200 OK: "<html>Welcome" (1 attempt)`, 0},
		{"an error with status 200", faulttest.Repeat(9, faulttest.Status(200, `{"error":{"message":"no provider"}}`)), 1, `the answer is an error in spite of its status; last answer: 200 OK: "no provider" (1 attempt)`, 0},
		{"reordered", []faulttest.Fault{faulttest.Rewrite(reverse)}, 1, "", 0},
		{"too few", []faulttest.Fault{faulttest.Rewrite(edit(func(a *answers) { a.Data = a.Data[:2] }))}, 1, `texts 0 to 2: the server answered with 2 vectors for 3 texts`, 0},
		{"none", []faulttest.Fault{faulttest.Rewrite(edit(func(a *answers) { a.Data = nil }))}, 1, `the server answered with 0 vectors for 3 texts`, 0},
		{"too many", []faulttest.Fault{faulttest.Rewrite(edit(func(a *answers) { a.Data = append(a.Data, a.Data[0]) }))}, 1, `the server answered with 4 vectors for 3 texts`, 0},
		{"index twice", []faulttest.Fault{faulttest.Rewrite(edit(func(a *answers) { a.Data[2]["index"] = 1 }))}, 1, `the server answered with two vectors of index 1`, 0},
		{"index out of range", []faulttest.Fault{faulttest.Rewrite(edit(func(a *answers) { a.Data[2]["index"] = 3 }))}, 1, `the server answered with a vector of index 3, want 0 to 2`, 0},
		{"negative index", []faulttest.Fault{faulttest.Rewrite(edit(func(a *answers) { a.Data[2]["index"] = -1 }))}, 1, `the server answered with a vector of index -1, want 0 to 2`, 0},
		{"no index", []faulttest.Fault{faulttest.Rewrite(edit(func(a *answers) { delete(a.Data[2], "index") }))}, 1, `the server answered with two vectors of index 0`, 0},
		{"a vector that is null", []faulttest.Fault{faulttest.Rewrite(edit(func(a *answers) { a.Data[1]["embedding"] = nil }))}, 1, `the server answered with an empty vector for text 1`, 0},
		{"extra fields, null usage", []faulttest.Fault{faulttest.Rewrite(func(b []byte) []byte {
			return bytes.Replace(b, []byte(`{"object":"list"`), []byte(`{"object":"list","provider":null,"error":null`), 1)
		})}, 1, "", 0},
	} {
		for _, style := range styles {
			t.Run(test.name+"/"+style.name, func(t *testing.T) {
				a := &api{t: t, azure: style.azure}
				handler, url := a.start(test.faults...)
				e := a.embedder(url)
				e.Dimensions = 4
				e.Timeout = test.timeout
				texts := []string{"one", "two", "three"}
				got, err := e.Embed(t.Context(), texts)
				if test.want == "" {
					want := [][]float32{vectorOf("one", 4), vectorOf("two", 4), vectorOf("three", 4)}
					if diff := cmp.Diff(want, got); err != nil || diff != "" {
						t.Errorf("got %v, vectors (-want +got):\n%s", err, diff)
					}
				} else if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "embedding with text-embedding-3-small: texts 0 to 2: ") {
					t.Errorf("got  %v\nwant %s", err, test.want)
				}
				if strings.Contains(fmt.Sprintf("%+v", err), canary) {
					t.Errorf("the error shows the key: %v", err)
				}
				// A slow machine may need more attempts, never fewer.
				if n := handler.Requests(); n < test.requests || n > test.requests && e.Timeout == 0 {
					t.Errorf("got %d requests, want %d", n, test.requests)
				}
			})
		}
	}
}

// Vectors that are none, in the forms that either style asks for.
func TestFaultsInVectors(t *testing.T) {
	// instead sends v in the place of the second vector, as JSON.
	instead := func(v string) func([]byte) []byte {
		return edit(func(a *answers) { a.Data[1]["embedding"] = json.RawMessage(v) })
	}
	nan := float32(math.NaN())
	for _, test := range []struct {
		name    string
		azure   bool
		rewrite func([]byte) []byte
		want    string // within the error
	}{
		{"null", false, instead(`[1,2,3,null]`), `the server answered with null for component 3 of the vector for text 1, want a number`},
		{"too large", false, instead(`[1e99,2,3,4]`), `json: cannot unmarshal number 1e99 into Go struct field Embedding.data.embedding of type float32`},
		{"empty", false, instead(`[]`), `the server answered with an empty vector for text 1`},
		{"another dimension", false, instead(`[1,2,3]`), `the server answered with a vector of 3 components for text 1, want 4`},
		{"a text", false, instead(`"abc"`), `json: cannot unmarshal string`},
		{"NaN", false, func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"embedding":[`), []byte(`"embedding":[NaN,`), 1)
		},
			`the answer is not JSON: invalid character 'N' looking for beginning of value; last answer: 200 OK: `},
		{"NaN", true, instead(`"` + inBase64([]float32{1, 2, nan, 4}) + `"`), `the server answered with NaN for component 2 of the vector for text 1, want a finite number`},
		{"infinite", true, instead(`"` + inBase64([]float32{1, 2, 3, float32(math.Inf(-1))}) + `"`), `the server answered with -Inf for component 3 of the vector for text 1, want a finite number`},
		{"empty", true, instead(`""`), `the server answered with an empty vector for text 1`},
		{"another dimension", true, instead(`"` + inBase64([]float32{1, 2, 3}) + `"`), `the server answered with a vector of 3 components for text 1, want 4`},
		{"half a component", true, instead(`"AAAAAAAAAAAAAAAAAAA="`), `the server answered with a vector of 3 components for text 1, want 4`},
		{"not base64", true, instead(`"AA*A"`), `illegal base64 data at input byte 2`},
		{"numbers", true, instead(`[1,2,3,4]`), `json: cannot unmarshal array`},
	} {
		t.Run(fmt.Sprintf("%s/azure=%v", test.name, test.azure), func(t *testing.T) {
			a := &api{t: t, azure: test.azure}
			handler, url := a.start(faulttest.Rewrite(test.rewrite))
			e := a.embedder(url)
			e.Dimensions = 4
			_, err := e.Embed(t.Context(), []string{"one", "two", "three"})
			if err == nil || !strings.Contains(err.Error(), "texts 0 to 2: ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
			if n := handler.Requests(); n != 1 {
				t.Errorf("got %d requests, want 1", n)
			}
		})
	}
}

// inMemory answers requests by a handler, without a connection.
type inMemory struct{ handler http.Handler }

func (m inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	m.handler.ServeHTTP(w, r)
	return w.Result(), nil
}

// The embedder waits as long as it is told, and otherwise as long as the
// defaults say.
func TestWaits(t *testing.T) {
	defer openai.SetFirstWait(0)()
	for _, test := range []struct {
		name     string
		faults   []faulttest.Fault
		min, max time.Duration
	}{
		{"none", nil, 0, 0},
		{"Retry-After", []faulttest.Fault{faulttest.Status(429, "", "Retry-After", "20")}, 20 * time.Second, 21 * time.Second},
		{"a date", []faulttest.Fault{faulttest.Status(503, "", "Retry-After", "Sat, 01 Jan 2000 00:01:00 GMT")}, 60 * time.Second, 61 * time.Second}, // a bubble begins at midnight
		{"back-off", faulttest.Repeat(6, faulttest.Status(500, "")), 0, 63 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := openai.Embedder{APIKey: canary, Dimensions: 4, BaseURL: "https://x.openai.azure.com", APIVersion: apiVersion, Deployment: deployment}
				e.Transport = inMemory{&faulttest.Handler{Next: &api{t: t, azure: true}, Faults: test.faults}}
				start := time.Now()
				if _, err := e.Embed(t.Context(), []string{"a text"}); err != nil {
					t.Fatal(err)
				}
				if d := time.Since(start); d < test.min || d > test.max {
					t.Errorf("took %v, want %v to %v", d, test.min, test.max)
				}
			})
		})
	}
}

func FuzzAnswers(f *testing.F) {
	for _, s := range []string{
		`{"data":[{"index":0,"embedding":[1,2]}]}`, `{"data":[{"index":0,"embedding":[null]}]}`, `{"data":null}`, `{"data":[null]}`,
		`{"data":[{"index":9,"embedding":null}],"usage":null}`, `[]`, `{"data":[{"index":1e9,"embedding":[1e99]}]}`, `{"data":[{"embedding":"AAAA"}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		e := openai.Embedder{Model: "m", BaseURL: "http://models.test/v1", Transport: inMemory{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "3600")
			w.Write(body)
		})}}
		if !json.Valid(body) {
			return // repeated, or an error: the transport's tests have it
		}
		vectors, err := e.Embed(t.Context(), []string{"a"})
		if err != nil {
			return
		}
		if len(vectors) != 1 || len(vectors[0]) == 0 {
			t.Errorf("got %v without an error for %s", vectors, body)
		}
	})
}
