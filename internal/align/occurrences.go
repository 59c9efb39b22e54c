package align

import "iter"

// Occurrences yields where pattern begins in text, overlapping occurrences
// included, in ascending order. It is the algorithm of Knuth, Morris and Pratt:
// O(len(text) + len(pattern)) time however repetitive they are, and four bytes
// of memory for each byte of the pattern. The pattern must not be empty.
func Occurrences(text, pattern string) iter.Seq[int] {
	return func(yield func(int) bool) {
		border := borders(pattern)
		k := 0 // pattern[:k] ends at text[i]
		for i := range len(text) {
			k = extend(pattern, border, k, text[i])
			if k == len(pattern) {
				if !yield(i + 1 - k) {
					return
				}
				k = int(border[k-1])
			}
		}
	}
}

// LongestPrefix returns the length in bytes of the longest prefix of pattern
// that occurs in text, and where it first does. It takes as much as
// [Occurrences].
func LongestPrefix(text, pattern string) (length, at int) {
	if pattern == "" {
		return 0, 0
	}
	border := borders(pattern)
	k := 0
	for i := range len(text) {
		k = extend(pattern, border, k, text[i])
		if k > length {
			length, at = k, i+1-k
		}
		if k == len(pattern) {
			break
		}
	}
	return length, at
}

// borders returns for each prefix of the pattern the length of the longest
// shorter prefix that it also ends with: for pattern[:i+1] at index i.
func borders(pattern string) []int32 {
	border := make([]int32, len(pattern))
	k := 0
	for i := 1; i < len(pattern); i++ {
		k = extend(pattern, border, k, pattern[i])
		border[i] = int32(k)
	}
	return border
}

// extend returns the length of the longest prefix of pattern that ends with c,
// where pattern[:k] is the longest one that ended just before c.
func extend(pattern string, border []int32, k int, c byte) int {
	for k > 0 && pattern[k] != c {
		k = int(border[k-1])
	}
	if pattern[k] == c {
		k++
	}
	return k
}
