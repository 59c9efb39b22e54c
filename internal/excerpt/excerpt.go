// Package excerpt shortens texts for messages.
package excerpt

import (
	"strconv"
	"strings"
	"unicode"
)

// Quote returns the first most characters of s as a Go string literal, with … after
// it if there are more.
func Quote(s string, most int) string {
	n := 0
	for i := range s {
		if n++; n > most {
			return strconv.Quote(s[:i]) + "…"
		}
	}
	return strconv.Quote(s)
}

// Line returns s on one line of at most the given number of characters, of which the
// last is … if s has more: each run of white space is one space, and none is at the
// ends.
func Line(s string, most int) string {
	short := make([]rune, 0, most+1)
	for _, r := range s {
		space := unicode.IsSpace(r)
		if space && (len(short) == 0 || short[len(short)-1] == ' ') {
			continue
		}
		if len(short) == most {
			if space {
				continue
			}
			return string(short[:most-1]) + "…"
		}
		if space {
			r = ' '
		}
		short = append(short, r)
	}
	return strings.TrimSuffix(string(short), " ")
}
