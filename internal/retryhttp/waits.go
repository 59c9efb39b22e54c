package retryhttp

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// waits is the [backoff.BackOff] of one request: what the server asked for, and
// after it the exponential wait.
type waits struct {
	exponential *backoff.ExponentialBackOff
	asked       time.Duration // by the last answer
}

// newWaits returns waits that are uniform from 0 to first, 2·first and so on,
// up to longest.
func newWaits(first, longest time.Duration) *waits {
	return &waits{exponential: &backoff.ExponentialBackOff{
		InitialInterval:     min(first, longest) / 2,
		RandomizationFactor: 1, // from 0 to twice the interval
		Multiplier:          2,
		MaxInterval:         longest / 2,
	}}
}

func (w *waits) NextBackOff() time.Duration {
	next := w.exponential.NextBackOff()
	if w.asked > math.MaxInt64-next {
		return math.MaxInt64
	}
	return w.asked + next
}

func (w *waits) Reset() { w.exponential.Reset() }

// retryAfter returns how long the headers of an answer ask to wait, 0 if they
// do not say or cannot be read.
func retryAfter(h http.Header) time.Duration {
	if d, ok := parseWait(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	after := h.Get("Retry-After")
	if d, ok := parseWait(after, time.Second); ok {
		return d
	}
	if date, err := http.ParseTime(after); err == nil {
		return max(0, time.Until(date))
	}
	return 0
}

// parseWait reads a number of units, also one with a fraction, as some servers
// send it.
func parseWait(s string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || !(n >= 0) {
		return 0, false
	}
	if d := n * float64(unit); d < math.MaxInt64 {
		return time.Duration(d), true
	}
	return math.MaxInt64, true
}
