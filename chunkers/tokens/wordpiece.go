package tokens

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

// WordPiece is the tokenizer of BERT and of most small embedding models, such
// as all-MiniLM-L6-v2, read from a tokenizer.json by [NewWordPiece].
//
// It normalises the text, cuts it into words at white space and punctuation,
// and each word into the longest tokens it begins with, from left to right. A
// word for which that fails, or that is too long, is one unknown token. Special
// tokens that stand in the text, such as [SEP], are tokens too, but none are
// added at its ends, and nothing is truncated or padded.
//
// Positions are those of the original text: a token goes from the first
// character it came from to the end of the last. A character that becomes
// several belongs to the token of the first of them, and what is removed after a
// character, such as its accents, to that character. White space belongs to no
// token.
//
// It is immutable and safe for concurrent use.
type WordPiece struct{ ModelTokenizer }

// NewWordPiece reads a WordPiece tokenizer as [ReadTokenizer] does. Its Single
// and Pair add no tokens: what the file says of them is not read.
func NewWordPiece(name string, content []byte) (*WordPiece, error) {
	if name == "" || plainWord(name) != name {
		return nil, fmt.Errorf("WordPiece tokenizer: name is %q: want letters, digits and characters of \"._-\"", name)
	}
	file, err := parseFile(content)
	if err == nil && file.Model.Type != "WordPiece" {
		err = fmt.Errorf("model.type is %q: want WordPiece", file.Model.Type)
	}
	var m *ModelTokenizer
	if err == nil {
		m, err = file.tokenizer()
	}
	if err != nil {
		return nil, fmt.Errorf("reading the tokenizer.json of %s: %w", name, err)
	}
	m.name = name
	return &WordPiece{*m}, nil
}

// wordpieceModel is the model of a WordPiece tokenizer, with BERT's normalizer
// and pre-tokenizer.
type wordpieceModel struct {
	bertRules
	initial  *trie // tokens that begin a word
	inner    *trie // tokens that continue a word, without their prefix
	unknown  int
	maxChars int // of a word, after normalisation

	class   [256]byteClass
	lowered [256]byte // of the bytes in words
	runs    sync.Pool // of *wordpieceRun, for appendIDs
}

// byteClass says what a byte of a text is.
type byteClass uint8

const (
	byteOther byteClass = iota // in a character that is not ASCII, or not printable
	byteSpace                  // ends a word, whatever the rules are
	byteMark                   // is a word by itself
	byteWord
)

func newWordpieceModel(vocabulary map[string]int, prefix string, unknown, maxChars int, rules bertRules) *wordpieceModel {
	var initial, inner []trieEntry
	for token, id := range vocabulary {
		if token != "" {
			initial = append(initial, trieEntry{token, int32(id)})
		}
		if rest, ok := strings.CutPrefix(token, prefix); ok && rest != "" {
			inner = append(inner, trieEntry{rest, int32(id)})
		}
	}
	w := &wordpieceModel{
		bertRules: rules,
		initial:   newTrie(initial),
		inner:     newTrie(inner),
		unknown:   unknown,
		maxChars:  maxChars,
	}
	for c := rune('!'); c <= '~'; c++ {
		w.class[c], w.lowered[c] = byteWord, byte(w.lower(c))
		if isPunctuation(c) {
			w.class[c] = byteMark
		}
	}
	for _, c := range "\t\n\r " {
		w.class[c] = byteSpace
	}
	w.runs.New = func() any {
		run := &wordpieceRun{wordpieceModel: w}
		run.yield = func(id, _, _ int) bool {
			run.ids = append(run.ids, id)
			return true
		}
		return run
	}
	return w
}

func (w *wordpieceModel) tokenize(text string, offset int, yield func(id, start, end int) bool) bool {
	run := wordpieceRun{wordpieceModel: w, yield: yield}
	run.plain(text, offset)
	return !run.stopped
}

// appendIDs needs no places. Where a text is printable ASCII up to the next
// white space, it goes byte by byte; elsewhere it does what tokenize does.
func (w *wordpieceModel) appendIDs(ids []int, text string, _ int) []int {
	run := w.runs.Get().(*wordpieceRun)
	run.ids = ids
	start, first := 0, len(ids) // of what follows the last white space, and its tokens
	for i := 0; i < len(text); i++ {
		switch c := text[i]; w.class[c] {
		case byteWord:
			run.text = append(run.text, w.lowered[c])
		case byteMark:
			run.flushASCII()
			run.text = append(run.text, c)
			run.flushASCII()
		case byteSpace:
			run.flushASCII()
			start, first = i+1, len(run.ids)
		case byteOther:
			run.text, run.ids = run.text[:0], run.ids[:first]
			for i++; i < len(text) && w.class[text[i]] != byteSpace; i++ {
			}
			run.plain(text[start:i], 0)
			start, first = i+1, len(run.ids) // what is at i, if anything, is white space
		}
	}
	run.flushASCII()
	ids, run.ids = run.ids, nil
	w.runs.Put(run)
	return ids
}

// wordpieceRun is one run over a text: the word under construction.
type wordpieceRun struct {
	*wordpieceModel
	yield   func(id, start, end int) bool
	stopped bool  // yield wants no more
	ids     []int // of all tokens, in appendIDs

	// The word after normalisation. Its character i is text[starts[i]:] up to
	// the next one, and came from the original's bytes [from[i], to[i]).
	text             []byte
	starts, from, to []int
	isolated         bool // it is a word by itself: nothing joins it

	pieces []wordpiece // of the word, while it is cut
	nfd    []byte      // of a character
}

// wordpiece is a token and the byte of the word after its last one.
type wordpiece struct{ id, end int }

// flushASCII appends the IDs of the word's tokens and begins the next word.
func (r *wordpieceRun) flushASCII() {
	if len(r.text) == 0 {
		return
	}
	r.cut(len(r.text))
	for _, p := range r.pieces {
		r.ids = append(r.ids, p.id)
	}
	r.text = r.text[:0]
}

// plain yields the tokens of a text without added tokens, which begins at byte
// offset of the original.
func (r *wordpieceRun) plain(text string, offset int) {
	for i := 0; i < len(text) && !r.stopped; {
		c, n := utf8.DecodeRuneInString(text[i:])
		from, to := offset+i, offset+i+n
		switch {
		case r.cleans && isRemoved(c):
			r.extend(to)
		case c < utf8.RuneSelf:
			r.add(r.lower(c), from, to, false)
		case r.stripsAccents:
			chinese := r.separatesChinese && isChinese(c)
			r.nfd = appendNFD(r.nfd[:0], c)
			for decomposed := r.nfd; len(decomposed) > 0; {
				d, size := utf8.DecodeRune(decomposed)
				decomposed = decomposed[size:]
				if isNonspacingMark(d) {
					r.extend(to)
					continue
				}
				r.add(r.lower(d), from, to, chinese)
				from = to
			}
		case c == 'İ' && r.lowers: // the only character that becomes two
			r.add('i', from, to, false)
			r.add('\u0307', to, to, false)
		default:
			r.add(r.lower(c), from, to, r.separatesChinese && isChinese(c))
		}
		i += n
	}
	r.flush()
}

// add adds a normalised character, which came from the original's bytes
// [from, to), to the word, or ends the word.
func (r *wordpieceRun) add(c rune, from, to int, isolated bool) {
	if isSpace(c) {
		r.flush()
		return
	}
	isolated = isolated || isPunctuation(c)
	if isolated || r.isolated {
		r.flush()
	}
	r.isolated = isolated
	r.starts = append(r.starts, len(r.text))
	r.text = utf8.AppendRune(r.text, c)
	r.from, r.to = append(r.from, from), append(r.to, to)
}

// extend makes what was removed part of the character before it.
func (r *wordpieceRun) extend(to int) {
	if len(r.to) > 0 {
		r.to[len(r.to)-1] = to
	}
}

// flush yields the tokens of the word and begins the next one.
func (r *wordpieceRun) flush() {
	if len(r.starts) > 0 && !r.stopped {
		r.cut(len(r.starts))
		first, next := 0, 0 // characters
		for _, p := range r.pieces {
			for next < len(r.starts) && r.starts[next] < p.end {
				next++
			}
			r.stopped = !r.yield(p.id, r.from[first], r.to[next-1])
			first = next
			if r.stopped {
				break
			}
		}
	}
	r.text, r.starts, r.from, r.to, r.isolated = r.text[:0], r.starts[:0], r.from[:0], r.to[:0], false
}

// cut sets pieces to the tokens of the word, which has the given number of
// characters. Tokens end where characters do, for all are valid UTF-8.
func (r *wordpieceRun) cut(chars int) {
	r.pieces = r.pieces[:0]
	vocabulary := r.initial
	for start := 0; start < len(r.text); vocabulary = r.inner {
		id, length := vocabulary.longest(r.text[start:])
		if length == 0 || chars > r.maxChars {
			r.pieces = append(r.pieces[:0], wordpiece{r.unknown, len(r.text)})
			return
		}
		start += length
		r.pieces = append(r.pieces, wordpiece{int(id), start})
	}
}
