package tokens

import (
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rageval/rageval/chunkers"
)

// counting counts how often each text is tokenized.
type counting struct {
	mu    sync.Mutex
	texts map[string]int
}

func (*counting) String() string { return "counting" }

func (c *counting) Tokens(text string) iter.Seq2[int, int] {
	c.mu.Lock()
	c.texts[text]++
	c.mu.Unlock()
	return words{}.Tokens(text)
}

func TestLengthMeasuresEachTextOnce(t *testing.T) {
	counts := &counting{texts: map[string]int{}}
	length := Length(counts)
	var text strings.Builder
	for i := range 500 {
		fmt.Fprintf(&text, "A sentence with %d words or so. It recurs.\n", i%50)
	}
	for _, c := range []chunkers.RecursiveCharacter{{Size: 30, Length: length}, {Size: 10, Overlap: 5, Length: length}} {
		for range 2 {
			mustChunk(t, c, text.String())
		}
	}
	if len(counts.texts) == 0 {
		t.Error("nothing was measured")
	}
	for text, n := range counts.texts {
		if n != 1 {
			t.Errorf("%.40q was tokenized %d times, want once", text, n)
		}
	}
}

func TestLengthIsBounded(t *testing.T) {
	l := newLengths(byteTokens(1))
	for i := range 300_000 {
		text := fmt.Sprintf("%0300d", i)
		if got := l.of(text); got != 300 {
			t.Fatalf("length of %q: got %d, want 300", text, got)
		}
	}
	long := strings.Repeat("x", 2*maxShardBytes)
	if got := l.of(long) + l.of(long); got != 2*len(long) {
		t.Errorf("length of a long text, twice: got %d, want %d", got, 2*len(long))
	}
	held := 0
	for i := range l.shards {
		for _, generation := range []map[string]int{l.shards[i].new, l.shards[i].old} {
			for text := range generation {
				held += len(text)
			}
		}
	}
	if most := 2 * len(l.shards) * maxShardBytes; held > most || held < most/4 {
		t.Errorf("%d bytes of text are remembered, want at most %d and at least a quarter of that", held, most)
	}
}

func TestLengthIsSafeForConcurrentUse(t *testing.T) {
	length := Length(O200K)
	text := strings.Repeat("Several goroutines measure this at once. ", 200)
	var wrong atomic.Int32
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for i := range 200 {
				if length.Of(text[:i]) != count(O200K, text[:i]) {
					wrong.Add(1)
				}
			}
		})
	}
	group.Wait()
	if n := wrong.Load(); n > 0 {
		t.Errorf("%d lengths were wrong", n)
	}
}

func TestLengthName(t *testing.T) {
	for want, tokenizer := range map[string]Tokenizer{"cl100k": nil, "o200k": O200K, "miniature": miniature(t)} {
		c := chunkers.RecursiveCharacter{Size: 200, Length: Length(tokenizer)}
		if got, want := c.String(), "recursive/size=200/length="+want; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("Length of an encoding that does not exist: want a panic")
		}
	}()
	Length(Encoding(9))
}
