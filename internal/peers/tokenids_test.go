package peers

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pkoukk/tiktoken-go"
	"github.com/tiktoken-go/tokenizer"

	"github.com/rageval/rageval/chunkers/tokens"
)

// FuzzTokenIDs compares IDs of tokens with those of both libraries named
// tiktoken-go. Their known differences from OpenAI's are left out: both take a
// long s for another letter than s, and one cuts white space with several line
// ends in pieces and loses control characters.
func FuzzTokenIDs(f *testing.F) {
	for _, text := range []string{
		"", "Hello, world! It's 2026.\r\n x", "naïve 語語 e\u0301 😀👩‍👩‍👧‍👦 \ufeff \u0085", "WE'LL'd I'M",
		"ǅaʰAªbA中a \u0301A", strings.Repeat("aB1 ", 40), strings.Repeat("中文", 40), " \u3000\n", "a/\r\n/ /", "  a\t\t b\u00a0\u00a0c",
	} {
		f.Add(text)
	}
	type reference struct {
		codec    tokenizer.Codec
		tiktoken *tiktoken.Tiktoken
	}
	references := map[tokens.Encoding]reference{}
	for _, e := range encodings {
		codec, err := tokenizer.Get(e.theirs)
		if err != nil {
			f.Fatal(err)
		}
		tk, err := tiktoken.GetEncoding(string(e.theirs))
		if err != nil {
			f.Fatal(err)
		}
		references[e.ours] = reference{codec, tk}
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = text[:min(len(text), 1000)]
		if !utf8.ValidString(text) || strings.Contains(text, "'ſ") {
			return
		}
		for e, reference := range references {
			got := e.AppendIDs([]int{}, text)
			if want := reference.tiktoken.EncodeOrdinary(text); !slices.Equal(got, want) {
				t.Errorf("IDs of the %v tokens of %q: got %v, pkoukk/tiktoken-go has %v", e, text, got, want)
			}
			if severalLineEnds(text) {
				continue
			}
			ids, texts, err := reference.codec.Encode(text)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Join(texts, "") != text {
				continue
			}
			want := make([]int, len(ids))
			for i, id := range ids {
				want[i] = int(id)
			}
			if !slices.Equal(got, want) {
				t.Errorf("IDs of the %v tokens of %q: got %v, tiktoken-go/tokenizer has %v", e, text, got, want)
			}
		}
	})
}

// severalLineEnds returns whether white space in text has line ends with other
// white space between.
func severalLineEnds(text string) bool {
	for _, space := range strings.FieldsFunc(text, func(c rune) bool { return !strings.ContainsRune(whiteSpace, c) }) {
		if len(strings.FieldsFunc(strings.TrimFunc(space, func(c rune) bool { return c != '\n' && c != '\r' }), func(c rune) bool { return c == '\n' || c == '\r' })) > 0 {
			return true
		}
	}
	return false
}

const whiteSpace = "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
