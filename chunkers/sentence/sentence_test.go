package sentence

import (
	"fmt"
	"testing"
)

func TestSentence(t *testing.T) {
	const abc = "Aa aa. Bb bb.  Cc cc."
	tests := []struct {
		chunker Sentence
		text    string
		want    []string
	}{
		{Sentence{}, "", nil},
		{Sentence{MaxSize: 5}, " \n\ufeff\u00a0 \r\n", nil},
		{Sentence{}, abc, []string{"Aa aa.", "Bb bb.", "Cc cc."}},
		{Sentence{MaxSize: 12}, abc, []string{"Aa aa.", "Bb bb.", "Cc cc."}},
		{Sentence{MaxSize: 13}, abc, []string{"Aa aa. Bb bb.", "Cc cc."}},
		{Sentence{MaxSize: 14, Overlap: 1}, abc, []string{"Aa aa. Bb bb.", "Bb bb.  Cc cc."}},
		{Sentence{MaxSize: 13, Overlap: 1}, abc, []string{"Aa aa. Bb bb.", "Cc cc."}},
		{Sentence{MaxSize: 21, Overlap: 9}, abc, []string{abc}},
		{Sentence{MaxSize: 1 << 62, Overlap: 1 << 62}, abc, []string{abc}},
		{Sentence{MaxSize: 11, Overlap: 2}, "Aa. Bb. Cc. Dd. Ee.", []string{"Aa. Bb. Cc.", "Bb. Cc. Dd.", "Cc. Dd. Ee."}},
		{Sentence{MaxSize: 11, Overlap: 1}, "Aa. Bb. Cc. Dd. Ee.", []string{"Aa. Bb. Cc.", "Cc. Dd. Ee."}},
		{Sentence{MaxSize: 11, Overlap: 2}, "Aa. Bb. Cc. Ddddd.", []string{"Aa. Bb. Cc.", "Cc. Ddddd."}},
		{Sentence{MaxSize: 8, Overlap: 1}, "Aa. One two three. Bb.", []string{"Aa.", "One two", "three.", "Bb."}},
		{Sentence{MaxSize: 3}, "吾輩は猫である。", []string{"吾輩は", "猫であ", "る。"}},
		{Sentence{MaxSize: 8}, "吾輩は猫である。名前はまだ無い。", []string{"吾輩は猫である。", "名前はまだ無い。"}},
		{Sentence{MaxSize: 40}, "One\r\n\r\ntwo. Three.\r\n", []string{"One\r\n\r\ntwo. Three."}},
	}
	for _, test := range tests {
		checkTexts(t, test.chunker, test.text, test.want)
	}
}

func TestSentenceValidate(t *testing.T) {
	tests := []struct {
		chunker Sentence
		want    string
	}{
		{Sentence{}, ""},
		{Sentence{MaxSize: 1, Overlap: 7}, ""},
		{Sentence{MaxSize: -1}, "sentence chunker: MaxSize is -1: want at least 0"},
		{Sentence{MaxSize: 5, Overlap: -2}, "sentence chunker: Overlap is -2: want at least 0"},
		{Sentence{Overlap: 1}, "sentence chunker: Overlap is 1: want 0 where MaxSize is 0, which makes each sentence a chunk"},
	}
	for _, test := range tests {
		checkValidation(t, test.chunker, test.want)
	}
}

func TestNames(t *testing.T) {
	for c, want := range map[fmt.Stringer]string{
		Sentence{}:                            "sentence",
		Sentence{MaxSize: 400, Overlap: 1}:    "sentence/maxsize=400/overlap=1",
		Sentence{MaxSize: -1}:                 "sentence/maxsize=-1",
		Paragraph{}:                           "paragraph",
		Paragraph{MaxSize: 800, MinSize: 200}: "paragraph/maxsize=800/minsize=200",
		Paragraph{MinSize: 200}:               "paragraph/minsize=200",
		SemanticDensity{}:                     "density",
		SemanticDensity{Size: 400, MinOverlap: 20, MaxOverlap: 120}: "density/size=400/minoverlap=20/maxoverlap=120",
		SemanticDensity{Size: 400, MaxOverlap: 120}:                 "density/size=400/maxoverlap=120",
	} {
		if got := c.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
