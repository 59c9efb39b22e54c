package tokens

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"sync"

	"github.com/tiktoken-go/tokenizer"
)

// Encoding is one of OpenAI's byte-pair encodings. Its tokens are those that
// OpenAI's tokenizer gives for ordinary text: a text such as <|endoftext|> has
// no special meaning. They cover the text without gaps.
//
// It is loaded when it is first used, once for the process; see the package
// documentation for the time and memory that takes.
type Encoding int

const (
	CL100K Encoding = iota // cl100k_base: text-embedding-3, gpt-4
	O200K                  // o200k_base: gpt-4o and later
)

var encodingNames = [...]string{CL100K: "cl100k", O200K: "o200k"}

// ParseEncoding returns the encoding whose String is s.
func ParseEncoding(s string) (Encoding, error) {
	if e := slices.Index(encodingNames[:], s); e >= 0 {
		return Encoding(e), nil
	}
	return 0, fmt.Errorf("encoding %q: want one of %q", s, encodingNames)
}

// String returns cl100k or o200k.
func (e Encoding) String() string {
	if e.Validate() != nil {
		return fmt.Sprintf("Encoding(%d)", int(e))
	}
	return encodingNames[e]
}

// Validate returns an error unless e is one of the constants.
func (e Encoding) Validate() error {
	if e < 0 || int(e) >= len(encodingNames) {
		return fmt.Errorf("encoding is %d: want CL100K or O200K", int(e))
	}
	return nil
}

// Tokens yields where each token of text begins and ends, in bytes. It panics
// if e is not one of the constants. It takes time linear in the text, but for
// words of n bytes that are not tokens, which take O(n log n).
func (e Encoding) Tokens(text string) iter.Seq2[int, int] { return e.tokensUntil(nil, text) }

// tokensUntil yields what Tokens does, until stop, if it is not nil, returns
// true.
func (e Encoding) tokensUntil(stop func() bool, text string) iter.Seq2[int, int] {
	v := e.vocabulary()
	return func(yield func(start, end int) bool) {
		c := v.take()
		defer v.give(c)
		c.stop = stop
		for start := 0; start < len(text); {
			wordEnd := v.split(text, start)
			if ends := c.cut(text, start, wordEnd); ends != 0 {
				for from := start; ends != 0; ends &= ends - 1 {
					end := from + bits.TrailingZeros16(ends) + 1
					if !yield(start, end) {
						return
					}
					start = end
				}
				continue
			}
			if c.stopped {
				return
			}
			for _, end := range c.ends {
				if !yield(start, end) {
					return
				}
				start = end
			}
		}
	}
}

// AppendIDs appends the IDs of the tokens of text to ids: the numbers that
// OpenAI's models know them by. It panics if e is not one of the constants. It is
// safe for concurrent use.
func (e Encoding) AppendIDs(ids []int, text string) []int {
	v := e.vocabulary()
	for start, end := range e.Tokens(text) {
		ids = append(ids, int(v.rank(text, start, end)))
	}
	return ids
}

func (e Encoding) vocabulary() *vocabulary {
	if err := e.Validate(); err != nil {
		panic("tokens: " + err.Error())
	}
	l := &loaded[e]
	l.once.Do(func() {
		switch e {
		case CL100K:
			l.vocabulary = loadVocabulary(tokenizer.Cl100kBase, 100_256, cl100kSplit)
		case O200K:
			l.vocabulary = loadVocabulary(tokenizer.O200kBase, 199_998, o200kSplit)
		}
	})
	return l.vocabulary
}

// loaded are the vocabularies in use. It holds no functions that load them: those
// would keep the library's tables, 13 MB, in programs that use no Encoding.
var loaded [len(encodingNames)]struct {
	once       sync.Once
	vocabulary *vocabulary
}
