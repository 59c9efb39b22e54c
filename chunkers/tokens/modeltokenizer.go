package tokens

import (
	"fmt"
	"iter"
	"strings"
	"sync"
	"unicode"
)

// ModelTokenizer is the tokenizer of an embedding model or a reranker, read from
// its tokenizer.json by [ReadTokenizer]: WordPiece (BERT and most small models,
// such as all-MiniLM-L6-v2) or Unigram (SentencePiece; XLM-RoBERTa, multilingual
// E5, Model2Vec's newer models). It gives the places of tokens, as every
// [Tokenizer], and their IDs.
//
// A token goes, in the original text, from the first character it came from to
// the end of the last. A character that becomes several belongs to the token of
// the first of them, and what is removed after a character, such as its accents,
// to that character. In WordPiece white space belongs to no token; in Unigram a
// token that stands for white space, too, covers it. What the rules of a Unigram
// tokenizer insert has an empty place.
//
// It is immutable and safe for concurrent use.
type ModelTokenizer struct {
	name    string
	added   []addedToken
	model   model
	size    int
	unknown int // -1: none
	frame   frame
	median  int
}

// model cuts texts without added tokens.
type model interface {
	// tokenize yields the tokens of text, which begins at byte offset of the
	// original, with their places in that. It returns false if yield did.
	tokenize(text string, offset int, yield func(id, start, end int) bool) bool
	// appendIDs appends the IDs of the tokens of text, which begins at byte
	// offset of the original.
	appendIDs(ids []int, text string, offset int) []int
}

// addedToken is a token that is looked for in the text as it is.
type addedToken struct {
	text           string
	id             int
	lstrip, rstrip bool // it swallows the white space on that side
}

// String returns the name that was given to [ReadTokenizer].
func (m *ModelTokenizer) String() string { return m.name }

// Size returns one more than the greatest ID.
func (m *ModelTokenizer) Size() int { return m.size }

// Unknown returns the ID of the token for what the vocabulary lacks, and whether
// there is one.
func (m *ModelTokenizer) Unknown() (id int, ok bool) { return m.unknown, m.unknown >= 0 }

// MedianLength returns the median length of the tokens of the vocabulary in
// bytes, the greater of the two in the middle.
func (m *ModelTokenizer) MedianLength() int { return m.median }

// Tokens yields where each token of text begins and ends, in bytes. The special
// tokens that a model wants at the ends of a text are not among them.
func (m *ModelTokenizer) Tokens(text string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		m.tokenize(text, func(_, start, end int) bool { return yield(start, end) })
	}
}

// Count returns the number of tokens of text.
func (m *ModelTokenizer) Count(text string) int {
	buffer := idBuffers.Get().(*[]int)
	defer idBuffers.Put(buffer)
	*buffer = m.AppendIDs((*buffer)[:0], text)
	return len(*buffer)
}

var idBuffers = sync.Pool{New: func() any { return new([]int) }}

// AppendIDs appends the IDs of the tokens of text to ids, without those that a
// model wants at its ends: see [ModelTokenizer.Single]. Nothing is cut off or
// padded. It is faster than [ModelTokenizer.Tokens], and allocates nothing if
// ids has room.
func (m *ModelTokenizer) AppendIDs(ids []int, text string) []int {
	m.sections(text, func(section string, offset int) bool {
		ids = m.model.appendIDs(ids, section, offset)
		return true
	}, func(id, _, _ int) bool {
		ids = append(ids, id)
		return true
	})
	return ids
}

// tokenize yields the tokens of text with their IDs.
func (m *ModelTokenizer) tokenize(text string, yield func(id, start, end int) bool) {
	m.sections(text, func(section string, offset int) bool {
		return m.model.tokenize(section, offset, yield)
	}, yield)
}

// sections calls plain for the parts of text between added tokens and added for
// these, in order, until one returns false.
func (m *ModelTokenizer) sections(text string, plain func(section string, offset int) bool, added func(id, start, end int) bool) {
	var buf [8]int
	places := buf[:0] // where each added token is next
	for range m.added {
		places = append(places, -1)
	}
	for start := 0; start < len(text); {
		at, token := m.nextAdded(text, start, places)
		end := at + len(token.text)
		if token.lstrip {
			at = start + len(strings.TrimRightFunc(text[start:at], unicode.IsSpace))
		}
		if token.rstrip {
			end = len(text) - len(strings.TrimLeftFunc(text[end:], unicode.IsSpace))
		}
		if start < at && !plain(text[start:at], start) {
			return
		}
		if token.text != "" && !added(token.id, at, end) {
			return
		}
		start = end
	}
}

// nextAdded returns the first added token from byte start of text on, the
// longest of those at one place, and where it is: the end of text and no token
// if there is none. It keeps places up to date.
func (m *ModelTokenizer) nextAdded(text string, start int, places []int) (at int, found addedToken) {
	at = len(text)
	for i, a := range m.added {
		if places[i] < start {
			places[i] = len(text)
			if next := strings.Index(text[start:], a.text); next >= 0 {
				places[i] = start + next
			}
		}
		if places[i] < at || places[i] == at && at < len(text) && len(a.text) > len(found.text) {
			at, found = places[i], a
		}
	}
	return at, found
}

// Single returns the tokens of a text as the model wants them, with its special
// tokens around them, such as [CLS] and [SEP], and the type of each token. What
// they are is said by post_processor in the file; without one, nothing is added.
// The length of what it returns for no token is how many it adds.
func (m *ModelTokenizer) Single(text []int) (ids, types []int) {
	return m.frame.single.around(text, nil)
}

// Pair returns the tokens of two texts, such as a query and a passage for a
// cross-encoder, as [ModelTokenizer.Single] does for one.
func (m *ModelTokenizer) Pair(first, second []int) (ids, types []int) {
	return m.frame.pair.around(first, second)
}

// ReadTokenizer reads a tokenizer from the content of a tokenizer.json, the
// format of Hugging Face's tokenizers. The file's model.type says which:
//
//   - WordPiece, with the normalizer BertNormalizer and the pre-tokenizer
//     BertPreTokenizer.
//   - Unigram (Kudo 2018, "Subword regularization"), with byte_fallback or
//     without, with any of the normalizers BertNormalizer, Lowercase, NFC, NFD,
//     NFKC, NFKD, Nmt, Precompiled, Prepend, Replace, Sequence, Strip and
//     StripAccents, or none, and of the pre-tokenizers Metaspace, WhitespaceSplit
//     and Sequence, or none.
//
// A text that the normalizers make more than 64 times as long is cut off there.
// Regular expressions must be those of package regexp, which has no look-around.
//
// Added tokens must be looked for in the text as it is: single_word and
// normalized must be false. The post_processor must be TemplateProcessing,
// BertProcessing or RobertaProcessing, or a Sequence with one of them, or be
// missing. What the file says about truncation and padding is ignored. Everything
// else is an error that names the field.
//
// The name is what String returns, for the names of chunkers: one or more
// letters, digits or characters of "._-".
func ReadTokenizer(name string, content []byte) (*ModelTokenizer, error) {
	if name == "" || plainWord(name) != name {
		return nil, fmt.Errorf("tokenizer: name is %q: want letters, digits and characters of \"._-\"", name)
	}
	m, err := parseTokenizer(content)
	if err != nil {
		return nil, fmt.Errorf("reading the tokenizer.json of %s: %w", name, err)
	}
	m.name = name
	return m, nil
}
