package sentence

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBounds holds what the layout of a text says about sentences; what the
// words say is in testdata.
func TestBounds(t *testing.T) {
	dots := strings.Repeat(" .", 40)
	tests := []struct {
		name, text string
		want       []string
	}{
		{"empty", "", nil},
		{"white space", " \n\ufeff\u2029 \r\n", nil},
		{"ends trimmed", "\ufeff  One. Two.\u00a0\n", []string{"One.", "Two."}},
		{"no mark", "one two", []string{"one two"}},
		{"blank line", "One\n \nTwo\r\n\r\nThree\u2029Four", []string{"One", "Two", "Three", "Four"}},
		{"wrapped", "This is a line that was wrapped at\na margin. It goes on with Peter and\nMary.", []string{"This is a line that was wrapped at\na margin.", "It goes on with Peter and\nMary."}},
		{"wrapped, other line ends", "This is a line of\r\nPeter's, a line\u2028of Mary's, one of\u0085Paul's.", []string{"This is a line of\r\nPeter's, a line\u2028of Mary's, one of\u0085Paul's."}},
		{"short lines", "Peter Smith\n5 Main Street\nSpringfield, Illinois 62701", []string{"Peter Smith", "5 Main Street", "Springfield, Illinois 62701"}},
		{"comma at the end of a line", "Dear Peter,\nThis is a much longer line.", []string{"Dear Peter,\nThis is a much longer line."}},
		{"wrapped without spaces", "吾輩は猫である\n名前はまだ無い", []string{"吾輩は猫である\n名前はまだ無い"}},
		{"markdown", "# One\nTwo\n- three\n- four\n  and more\n> five\n> six\n| a | b |\n|---|---|\n| c | d |\n```go\nx\n```",
			[]string{"# One", "Two", "- three", "- four\n  and more", "> five\n> six", "| a | b |", "|---|---|", "| c | d |", "```go", "x", "```"}},
		{"table without edges", "year | sales\n2015 | $ 45", []string{"year | sales", "2015 | $ 45"}},
		{"numbered list", "1. One\n2. Two\n3) Three", []string{"1. One", "2. Two", "3) Three"}},
		{"a year is no list", "He was born in the month of June\n1950. Then he moved.", []string{"He was born in the month of June\n1950.", "Then he moved."}},
		{"a number is no list", "The answer to all of it is certainly\n42. Then he moved to Rome.", []string{"The answer to all of it is certainly\n42.", "Then he moved to Rome."}},
		{"long run", "Contents" + dots + " 7 Next part", []string{"Contents" + dots, "7 Next part"}},
		{"short run", "Contents" + dots[:40] + " next part", []string{"Contents" + dots[:40] + " next part"}},
		{"without a capital", "one. two e.g. three? four\n\nFive. six", []string{"one.", "two e.g. three?", "four", "Five. six"}},
		{"opening bracket after the end", "「はい。」「いいえ。」（笑）", []string{"「はい。」", "「いいえ。」", "（笑）"}},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, texts(test.text)); diff != "" {
			t.Errorf("%s (-want, +got):\n%s", test.name, diff)
		}
	}
}

func TestBoundsStopsWhenAsked(t *testing.T) {
	for _, text := range []string{"One. Two. Three.", "One.\n\nTwo.\n\nThree.", "# One\n# Two\n# Three"} {
		n := 0
		for range Bounds(text) {
			if n++; n == 2 {
				break
			}
		}
		if n != 2 {
			t.Errorf("%q: got %d sentences, want to stop after 2", text, n)
		}
	}
}

func TestAbbreviationsAreReachable(t *testing.T) {
	for word := range kinds {
		switch {
		case strings.TrimSpace(word) != word || word == "":
			t.Errorf("%q is no word", word)
		case strings.HasSuffix(word, "."):
			t.Errorf("%q has a full stop at its end", word)
		}
	}
}
