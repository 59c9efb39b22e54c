package spans

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

func mustDocument(tb testing.TB, id DocumentID, text string) *Document {
	tb.Helper()
	d, err := NewDocument(id, text, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

func TestNewDocument(t *testing.T) {
	for _, test := range []struct {
		name, text string
		chars      int
	}{
		{"empty", "", 0},
		{"ASCII", "hello", 5},
		{"two bytes", "né", 2},
		{"three bytes", "日本語", 3},
		{"four bytes", "a😀b", 3},
		{"combining marks are characters of their own", "e\u0301", 2},
		{"replacement character", "a\uFFFDb", 3},
		{"byte order mark", "\uFEFFa", 2},
		{"NUL and CRLF", "a\x00\r\nb", 5},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, err := NewDocument("a.md", test.text, nil)
			if err != nil {
				t.Fatal(err)
			}
			if d.ID() != "a.md" || d.Text() != test.text || d.Len() != test.chars {
				t.Errorf("got %s %q of %d characters, want %d", d.ID(), d.Text(), d.Len(), test.chars)
			}
		})
	}
}

func TestNewDocumentErrors(t *testing.T) {
	long := strings.Repeat("é", 500)
	for _, test := range []struct {
		name string
		id   DocumentID
		text string
		want string
	}{
		{"no ID", "", "text", "document without an ID"},
		{"stray continuation", "a", "abc\x80", "document a: invalid UTF-8 at byte 3"},
		{"truncated", "a", "né\xe6\x97", "document a: invalid UTF-8 at byte 3"},
		{"surrogate", "a", "x\xed\xa0\x80", "document a: invalid UTF-8 at byte 1"},
		{"overlong", "a", "\xc0\xaf", "document a: invalid UTF-8 at byte 0"},
		{"beyond U+10FFFF", "a", "\xf4\x90\x80\x80", "document a: invalid UTF-8 at byte 0"},
		{"after a replacement character", "a", "\uFFFD\xff", "document a: invalid UTF-8 at byte 3"},
		{"far in", "a", long + "\xff" + long, "document a: invalid UTF-8 at byte 1000"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, err := NewDocument(test.id, test.text, nil)
			if err == nil || err.Error() != test.want || d != nil {
				t.Errorf("got %v, %v, want error %q", d, err, test.want)
			}
		})
	}
}

func TestDocumentMetadataIsCopied(t *testing.T) {
	given := map[string]string{"source_dir": "docs"}
	d, err := NewDocument("a", "text", given)
	if err != nil {
		t.Fatal(err)
	}
	given["source_dir"] = "elsewhere"
	d.Metadata()["source_dir"] = "nowhere"
	if got := d.Metadata()["source_dir"]; got != "docs" {
		t.Errorf("got %q, want docs", got)
	}
	if got := mustDocument(t, "a", "text").Metadata(); got != nil {
		t.Errorf("got %v, want nil", got)
	}
}

func TestDocumentEqual(t *testing.T) {
	document := func(id DocumentID, text string, metadata map[string]string) *Document {
		d, err := NewDocument(id, text, metadata)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	a := document("a", "é", nil)
	for _, test := range []struct {
		name string
		b    *Document
		want bool
	}{
		{"same", a, true},
		{"equal", document("a", "é", nil), true},
		{"empty metadata", document("a", "é", map[string]string{}), true},
		{"other ID", document("b", "é", nil), false},
		{"other text", document("a", "e", nil), false},
		{"other metadata", document("a", "é", map[string]string{"k": "v"}), false},
		{"nil", nil, false},
	} {
		if got := a.Equal(test.b); got != test.want || cmp.Equal(a, test.b) != test.want {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
	if !(*Document)(nil).Equal(nil) || (*Document)(nil).Equal(a) {
		t.Error("a nil document equals more or less than nil")
	}
}

func TestDocumentConversionErrors(t *testing.T) {
	d := mustDocument(t, "a.md", "né日")     // bytes 0 1 3 6
	ascii := mustDocument(t, "b.md", "abc") // bytes 0 1 2 3
	for _, test := range []struct {
		d          *Document
		start, end int
		want       string
	}{
		{d, -1, 1, "bytes [-1:1] of document a.md: want 0 <= start <= end <= 6"},
		{d, 3, 1, "bytes [3:1] of document a.md: want 0 <= start <= end <= 6"},
		{d, 0, 7, "bytes [0:7] of document a.md: want 0 <= start <= end <= 6"},
		{d, 2, 3, "bytes [2:3] of document a.md: byte 2 is inside a UTF-8 sequence"},
		{d, 1, 5, "bytes [1:5] of document a.md: byte 5 is inside a UTF-8 sequence"},
		{ascii, 2, 4, "bytes [2:4] of document b.md: want 0 <= start <= end <= 3"},
	} {
		if s, err := test.d.CharSpan(test.start, test.end); err == nil || err.Error() != test.want {
			t.Errorf("got %v, %v, want error %q", s, err, test.want)
		}
	}
	for _, test := range []struct {
		d    *Document
		s    Span
		want string
	}{
		{d, in("b.md", 0, 1), "span b.md[0:1]: not of document a.md"},
		{d, in("a.md", -1, 1), "span a.md[-1:1]: want 0 <= start <= end <= 3, the length of the document"},
		{d, in("a.md", 2, 1), "span a.md[2:1]: want 0 <= start <= end <= 3, the length of the document"},
		{d, in("a.md", 0, 4), "span a.md[0:4]: want 0 <= start <= end <= 3, the length of the document"},
		{ascii, in("b.md", 3, 4), "span b.md[3:4]: want 0 <= start <= end <= 3, the length of the document"},
	} {
		if start, end, err := test.d.ByteRange(test.s); err == nil || err.Error() != test.want {
			t.Errorf("got [%d:%d], %v, want error %q", start, end, err, test.want)
		}
		if text, err := test.d.Slice(test.s); err == nil || err.Error() != test.want {
			t.Errorf("got %q, %v, want error %q", text, err, test.want)
		}
	}
}

// checkConversion holds all conversions of text against a table of where each
// character begins.
func checkConversion(t *testing.T, text string, random *rand.Rand) {
	t.Helper()
	d, err := NewDocument("a", text, nil)
	if !utf8.ValidString(text) {
		if err == nil {
			t.Fatalf("%q: got no error, want invalid UTF-8", text)
		}
		valid := 0
		for valid < len(text) {
			r, size := utf8.DecodeRuneInString(text[valid:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			valid += size
		}
		if want := fmt.Sprintf("document a: invalid UTF-8 at byte %d", valid); err.Error() != want {
			t.Fatalf("%q: got error %q, want %q", text, err, want)
		}
		return
	}
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	charOf := map[int]int{}
	var byteOf []int
	for b := range text {
		charOf[b] = len(byteOf)
		byteOf = append(byteOf, b)
	}
	charOf[len(text)] = len(byteOf)
	byteOf = append(byteOf, len(text))
	if d.Len() != len(byteOf)-1 {
		t.Fatalf("%q: got %d characters, want %d", text, d.Len(), len(byteOf)-1)
	}
	for range 50 {
		start := random.IntN(len(byteOf))
		end := start + random.IntN(len(byteOf)-start)
		s := in("a", start, end)
		gotStart, gotEnd, err := d.ByteRange(s)
		if err != nil || gotStart != byteOf[start] || gotEnd != byteOf[end] {
			t.Fatalf("%q: ByteRange(%v): got [%d:%d], %v, want [%d:%d]", text, s, gotStart, gotEnd, err, byteOf[start], byteOf[end])
		}
		if got, err := d.Slice(s); err != nil || got != text[byteOf[start]:byteOf[end]] {
			t.Fatalf("%q: Slice(%v): got %q, %v", text, s, got, err)
		}
		if back, err := d.CharSpan(gotStart, gotEnd); err != nil || back != s {
			t.Fatalf("%q: CharSpan(%d, %d): got %v, %v, want %v", text, gotStart, gotEnd, back, err, s)
		}
		startByte := random.IntN(len(text) + 1)
		endByte := startByte + random.IntN(len(text)+1-startByte)
		startChar, startOK := charOf[startByte]
		endChar, endOK := charOf[endByte]
		got, err := d.CharSpan(startByte, endByte)
		if (err == nil) != (startOK && endOK) || err == nil && got != in("a", startChar, endChar) {
			t.Fatalf("%q: CharSpan(%d, %d): got %v, %v, want [%d:%d] (boundaries: %v, %v)", text, startByte, endByte, got, err, startChar, endChar, startOK, endOK)
		}
	}
}

// mixedText returns about n bytes of characters of one to four bytes, in runs of
// one kind.
func mixedText(random *rand.Rand, n int) string {
	kinds := []string{"a\n z", "éßя", "日本ก", "😀𝄞"}
	var b strings.Builder
	for b.Len() < n {
		kind := []rune(kinds[random.IntN(len(kinds))])
		for range 1 + random.IntN(300) {
			b.WriteRune(kind[random.IntN(len(kind))])
		}
	}
	return b.String()
}

func TestDocumentConversion(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 600 { // lengths about the size of an index block
		checkConversion(t, strings.Repeat("a", n), random)
		checkConversion(t, strings.Repeat("é", n), random)
		checkConversion(t, strings.Repeat("日", n), random)
		checkConversion(t, strings.Repeat("a", n)+"é", random)
		checkConversion(t, "😀"+strings.Repeat("a", n), random)
	}
	for n := range 300 {
		checkConversion(t, mixedText(random, 10*n), random)
	}
}

func FuzzDocumentConversion(f *testing.F) {
	f.Add("", uint16(0), uint64(1))
	f.Add("né日😀", uint16(300), uint64(2))
	f.Add("a\xff", uint16(7), uint64(3))
	f.Fuzz(func(t *testing.T, text string, padding uint16, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 0))
		checkConversion(t, text, random)
		checkConversion(t, strings.Repeat("x", int(padding%600))+text+text, random)
		checkConversion(t, strings.Repeat("é", int(padding%300))+text, random)
	})
}

// The index takes at most 1/16 of the text's size, and none for ASCII.
func TestDocumentIndexSize(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for n := 1; n <= 1<<20; n *= 2 {
		for _, text := range []string{mixedText(random, n), strings.Repeat("é", n)} {
			d := mustDocument(t, "a", text)
			size := cap(d.charsBefore) * int(unsafe.Sizeof(d.charsBefore[0]))
			if 16*size > len(text) {
				t.Errorf("text of %d bytes: the index takes %d bytes, want at most 1/16", len(text), size)
			}
		}
		if d := mustDocument(t, "a", strings.Repeat("a", n)); d.charsBefore != nil {
			t.Errorf("ASCII text of %d bytes has an index", n)
		}
	}
}

func TestDocumentConversionDoesNotAllocate(t *testing.T) {
	d := mustDocument(t, "a", mixedText(rand.New(rand.NewPCG(5, 6)), 100_000))
	s := in("a", d.Len()/3, d.Len()/2)
	if n := testing.AllocsPerRun(100, func() {
		start, end, err := d.ByteRange(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.CharSpan(start, end); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

func BenchmarkDocument(b *testing.B) {
	random := rand.New(rand.NewPCG(7, 8))
	text := mixedText(random, 8<<20)
	d := mustDocument(b, "a", text)
	places := make([][2]int, 1024) // bytes of chunks of 400 characters
	chars := make([]Span, len(places))
	for i := range places {
		start := random.IntN(d.Len() - 400)
		chars[i] = in("a", start, start+400)
		var err error
		if places[i][0], places[i][1], err = d.ByteRange(chars[i]); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("NewDocument", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			if _, err := NewDocument("a", text, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("CharSpan", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			p := places[i%len(places)]
			if _, err := d.CharSpan(p[0], p[1]); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("ByteRange", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if _, _, err := d.ByteRange(chars[i%len(chars)]); err != nil {
				b.Fatal(err)
			}
		}
	})
}
