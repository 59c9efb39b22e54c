package lexical

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/rageval/rageval/internal/parallel"
	"github.com/rageval/rageval/spans"
)

// Embedder is a [ragtest.Embedder] that needs no model, no download and no key:
// it hashes the words of a text. The zero value is ready for use. An Embedder
// is an immutable value, comparable, and safe for concurrent use.
//
// Texts are similar if they share words, or parts of words; the embedder knows
// no synonyms. A vector is made as follows:
//
//  1. The text is cut into terms, as the package documentation says. Stop words
//     are dropped.
//  2. A term that occurs f times weighs 2.2·f/(f+1.2): the saturation of BM25
//     with k1 = 1.2 (Robertson & Zaragoza 2009, §3.4.4), which grows less and
//     less. A fitted embedder (see [Embedder.Fit]) multiplies by the square
//     root of the term's inverse document frequency, so that a product of two
//     vectors holds that frequency once, as BM25 does.
//  3. The term's hash selects a component of the vector and a sign, and the
//     weight is added there (Weinberger et al. 2009, "Feature hashing for large
//     scale multitask learning").
//  4. So are the 3-, 4- and 5-grams of the term's characters, a mark before the
//     first and after the last included (Bojanowski et al. 2017), each with a
//     quarter of the term's weight. They relate forms of a word that the stemmer
//     does not, in languages other than English above all. Terms that are
//     characters and pairs already have none.
//  5. The vector is divided by its Euclidean length.
//
// A text without any term, for instance an empty one or one of stop words
// alone, has the zero vector, which is similar to nothing.
//
// Vectors are the same on every machine and do not depend on the other texts of
// a call or on earlier calls: terms are added in the order in which they first
// occur, and every product and sum is rounded by itself.
//
// Time is linear in the length of the texts. Batches are spread over the
// processors.
type Embedder struct {
	Dim int // components of the vectors; 0: 2048. Fewer make more terms collide

	fitted *frequencies // nil: every term is equally frequent
}

const defaultDim = 2048

// Validate returns an error if Dim is negative.
func (e Embedder) Validate() error {
	if e.Dim < 0 {
		return fmt.Errorf("lexical.Embedder: Dim is %d: want 0, which means %d, or more", e.Dim, defaultDim)
	}
	return nil
}

// String returns "lexical", with /dim= and the dimension unless Dim is 0, and
// with /fitted= and the first 12 digits of the corpus's fingerprint if the
// embedder is fitted.
func (e Embedder) String() string {
	var b strings.Builder
	b.WriteString("lexical")
	if e.Dim != 0 {
		fmt.Fprintf(&b, "/dim=%d", e.Dim)
	}
	if e.fitted != nil {
		fmt.Fprintf(&b, "/fitted=%s", e.fitted.fingerprint[:12])
	}
	return b.String()
}

// Fit returns an embedder that knows how frequent terms are in the corpus, and
// weighs rare ones more. It is not changed by what it embeds afterwards. Chunks
// and queries must be embedded by the same fitted embedder.
//
// Frequencies are counted over passages of 100 terms, for a corpus has often
// few documents. A nil corpus, or one without any term, gives an embedder that
// is not fitted.
func (e Embedder) Fit(corpus *spans.Corpus) Embedder {
	e.fitted = countFrequencies(corpus)
	return e
}

// batch is the number of texts that one goroutine embeds at a time.
const batch = 32

// Embed returns one vector of Dim components for each text. Bytes that are not
// UTF-8 are ignored. The error is that of Validate or the context's.
func (e Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if err := e.Validate(); err != nil {
		return nil, err
	}
	dim := e.Dim
	if dim == 0 {
		dim = defaultDim
	}
	vectors := make([][]float32, len(texts))
	err := parallel.Do(ctx, runtime.GOMAXPROCS(0), (len(texts)+batch-1)/batch, func(ctx context.Context, i int) error {
		first, end := i*batch, min((i+1)*batch, len(texts))
		components := make([]float32, (end-first)*dim)
		h := hashers.Get().(*hasher)
		for j := first; j < end && ctx.Err() == nil; j++ {
			vectors[j], components = components[:dim:dim], components[dim:]
			h.embed(texts[j], e.fitted, vectors[j])
			if h.full() {
				h = newHasher()
			}
		}
		hashers.Put(h)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("embedding %d texts: %w", len(texts), err)
	}
	return vectors, nil
}

// hashers keeps lexicons from call to call, so that the terms of a corpus are
// stemmed and hashed about once. It never changes a result.
var hashers = sync.Pool{New: func() any { return newHasher() }}

// hasher is a lexicon that knows the features of its terms.
type hasher struct {
	*lexicon
	features []uint32 // of all terms that were embedded; see newFeature
	ends     []int    // where the features of each of them end
}

func newHasher() *hasher { return &hasher{lexicon: newLexicon()} }

// full reports whether the hasher has grown so large that it should be dropped.
func (h *hasher) full() bool { return len(h.byToken) > 1<<16 || len(h.features) > 1<<20 }

const gramWeight = 0.25

// embed adds the features of text to the zero vector v and normalises it.
func (h *hasher) embed(text string, fitted *frequencies, v []float32) {
	h.count(text)
	for _, term := range h.distinct {
		weight := saturation(h.counts[term])
		features := h.termFeatures(term)
		if fitted != nil {
			weight = float32(weight * fitted.weight(h.terms[term]))
		}
		add(v, features[:1], weight)
		add(v, features[1:], float32(weight*gramWeight))
	}
	normalise(v)
}

// termFeatures returns the features of a term, that of the term itself first.
// Terms must be asked for in the order of their numbers the first time.
func (h *hasher) termFeatures(term int32) []uint32 {
	for i := len(h.ends); i <= int(term); i++ {
		text := h.terms[i]
		h.features = append(h.features, newFeature(hashText(text)))
		if r, _ := utf8.DecodeRuneInString(text); !isPaired(r) {
			h.features = appendGrams(h.features, text)
		}
		h.ends = append(h.ends, len(h.features))
	}
	start := 0
	if term > 0 {
		start = h.ends[term-1]
	}
	return h.features[start:h.ends[term]]
}

// saturation returns 2.2·f/(f+1.2). Its operations are exactly rounded by
// IEEE 754, on every machine alike.
func saturation(f int32) float32 {
	x := float64(f)
	return float32(float64(2.2*x) / float64(x+1.2))
}

// A feature is the upper 31 bits of a hash, which select a component, and a bit
// that is the sign.
func newFeature(hash uint64) uint32 { return uint32(hash >> 32) }

func add(v []float32, features []uint32, weight float32) {
	dim, bits := uint64(len(v)), math.Float32bits(weight)
	for _, f := range features {
		v[uint64(f>>1)*dim>>31] += math.Float32frombits(bits ^ f<<31)
	}
}

// normalise divides v by its length. The squares are summed in four lanes, for
// speed; which of them a component belongs to is fixed, and so is the result.
func normalise(v []float32) {
	var lanes [4]float64
	rest := v
	for ; len(rest) >= 4; rest = rest[4:] {
		lanes[0] += float64(float64(rest[0]) * float64(rest[0]))
		lanes[1] += float64(float64(rest[1]) * float64(rest[1]))
		lanes[2] += float64(float64(rest[2]) * float64(rest[2]))
		lanes[3] += float64(float64(rest[3]) * float64(rest[3]))
	}
	for i, x := range rest {
		lanes[i] += float64(float64(x) * float64(x))
	}
	sum := (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
	if sum == 0 {
		return
	}
	factor := 1 / math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) * factor)
	}
}

// hashSeed and hashFactor are those of 64-bit FNV-1a.
const (
	hashSeed   = 0xCBF29CE484222325
	hashFactor = 0x100000001B3
	gramSeed   = 0x9E3779B97F4A7C15 // keeps grams and terms of equal text apart
)

func hashText(text string) uint64 {
	h := uint64(hashSeed)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * hashFactor
	}
	return mix(h)
}

// mix spreads every bit of a hash over all of them, as the finaliser of
// MurmurHash3 does.
func mix(h uint64) uint64 {
	h = (h ^ h>>33) * 0xFF51AFD7ED558CCD
	h = (h ^ h>>33) * 0xC4CEB9FE1A85EC53
	return h ^ h>>33
}

const (
	minGram = 3
	maxGram = 5
	edge    = '^' // marks both ends of a term; no term holds it
)

// appendGrams appends the features of the character n-grams of text, each hash
// continuing that of the gram one character shorter.
func appendGrams(features []uint32, text string) []uint32 {
	var buf [maxWord + 8]rune
	chars := append(buf[:0], edge)
	for _, r := range text {
		chars = append(chars, r)
	}
	chars = append(chars, edge)
	for i := range chars {
		h := uint64(gramSeed)
		for n, r := range chars[i:min(i+maxGram, len(chars))] {
			h = (h ^ uint64(r)) * hashFactor
			if n+1 >= minGram {
				features = append(features, newFeature(mix(h)))
			}
		}
	}
	return features
}
