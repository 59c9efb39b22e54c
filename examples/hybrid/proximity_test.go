package hybrid

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"

	"github.com/rageval/rageval/ragtest"
)

// proximity is a reranker that looks where the words of the query stand: the
// score of a chunk is the share of the query that its best window holds, by the
// weights of the words. A word weighs more the fewer of the candidates have it,
// by BM25's formula. It reads no meaning, but it sees what a bag of words does
// not: whether words are said together.
type proximity struct{}

// window is how many words, without stop words, are read together: two sentences
// or so. Between 15 and 40 it makes little difference.
const window = 25

func (proximity) String() string { return "proximity" }

// Rerank returns all chunks, those of equal score in the order given.
func (proximity) Rerank(ctx context.Context, query string, chunks []ragtest.ScoredChunk[chunk]) ([]ragtest.ScoredChunk[chunk], error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	texts := make([][]string, len(chunks))
	having := map[string]int{} // how many candidates have the word
	for i, c := range chunks {
		texts[i] = words(c.Chunk.Text)
		for _, word := range distinct(texts[i]) {
			having[word]++
		}
	}
	asked := distinct(words(query))
	weights := map[string]float64{}
	total := 0.0
	for _, word := range asked {
		n, df := float64(len(chunks)), float64(having[word])
		weights[word] = math.Log(1 + (n-df+0.5)/(df+0.5))
		total += weights[word]
	}
	reranked := slices.Clone(chunks)
	for i, text := range texts {
		best := 0.0
		for start, word := range text {
			if weights[word] > 0 {
				best = max(best, held(text[start:min(start+window, len(text))], asked, weights))
			}
		}
		reranked[i].Score = 0
		if total > 0 {
			reranked[i].Score = best / total
		}
	}
	slices.SortStableFunc(reranked, func(a, b ragtest.ScoredChunk[chunk]) int { return cmp.Compare(b.Score, a.Score) })
	return reranked, nil
}

// held returns the weight of the words asked for that are among the words.
func held(words, asked []string, weights map[string]float64) float64 {
	sum := 0.0
	for _, word := range asked {
		if slices.Contains(words, word) {
			sum += weights[word]
		}
	}
	return sum
}

// words returns the stems of the text's words, without those that every text
// has.
func words(text string) []string {
	var all []string
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if !english.IsStopWord(word) {
			all = append(all, english.Stem(word, true))
		}
	}
	return all
}

// distinct returns each word once, in the order of the first.
func distinct(words []string) []string {
	var once []string
	for _, word := range words {
		if !slices.Contains(once, word) {
			once = append(once, word)
		}
	}
	return once
}
