package excerpt

import "testing"

func TestQuote(t *testing.T) {
	for _, test := range []struct {
		s    string
		most int
		want string
	}{
		{"", 3, `""`}, {"abc", 3, `"abc"`}, {"abcd", 3, `"abc"…`}, {"a\n\"漢字", 3, `"a\n\""…`}, {"é漢🦊", 3, `"é漢🦊"`}, {"a\xFF\xFFb", 3, `"a\xff\xff"…`},
	} {
		if got := Quote(test.s, test.most); got != test.want {
			t.Errorf("%q: got %s, want %s", test.s, got, test.want)
		}
	}
}

func TestLine(t *testing.T) {
	for _, test := range []struct {
		s    string
		most int
		want string
	}{
		{"", 3, ""}, {" \n", 3, ""}, {"abc", 3, "abc"}, {" abc \n", 3, "abc"}, {"abcd", 3, "ab…"}, {"a\t\r\nb  c", 5, "a b c"},
		{"a\n b c", 4, "a b…"}, {"é漢🦊x", 3, "é漢…"}, {"ab c", 3, "ab…"},
	} {
		if got := Line(test.s, test.most); got != test.want {
			t.Errorf("%q: got %q, want %q", test.s, got, test.want)
		}
	}
}
