package openai

import "time"

// Tests do not wait long before they repeat a request.
func init() { firstWait = time.Millisecond }

// SetFirstWait sets the longest first wait, 0 for the default, and returns a
// function that sets it back.
func SetFirstWait(d time.Duration) (restore func()) {
	old := firstWait
	firstWait = d
	return func() { firstWait = old }
}
