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

// TestHardCases counts the cases of which every sentence is right. The figures are
// those of the documentation of the package.
func TestHardCases(t *testing.T) {
	for _, test := range []struct {
		file                       string
		cases, right, unicodeAlone int
	}{
		{"testdata/hard.txt", 181, 179, 89},
		{"testdata/fresh.txt", 53, 44, 22},
	} {
		cases := hardCases(t, test.file)
		right, unicodeAlone := 0, 0
		for _, c := range cases {
			if got := texts(c.text); slices.Equal(got, c.want) {
				right++
			} else {
				t.Logf("%s: %s: got %q, want %q", test.file, c.language, got, c.want)
			}
			if slices.Equal(unicodeOnly(c.text), c.want) {
				unicodeAlone++
			}
		}
		if len(cases) != test.cases || right != test.right || unicodeAlone != test.unicodeAlone {
			t.Errorf("%s: of %d cases, %d are right, %d with Unicode's rules alone, want of %d cases %d and %d",
				test.file, len(cases), right, unicodeAlone, test.cases, test.right, test.unicodeAlone)
		}
	}
}
