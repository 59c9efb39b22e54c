package sentence

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func fuzzTexts(f *testing.F, add func(text string)) {
	f.Helper()
	for _, text := range []string{
		"", "a", " \n ", "One. Two.\n\nThree e.g. Four? No! (Yes.) End",
		"He said.[1] “No…” « Oui. » »Nein.« 「行く。」と。\u2029x\u2028y\u0085z\r\n\r\nq\rw",
		"1. a\n2. b\n# c\n| d |\n> e\n- f\n---\ng", "\x80\xff \xf0", "z\u0335\u0335. \u0301A\ufeff.",
		"no caps. here u.s. now. 3 more. ünd", "U.S. J. K. am 3. Mai Fig. 3 S. 12 don't. l'art. 5",
		"Word word. New York 42 NASA's o'clock " + strings.Repeat("x", 200) + strings.Repeat(" ", 150) + "語語語",
	} {
		add(text)
	}
}

func fuzz(t *testing.T, c chunker, text string) {
	if c.Validate() != nil {
		return
	}
	if !utf8.ValidString(text) {
		if _, err := c.Chunk(t.Context(), text); err != nil {
			t.Fatal(err)
		}
		return
	}
	pieces := cut(t, c, text)
	checkPieces(t, c, text, pieces)
	for i, p := range pieces {
		if !utf8.ValidString(p.Text) {
			t.Fatalf("%v: piece %d is %q", c, i, p.Text)
		}
	}
}

func FuzzSentence(f *testing.F) {
	fuzzTexts(f, func(text string) { f.Add(text, 20, 2) })
	f.Fuzz(func(t *testing.T, text string, size, overlap int) {
		fuzz(t, Sentence{MaxSize: size, Overlap: overlap}, text)
	})
}

func FuzzParagraph(f *testing.F) {
	fuzzTexts(f, func(text string) { f.Add(text, 20, 10) })
	f.Fuzz(func(t *testing.T, text string, size, minimum int) {
		fuzz(t, Paragraph{MaxSize: size, MinSize: minimum}, text)
	})
}

func FuzzSemanticDensity(f *testing.F) {
	fuzzTexts(f, func(text string) { f.Add(text, 20, 2, 10) })
	f.Fuzz(func(t *testing.T, text string, size, minimum, maximum int) {
		fuzz(t, SemanticDensity{Size: size, MinOverlap: minimum, MaxOverlap: maximum}, text)
	})
}
