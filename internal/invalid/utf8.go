// Package invalid finds what is wrong in a text.
package invalid

import "unicode/utf8"

// UTF8 returns the offset of the first byte of s that is not valid UTF-8, -1 if
// there is none.
func UTF8(s string) int {
	if utf8.ValidString(s) {
		return -1
	}
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return i
			}
		}
	}
	return -1
}
