package sentence

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

func TestSemanticDensityValidate(t *testing.T) {
	tests := []struct {
		chunker SemanticDensity
		want    string
	}{
		{SemanticDensity{Size: 1}, ""},
		{SemanticDensity{Size: 10, MinOverlap: 9, MaxOverlap: 9}, ""},
		{SemanticDensity{}, "semantic density chunker: Size is 0: want at least 1"},
		{SemanticDensity{Size: -4}, "semantic density chunker: Size is -4: want at least 1"},
		{SemanticDensity{Size: 10, MaxOverlap: 10}, "semantic density chunker: MaxOverlap is 10: want at least 0 and less than Size, which is 10"},
		{SemanticDensity{Size: 10, MaxOverlap: -1}, "semantic density chunker: MaxOverlap is -1: want at least 0 and less than Size, which is 10"},
		{SemanticDensity{Size: 10, MinOverlap: 5, MaxOverlap: 4}, "semantic density chunker: MinOverlap is 5: want at least 0 and at most MaxOverlap, which is 4"},
		{SemanticDensity{Size: 10, MinOverlap: -1, MaxOverlap: 4}, "semantic density chunker: MinOverlap is -1: want at least 0 and at most MaxOverlap, which is 4"},
	}
	for _, test := range tests {
		checkValidation(t, test.chunker, test.want)
	}
}

func TestSemanticDensity(t *testing.T) {
	tests := []struct {
		chunker SemanticDensity
		text    string
		want    []string
	}{
		{SemanticDensity{Size: 4}, "", nil},
		{SemanticDensity{Size: 4}, "abc", []string{"abc"}},
		{SemanticDensity{Size: 4}, "    ", []string{"    "}},
		{SemanticDensity{Size: 4}, "      ", []string{"    ", "  "}},
		{SemanticDensity{Size: 8}, "aaa bbb ccc ddd", []string{"aaa bbb ", "ccc ddd"}},
		{SemanticDensity{Size: 9}, "aaa bbb ccc ddd", []string{"aaa bbb ", "ccc ddd"}},
		{SemanticDensity{Size: 6}, "aaa bbb ccc ddd", []string{"aaa bb", "b ccc ", "ddd"}},
		{SemanticDensity{Size: 8, MinOverlap: 4, MaxOverlap: 4}, "aaa bbb ccc ddd", []string{"aaa bbb ", "bbb ccc ", "ccc ddd"}},
		// Density 0: the least overlap, and the nearest word within the range.
		{SemanticDensity{Size: 8, MaxOverlap: 4}, "aaa aaa aaa aaa", []string{"aaa aaa ", "aaa aaa"}},
		{SemanticDensity{Size: 8, MinOverlap: 3, MaxOverlap: 4}, "aaa aaa aaa aaa", []string{"aaa aaa ", "aaa aaa ", "aaa aaa"}},
		{SemanticDensity{Size: 3}, "語😀β", []string{"語😀β"}},
		{SemanticDensity{Size: 2}, "語😀β", []string{"語😀", "β"}},
		{SemanticDensity{Size: 1}, "a e\u0301", []string{"a", " ", "e", "\u0301"}},
		{SemanticDensity{Size: 1 << 62, MinOverlap: 1, MaxOverlap: 1<<62 - 1}, "abc", []string{"abc"}},
	}
	for _, test := range tests {
		checkTexts(t, test.chunker, test.text, test.want)
	}
}

func TestDensity(t *testing.T) {
	tests := []struct {
		text string
		want float64
	}{
		{"", 0},
		{" \n- ", 0},
		{"a a a a a a", 0},
		{"some words that differ", 0.7},                        // T = R = 1, S = 0
		{"he met 42 NASA people", 0.94},                        // S = 2/5
		{"he saw New York", 1},                                 // S = 2/4, the most that counts
		{"New words here. Then others follow.", 0.7},           // first words of sentences are no names
		{"he and she and he", 0.4*(0.05/0.35) + 0},             // V = 3 of 5, H = 1 of 3
		{"one two three four four", 0.4*(0.25/0.35) + 0.3*0.5}, // V = 4 of 5, H = 3 of 4
		{"don't don’t DON'T", 0},                               // one word, but DON'T is all capital: S = 1/3
		{"吾輩は猫", 0.7},
	}
	for _, test := range tests {
		want := test.want
		if strings.HasPrefix(test.text, "don't") {
			want = 0.3 * (1.0 / 3 / 0.5)
		}
		if got := Density(test.text); math.Abs(got-want) > 2e-6 {
			t.Errorf("Density(%q) is %v, want %v", test.text, got, want)
		}
	}
}

// referenceCounts counts in the plainest way.
func referenceCounts(runes []rune, words []mark, start, end int) (c counts) {
	occurs := map[string]int{}
	for _, m := range words {
		if m.kind == noWord || m.char < start || m.end > end {
			continue
		}
		c.words++
		if m.entity {
			c.entities++
		}
		occurs[strings.Map(func(r rune) rune {
			if r == '’' {
				return '\''
			}
			return unicode.ToLower(r)
		}, string(runes[m.char:m.end]))]++
	}
	c.types = len(occurs)
	for _, n := range occurs {
		if n == 1 {
			c.hapaxes++
		}
	}
	return c
}

func TestWindowCounts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	parts := []string{"a ", "b", "The ", "New York ", "x", "42 ", ". ", "\n\n", "don't ", "語", "é", "Éa ", " ", strings.Repeat("long", 40) + " ", strings.Repeat("-", 150)}
	for range 300 {
		var b strings.Builder
		for range random.IntN(60) {
			b.WriteString(parts[random.IntN(len(parts))])
		}
		text := b.String()
		n := chars(text)
		all := newWindow(text)
		all.readTo(n)
		all.scanner.stop()
		words, runes := slices.Clone(all.marks), []rune(text)
		w := newWindow(text)
		start, end := 0, 0
		for end < n {
			end = min(n, end+1+random.IntN(20))
			start += random.IntN(end - start + 1)
			w.readTo(end)
			w.moveTo(start, end)
			if diff := cmp.Diff(referenceCounts(runes, words, start, end), w.counts, cmp.AllowUnexported(counts{})); diff != "" {
				t.Fatalf("[%d:%d] of %q (-want, +got):\n%s", start, end, text, diff)
			}
			c := start + random.IntN(end-start+1)
			if p := w.placeOf(c); p.char != c || chars(text[:p.byte]) != c {
				t.Fatalf("character %d of %q is said to be at %v", c, text, p)
			}
		}
		w.scanner.stop()
	}
}

// TestOverlapFollowsDensity holds that the overlap is what the formula says, up
// to the distance to the next word.
func TestOverlapFollowsDensity(t *testing.T) {
	c := SemanticDensity{Size: 400, MinOverlap: 20, MaxOverlap: 200}
	for _, doc := range chromaCorpora(t) {
		pieces := cut(t, c, doc.Text())
		all := newWindow(doc.Text())
		all.readTo(doc.Len())
		all.scanner.stop()
		runes, words := []rune(doc.Text()), all.marks
		sum, exact := 0.0, 0
		for i, p := range pieces[1:] {
			prev, err := doc.CharSpan(pieces[i].Start, pieces[i].End)
			if err != nil {
				t.Fatal(err)
			}
			for words[0].char < prev.Start {
				words = words[1:]
			}
			within := words[:min(len(words), prev.Len())]
			density := float64(referenceCounts(runes, within, prev.Start, prev.End).density()) / million
			got := float64(chars(doc.Text()[p.Start:pieces[i].End]))
			want := 20 + 180*density
			if math.Abs(got-want) > 40 {
				t.Errorf("%s: pieces %d and %d share %v characters, the formula gives %.1f", doc.ID(), i, i+1, got, want)
			}
			if math.Abs(got-want) <= 5 {
				exact++
			}
			sum += got
		}
		if share := float64(exact) / float64(len(pieces)-1); share < 0.8 {
			t.Errorf("%s: %.2f of the overlaps are within 5 characters of the formula's, want at least 0.8", doc.ID(), share)
		}
		t.Logf("%s: %d chunks, mean overlap %.0f", doc.ID(), len(pieces), sum/float64(len(pieces)-1))
	}
}
