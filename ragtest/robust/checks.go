package robust

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"github.com/rageval/rageval/spans"
)

// All returns the checks that need nothing else: typos, upper and lower case, the
// phrasings of [Phrasings], shuffled documents, and one more chunk.
func All() []Check {
	list := []Check{Typos(), UpperCase(), LowerCase()}
	list = append(list, Phrasings()...)
	return append(list, ShuffledDocuments(), NextK())
}

// Typos is the check that words are mistyped: of the words of four or more letters a
// quarter, at least one, has a letter within exchanged with the next, left out or
// doubled. Which, follows from the text alone.
func Typos() Check { return Check{name: "typos", rewrite: mistype} }

func mistype(text string) string {
	h := fnv.New64a()
	h.Write([]byte(text))
	random := rand.New(rand.NewPCG(h.Sum64(), 0x7479706f))
	runes := []rune(text)
	type word struct{ start, end int }
	var words []word
	for i := 0; i < len(runes); {
		end := i
		for end < len(runes) && unicode.IsLetter(runes[end]) {
			end++
		}
		if end-i >= 4 {
			words = append(words, word{i, end})
		}
		i = max(end, i+1)
	}
	random.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	words = words[:(len(words)+3)/4]
	// From the last to the first, so that places stay.
	slices.SortFunc(words, func(a, b word) int { return b.start - a.start })
	for _, w := range words {
		at := w.start + 1 + random.IntN(w.end-w.start-2)
		switch random.IntN(3) {
		case 0:
			runes[at], runes[at+1] = runes[at+1], runes[at]
		case 1:
			runes = slices.Delete(runes, at, at+1)
		default:
			runes = slices.Insert(runes, at, runes[at])
		}
	}
	return string(runes)
}

// UpperCase is the check that queries are in capital letters.
func UpperCase() Check { return Check{name: "upper case", rewrite: strings.ToUpper} }

// LowerCase is the check that queries are in small letters.
func LowerCase() Check { return Check{name: "lower case", rewrite: strings.ToLower} }

// Phrasing is the check that queries are phrased by a template, in which %s stands
// for the query: "Please tell me: %s". It panics unless there is exactly one.
func Phrasing(template string) Check {
	before, after, ok := strings.Cut(template, "%s")
	if !ok || strings.Contains(after, "%s") {
		panic(fmt.Sprintf("robust.Phrasing: template %q: want %%s exactly once", template))
	}
	return Check{name: "phrasing " + template, rewrite: func(query string) string { return before + query + after }}
}

// Phrasings returns checks by some templates in English: a polite one, one that
// says why, and one with an instruction.
func Phrasings() []Check {
	return []Check{Phrasing("Could you please tell me: %s"), Phrasing("I am writing a report. %s"), Phrasing("%s Answer in one sentence.")}
}

// Rewrite is the check of a rewriting of queries of your own, such as paraphrases
// that were written before. The function must be pure and must not return "".
func Rewrite(name string, rewrite func(query string) string) Check {
	return Check{name: name, rewrite: rewrite, own: new(ownership)}
}

// Distractors is the check that the corpus has further documents, which answer no
// query. Their IDs must be new.
func Distractors(docs ...*spans.Document) Check {
	return Check{name: fmt.Sprintf("%d distractors", len(docs)), own: new(ownership), documents: func(c *spans.Corpus) ([]*spans.Document, error) {
		return append(slices.Collect(c.All()), docs...), nil
	}}
}

// ShuffledDocuments is the check that documents are added in another order. What is
// retrieved should depend on it only between chunks of equal score.
func ShuffledDocuments() Check {
	return Check{name: "shuffled documents", documents: func(c *spans.Corpus) ([]*spans.Document, error) {
		docs := slices.Collect(c.All())
		random := rand.New(rand.NewPCG(uint64(len(docs)), 0x73687566))
		random.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
		return docs, nil
	}}
}

// NextK is the check that one more chunk is retrieved: the first K should stay as
// they are. Approximate indexes and fused rankings may fail it.
func NextK() Check { return Check{name: "K+1", moreK: 1} }
