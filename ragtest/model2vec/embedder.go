package model2vec

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/rageval/rageval/chunkers/tokens"
	"github.com/rageval/rageval/internal/parallel"
	"github.com/rageval/rageval/ragtest"
)

// Embedder is a [ragtest.Embedder] on a static model: the vector of a text is the
// mean of those of its tokens. [Open] makes one. It is safe for concurrent use,
// as long as MaxTokens is set before.
//
// A vector is made as Model2Vec makes it:
//
//  1. Of the text, the first MaxTokens times the median length of the
//     vocabulary's tokens, counted in characters, are cut into tokens. None are
//     added at its ends.
//  2. Unknown tokens are dropped. Of the others, the first MaxTokens count.
//  3. The vector is the mean of their rows, each multiplied by the token's weight
//     if the model has weights.
//  4. It is divided by its Euclidean length if config.json says so.
//
// A text without a known token, such as the empty one, has the zero vector, which
// is similar to nothing. Sums are formed in float64, in the order of the tokens,
// so that the same text has the same vector on every machine, whatever else is
// embedded at the time.
type Embedder struct {
	// MaxTokens is how many tokens of a text count. 0 means 512, as in
	// Model2Vec; a negative number, all. The tokens that count and the texts that
	// were cut short are in the diagnostics of an evaluation: see [ragtest.Usage].
	MaxTokens int

	name       string
	tokenizer  *tokens.ModelTokenizer
	rows       matrix
	mapping    []int32   // of tokens to rows; nil: each token has its own
	weights    []float64 // of tokens; nil: 1
	normalizes bool
}

const defaultMaxTokens = 512

// String returns a name such as model2vec/potion-base-2M, with /maxtokens= and
// their number unless MaxTokens is 0.
func (e *Embedder) String() string {
	name := "model2vec/" + e.name
	if e.MaxTokens != 0 {
		name += fmt.Sprintf("/maxtokens=%d", max(e.MaxTokens, -1))
	}
	return name
}

// Dimension returns the number of components of the vectors.
func (e *Embedder) Dimension() int { return e.rows.dim }

// Tokenizer returns the model's tokenizer, for instance to measure chunks in what
// the model counts: see [tokens.Length].
func (e *Embedder) Tokenizer() *tokens.ModelTokenizer { return e.tokenizer }

// batch is the number of texts that one goroutine embeds at a time.
const batch = 32

// Embed returns one vector of [Embedder.Dimension] components for each text.
// Bytes that are not UTF-8 are taken for U+FFFD. The error is the context's,
// unless e was not made by Open.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if e.tokenizer == nil {
		return nil, errors.New("model2vec.Embedder: there is no model: want what Open returned")
	}
	vectors := make([][]float32, len(texts))
	usage := make([]ragtest.Usage, (len(texts)+batch-1)/batch)
	err := parallel.Do(ctx, runtime.GOMAXPROCS(0), len(usage), func(ctx context.Context, i int) error {
		first, end := i*batch, min((i+1)*batch, len(texts))
		components := make([]float32, (end-first)*e.rows.dim)
		w := works.Get().(*work)
		defer works.Put(w)
		for j := first; j < end && ctx.Err() == nil; j++ {
			vectors[j], components = components[:e.rows.dim:e.rows.dim], components[e.rows.dim:]
			n, truncated := e.embed(w, texts[j], vectors[j])
			usage[i].Tokens += n
			if truncated {
				usage[i].Truncated++
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("embedding %d texts: %w", len(texts), err)
	}
	total := ragtest.Usage{Component: "model2vec", Model: e.name, Calls: 1}
	for _, u := range usage {
		total.Tokens += u.Tokens
		total.Truncated += u.Truncated
	}
	if len(texts) > 0 {
		ragtest.CountUsage(ctx, total)
	}
	return vectors, nil
}

// work is what embedding a text needs, kept for the next one.
type work struct {
	ids []int
	sum []float64
}

var works = sync.Pool{New: func() any { return new(work) }}

// embed sets v to the vector of text. It returns the number of
// tokens that count and whether the text was cut short.
func (e *Embedder) embed(w *work, text string, v []float32) (n int, truncated bool) {
	most := e.MaxTokens
	if most == 0 {
		most = defaultMaxTokens
	}
	if most > 0 {
		text, truncated = cutChars(text, most, max(e.tokenizer.MedianLength(), 1))
	}
	ids := e.tokenizer.AppendIDs(w.ids[:0], text)
	w.ids = ids
	if unknown, ok := e.tokenizer.Unknown(); ok {
		ids = slices.DeleteFunc(ids, func(id int) bool { return id == unknown })
	}
	if most > 0 && len(ids) > most {
		ids, truncated = ids[:most], true
	}
	w.sum = slices.Grow(w.sum[:0], len(v))[:len(v)]
	clear(w.sum)
	for _, id := range ids {
		row, weight := e.rowOf(id)
		e.rows.add(w.sum, row, weight)
	}
	divisor := float64(max(len(ids), 1))
	if e.normalizes {
		divisor = lengthOf(w.sum)
	}
	for i, x := range w.sum {
		v[i] = float32(x / divisor)
	}
	return len(ids), truncated
}

// cutChars returns the first tokens·length characters of text, and whether there
// are more.
func cutChars(text string, tokens, length int) (string, bool) {
	if tokens > len(text)/length {
		return text, false
	}
	most := tokens * length
	for i := range text {
		if most == 0 {
			return text[:i], true
		}
		most--
	}
	return text, false
}

// rowOf returns the row and the weight of a token.
func (e *Embedder) rowOf(id int) (row int, weight float64) {
	row, weight = id, 1
	if e.mapping != nil {
		row = int(e.mapping[id])
	}
	if e.weights != nil {
		weight = e.weights[id]
	}
	return row, weight
}

// lengthOf divides v by its greatest magnitude, so that no square vanishes, and
// returns its Euclidean length then: 1 for the zero vector.
func lengthOf(v []float64) float64 {
	peak := 0.0
	for _, x := range v {
		peak = max(peak, math.Abs(x))
	}
	if peak == 0 {
		return 1
	}
	squares := 0.0
	for i := range v {
		v[i] /= peak
		squares += float64(v[i] * v[i])
	}
	return math.Sqrt(squares)
}
