package tokens

import (
	"fmt"
	"iter"
	"math"
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

var encodings = [...]struct {
	name string
	load func() *vocabulary
}{
	CL100K: {"cl100k", sync.OnceValue(func() *vocabulary {
		return loadVocabulary(tokenizer.Cl100kBase, 100_256, cl100kSplit)
	})},
	O200K: {"o200k", sync.OnceValue(func() *vocabulary {
		return loadVocabulary(tokenizer.O200kBase, 199_998, o200kSplit)
	})},
}

// ParseEncoding returns the encoding whose String is s.
func ParseEncoding(s string) (Encoding, error) {
	var names []string
	for e, encoding := range encodings {
		if encoding.name == s {
			return Encoding(e), nil
		}
		names = append(names, encoding.name)
	}
	return 0, fmt.Errorf("encoding %q: want one of %q", s, names)
}

// String returns cl100k or o200k.
func (e Encoding) String() string {
	if e.Validate() != nil {
		return fmt.Sprintf("Encoding(%d)", int(e))
	}
	return encodings[e].name
}

// Validate returns an error unless e is one of the constants.
func (e Encoding) Validate() error {
	if e < 0 || int(e) >= len(encodings) {
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
		m := merger{vocabulary: v, stop: stop}
		for wordStart := 0; wordStart < len(text); {
			start, wordEnd := wordStart, wordStart+v.split(text[wordStart:])
			for _, end := range m.tokens(text[wordStart:wordEnd]) {
				end += wordStart
				if !yield(start, end) {
					return
				}
				start = end
			}
			if m.stopped {
				return
			}
			wordStart = wordEnd
		}
	}
}

func (e Encoding) vocabulary() *vocabulary {
	if err := e.Validate(); err != nil {
		panic("tokens: " + err.Error())
	}
	return encodings[e].load()
}

// vocabulary is a loaded encoding.
type vocabulary struct {
	ranks map[string]uint32  // of tokens: the lower, the earlier it is merged
	pairs [1 << 16]uint32    // ranks of tokens of two bytes, or noRank
	split func(s string) int // the length of the first word of s, which is not empty

	counters sync.Pool // of *counter
}

// noRank is the rank of what is not a token.
const noRank = math.MaxUint32

// loadVocabulary reads the n tokens of an encoding from the library that embeds
// them.
func loadVocabulary(name tokenizer.Encoding, n int, split func(string) int) *vocabulary {
	codec, err := tokenizer.Get(name)
	if err != nil {
		panic(fmt.Sprintf("tokens: loading %s: %v", name, err)) // the library has no such encoding
	}
	var text []byte
	ends := make([]int, n)
	for id := range ends {
		token, err := codec.Decode([]uint{uint(id)})
		if err != nil {
			panic(fmt.Sprintf("tokens: loading token %d of %s: %v", id, name, err))
		}
		text = append(text, token...)
		ends[id] = len(text)
	}
	v := &vocabulary{ranks: make(map[string]uint32, n), split: split}
	for i := range v.pairs {
		v.pairs[i] = noRank
	}
	all, start := string(text), 0
	for id, end := range ends {
		token := all[start:end]
		v.ranks[token] = uint32(id)
		if len(token) == 2 {
			v.pairs[int(token[0])<<8|int(token[1])] = uint32(id)
		}
		start = end
	}
	return v
}
