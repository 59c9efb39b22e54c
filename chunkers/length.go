package chunkers

import "unicode/utf8"

// Length measures texts for chunkers whose sizes are not always characters.
// The zero value counts characters (Unicode code points).
type Length struct {
	Name string           // appears in the chunker's String; "" for characters
	Of   func(string) int // nil: characters; must be safe for concurrent use
}

// Len returns the length of text.
func (l Length) Len(text string) int {
	if l.Of == nil {
		return utf8.RuneCountInString(text)
	}
	return l.Of(text)
}
