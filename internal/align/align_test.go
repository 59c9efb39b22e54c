package align

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// expiring is a context that is cancelled when Err is called for the n-th time.
type expiring struct {
	context.Context
	n *int
}

func (e expiring) Err() error {
	*e.n--
	if *e.n < 0 {
		return context.Canceled
	}
	return nil
}

func TestAlignStops(t *testing.T) {
	text := strings.Repeat("a line\r\n", 20_000) + "its end"
	var chunks []string
	for range 3000 {
		chunks = append(chunks, "line\na", "end", "a line")
	}
	for calls := 0; ; calls += 1 + calls/8 {
		n := calls
		places, err := Align(expiring{t.Context(), &n}, text, chunks)
		if err == nil {
			if len(places) != len(chunks) {
				t.Errorf("got %d places of %d chunks", len(places), len(chunks))
			}
			if calls < 50 {
				t.Errorf("the context was looked at %d times, want at least every 256 chunks and 64 KiB", calls)
			}
			return
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled at look %d at the context: got error %v, want context.Canceled", calls, err)
		}
	}
}

// A frequent chunk is tried only near where it is expected: that must be where
// its neighbours say, however many occurrences there are elsewhere.
func TestAlignExpectsFrequentChunksBetweenTheirNeighbours(t *testing.T) {
	const rule = "---\n"
	rules := strings.Repeat(rule, 1000)
	text := rules + "one\n" + rule + "two\n" + rules
	places, err := Align(t.Context(), text, []string{"one\n", rule, "two\n"})
	if err != nil {
		t.Fatal(err)
	}
	at := len(rules)
	want := []Place{{at, at + 4}, {at + 4, at + 8}, {at + 8, at + 12}}
	for i := range want {
		if places[i] != want[i] {
			t.Errorf("chunk %d: got place %v, want %v", i, places[i], want[i])
		}
	}
}
