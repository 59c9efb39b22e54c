package sentence

import "testing"

func TestParagraph(t *testing.T) {
	const text = "# Title\n\nAa aa. Bb bb.\nCc.\n \t\nDd dd.\n"
	tests := []struct {
		chunker Paragraph
		text    string
		want    []string
	}{
		{Paragraph{}, "", nil},
		{Paragraph{MinSize: 5}, " \r\n\u2029\ufeff\n", nil},
		{Paragraph{}, text, []string{"# Title", "Aa aa. Bb bb.\nCc.", "Dd dd."}},
		{Paragraph{}, "a\r\n\r\nb\r\n \r\nc\r\rd\re", []string{"a", "b", "c", "d\re"}},
		{Paragraph{}, "a\u2029b\u2028c\u2028\u2028d\u0085\u0085e\v\ff", []string{"a", "b\u2028c", "d", "e\v\ff"}},
		{Paragraph{MinSize: 7}, text, []string{"# Title", "Aa aa. Bb bb.\nCc.", "Dd dd."}},
		{Paragraph{MinSize: 8}, text, []string{"# Title\n\nAa aa. Bb bb.\nCc.", "Dd dd."}},
		{Paragraph{MinSize: 100}, text, []string{"# Title\n\nAa aa. Bb bb.\nCc.\n \t\nDd dd."}},
		{Paragraph{MaxSize: 26, MinSize: 8}, text, []string{"# Title\n\nAa aa. Bb bb.\nCc.", "Dd dd."}},
		{Paragraph{MaxSize: 25, MinSize: 8}, text, []string{"# Title", "Aa aa. Bb bb.\nCc.", "Dd dd."}},
		{Paragraph{MaxSize: 16}, text, []string{"# Title", "Aa aa. Bb bb.", "Cc.", "Dd dd."}},
		{Paragraph{MaxSize: 16, MinSize: 8}, text, []string{"# Title\n\nAa aa.", "Bb bb.\nCc.", "Dd dd."}},
		{Paragraph{MaxSize: 16, MinSize: 4}, text, []string{"# Title", "Aa aa. Bb bb.", "Cc.\n \t\nDd dd."}},
		{Paragraph{MaxSize: 9}, "吾輩は猫である。\n\n名前はまだ無いのであった。", []string{"吾輩は猫である。", "名前はまだ無いので", "あった。"}},
	}
	for _, test := range tests {
		checkTexts(t, test.chunker, test.text, test.want)
	}
}

func TestParagraphValidate(t *testing.T) {
	tests := []struct {
		chunker Paragraph
		want    string
	}{
		{Paragraph{}, ""},
		{Paragraph{MinSize: 5}, ""},
		{Paragraph{MaxSize: 5, MinSize: 5}, ""},
		{Paragraph{MaxSize: -1}, "paragraph chunker: MaxSize is -1: want at least 0"},
		{Paragraph{MinSize: -1}, "paragraph chunker: MinSize is -1: want at least 0"},
		{Paragraph{MaxSize: 5, MinSize: 6}, "paragraph chunker: MinSize is 6: want at most MaxSize, which is 5"},
	}
	for _, test := range tests {
		checkValidation(t, test.chunker, test.want)
	}
}
