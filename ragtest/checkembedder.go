package ragtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/rageval/rageval/internal/excerpt"
)

// CheckEmbedder verifies an embedder, and its EmbedQueries if it is a
// [QueryEmbedder]. Use it in the test of your own embedder:
//
//	if err := ragtest.CheckEmbedder(t.Context(), e); err != nil {
//		t.Error(err)
//	}
//
// It embeds some hundred short texts in about a dozen calls, which a hosted model
// charges a fraction of a cent for. The result is nil if the embedder keeps every
// rule, and otherwise all violations joined, each with the rule's name before it:
//
//   - no texts: there are no vectors and no error, also for a nil slice.
//   - count: there is one vector for each text, also where texts are equal.
//     In this and all rules vectors have one dimension over all calls, those of
//     queries included, which is not 0, and no component is NaN or infinite.
//   - texts: a line of white space, letters of many scripts, emoji, control
//     characters and markup are embedded like any other text.
//   - order: a text has the same vector alone, among others, and in whatever order.
//     "The same" is a cosine similarity of 0.999 at least: hosted models are not
//     exact. For two zero vectors it is 1.
//   - distinct: texts that have no word in common do not all have one vector.
//   - arguments: the texts are not modified, and what the caller writes to the
//     vectors it got does not show in later ones.
//   - concurrency: calls at the same time get what they get alone. Run the test
//     with -race.
//   - cancellation: there is an error if the context is done.
//
// If ctx is done, CheckEmbedder returns its cause together with what it has found.
func CheckEmbedder(ctx context.Context, e Embedder) error {
	c := &embedderCheck{conformance: conformance{ctx: ctx, component: "embedder"}}
	if e == nil || holdsNil(e) {
		return errors.New("checking the embedder: it is nil")
	}
	c.methods = []embedMethod{{"Embed", e.Embed}}
	if q, ok := e.(QueryEmbedder); ok {
		c.methods = append(c.methods, embedMethod{"EmbedQueries", q.EmbedQueries})
	}
	var rules []rule
	for _, r := range []struct {
		name  string
		check func(m embedMethod)
	}{
		{"no texts", c.noTexts},
		{"count", c.count},
		{"texts", c.texts},
		{"order", c.order},
		{"distinct", c.distinct},
		{"arguments", c.arguments},
		{"concurrency", c.concurrency},
		{"cancellation", c.cancellation},
	} {
		rules = append(rules, rule{r.name, func() {
			for _, m := range c.methods {
				r.check(m)
			}
		}})
	}
	return c.run(rules)
}

type embedMethod struct {
	name string
	call func(ctx context.Context, texts []string) ([][]float32, error)
}

type embedderCheck struct {
	conformance
	methods []embedMethod
	dim     int // of the first vector; 0: none yet
}

// embed returns the vectors of the texts; false after a violation.
func (c *embedderCheck) embed(m embedMethod, texts ...string) ([][]float32, bool) {
	vectors, err := m.call(c.ctx, slices.Clone(texts))
	if err != nil {
		c.errorf("%s of %s: %w", m.name, listed(texts), err)
		return nil, false
	}
	return vectors, c.sound(m, texts, vectors)
}

// sound reports whether there is one finite vector of the common dimension for
// each text.
func (c *embedderCheck) sound(m embedMethod, texts []string, vectors [][]float32) bool {
	if len(vectors) != len(texts) {
		c.errorf("%s of %s: got %d vectors for %d texts", m.name, listed(texts), len(vectors), len(texts))
		return false
	}
	for i, v := range vectors {
		if c.dim == 0 {
			c.dim = len(v)
		}
		switch {
		case len(v) == 0:
			c.errorf("%s of %q: got an empty vector", m.name, texts[i])
			return false
		case len(v) != c.dim:
			c.errorf("%s of %q: got a vector of dimension %d, want %d like the first", m.name, texts[i], len(v), c.dim)
			return false
		case !finite(v):
			c.errorf("%s of %q: a component of the vector is NaN or infinite", m.name, texts[i])
			return false
		}
	}
	return true
}

// expect embeds texts together and compares each vector with the one wanted.
func (c *embedderCheck) expect(m embedMethod, why string, texts []string, want map[string][]float32) {
	vectors, ok := c.embed(m, texts...)
	if !ok {
		return
	}
	for i, v := range vectors {
		if s := similarity(v, want[texts[i]]); s < sameVector {
			c.errorf("%s of %q %s: got a vector whose cosine similarity to that from before is %.6g, want at least %v", m.name, texts[i], why, s, sameVector)
			return
		}
	}
}

// sameVector is the cosine similarity from which two vectors count as equal.
const sameVector = 0.999

// similarity returns the cosine similarity of two vectors of one dimension, and 1
// for two zero vectors.
func similarity(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	switch {
	case aa == 0 && bb == 0:
		return 1
	case aa == 0 || bb == 0:
		return 0
	}
	return dot / math.Sqrt(aa) / math.Sqrt(bb)
}

var plainTexts = []string{
	"The cat sleeps on the warm windowsill.",
	"Quarterly revenue grew by seven percent.",
	"Rotate the access keys every ninety days.",
	"Glaciers carve deep valleys into mountains.",
	"Whisk eggs until stiff peaks form.",
}

func (c *embedderCheck) noTexts(m embedMethod) {
	for _, none := range [][]string{nil, {}} {
		vectors, err := m.call(c.ctx, none)
		if err != nil {
			c.errorf("%s of no text: %w", m.name, err)
		} else if len(vectors) != 0 {
			c.errorf("%s of no text: got %d vectors", m.name, len(vectors))
		}
	}
}

func (c *embedderCheck) count(m embedMethod) {
	c.embed(m, plainTexts[0])
	c.embed(m, plainTexts[0], plainTexts[1], plainTexts[0], plainTexts[0])
}

func (c *embedderCheck) texts(m embedMethod) {
	c.embed(m,
		" \t\n", "7", "?!", "naïve façade — “quoted”", "Übergrößenträger", "東京都の人口は約1400万人です。", "القاهرة عاصمة مصر",
		"Москва — столица России", "e\u0301\u200d\ufeff", "👩‍👩‍👧‍👦🇩🇪", "a\x00b\x1b[0m", "<p class=\"x\">&amp;</p>", "{\"input\": [\"\\u0000\"]}",
		strings.Repeat("word ", 60), strings.Repeat("x", 200))
}

func (c *embedderCheck) order(m embedMethod) {
	together, ok := c.embed(m, plainTexts...)
	if !ok {
		return
	}
	want := map[string][]float32{}
	for i, text := range plainTexts {
		want[text] = together[i]
	}
	backwards := slices.Clone(plainTexts)
	slices.Reverse(backwards)
	c.expect(m, "in reverse order", backwards, want)
	c.expect(m, "alone", plainTexts[2:3], want)
	many := make([]string, 40)
	for i := range many {
		many[i] = plainTexts[i*i%len(plainTexts)]
	}
	c.expect(m, "among 40 texts", many, want)
}

func (c *embedderCheck) distinct(m embedMethod) {
	vectors, ok := c.embed(m, plainTexts...)
	if !ok {
		return
	}
	for _, v := range vectors[1:] {
		if similarity(v, vectors[0]) < sameVector {
			return
		}
	}
	c.errorf("%s: %d texts without a common word all have one vector", m.name, len(plainTexts))
}

func (c *embedderCheck) arguments(m embedMethod) {
	texts := slices.Clone(plainTexts[:2])
	vectors, err := m.call(c.ctx, texts)
	if err != nil {
		c.errorf("%s of %s: %w", m.name, listed(texts), err)
		return
	}
	if !slices.Equal(texts, plainTexts[:2]) {
		c.errorf("%s: the texts were modified to %q", m.name, texts)
	}
	if !c.sound(m, plainTexts[:2], vectors) {
		return
	}
	want := map[string][]float32{}
	for i, v := range vectors {
		want[plainTexts[i]] = slices.Clone(v)
		for j := range v {
			v[j] = -1 - v[j]
		}
	}
	c.expect(m, "after the caller wrote to the vectors it got", plainTexts[:2], want)
}

func (c *embedderCheck) concurrency(m embedMethod) {
	alone, ok := c.embed(m, plainTexts...)
	if !ok {
		return
	}
	const calls = 4
	vectors, errs := make([][][]float32, calls), make([]error, calls)
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					errs[i] = fmt.Errorf("the embedder panicked: %v", r)
				}
			}()
			vectors[i], errs[i] = m.call(c.ctx, slices.Clone(plainTexts[i:]))
		})
	}
	wg.Wait()
	for i := range calls {
		if errs[i] != nil {
			c.errorf("%s, called %d times at once: %w", m.name, calls, errs[i])
			return
		}
		if !c.sound(m, plainTexts[i:], vectors[i]) {
			return
		}
		for j, v := range vectors[i] {
			if s := similarity(v, alone[i+j]); s < sameVector {
				c.errorf("%s of %q, called %d times at once: got a vector whose cosine similarity to that of a single call is %.6g, want at least %v", m.name, plainTexts[i+j], calls, s, sameVector)
				return
			}
		}
	}
}

func (c *embedderCheck) cancellation(m embedMethod) {
	done, cancel := context.WithCancel(c.ctx)
	cancel()
	_, err := m.call(done, []string{"A text that was not embedded before."})
	c.wantError(err, "%s after the context was cancelled", m.name)
}

// listed describes texts for an error.
func listed(texts []string) string {
	s := excerpt.Quote(texts[0], 60) // with its white space, which may be all it is
	if len(texts) > 1 {
		s += fmt.Sprintf(" and %d more", len(texts)-1)
	}
	return s
}
