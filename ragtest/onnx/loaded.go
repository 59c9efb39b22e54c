package onnx

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/rageval/rageval/chunkers/tokens"
	"github.com/rageval/rageval/ragtest"
)

// loaded is a model that is ready to run.
type loaded struct {
	session
	name        string
	tokenizer   *tokens.ModelTokenizer
	limits      limits
	batchTokens int
}

// lazy loads a model M when it is first needed, and again after it was closed.
type lazy[M interface{ close() }] struct {
	mu    sync.RWMutex // held for reading while the model is in use
	ready bool
	model M
}

// use calls f with the model.
func (l *lazy[M]) use(ctx context.Context, load func() (M, error), f func(M) error) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		l.mu.RLock()
		if l.ready {
			defer l.mu.RUnlock()
			return f(l.model)
		}
		l.mu.RUnlock()
		if err := l.load(load); err != nil {
			return err
		}
	}
}

func (l *lazy[M]) load(load func() (M, error)) (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ready {
		l.model, err = load()
		l.ready = err == nil
	}
	return err
}

// close releases the model once no call uses it.
func (l *lazy[M]) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ready {
		l.model.close()
		var none M
		l.model, l.ready = none, false
	}
}

// encoding holds the IDs of the tokens of a text, and which segment each belongs
// to.
type encoding struct {
	ids, segments []int
	truncated     bool
}

// single encodes a text.
func (l *loaded) single(text string) encoding {
	ids := l.ids(text)
	special, _ := l.tokenizer.Single(nil)
	room := l.limits.maxTokens - len(special)
	e := encoding{truncated: len(ids) > room}
	e.ids, e.segments = l.tokenizer.Single(ids[:min(len(ids), room)])
	return e
}

// ids returns the IDs of the tokens of a text, without special ones. White space
// at its ends does not count, as in sentence-transformers.
func (l *loaded) ids(text string) []int {
	text = strings.TrimSpace(text)
	if l.limits.lower {
		text = strings.ToLower(text)
	}
	return l.tokenizer.AppendIDs(nil, text)
}

// checkLimit returns an error unless the model reads more tokens than the
// special ones that are added to no text.
func (l *loaded) checkLimit(special, _ []int) error {
	if l.limits.maxTokens <= len(special) {
		return fmt.Errorf("the model reads at most %d tokens, as MaxTokens or its files say: want more than its %d special ones", l.limits.maxTokens, len(special))
	}
	return nil
}

// pair encodes a query and a text. If they are too long together, the longer one
// is cut off; where that would leave less of it than there is of the other, both
// are, to the same length, and an odd token goes to the one that was longer. What
// the model could not read in any case does not make a text longer; of two that
// are equal the second counts as longer. That is longest_first of Hugging Face's
// tokenizers 0.23.
func (l *loaded) pair(query, text []int) encoding {
	special, _ := l.tokenizer.Pair(nil, nil)
	most := l.limits.maxTokens
	first, second := longestFirst(min(len(query), most), min(len(text), most), most-len(special))
	e := encoding{truncated: first < len(query) || second < len(text)}
	e.ids, e.segments = l.tokenizer.Pair(query[:first], text[:second])
	return e
}

// longestFirst returns how much is kept of two lengths so that there is room for
// both.
func longestFirst(first, second, room int) (int, int) {
	if first > second {
		second, first = longestFirst(second, first, room)
		return first, second
	}
	if first+second <= room {
		return first, second
	}
	if first <= room/2 {
		return first, room - first
	}
	return room / 2, room - room/2
}

// run runs the model over the encodings in batches of similar length, and calls
// each with the rows of the output: row i is that of encoding i.
func (l *loaded) run(ctx context.Context, output string, encodings []encoding, each func(i int, row tensor) error) error {
	byLength := make([]int, len(encodings))
	for i := range byLength {
		byLength[i] = i
	}
	slices.SortStableFunc(byLength, func(a, b int) int { return len(encodings[b].ids) - len(encodings[a].ids) })
	for len(byLength) > 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		longest := len(encodings[byLength[0]].ids)
		length := max(1, longest, min(l.padded(longest), l.limits.maxTokens))
		rows := min(len(byLength), max(1, l.batchTokens/length), l.maxRows())
		b := newBatch(rows, length, l.limits.padding)
		for i, e := range byLength[:rows] {
			b.set(i, encodings[e])
		}
		out, err := l.session.run(output, b)
		if err != nil {
			return fmt.Errorf("running the model %s on %d texts of up to %d tokens: %w", l.name, rows, longest, err)
		}
		if len(out.shape) == 0 || out.shape[0] != rows {
			return fmt.Errorf("running the model %s on %d texts: the output %s has the shape %v: want %d first", l.name, rows, output, out.shape, rows)
		}
		size := len(out.data) / rows
		for i, e := range byLength[:rows] {
			row := tensor{out.shape[1:], out.data[i*size : (i+1)*size]}
			if err := each(e, row); err != nil {
				return err
			}
		}
		byLength = byLength[rows:]
	}
	return nil
}

// count reports a call's usage to the evaluation.
func (l *loaded) count(ctx context.Context, encodings []encoding) {
	u := ragtest.Usage{Component: "onnx", Model: l.name, Calls: 1}
	for _, e := range encodings {
		u.Tokens += len(e.ids)
		if e.truncated {
			u.Truncated++
		}
	}
	ragtest.CountUsage(ctx, u)
}

// chooseOutput returns the first of the wanted outputs that the model has, or
// its first one.
func (l *loaded) chooseOutput(wanted ...string) (string, error) {
	has := l.outputs()
	for _, name := range wanted {
		if slices.Contains(has, name) {
			return name, nil
		}
	}
	if len(has) == 0 {
		return "", errors.New("the model has no output")
	}
	return has[0], nil
}
