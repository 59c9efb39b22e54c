package invalid

import "testing"

func TestUTF8(t *testing.T) {
	for s, want := range map[string]int{
		"": -1, "abc": -1, "é漢🦊": -1, "\uFFFD": -1,
		"\xFF": 0, "a\x80": 1, "é\xC3": 2, "\uFFFD\xE2\x82": 3, "a\xED\xA0\x80b": 1,
	} {
		if got := UTF8(s); got != want {
			t.Errorf("UTF8(%q): got %d, want %d", s, got, want)
		}
	}
}
