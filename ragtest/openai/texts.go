package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/rageval/rageval/chunkers/tokens"
)

// batch is the texts [start, end) of a call, which one request embeds.
type batch struct {
	start, end int
	truncated  int // texts that were cut
}

// prepare returns the texts as they are sent, each with the prefix, and the
// batches they are sent in, in order.
func (e Embedder) prepare(ctx context.Context, prefix string, texts []string) ([]string, []batch, error) {
	maxTexts, maxBatch := e.maxTexts(), cmp.Or(e.BatchTokens, defaultBatchTokens)
	sent := make([]string, len(texts))
	var batches []batch
	sum := 0 // tokens of the last batch
	for i, text := range texts {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if err := checkText(text); err != nil {
			return nil, nil, fmt.Errorf("%s %w", describe(texts, i), err)
		}
		fitted, n, err := e.fit(prefix + text)
		if err != nil {
			return nil, nil, fmt.Errorf("%s %w", describe(texts, i), err)
		}
		sent[i] = fitted
		last := len(batches) - 1
		if last < 0 || i-batches[last].start == maxTexts || sum+n > maxBatch {
			batches = append(batches, batch{start: i})
			last++
			sum = 0
		}
		sum += n
		batches[last].end = i + 1
		if len(fitted) < len(prefix)+len(text) {
			batches[last].truncated++
		}
	}
	return sent, batches, nil
}

func checkText(text string) error {
	if text == "" {
		return errors.New("is empty, which the API does not take")
	}
	if utf8.ValidString(text) {
		return nil
	}
	for i := 0; ; {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n == 1 {
			return fmt.Errorf("is not valid UTF-8 at byte %d", i)
		}
		i += n
	}
}

// fit returns the text, cut if it must and may be, and the number of its tokens.
func (e Embedder) fit(text string) (string, int, error) {
	limit, count := e.maxTokens(), e.counter()
	n := count(text)
	switch {
	case limit == 0 || n <= limit:
		return text, n, nil
	case !e.Truncate:
		what := "tokens"
		if e.tokenizer() == nil {
			what = "bytes, each of which counts as a token for want of a Tokenizer"
		}
		return "", 0, fmt.Errorf("has %d %s; %s takes %d: cut it into smaller chunks, or set Truncate", n, what, e.model(), limit)
	}
	// The first tokens of a text need not be the tokens of its beginning, but
	// nearly always are.
	for keep := limit; keep > 0; keep-- {
		fitted := e.first(text, keep)
		if n := count(fitted); n <= limit && fitted != "" {
			return fitted, n, nil
		}
	}
	return "", 0, fmt.Errorf("has no beginning of %d tokens or less", limit)
}

// tokenizer returns that of the model, nil for one token a byte.
func (e Embedder) tokenizer() tokens.Tokenizer {
	if _, isOpenAIs := e.known(); e.Tokenizer == nil && isOpenAIs {
		return tokens.CL100K
	}
	return e.Tokenizer
}

// counter returns the function that counts the tokens of a text.
func (e Embedder) counter() func(text string) int {
	switch t := e.tokenizer().(type) {
	case nil:
		return func(text string) int { return len(text) }
	case tokens.Counter:
		return t.Count
	default:
		return func(text string) (n int) {
			for range t.Tokens(text) {
				n++
			}
			return n
		}
	}
}

// first returns the text up to the end of its n-th token, or the last end of a
// character before that.
func (e Embedder) first(text string, n int) string {
	end := min(n, len(text))
	if t := e.tokenizer(); t != nil {
		for _, tokenEnd := range t.Tokens(text) {
			end = tokenEnd
			if n--; n == 0 {
				break
			}
		}
	}
	for end < len(text) && end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// describe names a text by its place and its beginning.
func describe(texts []string, i int) string {
	const most = 40 // characters
	n := 0
	for at := range texts[i] {
		if n++; n > most {
			return fmt.Sprintf("text %d (%q…)", i, texts[i][:at])
		}
	}
	return fmt.Sprintf("text %d (%q)", i, texts[i])
}
