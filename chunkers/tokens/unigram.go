package tokens

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"unicode/utf8"
)

// unigramModel is the model of a Unigram tokenizer (Kudo 2018, "Subword
// regularization", §3.2): of all ways to cut a text into tokens, that with the
// greatest sum of scores, which are logarithms of probabilities.
type unigramModel struct {
	normalizers   []normalizer
	preTokenizers []preTokenizer
	needsPlaces   bool // for the pre-tokenizers

	tokens       *trie
	scores       []float64
	unknown      int
	unknownScore float64
	bytes        []int32 // the tokens of the 256 bytes, -1 where there is none; nil: no byte fallback
	runs         sync.Pool
}

// unknownPenalty is how much less than the worst token's an unknown character's
// score is.
const unknownPenalty = 10

func newUnigramModel(vocabulary []scoredToken, unknown int, byteFallback bool) *unigramModel {
	u := &unigramModel{unknown: unknown, unknownScore: math.Inf(1)}
	entries := make([]trieEntry, 0, len(vocabulary))
	for id, t := range vocabulary {
		if t.text != "" {
			entries = append(entries, trieEntry{t.text, int32(id)})
		}
		u.scores = append(u.scores, t.score)
		u.unknownScore = min(u.unknownScore, t.score)
	}
	u.unknownScore -= unknownPenalty
	u.tokens = newTrie(entries)
	if byteFallback {
		for b := range 256 {
			u.bytes = append(u.bytes, u.tokens.get(fmt.Appendf(nil, "<0x%02X>", b)))
		}
	}
	u.runs.New = func() any { return &unigramRun{unigramModel: u} }
	return u
}

func (u *unigramModel) tokenize(text string, offset int, yield func(id, start, end int) bool) bool {
	run := u.runs.Get().(*unigramRun)
	defer u.runs.Put(run)
	run.prepare(text, offset, true)
	for _, part := range run.parts {
		for piece := range run.cut(part) {
			for _, id := range run.idsOf(piece) {
				if !yield(id, run.text.from[piece.start], run.text.to[piece.end-1]) {
					return false
				}
			}
		}
	}
	return true
}

func (u *unigramModel) appendIDs(ids []int, text string, offset int) []int {
	run := u.runs.Get().(*unigramRun)
	defer u.runs.Put(run)
	run.prepare(text, offset, u.needsPlaces)
	for _, part := range run.parts {
		for piece := range run.cut(part) {
			ids = append(ids, run.idsOf(piece)...)
		}
	}
	return ids
}

// unigramRun is one run over a text.
type unigramRun struct {
	*unigramModel
	text  normalText
	parts []part

	best   []bestPath // to each byte of a part
	pieces []piece    // of the best path, the last one first
	ids    []int      // of one piece
}

// part is text.text[start:end], which is cut into tokens by itself.
type part struct{ start, end int }

// piece is a token: text.text[start:end], or several unknown characters.
type piece struct {
	part
	id int
}

// bestPath is the best way to cut a part up to some byte: the last token.
type bestPath struct {
	score  float64
	id     int32
	length int32 // 0: there is no way
}

// prepare normalises text, which begins at byte offset of the original, and cuts
// it into parts.
func (r *unigramRun) prepare(text string, offset int, places bool) {
	r.text.reset(text, offset, places)
	for _, n := range r.normalizers {
		n.normalize(&r.text)
	}
	r.parts = r.parts[:0]
	if len(r.text.text) > 0 {
		r.parts = append(r.parts, part{0, len(r.text.text)})
	}
	for _, p := range r.preTokenizers {
		r.parts = p.split(&r.text, r.parts)
	}
}

// cut yields the tokens of a part. Of two paths to a byte with equal scores, that
// with the longer last token is taken: it is found first.
func (r *unigramRun) cut(p part) func(yield func(piece) bool) {
	text := r.text.text[p.start:p.end]
	r.best = slices.Grow(r.best[:0], len(text)+1)[:len(text)+1]
	clear(r.best)
	reach := func(start, end int, id int32, score float64) {
		score += r.best[start].score
		if b := &r.best[end]; b.length == 0 || score > b.score {
			*b = bestPath{score, id, int32(end - start)}
		}
	}
	for start := 0; start < len(text); {
		_, size := utf8.DecodeRune(text[start:])
		known, node := false, int32(0)
		for i := start; i < len(text); i++ {
			if node = r.tokens.next(node, text[i]); node == 0 {
				break
			}
			if id := r.tokens.values[node]; id >= 0 {
				reach(start, i+1, id, r.scores[id])
				known = known || i+1 == start+size
			}
		}
		if !known {
			reach(start, start+size, int32(r.unknown), r.unknownScore)
		}
		start += size
	}
	r.pieces = r.pieces[:0]
	for end := len(text); end > 0; {
		b := r.best[end]
		start, id := end-int(b.length), int(b.id)
		if n := len(r.pieces); n > 0 && id == r.unknown && r.pieces[n-1].id == id {
			r.pieces[n-1].start = p.start + start // neighbours that are unknown are one token
		} else {
			r.pieces = append(r.pieces, piece{part{p.start + start, p.start + end}, id})
		}
		end = start
	}
	return func(yield func(piece) bool) {
		for _, piece := range slices.Backward(r.pieces) {
			if !yield(piece) {
				return
			}
		}
	}
}

// idsOf returns the IDs of a piece, until the next call: more than one for an
// unknown one whose bytes are tokens.
func (r *unigramRun) idsOf(p piece) []int {
	r.ids = r.ids[:0]
	if p.id == r.unknown {
		text := r.text.text[p.start:p.end]
		if id := r.tokens.get(text); id >= 0 { // unknown characters may make a token that is worse than they
			r.ids = append(r.ids, int(id))
			return r.ids
		}
		for _, b := range text {
			if r.bytes == nil || r.bytes[b] < 0 {
				r.ids = r.ids[:0]
				break
			}
			r.ids = append(r.ids, int(r.bytes[b]))
		}
	}
	if len(r.ids) == 0 {
		r.ids = append(r.ids, p.id)
	}
	return r.ids
}
