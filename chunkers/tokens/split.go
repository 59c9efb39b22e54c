package tokens

import "unicode/utf8"

// Both encodings first cut a text into words, with a regular expression, and
// then merge the bytes of each word. The expressions are those of OpenAI's
// tiktoken (tiktoken_ext/openai_public.py). For cl100k_base, in the form that
// its first release had and that tiktoken for WebAssembly, js-tiktoken and both
// tiktoken-go still have:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
//	 ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// and for o200k_base, with U for [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}], L for
// [\p{Ll}\p{Lm}\p{Lo}\p{M}] and C for the first alternative above:
//
//	[^\r\n\p{L}\p{N}]?U*L+C?|[^\r\n\p{L}\p{N}]?U+L*C?|\p{N}{1,3}|
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// The functions below match them by hand, in one pass: each returns where the
// word ends that begins at byte i of s, which is before its end.
//
// Note: newer releases for Python have another form for cl100k_base. It differs
// in one thing: \s++$ comes before \s*[\r\n], so that white space at the end of a
// text is one word even if other white space follows its last line end.
//
// Note: the expressions as tiktoken-go/tokenizer compiles them match white space
// with several line ends in pieces, which gives other tokens and takes quadratic
// time.

func cl100kSplit(s string, i int) int {
	c, n := classAt(s, i)
	if c&letter != 0 {
		return skipLetters(s, i+n, letter, foldCase)
	}
	if c&(newline|number) == 0 {
		if end := i + contraction(s, i); end > i {
			return end
		}
		if end := skipLetters(s, i+n, letter, foldCase); end > i+n {
			return end
		}
	}
	return splitOther(s, i, c, n, '\n')
}

func o200kSplit(s string, i int) int {
	c, n := classAt(s, i)
	mayPrefix := c&(letter|number|newline) == 0
	if mayPrefix {
		if end := casedEnd(s, i+n); end > 0 {
			return end + contraction(s, end)
		}
	}
	if c&(first|rest) != 0 {
		if end := casedEnd(s, i); end > 0 {
			return end + contraction(s, end)
		}
	}
	if mayPrefix {
		if end := skip(s, i+n, first); end > i+n {
			return end + contraction(s, end)
		}
	}
	if end := skip(s, i, first); end > i {
		return end + contraction(s, end)
	}
	return splitOther(s, i, c, n, '/')
}

// casedEnd returns where U*L+ ends that begins at byte i of s, 0 if nothing
// matches.
func casedEnd(s string, i int) int {
	last := 0 // where the last character ends that is in both U and L
	for i < len(s) {
		if c := s[i]; c < utf8.RuneSelf {
			if asciiClasses[c]&first == 0 {
				break
			}
			i++
			continue // no ASCII is in both
		}
		c, n := wideClassAt(s, i)
		if c&first == 0 {
			break
		}
		i += n
		if c&rest != 0 {
			last = i
		}
	}
	if end := skipLetters(s, i, rest, noFold); end > i {
		return end
	}
	return last
}

// contraction returns the length of the contraction that begins at byte i of s, 0
// without one. Regardless of case, as OpenAI's expressions see it, the long s is
// an s.
func contraction(s string, i int) int {
	if len(s)-i < 2 || s[i] != '\'' {
		return 0
	}
	switch s[i+1] | 0x20 { // ASCII letters in lower case
	case 's', 't', 'm', 'd':
		return 2
	case 'r', 'v':
		if len(s)-i > 2 && s[i+2]|0x20 == 'e' {
			return 3
		}
	case 'l':
		if len(s)-i > 2 && s[i+2]|0x20 == 'l' {
			return 3
		}
	case "ſ"[0] | 0x20:
		if len(s)-i > 2 && s[i+1:i+3] == "ſ" {
			return 3
		}
	}
	return 0
}

// splitOther matches words without letters. The first character is of class c
// and has n bytes. Line ends and the trailing one may follow punctuation.
func splitOther(s string, i int, c class, n int, trailing byte) int {
	if c&number != 0 {
		end := i + n
		for range 2 {
			if c, n := classAt(s, end); c&number != 0 {
				end += n
			}
		}
		return end
	}
	start := i
	if s[i] == ' ' {
		start++
	}
	end := skipPunctuation(s, start)
	if end == start {
		return splitSpace(s, i)
	}
	for end < len(s) && (s[end] == '\r' || s[end] == '\n' || s[end] == trailing) {
		end++
	}
	return end
}

// splitSpace matches white space.
func splitSpace(s string, i int) int {
	end, last, lineEnd := i, i, i // of the run, before its last character, after its last line end
	for {
		c, n := classAt(s, end)
		if c&space == 0 {
			break
		}
		last, end = end, end+n
		if c&newline != 0 {
			lineEnd = end
		}
	}
	switch {
	case lineEnd > i:
		return lineEnd
	case end == len(s) || last == i:
		return end
	}
	return last // the last one begins the next word
}
