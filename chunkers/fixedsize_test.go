package chunkers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestFixedSize(t *testing.T) {
	tests := []struct {
		chunker FixedSize
		text    string
		want    []string
	}{
		{FixedSize{Size: 4}, "", nil},
		{FixedSize{Size: 4}, "abc", []string{"abc"}},
		{FixedSize{Size: 4}, "abcd", []string{"abcd"}},
		{FixedSize{Size: 4}, "abcdefghij", []string{"abcd", "efgh", "ij"}},
		{FixedSize{Size: 4, Overlap: 3}, "abcd", []string{"abcd"}},
		{FixedSize{Size: 4, Overlap: 3}, "abcdef", []string{"abcd", "bcde", "cdef"}},
		{FixedSize{Size: 4, Overlap: 2}, "abcdefg", []string{"abcd", "cdef", "efg"}},
		{FixedSize{Size: 4, Overlap: 2}, "abcdefgh", []string{"abcd", "cdef", "efgh"}},
		{FixedSize{Size: 1}, "aβ語😀", []string{"a", "β", "語", "😀"}},
		{FixedSize{Size: 3, Overlap: 1}, "e\u0301été 語", []string{"e\u0301é", "été", "é 語"}},
		{FixedSize{Size: 2}, "  \n\n", []string{"  ", "\n\n"}},
		{FixedSize{Size: 1 << 62, Overlap: 1<<62 - 1}, "abc", []string{"abc"}},
		{FixedSize{Size: 1 << 62}, "aβc", []string{"aβc"}},
	}
	for _, test := range tests {
		got := trimmedTexts(mustCut(t, test.chunker, test.text), false)
		if diff := cmp.Diff(append([]string{}, test.want...), got); diff != "" {
			t.Errorf("%v of %q (-want, +got):\n%s", test.chunker, test.text, diff)
		}
	}
}

func TestFixedSizeAcceptsInvalidUTF8(t *testing.T) {
	for _, text := range []string{"\xff\xfe\xfd", "ab\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80cd", "\x80\x80\x80", "日\xe6\x97本"} {
		for size := 1; size <= 4; size++ {
			chunks, err := FixedSize{Size: size}.Chunk(context.Background(), text)
			if err != nil {
				t.Errorf("size %d, text %q: %v", size, text, err)
			}
			if got := strings.Join(chunks, ""); got != text {
				t.Errorf("size %d: chunks of %q join to %q", size, text, got)
			}
		}
	}
}

func TestFixedSizeValidate(t *testing.T) {
	tests := []struct {
		chunker FixedSize
		want    string
	}{
		{FixedSize{Size: 1}, ""},
		{FixedSize{Size: 10, Overlap: 9}, ""},
		{FixedSize{}, "fixed-size chunker: Size is 0: want at least 1"},
		{FixedSize{Size: -3}, "fixed-size chunker: Size is -3: want at least 1"},
		{FixedSize{Size: 10, Overlap: -1}, "fixed-size chunker: Overlap is -1: want at least 0 and less than Size, which is 10"},
		{FixedSize{Size: 10, Overlap: 10}, "fixed-size chunker: Overlap is 10: want at least 0 and less than Size, which is 10"},
	}
	for _, test := range tests {
		checkValidation(t, test.chunker, test.want)
	}
}

// checkValidation checks that Validate and both methods that cut return the
// error that reads want, or none if it is empty.
func checkValidation(t *testing.T, c interface {
	testChunker
	Validator
}, want string) {
	t.Helper()
	_, chunkErr := c.Chunk(context.Background(), "text")
	_, pieceErr := c.ChunkWithPositions(context.Background(), document(t, "text"))
	for method, err := range map[string]error{"Validate": c.Validate(), "Chunk": chunkErr, "ChunkWithPositions": pieceErr} {
		if got := fmt.Sprint(err); err == nil && want != "" || err != nil && got != want {
			t.Errorf("%s of %v: got error %q, want %q", method, c, got, want)
		}
	}
}

func TestFixedSizeString(t *testing.T) {
	for c, want := range map[FixedSize]string{
		{}:                      "fixed",
		{Size: 200}:             "fixed/size=200",
		{Size: 200, Overlap: 5}: "fixed/size=200/overlap=5",
		{Size: -1, Overlap: -2}: "fixed/size=-1/overlap=-2",
	} {
		if got := c.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestFixedSizeStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("enough")
	cancel(cause)
	if _, err := (FixedSize{Size: 1}).Chunk(ctx, "text"); !errors.Is(err, cause) {
		t.Errorf("got error %v, want %v", err, cause)
	}
	if _, err := (FixedSize{Size: 1}).ChunkWithPositions(ctx, document(t, "text")); !errors.Is(err, cause) {
		t.Errorf("got error %v, want %v", err, cause)
	}
}

func FuzzFixedSize(f *testing.F) {
	f.Add("", 1, 0)
	f.Add("abcdefghij", 4, 2)
	f.Add("naïve 語 e\u0301 😀\r\n\ufeff", 3, 2)
	f.Add(strings.Repeat("ж", 50), 9, 8)
	f.Add("\x80\xff", 1, 0)
	f.Fuzz(func(t *testing.T, text string, size, overlap int) {
		c := FixedSize{Size: size, Overlap: overlap}
		if c.Validate() != nil {
			return
		}
		if !utf8.ValidString(text) {
			texts, err := c.Chunk(t.Context(), text)
			if err != nil {
				t.Fatal(err)
			}
			if overlap == 0 && strings.Join(texts, "") != text {
				t.Fatalf("%v: texts %q do not join to %q", c, texts, text)
			}
			return
		}
		want := []string{}
		runes := []rune(text)
		for start := 0; len(runes) > 0; start += size - overlap {
			if size >= len(runes)-start {
				want = append(want, string(runes[start:]))
				break
			}
			want = append(want, string(runes[start:start+size]))
		}
		if diff := cmp.Diff(want, trimmedTexts(mustCut(t, c, text), false)); diff != "" {
			t.Fatalf("%v of %q (-want, +got):\n%s", c, text, diff)
		}
	})
}

func BenchmarkFixedSize(b *testing.B) {
	benchmarkOnChroma(b, func(s sizes) testChunker { return FixedSize(s) })
}
