package tokens

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/spans"
)

var (
	_ chunkers.Chunker              = FixedToken{}
	_ chunkers.PositionAwareChunker = FixedToken{}
	_ chunkers.Validator            = FixedToken{}
	_ fmt.Stringer                  = FixedToken{}
	_ Tokenizer                     = CL100K
	_ Tokenizer                     = &WordPiece{}
)

// byteTokens has a token for every n bytes.
type byteTokens int

func (n byteTokens) String() string { return fmt.Sprintf("%d bytes", int(n)) }

func (n byteTokens) Tokens(text string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		for i := 0; i < len(text); i += int(n) {
			if !yield(i, min(i+int(n), len(text))) {
				return
			}
		}
	}
}

// words has a token for every word: white space belongs to none.
type words struct{}

func (words) String() string { return "words" }

func (words) Tokens(text string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		at := 0
		for _, word := range strings.Fields(text) {
			at += strings.Index(text[at:], word)
			if !yield(at, at+len(word)) {
				return
			}
			at += len(word)
		}
	}
}

func TestFixedToken(t *testing.T) {
	tests := []struct {
		chunker FixedToken
		text    string
		want    []string
	}{
		{FixedToken{Tokens: 4}, "", nil},
		{FixedToken{Tokens: 4}, "Hello", []string{"Hello"}},
		{FixedToken{Tokens: 2}, "Hello world, again", []string{"Hello world", ", again"}},
		{FixedToken{Tokens: 3, Overlap: 1}, "one two three four five", []string{"one two three", " three four five"}},
		{FixedToken{Tokens: 3, Overlap: 1}, "one two three four", []string{"one two three", " three four"}},
		{FixedToken{Tokens: 3, Overlap: 2}, "one two", []string{"one two"}},
		{FixedToken{Tokens: 3, Overlap: 2}, "one two three four", []string{"one two three", " two three four"}},
		{FixedToken{Tokens: 1 << 62, Overlap: 1<<62 - 1}, "one two", []string{"one two"}},
		{FixedToken{Tokens: 1 << 62}, "one two", []string{"one two"}},
		{FixedToken{Tokens: 2}, "\n\n \t ", []string{"\n\n \t "}},

		{FixedToken{Tokens: 1, Encoding: byteTokens(1)}, "a語b", []string{"a", "語", "b"}},
		{FixedToken{Tokens: 2, Encoding: byteTokens(1)}, "a語b", []string{"a語", "b"}},
		{FixedToken{Tokens: 3, Overlap: 2, Encoding: byteTokens(1)}, "a語b", []string{"a語", "語", "b"}},
		{FixedToken{Tokens: 1, Encoding: byteTokens(2)}, "éa語", []string{"é", "a語"}},
		{FixedToken{Tokens: 1}, "語😀", []string{"語", "😀"}},

		{FixedToken{Tokens: 2, Encoding: words{}}, " a  b \n c ", []string{"a  b", "c"}},
		{FixedToken{Tokens: 2, Overlap: 1, Encoding: words{}}, " a  b \n c ", []string{"a  b", "b \n c"}},
		{FixedToken{Tokens: 2, Encoding: words{}}, " \n ", nil},
	}
	for _, test := range tests {
		got := cutBoth(t, test.chunker, test.text)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%v of %q (-want, +got):\n%s", test.chunker, test.text, diff)
		}
	}
}

// cutBoth returns the texts of the pieces, having verified that each is what the
// text has at its place and that Chunk returns the same.
func cutBoth(tb testing.TB, c FixedToken, text string) (texts []string) {
	tb.Helper()
	doc, err := spans.NewDocument("text", text, nil)
	if err != nil {
		tb.Fatal(err)
	}
	pieces, err := c.ChunkWithPositions(tb.Context(), doc)
	if err != nil {
		tb.Fatalf("%v: %v", c, err)
	}
	for i, p := range pieces {
		if p.Start < 0 || p.End > len(text) || p.Start >= p.End || text[p.Start:p.End] != p.Text {
			tb.Fatalf("%v: piece %d is %q at [%d:%d], which is not what the text has there", c, i, p.Text, p.Start, p.End)
		}
		if !utf8.ValidString(p.Text) {
			tb.Fatalf("%v: piece %d is %q, which has half a character", c, i, p.Text)
		}
		texts = append(texts, p.Text)
	}
	again, err := c.Chunk(tb.Context(), text)
	if err != nil {
		tb.Fatalf("%v: %v", c, err)
	}
	if !slices.Equal(texts, again) {
		tb.Fatalf("%v: Chunk returned %q and ChunkWithPositions %q", c, again, texts)
	}
	return texts
}

func TestFixedTokenKeepsTheContract(t *testing.T) {
	for _, c := range []FixedToken{
		{Tokens: 1},
		{Tokens: 3, Overlap: 2, Encoding: O200K},
		{Tokens: 7, Encoding: miniature(t)},
		{Tokens: 5, Overlap: 2, Encoding: byteTokens(2)},
	} {
		if err := chunkers.Check(t.Context(), c); err != nil {
			t.Errorf("%v: %v", c, err)
		}
	}
}

func TestRecursiveCharacterInTokensKeepsTheContract(t *testing.T) {
	for _, length := range []chunkers.Length{Length(nil), Length(miniature(t))} {
		c := chunkers.RecursiveCharacter{Size: 50, Overlap: 10, Length: length}
		if err := chunkers.Check(t.Context(), c); err != nil {
			t.Errorf("%v: %v", c, err)
		}
	}
}

func TestFixedTokenValidate(t *testing.T) {
	tests := []struct {
		chunker FixedToken
		want    string
	}{
		{FixedToken{Tokens: 1}, "<nil>"},
		{FixedToken{Tokens: 10, Overlap: 9, Encoding: O200K}, "<nil>"},
		{FixedToken{}, "fixed-token chunker: Tokens is 0: want at least 1"},
		{FixedToken{Tokens: -3}, "fixed-token chunker: Tokens is -3: want at least 1"},
		{FixedToken{Tokens: 10, Overlap: -1}, "fixed-token chunker: Overlap is -1: want at least 0 and less than Tokens, which is 10"},
		{FixedToken{Tokens: 10, Overlap: 10}, "fixed-token chunker: Overlap is 10: want at least 0 and less than Tokens, which is 10"},
		{FixedToken{Tokens: 10, Encoding: Encoding(2)}, "fixed-token chunker: Encoding: encoding is 2: want CL100K or O200K"},
		{FixedToken{Tokens: 10, Encoding: Encoding(-1)}, "fixed-token chunker: Encoding: encoding is -1: want CL100K or O200K"},
	}
	for _, test := range tests {
		doc, err := spans.NewDocument("text", "text", nil)
		if err != nil {
			t.Fatal(err)
		}
		_, chunkErr := test.chunker.Chunk(t.Context(), "text")
		_, pieceErr := test.chunker.ChunkWithPositions(t.Context(), doc)
		for method, err := range map[string]error{"Validate": test.chunker.Validate(), "Chunk": chunkErr, "ChunkWithPositions": pieceErr} {
			if got := fmt.Sprint(err); got != test.want {
				t.Errorf("%s of %v: got error %q, want %q", method, test.chunker, got, test.want)
			}
		}
	}
}

func TestFixedTokenString(t *testing.T) {
	for want, c := range map[string]FixedToken{
		"fixedtoken":            {},
		"fixedtoken/tokens=200": {Tokens: 200, Encoding: CL100K},
		"fixedtoken/tokens=200/overlap=50/encoding=o200k": {Tokens: 200, Overlap: 50, Encoding: O200K},
		"fixedtoken/tokens=9/encoding=2_bytes":            {Tokens: 9, Encoding: byteTokens(2)},
	} {
		if got := c.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// disorder has tokens that are not in order.
type disorder []window

func (disorder) String() string { return "disorder" }

func (d disorder) Tokens(string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		for _, w := range d {
			if !yield(w.start, w.end) {
				return
			}
		}
	}
}

func TestFixedTokenRefusesTokensOutOfOrder(t *testing.T) {
	for _, d := range []disorder{{{-1, 2}}, {{0, 5}}, {{2, 1}}, {{1, 2}, {0, 3}}, {{0, 3}, {1, 2}}} {
		_, err := FixedToken{Tokens: 2, Encoding: d}.Chunk(t.Context(), "text")
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("token %d of disorder", len(d)-1)) {
			t.Errorf("tokens %v: got error %v, want one that names the token", d, err)
		}
	}
}

func TestFixedTokenStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("enough")
	calls := 0
	c := FixedToken{Tokens: 10, Encoding: cancelling{func() {
		if calls++; calls == 5000 {
			cancel(cause)
		}
	}}}
	if _, err := c.Chunk(ctx, strings.Repeat("word ", 100_000)); !errors.Is(err, cause) {
		t.Errorf("got error %v, want %v", err, cause)
	}
	if calls > 5000+1024 {
		t.Errorf("%d tokens were taken, want at most 1024 after the cancellation", calls)
	}
	if _, err := (FixedToken{Tokens: 1}).Chunk(ctx, "text"); !errors.Is(err, cause) {
		t.Errorf("got error %v, want %v", err, cause)
	}
}

// cancelling calls a function before each word.
type cancelling struct{ before func() }

func (cancelling) String() string { return "cancelling" }

func (c cancelling) Tokens(text string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		for start, end := range (words{}).Tokens(text) {
			c.before()
			if !yield(start, end) {
				return
			}
		}
	}
}

// The windows are those that the documentation describes, by the plainest
// means.
func FuzzFixedToken(f *testing.F) {
	f.Add("", 1, 0, byte(0))
	f.Add("Hello, world! It's 2026.\r\n \n \n x", 3, 1, byte(0))
	f.Add("naïve 語語 e\u0301 😀👩‍👩‍👧‍👦 \ufeff \u0085", 2, 1, byte(1))
	f.Add("İstanbul ﬁ unaffable 語[SEP] 가각", 4, 2, byte(2))
	f.Add("\x80\xff\xf0\x9f\x98", 2, 0, byte(0))
	f.Add(strings.Repeat("ab", 100)+" \t\n "+strings.Repeat("\n", 50), 5, 4, byte(1))
	tokenizers := []Tokenizer{CL100K, O200K, miniature(f), byteTokens(2)}
	f.Fuzz(func(t *testing.T, text string, size, overlap int, tokenizer byte) {
		c := FixedToken{Tokens: size, Overlap: overlap, Encoding: tokenizers[int(tokenizer)%len(tokenizers)]}
		var all []window
		for start, end := range c.Encoding.Tokens(text) {
			all = append(all, window{start, end})
		}
		if got := count(c.Encoding, text); got != len(all) {
			t.Fatalf("%v: counted %d tokens of %q, want %d", c.Encoding, got, text, len(all))
		}
		if encoding, ok := c.Encoding.(Encoding); ok {
			checkEncoding(t, encoding, text[:min(len(text), 1000)])
		}
		if c.Validate() != nil {
			return
		}
		var want []string
		for i := 0; i < len(all); i += size - overlap {
			last := i + min(size, len(all)-i)
			start, end := charEnd(text, all[i].start), charEnd(text, all[last-1].end)
			if start < end {
				want = append(want, text[start:end])
			}
			if last == len(all) {
				break
			}
		}
		got, err := c.Chunk(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%v of %q (-want, +got):\n%s", c, text, diff)
		}
		if utf8.ValidString(text) {
			cutBoth(t, c, text)
		}
	})
}

// countdown is a context that is done when its Err is called for the n-th time.
type countdown struct {
	context.Context
	n int
}

func (c *countdown) Err() error {
	if c.n--; c.n <= 0 {
		return context.Canceled
	}
	return nil
}

func TestFixedTokenStopsWithinAWord(t *testing.T) {
	word := strings.Repeat("abcd", 1<<16)
	whole := &countdown{t.Context(), math.MaxInt}
	c := FixedToken{Tokens: 1 << 20}
	if _, err := c.Chunk(whole, word); err != nil {
		t.Fatal(err)
	}
	n := (math.MaxInt - whole.n) / 2
	half := &countdown{t.Context(), n}
	if _, err := c.Chunk(half, word); !errors.Is(err, context.Canceled) || half.n < -5 || n < 10 {
		t.Errorf("got error %v after asking %d times whether to stop, want context.Canceled after about %d, at least 10", err, n-half.n, n)
	}
}
