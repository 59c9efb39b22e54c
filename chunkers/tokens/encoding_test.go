package tokens

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
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

// ranksOf returns the tokens of an encoding as the library has them.
var ranksOf = func() func(e Encoding) map[string]uint32 {
	read := func(name tokenizer.Encoding, n int) func() map[string]uint32 {
		return sync.OnceValue(func() map[string]uint32 {
			codec, err := tokenizer.Get(name)
			if err != nil {
				panic(err)
			}
			ranks := make(map[string]uint32, n)
			for id := range n {
				token, err := codec.Decode([]uint{uint(id)})
				if err != nil {
					panic(err)
				}
				ranks[token] = uint32(id)
			}
			return ranks
		})
	}
	cl100k, o200k := read(tokenizer.Cl100kBase, 100_256), read(tokenizer.O200kBase, 199_998)
	return func(e Encoding) map[string]uint32 {
		if e == CL100K {
			return cl100k()
		}
		return o200k()
	}
}()

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

// The expressions of split.go, but for the look-ahead in \s+(?!\S), which Go's
// do not have: splitByExpression does its work.
var expressions = map[Encoding]*regexp.Regexp{
	CL100K: regexp.MustCompile(`^(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]|` +
		`[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^` + spaceClass + `\p{L}\p{N}]+[\r\n]*|[` + spaceClass + `]*[\r\n]+|[` + spaceClass + `]+)`),
	O200K: regexp.MustCompile(`^(?:[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?|` +
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?|` +
		`\p{N}{1,3}| ?[^` + spaceClass + `\p{L}\p{N}]+[\r\n/]*|[` + spaceClass + `]*[\r\n]+|[` + spaceClass + `]+)`),
}

// spaceClass is Unicode's White_Space, which Go's \s is not.
const spaceClass = `\t-\r \x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}`

// splitByExpression returns the length of the first word of s.
func splitByExpression(e Encoding, s string) int {
	word := expressions[e].FindString(s)
	if strings.TrimSpace(word) == "" && !strings.ContainsAny(word, "\r\n") && len(word) < len(s) {
		if _, n := utf8.DecodeLastRuneInString(word); n < len(word) {
			return len(word) - n
		}
	}
	return len(word)
}

// checkEncoding checks the tokens of text against its expression and the plain
// definition of byte-pair encoding.
func checkEncoding(t *testing.T, e Encoding, text string, tokens []window) {
	t.Helper()
	ranks := ranksOf(e)
	at := 0
	for i, w := range tokens {
		if _, ok := ranks[text[w.start:w.end]]; !ok || w.start != at {
			t.Fatalf("token %d of %q is at [%d:%d]: want a token of %v that begins at %d", i, text, w.start, w.end, e, at)
		}
		at = w.end
	}
	if at != len(text) {
		t.Fatalf("tokens of %q end at %d, want %d", text, at, len(text))
	}
	if !utf8.ValidString(text) || len(text) > 2000 {
		return
	}
	var want []window
	for start := 0; start < len(text); {
		end := start + splitByExpression(e, text[start:])
		parts := strings.Split(text[start:end], "")[:0]
		for i := start; i < end; i++ {
			parts = append(parts, text[i:i+1])
		}
		if _, ok := ranks[text[start:end]]; ok {
			parts = []string{text[start:end]}
		}
		for {
			best, bestRank := -1, uint32(noRank)
			for i := range len(parts) - 1 {
				if rank, ok := ranks[parts[i]+parts[i+1]]; ok && rank < bestRank {
					best, bestRank = i, rank
				}
			}
			if best < 0 {
				break
			}
			parts[best] += parts[best+1]
			parts = append(parts[:best+1], parts[best+2:]...)
		}
		for _, part := range parts {
			want = append(want, window{start, start + len(part)})
			start += len(part)
		}
	}
	if fmt.Sprint(tokens) != fmt.Sprint(want) {
		t.Fatalf("%v tokens of %q: got %v, want %v", e, text, tokens, want)
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
