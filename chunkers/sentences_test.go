package chunkers

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/internal/units"
)

func TestSentences(t *testing.T) {
	for _, want := range [][]string{
		nil,
		{"No end"},
		{"One. ", "Two! ", "Three?  ", "Four"},
		{"A line\nand another. ", "Then\r\none more.\r\n", "End."},
		{"# Heading\n\n", "Text.\n\n", "- item\n- item\n \t\n", "End"},
		{"\n \n", "Text"},
		{"Pi is 3.14, version v1.2.3, see example.com/a?b. ", "Right."},
		{"See e.g. this, i.e. that… and more... ", "So."},
		{"He said (\"Really?!\") ", "*Yes.* ", "“No.” ", "Then ‘what?’ he asked."},
		{"Dr. ", "Who is cut."},
		{"吾輩は猫である。", "名前は「まだ。」", "無い！？ ", "終わり"},
		{"هل تأتي؟ ", "نعم۔ ", "حسنا."},
		{"यह है। ", "वह है॥ ", "ठीक"},
		{"Zażółć. ", "Élan. élan. ", "Ok"},
		{"...\n", "!!! ", "?"},
		{"a\xff. ", "\x80b.\xff c. d"},
	} {
		text := strings.Join(want, "")
		if diff := cmp.Diff(want, textsOf(text, sentences(text))); diff != "" {
			t.Errorf("sentences of %q (-want +got)\n%s", text, diff)
		}
	}
}

func FuzzSentences(f *testing.F) {
	f.Add("One. Two! three?\n\nFour… “Five.” 六。七 \xff")
	f.Fuzz(func(t *testing.T, text string) {
		parts := sentences(text)
		if got := strings.Join(textsOf(text, parts), ""); got != text {
			t.Fatalf("sentences of %q join to %q", text, got)
		}
		all, err := units.Of(text, rangesOf(parts))
		if err != nil {
			t.Fatal(err)
		}
		for i, u := range all {
			r := units.Covering(text, all, i, i+1)
			if got, want := text[u.TextStart:u.TextEnd], strings.TrimFunc(text[r.Start:r.End], isWhiteSpace); got != want || got == "" {
				t.Fatalf("unit %d of %q: got text %q, want %q", i, text, got, want)
			}
		}
		// What the sentences hold, cut by itself, has no further sentence.
		for _, p := range parts {
			if again := sentences(text[p.start:p.end]); len(again) > 1 && strings.TrimFunc(text[p.start:p.end], isWhiteSpace) != "" {
				t.Fatalf("sentence %q is cut again: %q", text[p.start:p.end], textsOf(text[p.start:p.end], again))
			}
		}
	})
}
