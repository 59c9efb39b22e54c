package quotation

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func newIndex(tb testing.TB, text string) *Index {
	tb.Helper()
	x, err := New(text)
	if err != nil {
		tb.Fatal(err)
	}
	return x
}

// texts returns the texts of the places.
func (x *Index) texts(r Result) []string {
	var list []string
	for _, p := range r.Places {
		list = append(list, x.text[p.Start:p.End])
	}
	return list
}

func TestFind(t *testing.T) {
	const leave = "# Leave\n\nEmployees receive **25 days** of paid leave per year.\n" +
		"- Unused days “expire” on [31 March](https://example.com/a_(b)) — without exception.\n" +
		"> Café owners’ ﬁrst invoice is for 1,000.50 €.\n" +
		"Contact HR. Contact HR.\n"
	x := newIndex(t, leave)
	for _, test := range []struct {
		name, quotation string
		how             How
		want            []string
	}{
		{"exact", "receive **25 days** of", Exact, []string{"receive **25 days** of"}},
		{"white space around", "\n receive **25 days** of ", Exact, []string{"receive **25 days** of"}},
		{"no Markdown", "employees receive 25 days of\npaid leave", Folded, []string{"Employees receive **25 days** of paid leave"}},
		{"heading", "# leave employees", Folded, []string{"# Leave\n\nEmployees"}},
		{"link and dash", `Unused days "expire" on 31 March - without exception`, Folded, []string{"Unused days “expire” on [31 March](https://example.com/a_(b)) — without exception"}},
		{"bullet", `- unused days`, Folded, []string{"- Unused days"}},
		{"quotation marks at the ends", `"EXPIRE"`, Folded, []string{"“expire”"}},
		{"final point", "of paid leave  per year.", Folded, []string{"of paid leave per year."}},
		{"ligature, accent in two characters", "Cafe\u0301 owners' first invoice", Folded, []string{"Café owners’ ﬁrst invoice"}},
		{"point in a number", "1000.50 €", Folded, []string{"1,000.50 €"}},
		{"another number", "100050 €", Nowhere, nil},
		{"edits", "Emploees receive 25 dais of paid leave per year", Approximate, []string{"Employees receive **25 days** of paid leave per year"}},
		{"cut word", "mployees received 25 days of paid leave per yea", Approximate, []string{"Employees receive **25 days** of paid leave per year"}},
		{"invented", "Employees may take leave whenever they want to", Nowhere, nil},
		{"twice", "Contact HR.", Exact, []string{"Contact HR.", "Contact HR."}},
		{"twice, folded", "contact HR", Folded, []string{"Contact HR", "Contact HR"}},
		{"blank", " \n", Nowhere, nil},
		{"marks alone", "***", Nowhere, nil},
		{"invalid", "a\xff", Nowhere, nil},
		{"empty", "", Nowhere, nil},
	} {
		got := x.Find(test.quotation)
		if diff := cmp.Diff(test.want, x.texts(got)); got.How != test.how || diff != "" {
			t.Errorf("%s: got %v, want %v, (-want +got)\n%s", test.name, got.How, test.how, diff)
		}
	}
	if got := x.Find("Contact HR.", Range{len(leave) - 13, len(leave)}); len(got.Places) != 1 || got.Places[0].Start != len(leave)-12 {
		t.Errorf("in a part: got %v, want the second", got)
	}
	// What was quoted from a part is looked for there, even if more of it is alike elsewhere.
	const first, second = "Contact the HR department before each journey that you make. ", "Contact thy HR departments befor each journey that you make. "
	for _, part := range []Range{{0, len(first)}, {len(first), len(first + second)}} {
		if got := newIndex(t, first+second).Find("Contact the HR department before each jorney that you make", part); len(got.Places) != 1 || got.Places[0].Start != part.Start {
			t.Errorf("in %v: got %v", part, got)
		}
	}
	if got := newIndex(t, "").Find("a"); got.Found() {
		t.Errorf("in nothing: got %v", got)
	}
}

// Two passages that differ less from each other than a quotation from either are
// not told apart.
func TestRivals(t *testing.T) {
	x := newIndex(t, "The warranty of model A lasts 24 months from the date of purchase. "+
		"The warranty of model B lasts 36 months from the date of purchase.")
	for quotation, want := range map[string]int{
		"The warranty of model A lasts 24 months from the date of purchase": 1,
		"the warranty of model b lasts 36 months from the date of purchase": 1,
		"the warranty of model C lasts 48 months from the date of purchase": 2,
		"the waranty of model A lasts 24 months from the date of purchase":  1,
	} {
		if got := x.Find(quotation); len(got.Places) != want {
			t.Errorf("%s: got %v, want %d places", quotation, got, want)
		}
	}
}

func TestFindAll(t *testing.T) {
	filler := strings.Repeat("Nothing of interest happens here, and nothing else. ", 200)
	text := "Chapter one is about cats. They sleep a lot. " + filler + "Chapter two is about dogs. They sleep a lot. " + filler
	x := newIndex(t, text)
	got := x.FindAll([]string{"They sleep a lot.", "Chapter two is about dogs"})
	if want := strings.LastIndex(text, "They sleep"); !got[0].Neighbour || len(got[0].Places) != 1 || got[0].Places[0].Start != want {
		t.Errorf("got %v, want the place at %d", got[0], want)
	}
	if got := x.FindAll([]string{"They sleep a lot.", "They sleep a lot."}); got[0].Found() || got[1].Found() {
		t.Errorf("two ambiguous ones: got %v", got)
	}
	if got := x.FindAll([]string{"They sleep a lot.", "Chapter one is about cats", "Chapter two is about dogs"}); got[0].Found() {
		t.Errorf("between two neighbours: got %v", got)
	}
}

// distance is the textbook dynamic program.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, s := range b {
			d := min(row[j], row[j+1]) + 1
			if r == s {
				d = min(d, diagonal)
			} else {
				d = min(d, diagonal+1)
			}
			diagonal, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}

func randomText(r *rand.Rand, alphabet string, n int) string {
	letters := []rune(alphabet)
	chars := make([]rune, n)
	for i := range chars {
		chars[i] = letters[r.IntN(len(letters))]
	}
	return string(chars)
}

func TestPatternAgainstDynamicProgram(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		alphabet := []string{"ab", "abcdefgh", "aäb€"}[r.IntN(3)]
		text := randomText(r, alphabet, r.IntN(60))
		chars := []rune(randomText(r, alphabet, 1+r.IntN(150)))
		limit := r.IntN(len(chars) + 1)
		got := map[int]int{}
		newPattern(chars).ends(text, limit, func(end, d int) { got[end] = d })
		want := map[int]int{}
		for end := range text + " " {
			if end == 0 || end > len(text) {
				continue
			}
			best := len(chars)
			for start := range text[:end] {
				best = min(best, distance(chars, []rune(text[start:end])))
			}
			if best <= limit {
				want[end] = best
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q in %q within %d: (-want +got)\n%s", string(chars), text, limit, diff)
		}
		slices.Reverse(chars)
		start, d := newPattern(chars).bestSuffix(text)
		slices.Reverse(chars)
		for i := range text {
			if other := distance(chars, []rune(text[i:])); other < d || other == d && i > start {
				t.Fatalf("%q at the end of %q: got %d from %d, want %d from %d", string(chars), text, d, start, other, i)
			}
		}
		if want := distance(chars, []rune(text[start:])); d != want {
			t.Fatalf("%q at the end of %q from %d: got %d, want %d", string(chars), text, start, d, want)
		}
	}
}

// Seeds miss no place: what is found is what a scan of the whole text finds.
func TestApproximateFindsTheBest(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 400 {
		alphabet := []string{"ab", "abcdefghijklmnop", "aäb€cdefg"}[r.IntN(3)]
		text := randomText(r, alphabet, 200+r.IntN(2000))
		chars := []rune(text)
		n := 10 + r.IntN(150)
		at := r.IntN(len(chars) - n)
		quotation := newFolded(edits(0.1*r.Float64())(r, string(chars[at:at+n]))).text
		pattern := []rune(quotation)
		x := newIndex(t, text)
		best := len(pattern)/tolerance + 1
		if len(pattern) >= tolerance {
			newPattern(pattern).ends(x.folded.text, len(pattern)/tolerance, func(_, d int) { best = min(best, d) })
		}
		got := x.approximate(quotation, nil)
		if found := best <= len(pattern)/tolerance; found != (len(got) > 0) {
			t.Fatalf("%q in %q: got %v, want a distance of %d", quotation, text, got, best)
		}
		least := best + 1
		for _, m := range got {
			least = min(least, m.distance)
			if d := distance(pattern, []rune(x.folded.text[m.start:m.end])); d != m.distance {
				t.Fatalf("%q in %q: got %v, its distance is %d", quotation, text, m, d)
			}
		}
		if len(got) > 0 && least != best {
			t.Fatalf("%q in %q: got %v, want a distance of %d", quotation, text, got, best)
		}
	}
}

// A text that repeats itself costs no more than a few scans, in time and memory.
func TestRepetitiveText(t *testing.T) {
	x := newIndex(t, strings.Repeat("ab", 100_000))
	for _, q := range []string{strings.Repeat("ab", 200), strings.Repeat("ab", 100) + "xy" + strings.Repeat("ab", 100), strings.Repeat("abc", 200)} {
		if got := x.Find(q); got.Found() {
			t.Errorf("got %v", got)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add("Employees receive **25 days** of “paid” leave.", "employees recieve 25 days of paid")
	f.Add("ab\u0301c \ufb01 ...", "[a](b) fi…")
	f.Add("] ](", "a")
	f.Fuzz(func(t *testing.T, text, quotation string) {
		if !utf8.ValidString(text) {
			return
		}
		x := newIndex(t, text)
		for i := range x.folded.at {
			if at := x.folded.at[i]; int(at) >= len(text) || !utf8.RuneStart(text[at]) || i > 0 && at < x.folded.at[i-1] {
				t.Fatalf("byte %d of the folded text comes from %d", i, at)
			}
		}
		got := x.Find(quotation)
		for i, p := range got.Places {
			if p.Start < 0 || p.End <= p.Start || p.End > len(text) || !utf8.ValidString(text[p.Start:p.End]) {
				t.Fatalf("%q in %q: got %v", quotation, text, got)
			}
			if got.How == Exact && text[p.Start:p.End] != quotation && text[p.Start:p.End] != strings.TrimSpace(quotation) {
				t.Fatalf("%q in %q: got %v", quotation, text, got)
			}
			if i > 0 && p.Start < got.Places[i-1].Start {
				t.Fatalf("%q in %q: got %v, want ascending places", quotation, text, got)
			}
		}
		if strings.Contains(text, quotation) && utf8.ValidString(quotation) && strings.TrimSpace(quotation) != "" && got.How != Exact {
			t.Fatalf("%q in %q: got %v, want exact", quotation, text, got)
		}
	})
}
