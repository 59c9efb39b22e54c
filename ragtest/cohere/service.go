package cohere

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"

	"github.com/rageval/rageval/internal/retryhttp"
)

// service is one endpoint of a server.
type service struct {
	transport http.RoundTripper
	url       string
	key       string // "": none
}

// post sends the request, repeated where that may help, and reads the answer
// into reply.
func (s service) post(ctx context.Context, request, reply any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	if s.key != "" {
		r.Header.Set("Authorization", "Bearer "+s.key)
	}
	repeated := retryhttp.Transport{Base: s.transport, Secrets: []string{s.key}}
	resp, err := repeated.RoundTrip(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(answer, reply); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	return nil
}

// number is a field that must be a finite number of at least 0.
type number struct {
	field string
	value float64
}

func checkNumbers(numbers []number) error {
	for _, n := range numbers {
		if !(n.value >= 0) || math.IsInf(n.value, 1) {
			return fmt.Errorf("field %s: got %v, want 0 or more", n.field, n.value)
		}
	}
	return nil
}
