package langsmith

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/rageval/rageval/internal/faulttest"
)

// The API key is in no error, log, file or request but in the header for it, not even
// where the server repeats it.
func TestTheKeyIsNowhere(t *testing.T) {
	var mu sync.Mutex
	var out bytes.Buffer // everything that comes out
	note := func(what ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(&out, "%+v\n", what)
	}
	b := &breakable{broken: faulttest.Status(http.StatusForbidden, `{"detail":"the key `+canary+` is not allowed here"}`)}
	b.after.Store(repaired)
	keys := 0
	s := startWith(t, func(next http.Handler) http.Handler {
		b.next = next
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			note(r.URL.String(), string(body))
			mu.Lock()
			for name, values := range r.Header {
				if name == "X-Api-Key" {
					keys++
					continue
				}
				fmt.Fprintln(&out, name, values)
			}
			mu.Unlock()
			r.Body = io.NopCloser(bytes.NewReader(body))
			b.ServeHTTP(w, r)
		})
	})
	e := evaluation(t, 3)
	upload(t, e)
	refused := 0
	for after := range int64(14) {
		b.after.Store(after)
		r := evaluate(t, e)
		err := Reporter{Required: true}.Report(t.Context(), r)
		if err != nil && strings.Contains(err.Error(), "not allowed here") {
			refused++
		}
		data, errJSON := json.Marshal(r)
		note(err, fmt.Sprintf("%#v", err), string(data), errJSON, r.String())
		b.after.Store(after)
		_, err = UploadTokenTruth(t.Context(), "", e.Corpus, e.Queries)
		note(err)
		b.after.Store(after)
		_, err = LoadTokenTruth(t.Context(), "", e.Corpus)
		note(err)
	}
	if refused == 0 {
		t.Error("no request was refused with the key in the answer")
	}
	for _, f := range spooled(t) {
		data, err := os.ReadFile(f)
		note(string(data), err)
	}
	b.after.Store(2)
	note(Flush(t.Context()))
	b.after.Store(repaired)
	note(Flush(t.Context()))
	note(s.Experiments())
	if keys == 0 {
		t.Error("no request had the key")
	}
	if i := strings.Index(out.String(), "canary"); i >= 0 {
		t.Errorf("the key came out: …%s…", out.String()[max(0, i-300):min(out.Len(), i+100)])
	}
}
