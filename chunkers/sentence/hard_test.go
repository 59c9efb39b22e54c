package sentence

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// hardCase is a text whose sentences are known.
type hardCase struct {
	language, text string
	want           []string
}

func hardCases(t *testing.T, file string) (cases []hardCase) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(data)) {
		if l = strings.TrimSuffix(l, "\n"); strings.HasPrefix(l, "#") {
			continue
		}
		language, marked, ok := strings.Cut(l, "\t")
		if !ok {
			t.Fatalf(file+": %q: want a language, a tab and a text", l)
		}
		marked = strings.ReplaceAll(marked, `\n`, "\n")
		c := hardCase{language: language, text: strings.ReplaceAll(marked, "‖", "")}
		for s := range strings.SplitSeq(marked, "‖") {
			c.want = append(c.want, strings.TrimSpace(s))
		}
		cases = append(cases, c)
	}
	return cases
}

func texts(text string) (got []string) {
	for start, end := range Bounds(text) {
		got = append(got, text[start:end])
	}
	return got
}

// unicodeOnly returns the sentences of the library, without what this package
// adds.
func unicodeOnly(text string) (got []string) {
	for s := sentences.FromString(text); s.Next(); {
		if v := strings.TrimSpace(s.Value()); v != "" {
			got = append(got, v)
		}
	}
	return got
}

func TestHardCases(t *testing.T) {
	cases := hardCases(t, "testdata/fresh.txt")
	ours, theirs := 0, 0
	for _, c := range cases {
		got := texts(c.text)
		if slices.Equal(got, c.want) {
			ours++
		} else {
			t.Logf("%s: got %q, want %q", c.language, got, c.want)
		}
		if slices.Equal(unicodeOnly(c.text), c.want) {
			theirs++
		}
	}
	t.Logf("of %d cases right: %d; Unicode's rules alone: %d", len(cases), ours, theirs)
}
