package tokens

import (
	"strings"
	"testing"
	"time"
)

func TestEncodingNames(t *testing.T) {
	for _, e := range []Encoding{CL100K, O200K} {
		if got, err := ParseEncoding(e.String()); got != e || err != nil {
			t.Errorf("ParseEncoding(%q): got %v and error %v, want %v", e, got, err, e)
		}
	}
	if got, err := ParseEncoding("gpt2"); err == nil {
		t.Errorf("ParseEncoding of an unknown name: got %v, want an error", got)
	}
	if got, want := Encoding(7).String(), "Encoding(7)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestVocabulariesAreWhole(t *testing.T) {
	for e, want := range map[Encoding]int{CL100K: 100_256, O200K: 199_998} {
		ranks, v := ranksOf(e), e.vocabulary()
		if len(ranks) != want {
			t.Errorf("%v has %d tokens, want %d", e, len(ranks), want)
		}
		for token, want := range ranks {
			if got := v.rank(token, 0, len(token)); got != want {
				t.Errorf("%v: rank of %q is %d, want %d", e, token, got, want)
			}
			if got := v.rank("."+token+strings.Repeat(".", 20), 1, 1+len(token)); got != want {
				t.Errorf("%v: rank of %q within a text is %d, want %d", e, token, got, want)
			}
			if longer := token + "\x00"; ranks[longer] == 0 && v.rank(longer, 0, len(longer)) != noRank {
				t.Errorf("%v: %q has a rank, want none", e, longer)
			}
		}
		for b := range 256 {
			if _, ok := ranks[string([]byte{byte(b)})]; !ok {
				t.Errorf("%v has no token for the byte %#x", e, b)
			}
		}
	}
}

// TestHostileTexts takes for ever if any part of the work is quadratic.
func TestHostileTexts(t *testing.T) {
	const n = 1 << 18
	w := miniature(t)
	for _, text := range []string{
		strings.Repeat("a", n), strings.Repeat(" ", n), strings.Repeat("\n", n), strings.Repeat(" \n", n/2),
		strings.Repeat("\n ", n/2), strings.Repeat("e\u0301", n/3), strings.Repeat("\u0301", n/2), strings.Repeat("A", n),
		strings.Repeat("...", n/3), strings.Repeat("[SEP]", n/5), strings.Repeat("語", n/3), strings.Repeat("\x80", n),
		strings.Repeat("'s", n/2), strings.Repeat("1", n), strings.Repeat("\u00a0", n/2), strings.Repeat("abc0", n/4),
	} {
		for _, tokenizer := range []Tokenizer{CL100K, O200K, w} {
			began := time.Now()
			got := count(tokenizer, text)
			t.Logf("%v: %d tokens of %.4q… in %v", tokenizer, got, text, time.Since(began))
		}
	}
}
