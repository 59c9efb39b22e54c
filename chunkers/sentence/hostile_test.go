package sentence

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/rageval/rageval/spans"
)

func TestStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	for _, c := range settings {
		if _, err := c.Chunk(ctx, "text"); !errors.Is(err, cause) {
			t.Errorf("%v: got error %v, want %v", c, err, cause)
		}
	}
}

// expiring is a context that is done when it has been asked n times.
type expiring struct {
	context.Context
	n int
}

func (c *expiring) Err() error {
	if c.n--; c.n < 0 {
		return context.Canceled
	}
	return nil
}

func TestStopsInTheMiddle(t *testing.T) {
	text := strings.Repeat("A sentence. Another one.\n\n", 10_000)
	for _, c := range []chunker{Sentence{}, Sentence{MaxSize: 50}, Sentence{MaxSize: 3}, Paragraph{MaxSize: 3}, Paragraph{}, SemanticDensity{Size: 20}} {
		if _, err := c.Chunk(&expiring{t.Context(), 2}, text); err == nil {
			t.Errorf("%v: got no error, want that of the context", c)
		}
	}
}

// TestHostileTexts takes for ever if any part of the work is quadratic.
func TestHostileTexts(t *testing.T) {
	const n = 1 << 18
	repeated := func(s string) string { return strings.Repeat(s, n/len(s)) }
	for name, text := range map[string]string{
		"no boundary":                strings.Repeat("x", 4*n),
		"no boundary, wide":          strings.Repeat("語", n),
		"words":                      repeated("word "),
		"full stop and spaces":       "End." + repeated(" ") + "End.",
		"full stop and brackets":     "End." + repeated(")") + " End.",
		"full stop, mixed":           "End." + repeated(") ") + "0" + repeated("1"),
		"full stop and digits":       repeated("a. 1" + strings.Repeat(" 2", 2000)),
		"brackets and digits":        repeated("." + strings.Repeat(")", 60) + strings.Repeat("0 ", 4000)),
		"full stops":                 repeated(". "),
		"dots":                       repeated("."),
		"ellipses":                   repeated("…"),
		"abbreviations":              repeated("e.g. "),
		"initials":                   repeated("A. "),
		"initials without space":     repeated("A."),
		"opening brackets":           repeated("「"),
		"sentences and brackets":     repeated("。「"),
		"quotation marks":            repeated("。“”"),
		"notes":                      repeated(".[1]"),
		"emphasis":                   repeated(".*"),
		"newlines":                   repeated("\n"),
		"lines":                      repeated("a line\n"),
		"lines of marks":             repeated("-\n"),
		"line without an end":        "a\n" + repeated("x"),
		"list":                       repeated("1. a\n"),
		"combining marks":            "e" + repeated("\u0301"),
		"full stop, combining marks": "e." + repeated("\u0301") + " E",
		"emoji":                      repeated("👩\u200d👩 "),
		"replacement characters":     repeated("\ufffd"),
		"small letters":              repeated("no capital. at all. "),
		"apostrophes":                repeated("a'"),
	} {
		t.Run(name, func(t *testing.T) {
			for _, c := range []chunker{Sentence{}, Sentence{MaxSize: 400, Overlap: 3}, Paragraph{MaxSize: 400, MinSize: 100}, SemanticDensity{Size: 400, MaxOverlap: 100}, SemanticDensity{Size: n / 2, MaxOverlap: n / 4}} {
				pieces := cut(t, c, text)
				if len(pieces) < 50_000 {
					checkPieces(t, c, text, pieces)
				}
			}
		})
	}
}

// TestAllocations holds that no work is done, chunk by chunk, that allocates:
// ten times the text makes only the slices grow a few times more.
func TestAllocations(t *testing.T) {
	text := strings.Repeat("This is a sentence of Mr. Smith. Here is another.\nOne more, e.g. this.\n\n", 1000)
	for _, c := range []chunker{Sentence{MaxSize: 200, Overlap: 2}, Sentence{}, Paragraph{MaxSize: 200, MinSize: 100}, SemanticDensity{Size: 200, MaxOverlap: 50}} {
		small := document(t, "small", text)
		large := document(t, "large", strings.Repeat(text, 10))
		count := func(doc *spans.Document) float64 {
			return testing.AllocsPerRun(2, func() {
				if _, err := c.ChunkWithPositions(context.Background(), doc); err != nil {
					t.Fatal(err)
				}
			})
		}
		if a, b := count(small), count(large); b > a+20 {
			t.Errorf("%v: %.0f allocations for a text, %.0f for ten times as much", c, a, b)
		}
	}
}

func TestInvalidUTF8(t *testing.T) {
	for _, text := range []string{"\xff\xfe\xfd", "A b.\x80\x80 \x80\x80. C", "ab\xe2\x80 cd\xc2", "日\xe6\x97 本。\xe3"} {
		for _, c := range settings {
			texts, err := c.Chunk(t.Context(), text)
			if err != nil {
				t.Fatalf("%v of %q: %v", c, text, err)
			}
			if _, ok := c.(SemanticDensity); ok {
				continue
			}
			strip := strings.NewReplacer(" ", "")
			if got := strip.Replace(strings.Join(texts, "")); got != strip.Replace(text) {
				t.Errorf("%v: chunks of %q join to %q", c, text, got)
			}
		}
	}
}
