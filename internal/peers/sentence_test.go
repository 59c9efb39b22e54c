package peers

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/clipperhouse/uax29/v2/sentences"
	punkt "github.com/neurosnap/sentences"
	"github.com/neurosnap/sentences/english"

	"github.com/rageval/rageval/chunkers/sentence"
)

// segmenters cut a text into sentences without the white space around them.
func segmenters(tb testing.TB) map[string]func(text string) []string {
	tokenizer, err := english.NewSentenceTokenizer(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return map[string]func(text string) []string{
		"rageval": func(text string) (found []string) {
			for start, end := range sentence.Bounds(text) {
				found = append(found, text[start:end])
			}
			return found
		},
		"uax29": func(text string) (found []string) {
			for s := sentences.FromString(text); s.Next(); {
				if v := strings.TrimSpace(s.Value()); v != "" {
					found = append(found, v)
				}
			}
			return found
		},
		"punkt": func(text string) (found []string) {
			return trimmed(tokenizer.Tokenize(text))
		},
	}
}

func trimmed(all []*punkt.Sentence) (found []string) {
	for _, s := range all {
		if v := strings.TrimSpace(s.Text); v != "" {
			found = append(found, v)
		}
	}
	return found
}

// TestSentenceBoundaries counts the hard cases of chunkers/sentence that each
// library gets wholly right. Punkt uses its English model, so English counts
// apart.
func TestSentenceBoundaries(t *testing.T) {
	all := segmenters(t)
	for _, file := range []string{"hard", "fresh"} {
		data, err := os.ReadFile("../../chunkers/sentence/testdata/" + file + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		right, cases := map[string]int{}, map[string]int{}
		for l := range strings.Lines(string(data)) {
			language, marked, ok := strings.Cut(strings.TrimSuffix(l, "\n"), "\t")
			if !ok {
				continue
			}
			if language != "en" {
				language = "other"
			}
			marked = strings.ReplaceAll(marked, `\n`, "\n")
			var want []string
			for s := range strings.SplitSeq(marked, "‖") {
				want = append(want, strings.TrimSpace(s))
			}
			cases[language]++
			for name, cut := range all {
				if slices.Equal(cut(strings.ReplaceAll(marked, "‖", "")), want) {
					right[name+" "+language]++
				}
			}
		}
		for language, n := range cases {
			for name := range all {
				t.Logf("%s.txt, %s: %s right in %d of %d", file, language, name, right[name+" "+language], n)
			}
			for name := range all {
				if name != "rageval" && right[name+" "+language] >= right["rageval "+language] {
					t.Errorf("%s.txt, %s: %s is right in %d of %d cases, rageval in %d, want more", file, language, name, right[name+" "+language], n, right["rageval "+language])
				}
			}
		}
	}
}

func BenchmarkSentenceBoundaries(b *testing.B) {
	docs, size := chromaCorpora(b)
	all := segmenters(b)
	for _, name := range []string{"rageval", "uax29", "punkt"} {
		b.Run(fmt.Sprintf("impl=%s", name), func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			found := 0
			for b.Loop() {
				found = 0
				for _, doc := range docs {
					found += len(all[name](doc.Text()))
				}
			}
			b.ReportMetric(float64(found), "found")
		})
	}
}
