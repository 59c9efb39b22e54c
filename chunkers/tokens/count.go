package tokens

import "math/bits"

// Count returns the number of tokens of text, faster than ranging over Tokens. It
// panics if e is not one of the constants. It is safe for concurrent use.
func (e Encoding) Count(text string) (n int) {
	v := e.vocabulary()
	c := v.take()
	defer v.give(c)
	for start := 0; start < len(text); {
		end := v.split(text, start)
		if ends := c.cut(text, start, end); ends != 0 {
			n += bits.OnesCount16(ends)
		} else {
			n += len(c.ends)
		}
		start = end
	}
	return n
}
