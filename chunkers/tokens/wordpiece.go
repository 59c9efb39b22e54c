package tokens

import (
	"iter"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
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
type WordPiece struct {
	name     string
	initial  map[string]int // tokens that begin a word, with their IDs
	inner    map[string]int // tokens that continue a word, without their prefix
	longest  int            // bytes of the longest of both
	unknown  int
	maxChars int // of a word, after normalisation
	special  []specialToken

	cleans, separatesChinese, stripsAccents, lowers bool
}

// specialToken is a token that is looked for in the text as it is.
type specialToken struct {
	text string
	id   int
}

// String returns the name that was given to [NewWordPiece].
func (w *WordPiece) String() string { return w.name }

// Tokens yields where each token of text begins and ends, in bytes. It takes
// time linear in the text.
func (w *WordPiece) Tokens(text string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		w.tokenize(text, func(_, start, end int) bool { return yield(start, end) })
	}
}

// tokenize yields the tokens of text with their IDs.
func (w *WordPiece) tokenize(text string, yield func(id, start, end int) bool) {
	run := wordpieceRun{WordPiece: w, yield: yield}
	places := make([]int, len(w.special)) // where each one is next
	for i := range places {
		places[i] = -1
	}
	for start := 0; start < len(text) && !run.stopped; {
		at, special := w.nextSpecial(text, start, places)
		run.plain(text[start:at], start)
		start = at + len(special.text)
		if special.text != "" && !run.stopped {
			run.emit(special.id, at, start)
		}
	}
}

// nextSpecial returns the first special token from byte start of text on, the
// longest of those at one place, and where it is: the end of text and no token
// if there is none. It keeps places up to date.
func (w *WordPiece) nextSpecial(text string, start int, places []int) (at int, found specialToken) {
	at = len(text)
	for i, s := range w.special {
		if places[i] < start {
			places[i] = len(text)
			if next := strings.Index(text[start:], s.text); next >= 0 {
				places[i] = start + next
			}
		}
		if places[i] < at || places[i] == at && at < len(text) && len(s.text) > len(found.text) {
			at, found = places[i], s
		}
	}
	return at, found
}

// wordpieceRun is one run over a text: the word under construction.
type wordpieceRun struct {
	*WordPiece
	yield   func(id, start, end int) bool
	stopped bool // yield wants no more

	// The word after normalisation. Its character i is text[starts[i]:] up to
	// the next one, and came from the original's bytes [from[i], to[i]).
	text             []byte
	starts, from, to []int
	isolated         bool // it is a word by itself: nothing joins it

	pieces []wordpiece // of the word, while it is cut
}

// wordpiece is a token and the character after its last one.
type wordpiece struct{ id, end int }

// plain yields the tokens of a text without special ones, which begins at byte
// offset of the original.
func (r *wordpieceRun) plain(text string, offset int) {
	var buf [utf8.UTFMax]byte
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
			decomposed := norm.NFD.AppendString(buf[:0], text[i:i+n])
			for len(decomposed) > 0 {
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
		r.cut()
		first := 0
		for _, p := range r.pieces {
			r.emit(p.id, r.from[first], r.to[p.end-1])
			first = p.end
			if r.stopped {
				break
			}
		}
	}
	r.text, r.starts, r.from, r.to, r.isolated = r.text[:0], r.starts[:0], r.from[:0], r.to[:0], false
}

func (r *wordpieceRun) emit(id, start, end int) { r.stopped = !r.yield(id, start, end) }

// cut sets pieces to the tokens of the word.
func (r *wordpieceRun) cut() {
	n := len(r.starts)
	r.pieces = r.pieces[:0]
	if n > r.maxChars {
		r.pieces = append(r.pieces, wordpiece{r.unknown, n})
		return
	}
	vocabulary := r.initial
	for first := 0; first < n; vocabulary = r.inner {
		id, end := r.longestToken(vocabulary, first)
		if end == first {
			r.pieces = append(r.pieces[:0], wordpiece{r.unknown, n})
			return
		}
		r.pieces = append(r.pieces, wordpiece{id, end})
		first = end
	}
}

// longestToken returns the longest token in vocabulary that the word has from
// its character first on, and the character after it: first if there is none.
func (r *wordpieceRun) longestToken(vocabulary map[string]int, first int) (id, end int) {
	start, textEnd := r.starts[first], len(r.text)
	for end = len(r.starts); end > first; end-- {
		if textEnd-start <= r.longest {
			if id, ok := vocabulary[string(r.text[start:textEnd])]; ok {
				return id, end
			}
		}
		textEnd = r.starts[end-1]
	}
	return 0, first
}
