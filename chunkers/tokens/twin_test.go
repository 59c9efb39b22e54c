package tokens

import (
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
)

// The slow twin of the encodings: the expressions of split.go, letter by letter,
// matched by backtracking, and the plain definition of byte-pair encoding.

// pattern matches text from character i on. It calls then with where a match
// ends, the preferred one first, until then returns true, and returns whether it
// did.
type pattern func(text []rune, i int, then func(end int) bool) bool

func one(is func(c rune) bool) pattern {
	return func(text []rune, i int, then func(int) bool) bool {
		return i < len(text) && is(text[i]) && then(i+1)
	}
}

// in returns what matches a character of the tables.
func in(tables ...*unicode.RangeTable) pattern {
	return one(func(c rune) bool { return unicode.In(c, tables...) })
}

// folded matches s regardless of case.
func folded(s string) pattern {
	var all []pattern
	for _, c := range s {
		all = append(all, one(func(d rune) bool { return strings.EqualFold(string(c), string(d)) }))
	}
	return seq(all...)
}

func seq(parts ...pattern) pattern {
	if len(parts) == 0 {
		return func(_ []rune, i int, then func(int) bool) bool { return then(i) }
	}
	return func(text []rune, i int, then func(int) bool) bool {
		return parts[0](text, i, func(end int) bool { return seq(parts[1:]...)(text, end, then) })
	}
}

func alt(parts ...pattern) pattern {
	return func(text []rune, i int, then func(int) bool) bool {
		return slices.ContainsFunc(parts, func(p pattern) bool { return p(text, i, then) })
	}
}

// repeat is p{low,high}.
func repeat(p pattern, low, high int) pattern {
	return func(text []rune, i int, then func(int) bool) bool {
		more := func(end int) bool { return repeat(p, max(low-1, 0), high-1)(text, end, then) }
		return high > 0 && p(text, i, more) || low == 0 && then(i)
	}
}

func maybe(p pattern) pattern { return repeat(p, 0, 1) }
func star(p pattern) pattern  { return repeat(p, 0, math.MaxInt) }
func plus(p pattern) pattern  { return repeat(p, 1, math.MaxInt) }

// endsOrSpace is (?!\S).
func endsOrSpace(text []rune, i int, then func(int) bool) bool {
	return (i == len(text) || unicode.IsSpace(text[i])) && then(i)
}

var twinPatterns = func() map[Encoding]pattern {
	var (
		isLetterOrNumber = func(c rune) bool { return unicode.In(c, unicode.L, unicode.N) }
		isNewline        = func(c rune) bool { return c == '\r' || c == '\n' }

		letter      = in(unicode.L)
		number      = in(unicode.N)
		space       = one(unicode.IsSpace)
		newline     = one(isNewline)
		before      = one(func(c rune) bool { return !isNewline(c) && !isLetterOrNumber(c) })
		punctuation = one(func(c rune) bool { return !unicode.IsSpace(c) && !isLetterOrNumber(c) })
		blank       = one(func(c rune) bool { return c == ' ' })
		slash       = one(func(c rune) bool { return c == '/' })

		contraction = alt(folded("'s"), folded("'t"), folded("'re"), folded("'ve"), folded("'m"), folded("'ll"), folded("'d"))
		u           = in(unicode.Lu, unicode.Lt, unicode.Lm, unicode.Lo, unicode.M)
		l           = in(unicode.Ll, unicode.Lm, unicode.Lo, unicode.M)

		spaces = alt(seq(star(space), plus(newline)), seq(plus(space), endsOrSpace), plus(space))
	)
	return map[Encoding]pattern{
		CL100K: alt(
			contraction,
			seq(maybe(before), plus(letter)),
			repeat(number, 1, 3),
			seq(maybe(blank), plus(punctuation), star(newline)),
			spaces,
		),
		O200K: alt(
			seq(maybe(before), star(u), plus(l), maybe(contraction)),
			seq(maybe(before), plus(u), star(l), maybe(contraction)),
			repeat(number, 1, 3),
			seq(maybe(blank), plus(punctuation), star(alt(newline, slash))),
			spaces,
		),
	}
}()

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

// twinIDs returns the IDs of the tokens of text. It takes quadratic time.
func twinIDs(e Encoding, text string) []int {
	ids := []int{}
	characters := []rune(text) // a byte that is not valid becomes U+FFFD
	at := 0
	for i := 0; i < len(characters); {
		twinPatterns[e](characters, i, func(end int) bool {
			start := at
			for ; i < end; i++ {
				_, size := utf8.DecodeRuneInString(text[at:])
				at += size
			}
			ids = append(ids, twinMerge(ranksOf(e), text[start:at])...)
			return true
		})
	}
	return ids
}

func twinMerge(ranks map[string]uint32, word string) (ids []int) {
	if rank, ok := ranks[word]; ok {
		return []int{int(rank)}
	}
	var parts []string
	for i := range len(word) {
		parts = append(parts, word[i:i+1])
	}
	for {
		best, bestRank := -1, uint32(math.MaxUint32)
		for i := range len(parts) - 1 {
			if rank, ok := ranks[parts[i]+parts[i+1]]; ok && rank < bestRank {
				best, bestRank = i, rank
			}
		}
		if best < 0 {
			break
		}
		parts[best] += parts[best+1]
		parts = slices.Delete(parts, best+1, best+2)
	}
	for _, part := range parts {
		ids = append(ids, int(ranks[part]))
	}
	return ids
}

// checkEncoding checks the tokens of text against the slow twin, and that they
// cover the text.
func checkEncoding(t *testing.T, e Encoding, text string) {
	t.Helper()
	got := e.AppendIDs([]int{}, text)
	if n := e.Count(text); n != len(got) {
		t.Fatalf("%v: counted %d tokens of %q, want %d", e, n, text, len(got))
	}
	at, i := 0, 0
	for start, end := range e.Tokens(text) {
		if rank, ok := ranksOf(e)[text[start:end]]; start != at || !ok || int(rank) != got[i] {
			t.Fatalf("token %d of %q is at [%d:%d]: want one of %v with the ID %d that begins at %d", i, text, start, end, e, got[i], at)
		}
		at = end
		i++
	}
	if at != len(text) {
		t.Fatalf("tokens of %q end at %d, want %d", text, at, len(text))
	}
	if want := twinIDs(e, text); !slices.Equal(got, want) {
		t.Fatalf("IDs of the %v tokens of %q: got %v, want %v", e, text, got, want)
	}
}

func FuzzEncoding(f *testing.F) {
	for _, text := range []string{
		"", "Hello, world! It's 2026.\r\n \n \n x", "naïve 語語 e\u0301 😀👩‍👩‍👧‍👦 \ufeff \u0085",
		"WE'LL'd 'ſ 'ſt IT'ſ", "\x80\xff\xf0\x9f\x98 \xc5'\xc5\xbf'\xc5", "ǅaʰAªbA中a \u0301A", strings.Repeat("aB1 ", 40),
		strings.Repeat("=", 95) + "a" + strings.Repeat("=", 97), strings.Repeat("中文", 40), " \u3000\n\t \n", "a/\r\n/ /",
		"internationalization antidisestablishmentarianism", "\x00\x00\x00 \x00",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = text[:min(len(text), 1000)]
		for _, e := range []Encoding{CL100K, O200K} {
			checkEncoding(t, e, text)
		}
	})
}

// Words of all lengths at which something else is done, at the ends of texts and
// within, that were seen before or not.
func TestWordsOfAllLengths(t *testing.T) {
	for _, e := range []Encoding{CL100K, O200K} {
		for n := range maxScanned + 8 {
			for _, letters := range []string{"a", "Qx", "zéq中", "=-", "\x80\xfe"} {
				word := strings.Repeat(letters, n)[:n]
				for range 2 {
					checkEncoding(t, e, word)
					checkEncoding(t, e, "("+word+" "+word+")")
				}
			}
		}
	}
}

// Goroutines that cut different texts do not share what they remember.
func TestEncodingIsSafeForConcurrentUse(t *testing.T) {
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 50 {
				text := strings.Repeat(string(rune('a'+i))+"qzj ", j) + "xx" + strings.Repeat("語", i)
				for _, e := range []Encoding{CL100K, O200K} {
					want := twinIDs(e, text)
					if got := e.AppendIDs([]int{}, text); !slices.Equal(got, want) {
						t.Errorf("IDs of the %v tokens of %q: got %v, want %v", e, text, got, want)
					}
					if got := e.Count(text); got != len(want) {
						t.Errorf("%v: counted %d tokens of %q, want %d", e, got, text, len(want))
					}
				}
			}
		})
	}
	group.Wait()
}
