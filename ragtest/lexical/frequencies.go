package lexical

import (
	"math"

	"github.com/rageval/rageval/spans"
)

// frequencies holds a weight for each term of a corpus: the square root of its
// inverse document frequency. It is immutable.
type frequencies struct {
	fingerprint string
	weights     map[string]float32
	unseen      float32 // the weight of terms that the corpus does not hold
}

// passageTerms is the length of a passage, in terms.
const passageTerms = 100

// countFrequencies returns nil if the corpus holds no term.
func countFrequencies(corpus *spans.Corpus) *frequencies {
	if corpus == nil {
		return nil
	}
	l := newLexicon()
	var (
		passages int
		last     []int // the last passage, from 1, that each term occurs in
		in       []int // in how many passages it does
	)
	for doc := range corpus.All() {
		terms := 0
		l.scan(doc.Text(), func(term int32) {
			if terms%passageTerms == 0 {
				passages++
			}
			terms++
			if int(term) == len(last) {
				last, in = append(last, 0), append(in, 0)
			}
			if last[term] != passages {
				last[term] = passages
				in[term]++
			}
		})
	}
	if passages == 0 {
		return nil
	}
	f := &frequencies{
		fingerprint: corpus.Fingerprint(),
		weights:     make(map[string]float32, len(l.terms)),
		unseen:      sqrt(inverseFrequency(passages, 0)),
	}
	for term, text := range l.terms {
		f.weights[text] = sqrt(inverseFrequency(passages, in[term]))
	}
	return f
}

func (f *frequencies) weight(term string) float32 {
	if w, ok := f.weights[term]; ok {
		return w
	}
	return f.unseen
}

// inverseFrequency returns ln(1 + (n-df+0.5)/(df+0.5)), Lucene's inverse
// document frequency, which is never negative, of a term that occurs in df of n
// documents. The last bits of [math.Log] differ between machines; those that
// remain after rounding to 32 bits do not.
func inverseFrequency(n, df int) float32 {
	return float32(math.Log(1 + (float64(n-df)+0.5)/(float64(df)+0.5)))
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }
