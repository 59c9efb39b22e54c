package chunkers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestRecursiveCharacter(t *testing.T) {
	word := Length{Name: "words", Of: func(s string) int { return len(strings.Fields(s)) }}
	bracketed := Length{Name: "bracketed", Of: func(s string) int { return 2 + len(s) }}
	tests := []struct {
		name    string
		chunker RecursiveCharacter
		text    string
		want    []string
	}{
		{"empty", RecursiveCharacter{Size: 10}, "", nil},
		{"white space", RecursiveCharacter{Size: 2}, " \n\n \u00a0\ufeff\t", nil},
		{"fits", RecursiveCharacter{Size: 10}, " a b\n\nc ", []string{" a b\n\nc "}},
		{"fits exactly", RecursiveCharacter{Size: 9}, " a b\n\nc  ", []string{" a b\n\nc  "}},
		{"trim", RecursiveCharacter{Size: 10, Trim: true}, " a b\n\nc ", []string{"a b\n\nc"}},
		{"paragraphs first", RecursiveCharacter{Size: 10}, "one two\n\nthree four\n\nfive", []string{"one two", "\nthree", " four", "\n\nfive"}},
		{"a separator counts towards the size", RecursiveCharacter{Size: 7}, "aaa bbb ccc", []string{"aaa bbb", " ccc"}},
		{"every occurrence starts a part", RecursiveCharacter{Size: 4}, "aa\n\n\n\nbb", []string{"aa\n\n", "\n\nbb"}},
		{"overlap of whole parts", RecursiveCharacter{Size: 8, Overlap: 5}, "aa bb cc dd", []string{"aa bb cc", " cc dd"}},
		{"overlap leaves room", RecursiveCharacter{Size: 8, Overlap: 7}, "aa bb cccccc", []string{"aa bb", " cccccc"}},
		{"no overlap across a long part", RecursiveCharacter{Size: 6, Overlap: 4, Separators: []string{" "}}, "a b ccccccccc d", []string{"a b", " ccccccccc", " d"}},
		{"nothing to cut at", RecursiveCharacter{Size: 3, Separators: []string{"|"}, Trim: true}, " abcdef ", []string{"abcdef"}},
		{"last separator", RecursiveCharacter{Size: 3, Separators: []string{"|"}}, "abcdef|ghijk|l", []string{"abcdef", "|ghijk", "|l"}},
		{"what follows the empty separator", RecursiveCharacter{Size: 3, Separators: []string{"", " "}}, "ab cd", []string{"ab ", "cd"}},
		{"size 1", RecursiveCharacter{Size: 1}, "a b\n", []string{"a", "b"}},
		{"code points", RecursiveCharacter{Size: 2, Overlap: 1}, "語😀β", []string{"語😀", "😀β"}},
		{"huge size", RecursiveCharacter{Size: 1<<63 - 1, Overlap: 1<<63 - 2}, "語 a\n\nb", []string{"語 a\n\nb"}},
		{"length in words", RecursiveCharacter{Size: 3, Overlap: 1, Length: word}, "a b c d e", []string{"a b c", " c d e"}},
		{"length of joins", RecursiveCharacter{Size: 13, Length: bracketed}, "aa bb cc", []string{"aa bb", " cc"}},
		{"separators at the end", RecursiveCharacter{Size: 10, KeepSeparator: KeepEnd}, "one two\n\nthree four\n\nfive", []string{"one two\n\n", "three ", "four\n", "five"}},
		{"at the end, without overlap", RecursiveCharacter{Size: 4, KeepSeparator: KeepEnd}, "aa\n\n\nbb", []string{"aa\n\n", "\nbb"}},
		{"overlap of parts with their ends", RecursiveCharacter{Size: 8, Overlap: 5, KeepSeparator: KeepEnd}, "aa bb cc dd", []string{"aa bb ", "bb cc dd"}},
		{"no separators", RecursiveCharacter{Size: 10, KeepSeparator: KeepNone}, "one two\n\nthree four\n\nfive", []string{"one two", "three four", "five"}},
		{"within a chunk there are separators", RecursiveCharacter{Size: 8, Overlap: 5, KeepSeparator: KeepNone}, "aa bb cc dd", []string{"aa bb cc", "bb cc dd"}},
		{"that count", RecursiveCharacter{Size: 7, Overlap: 4, KeepSeparator: KeepNone, Separators: []string{", "}}, "aa, bb, cc", []string{"aa, bb", "bb, cc"}},
		{"once", RecursiveCharacter{Size: 7, KeepSeparator: KeepNone, Separators: []string{"-"}}, "-aa---bb-cc-", []string{"aa---bb", "cc"}},
		{"no part but separators", RecursiveCharacter{Size: 2, KeepSeparator: KeepNone, Separators: []string{"-"}}, "-----", nil},
		{"cut in characters by a length", RecursiveCharacter{Size: 5, Length: Length{Of: func(s string) int { return 2 * len(s) }}}, "abc é", []string{"ab", "c", "é"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := trimmedTexts(mustCut(t, test.chunker, test.text), false)
			if diff := cmp.Diff(append([]string{}, test.want...), got); diff != "" {
				t.Errorf("%v of %q (-want, +got):\n%s", test.chunker, test.text, diff)
			}
			want := []string{}
			for _, r := range referenceCut(test.chunker, test.text) {
				want = append(want, test.text[r.start:r.end])
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%v of %q (-reference, +got):\n%s", test.chunker, test.text, diff)
			}
		})
	}
}

func TestRecursiveCharacterValidate(t *testing.T) {
	tests := []struct {
		chunker RecursiveCharacter
		want    string
	}{
		{RecursiveCharacter{Size: 1}, ""},
		{RecursiveCharacter{Size: 2, Overlap: 1, Separators: []string{""}}, ""},
		{RecursiveCharacter{}, "recursive chunker: Size is 0: want at least 1"},
		{RecursiveCharacter{Size: -1}, "recursive chunker: Size is -1: want at least 1"},
		{RecursiveCharacter{Size: 5, Overlap: -1}, "recursive chunker: Overlap is -1: want at least 0 and less than Size, which is 5"},
		{RecursiveCharacter{Size: 5, Overlap: 6}, "recursive chunker: Overlap is 6: want at least 0 and less than Size, which is 5"},
		{RecursiveCharacter{Size: 5, Separators: []string{}}, "recursive chunker: Separators is []string{}: want nil for the default separators, or at least one"},
		{RecursiveCharacter{Size: 5, KeepSeparator: KeepNone, Separators: JavaSeparators}, ""},
		{RecursiveCharacter{Size: 5, KeepSeparator: 3}, "recursive chunker: KeepSeparator is 3: want KeepStart, KeepEnd or KeepNone"},
		{RecursiveCharacter{Size: 5, KeepSeparator: -1}, "recursive chunker: KeepSeparator is -1: want KeepStart, KeepEnd or KeepNone"},
		{RecursiveCharacter{Size: 5, Separators: []string{"\n", "\x80"}}, `recursive chunker: Separators[1] is "\x80": want valid UTF-8`},
	}
	for _, test := range tests {
		checkValidation(t, test.chunker, test.want)
	}
}

func TestRecursiveCharacterString(t *testing.T) {
	of := func(string) int { return 1 }
	tests := []struct {
		chunker RecursiveCharacter
		want    string
	}{
		{RecursiveCharacter{}, `recursive`},
		{RecursiveCharacter{Size: 200}, `recursive/size=200`},
		{RecursiveCharacter{Size: 200, Overlap: 50, Trim: true}, `recursive/size=200/overlap=50/trim=true`},
		{RecursiveCharacter{Size: 200, Length: Length{"cl100k", of}}, `recursive/size=200/length=cl100k`},
		{RecursiveCharacter{Size: 200, Length: Length{Of: of}}, `recursive/size=200/length=""`},
		{
			RecursiveCharacter{Size: 200, Separators: slices.Clone(MarkdownSeparators), KeepSeparator: KeepEnd, Length: Length{"cl100k", of}, Trim: true},
			`recursive/size=200/separators=markdown/keep=end/length=cl100k/trim=true`,
		},
		{RecursiveCharacter{KeepSeparator: KeepNone, Separators: []string{" "}}, `recursive/separators="\x20"/keep=none`},
		{RecursiveCharacter{Size: 200, Length: Length{"my own/length", of}}, `recursive/size=200/length="my\x20own\x2flength"`},
		{
			RecursiveCharacter{Size: 200, Separators: []string{"\n\n", ". ", "/", `"`, ",", "。", "\u00a0", ""}, Trim: true},
			`recursive/size=200/separators="\n\n",".\x20","\x2f","\"",",","\u3002","\u00a0",""/trim=true`,
		},
	}
	for _, test := range tests {
		got := test.chunker.String()
		if got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
		t.Run(got, func(t *testing.T) {
			if !strings.HasSuffix(t.Name(), "/"+got) {
				t.Errorf("as the name of a test, %s became %s", got, t.Name())
			}
		})
		for field := range strings.SplitSeq(got, "/") {
			if value, ok := strings.CutPrefix(field, "keep="); ok {
				if keep, err := ParseKeepSeparator(value); err != nil || keep != test.chunker.KeepSeparator {
					t.Errorf("keep read back from %s: got %v and error %v, want %v", got, keep, err, test.chunker.KeepSeparator)
				}
			}
			list, ok := strings.CutPrefix(field, "separators=")
			if !ok {
				continue
			}
			separators, err := SeparatorsNamed(list)
			for err != nil && list != "" {
				quoted, quotedErr := strconv.QuotedPrefix(list)
				sep, unquoteErr := strconv.Unquote(quoted)
				if err := errors.Join(quotedErr, unquoteErr); err != nil {
					t.Fatalf("parsing %q: %v", list, err)
				}
				separators = append(separators, sep)
				list = strings.TrimPrefix(list[len(quoted):], ",")
			}
			if diff := cmp.Diff(test.chunker.Separators, separators); diff != "" {
				t.Errorf("separators read back from %s (-want, +got):\n%s", got, diff)
			}
		}
	}
}

func TestRecursiveCharacterAcceptsInvalidUTF8(t *testing.T) {
	for _, text := range []string{"\xff\xfe\xfd", "\x80\x80 \x80\x80", "ab\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80cd", "日\xe6\x97 本"} {
		for _, length := range []Length{{}, {Of: func(s string) int { return len(s) }}} {
			for size := 1; size <= 4; size++ {
				chunks, err := RecursiveCharacter{Size: size, Length: length}.Chunk(context.Background(), text)
				if err != nil {
					t.Errorf("size %d, text %q: %v", size, text, err)
				}
				strip := strings.NewReplacer(" ", "")
				if got := strip.Replace(strings.Join(chunks, "")); got != strip.Replace(text) {
					t.Errorf("size %d: chunks of %q join to %q", size, text, got)
				}
			}
		}
	}
}

func TestRecursiveCharacterStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("enough")
	const enough = 20
	calls := 0
	c := RecursiveCharacter{Size: 10, Length: Length{Name: "counting", Of: func(s string) int {
		if calls++; calls == enough {
			cancel(cause)
		}
		return len(s)
	}}}
	doc := document(t, strings.Repeat("some words, and no end of them. ", 1000))
	if _, err := c.ChunkWithPositions(ctx, doc); !errors.Is(err, cause) {
		t.Errorf("got error %v, want %v", err, cause)
	}
	if calls != enough {
		t.Errorf("Length.Of was called %d times, want %d: the call that cancelled the context was not the last", calls, enough)
	}
	if _, err := (RecursiveCharacter{Size: 10}).Chunk(ctx, "text"); !errors.Is(err, cause) {
		t.Errorf("with a context that is done: got error %v, want %v", err, cause)
	}
}

// TestRecursiveCharacterMeasuresLittle guards against measuring again and
// again, which makes token lengths slow: a part is measured once, and no byte
// is measured in more parts than there are separators.
func TestRecursiveCharacterMeasuresLittle(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "This is sentence %d, the words of which follow. ", i)
		if i%20 == 0 {
			b.WriteString("\nline\n\n")
		}
	}
	text := b.String() + strings.Repeat("x", 2000)
	for _, s := range []sizes{{10, 0}, {50, 25}, {200, 199}, {1000, 500}} {
		measured, before := 0, ""
		c := RecursiveCharacter{Size: s.Size, Overlap: s.Overlap, Length: Length{Name: "counting", Of: func(s string) int {
			if len(s) > 10 && s == before {
				t.Errorf("%q was measured twice in a row", s)
			}
			measured, before = measured+len(s), s
			return len(s)
		}}}
		if _, err := c.Chunk(t.Context(), text); err != nil {
			t.Fatal(err)
		}
		if most := len(defaultSeparators) * len(text); measured > most {
			t.Errorf("%v: measured %d bytes of a text of %d, want at most %d", c, measured, len(text), most)
		}
	}
}

// TestRecursiveCharacterHostileTexts takes for ever if any part of the work is
// quadratic in the text.
func TestRecursiveCharacterHostileTexts(t *testing.T) {
	const n = 1 << 18
	texts := map[string]string{
		"no separator":       strings.Repeat("x", 4*n),
		"no separator, wide": strings.Repeat("語", n/3),
		"spaces":             strings.Repeat(" ", n),
		"newlines":           strings.Repeat("\n", n),
		"text among spaces":  strings.Repeat(" ", n/4) + "a" + strings.Repeat(" ", n/4) + "b" + strings.Repeat("\n", n/2),
		"one-letter words":   strings.Repeat("a ", n/2),
		"full stops":         strings.Repeat(". ", n/2),
		"combining marks":    "e" + strings.Repeat("\u0301", n/2),
		"emoji":              strings.Repeat("👩‍👩‍👧‍👦 ", n/26),
		"CRLF":               strings.Repeat("line\r\n", n/6),
		"surrogates":         strings.Repeat("\ufffd", n/3),
	}
	for name, text := range texts {
		for _, c := range []RecursiveCharacter{
			{Size: 1},
			{Size: 400},
			{Size: 400, Overlap: 399, Trim: true},
			{Size: 100_000, Overlap: 99_999, Trim: true},
			{Size: 100_000, Overlap: 99_999, Length: Length{Name: "bytes", Of: func(s string) int { return len(s) }}},
			{Size: 2 * n, Overlap: n},
			{Size: 50, Overlap: 10, KeepSeparator: KeepEnd},
			{Size: 50, Overlap: 10, KeepSeparator: KeepNone},
		} {
			pieces := mustCut(t, c, text)
			if c.Overlap < 1000 { // the check itself is quadratic in the overlap
				checkPieces(t, name, c, text, pieces)
			}
		}
	}
}

// checkPieces checks the properties that the documentation states, for a
// chunker whose separators end with "".
func checkPieces(t *testing.T, name string, c RecursiveCharacter, text string, pieces []Piece) {
	t.Helper()
	covered := 0 // bytes before which no text is lost
	for i, p := range pieces {
		trimmed := strings.TrimFunc(p.Text, isWhiteSpace)
		if trimmed == "" || c.Trim && trimmed != p.Text {
			t.Fatalf("%v of %s: piece %d is %.40q: it has white space alone, or at its ends", c, name, i, p.Text)
		}
		if c.Length.Of == nil && c.KeepSeparator != KeepNone && longerThan(p.Text, c.Size) {
			t.Fatalf("%v of %s: piece %d has %d characters", c, name, i, utf8.RuneCountInString(p.Text))
		}
		if i > 0 {
			prev := pieces[i-1]
			if p.Start < prev.Start || p.End < prev.End || !c.Trim && (p.Start == prev.Start || p.End == prev.End) {
				t.Fatalf("%v of %s: piece %d is at [%d:%d], the one before it at [%d:%d]", c, name, i, p.Start, p.End, prev.Start, prev.End)
			}
			if c.Length.Of == nil && c.KeepSeparator != KeepNone && p.Start < prev.End && longerThan(text[p.Start:prev.End], c.Overlap) {
				t.Fatalf("%v of %s: piece %d at [%d:%d] overlaps the one before it at [%d:%d] by more than the overlap", c, name, i, p.Start, p.End, prev.Start, prev.End)
			}
		}
		if p.Start > covered && !c.drops(text[covered:p.Start]) {
			t.Fatalf("%v of %s: nothing covers %.40q before piece %d", c, name, text[covered:p.Start], i)
		}
		covered = max(covered, p.End)
	}
	if !c.drops(text[covered:]) {
		t.Fatalf("%v of %s: nothing covers %.40q at the end", c, name, text[covered:])
	}
}

// drops reports whether c, which has the default separators, may leave s out.
func (c RecursiveCharacter) drops(s string) bool {
	if c.KeepSeparator == KeepNone {
		s = strings.ReplaceAll(s, ". ", "")
	}
	return strings.TrimFunc(s, isWhiteSpace) == ""
}

// longerThan reports whether s has more than n characters.
func longerThan(s string, n int) bool { return len(s) > n && utf8.RuneCountInString(s) > n }

func TestRecursiveCharacterPropertiesOnRealText(t *testing.T) {
	docs, _ := chromaCorpora(t)
	for _, s := range []sizes{{1, 0}, {50, 0}, {200, 100}, {400, 0}, {400, 200}, {400, 399}, {3000, 10}} {
		for _, trim := range []bool{false, true} {
			for _, keep := range []KeepSeparator{KeepStart, KeepEnd, KeepNone} {
				c := RecursiveCharacter{Size: s.Size, Overlap: s.Overlap, KeepSeparator: keep, Trim: trim}
				for i, doc := range docs {
					checkPieces(t, "corpus "+strconv.Itoa(i), c, doc.Text(), mustCut(t, c, doc.Text()))
				}
			}
		}
	}
}

// referenceCut cuts text as the documentation of RecursiveCharacter says and in
// the plainest way: lists of parts are made, measured and merged one after
// another.
func referenceCut(c RecursiveCharacter, text string) (chunks []byteRange) {
	length := func(r byteRange) int { return c.Length.Len(text[r.start:r.end]) }
	join := ""
	total := func(parts []byteRange) int {
		n := c.Length.Len(join) * max(0, len(parts)-1)
		for _, p := range parts {
			n += length(p)
		}
		return n
	}
	emit := func(start, end int) {
		inner := strings.TrimFunc(text[start:end], isWhiteSpace)
		if inner == "" {
			return
		}
		if c.Trim {
			start += strings.Index(text[start:end], inner)
			end = start + len(inner)
		}
		chunks = append(chunks, byteRange{start, end})
	}
	merge := func(parts []byteRange) {
		var current []byteRange
		for _, p := range parts {
			if len(current) > 0 && total(append(slices.Clone(current), p)) > c.Size {
				emit(current[0].start, current[len(current)-1].end)
				for total(current) > c.Overlap || total(current) > 0 && total(append(slices.Clone(current), p)) > c.Size {
					current = current[1:]
				}
			}
			current = append(current, p)
		}
		if len(current) > 0 {
			emit(current[0].start, current[len(current)-1].end)
		}
	}
	var cut func(r byteRange, separators []string)
	cut = func(r byteRange, separators []string) {
		i := slices.IndexFunc(separators, func(sep string) bool { return strings.Contains(text[r.start:r.end], sep) })
		parts, rest := []byteRange{r}, []string(nil)
		if i >= 0 {
			sep := separators[i]
			if sep != "" {
				rest = separators[i+1:]
			}
			if c.KeepSeparator == KeepNone {
				join = sep
			}
			parts = referenceParts(c, text, r, sep)
		}
		joinHere := join
		var short []byteRange
		for _, p := range parts {
			if length(p) < c.Size {
				short = append(short, p)
				continue
			}
			merge(short)
			short = nil
			if len(rest) > 0 {
				cut(p, rest)
				join = joinHere
			} else {
				emit(p.start, p.end)
			}
		}
		merge(short)
	}
	separators := c.Separators
	if separators == nil {
		separators = defaultSeparators
	}
	cut(byteRange{0, len(text)}, separators)
	return chunks
}

// referenceParts returns the parts of text[r.start:r.end] at every sep.
func referenceParts(c RecursiveCharacter, text string, r byteRange, sep string) (parts []byteRange) {
	keep := c.KeepSeparator
	if sep == "" {
		keep = KeepStart
	}
	start := r.start
	for at := range text[r.start:r.end] {
		at := r.start + at
		if !strings.HasPrefix(text[at:r.end], sep) {
			continue
		}
		switch after := at + len(sep); {
		case keep == KeepStart:
			parts = append(parts, byteRange{start, at})
			start = at
		case at < start: // overlaps the separator before it
		case keep == KeepEnd:
			parts = append(parts, byteRange{start, after})
			start = after
		case keep == KeepNone:
			parts = append(parts, byteRange{start, at})
			start = after
		}
	}
	parts = append(parts, byteRange{start, r.end})
	return slices.DeleteFunc(parts, func(p byteRange) bool { return p.start == p.end })
}

var referenceLengths = []Length{
	{},
	{Name: "bytes", Of: func(s string) int { return len(s) }},
	{Name: "words", Of: func(s string) int { return len(strings.Fields(s)) }},
	{Name: "bracketed", Of: func(s string) int { return 2 + utf8.RuneCountInString(s) }},
	{Name: "joins", Of: func(s string) int { return 2 - 2*min(1, len(s)) + strings.Count(s, "a") }},
}

func checkAgainstReference(t *testing.T, c RecursiveCharacter, text string) {
	t.Helper()
	var got []byteRange
	for _, p := range mustCut(t, c, text) {
		got = append(got, byteRange{p.Start, p.End})
	}
	if want := referenceCut(c, text); !slices.Equal(got, want) {
		t.Fatalf("%v of %q: got %v, the reference gives %v", c, text, got, want)
	}
}

func TestRecursiveCharacterEqualsReference(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	lists := [][]string{nil, {" "}, {"\n\n\n", " \n", "aa", ""}, {". ", ".", "é"}}
	alphabet := []string{"a", "b", "é", "語", "😀", " ", " ", "\n", "\n\n", ". ", ".", "\ufeff", "\u00a0"}
	for range 20_000 {
		var text strings.Builder
		for range random.IntN(40) {
			text.WriteString(alphabet[random.IntN(len(alphabet))])
		}
		size := 1 + random.IntN(15)
		checkAgainstReference(t, RecursiveCharacter{
			Size:       size,
			Overlap:    random.IntN(size),
			Separators: lists[random.IntN(len(lists))],
			Length:     referenceLengths[random.IntN(len(referenceLengths))],
			Trim:       random.IntN(2) == 0,

			KeepSeparator: KeepSeparator(random.IntN(len(keepNames))),
		}, text.String())
	}
}

// Without overlap, characters are not counted part by part.
func TestRecursiveCharacterJumps(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	lists := [][]string{nil, {" "}, {"\n\n\n", " \n", "aa", ""}, {". ", ".", "é"}, {"a", "aa", "é\n"}}
	alphabet := []string{"a", "a", "bbbb", "é", "語", " ", " ", "\n", "\n\n", ". ", ".", "..", "\u00a0"}
	for range 10_000 {
		var text strings.Builder
		letters := alphabet[:1+random.IntN(len(alphabet))]
		for range random.IntN(150) {
			text.WriteString(letters[random.IntN(len(letters))])
		}
		c := RecursiveCharacter{Size: 1 + random.IntN(60), Separators: lists[random.IntN(len(lists))], Trim: random.IntN(2) == 0}
		checkAgainstReference(t, c, text.String())
	}
}

func FuzzRecursiveCharacter(f *testing.F) {
	f.Add("", 1, 0, "", byte(0), false, byte(0))
	f.Add("one two\n\nthree. four\n\n\nfive six seven", 10, 4, "", byte(0), true, byte(0))
	f.Add("aaaa bbbb  cc\n \nddddddddddddd eee", 6, 5, "\n| |", byte(1), false, byte(1))
	f.Add("a b c d. e f g. h", 3, 2, "", byte(2), false, byte(2))
	f.Add("a b c d. e f g. h", 9, 7, "", byte(3), false, byte(3))
	f.Add("naïve 語語語 e\u0301 😀\r\n\ufeff \u00a0\u0085", 4, 1, "", byte(0), true, byte(0))
	f.Add("xxxxxxx", 3, 1, "xx|x", byte(0), false, byte(0))
	f.Add("\x80\xff \xf0", 1, 0, "", byte(0), false, byte(0))
	f.Fuzz(func(t *testing.T, text string, size, overlap int, separators string, length byte, trim bool, keep byte) {
		c := RecursiveCharacter{
			Size:          size,
			Overlap:       overlap,
			KeepSeparator: KeepSeparator(int(keep) % len(keepNames)),
			Length:        referenceLengths[int(length)%len(referenceLengths)],
			Trim:          trim,
		}
		if separators != "" {
			c.Separators = strings.Split(separators, "|")
		}
		if c.Validate() != nil {
			return
		}
		if !utf8.ValidString(text) {
			if _, err := c.Chunk(t.Context(), text); err != nil {
				t.Fatal(err)
			}
			return
		}
		pieces := mustCut(t, c, text)
		if c.Separators == nil && (c.Length.Of == nil || c.Length.Name == "bytes") {
			checkPieces(t, strconv.Quote(text), c, text, pieces)
		}
		if len(text) <= 500 { // the reference takes cubic time
			checkAgainstReference(t, c, text)
		}
	})
}

func BenchmarkRecursiveCharacter(b *testing.B) {
	benchmarkOnChroma(b, func(s sizes) testChunker { return RecursiveCharacter{Size: s.Size, Overlap: s.Overlap} })
}
