package cohere

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rageval/rageval/internal/retryhttp"
)

// service is one endpoint of a server, and how it is called.
type service struct {
	url       string
	vendor    string   // what the URL of the vendor's own begins with; "": there is none
	apiKey    string   // "": from the environment
	variables []string // of the environment
	timeout   time.Duration
	transport http.RoundTripper
}

// key returns the key, "" if there is none and none is needed.
func (s service) key() (string, error) {
	key, err := keyOf(s.apiKey, s.variables)
	if err == nil && key == "" && s.vendor != "" && strings.HasPrefix(s.url, s.vendor+"/") {
		return "", fmt.Errorf("there is no API key: set %s, or the field APIKey", strings.Join(s.variables, " or "))
	}
	return key, err
}

// post sends the request, repeated where that may help, and reads the answer
// into reply.
func (s service) post(ctx context.Context, key string, request, reply any) error {
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
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	repeated := retryhttp.Transport{
		Base:           s.transport,
		AttemptTimeout: s.timeout,
		MaxElapsed:     max(5*time.Minute, 5*s.timeout),
		Secrets:        []string{key},
		Final:          isMonthly,
	}
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

// isMonthly reports whether Cohere says that a trial key is used up ("limited to
// 1000 API calls / month"), for which it uses the status of too many requests.
func isMonthly(status int, body []byte) bool {
	return status == http.StatusTooManyRequests && bytes.Contains(body, []byte("calls / month"))
}

// limit is a field that must be a finite number of at least 0.
type limit struct {
	field string
	value any
	ok    bool
}

func checkLimits(limits ...limit) error {
	for _, l := range limits {
		if !l.ok {
			return fmt.Errorf("%s is %v: want a finite number, 0 or more", l.field, l.value)
		}
	}
	return nil
}

func validPrice(dollars float64) bool { return dollars >= 0 && !math.IsInf(dollars, 0) }

// checkText returns an error for a text that services refuse, or would get
// otherwise than it is.
func checkText(text string) error {
	if text == "" {
		return errors.New("is empty: the API takes no empty text")
	}
	for i, r := range text {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(text[i:]); n == 1 {
				return fmt.Errorf("is not valid UTF-8 at byte %d", i)
			}
		}
	}
	return nil
}
