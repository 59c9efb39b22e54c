package embedcache

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/rageval/rageval/internal/exact"
	"github.com/rageval/rageval/internal/parallel"
	"github.com/rageval/rageval/ragtest"
)

func (c *Cache) embed(ctx context.Context, of inputType, texts []string) ([][]float32, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("embedding %d texts: %w", len(texts), context.Cause(ctx))
	}
	keys := make([]key, len(texts))
	keyer := newKeyer(c.options.Model, of)
	for i, text := range texts {
		keys[i] = keyer.key(text)
	}
	c.count(Stats{Texts: len(texts)})
	for {
		missing, other, err := c.claim(keys, texts)
		switch {
		case err != nil:
			return nil, err
		case len(missing) > 0:
			if err := c.fill(ctx, of, keys, texts, missing); err != nil {
				return nil, err
			}
		case other != nil:
			select {
			case <-ctx.Done():
				return nil, fmt.Errorf("embedding %d texts: waiting for another call that embeds one of them: %w", len(texts), context.Cause(ctx))
			case <-other:
			}
		default:
			return c.vectors(ctx, keys)
		}
	}
}

func (c *Cache) count(s Stats) {
	c.file.mu.Lock()
	defer c.file.mu.Unlock()
	c.stats.Texts += s.Texts
	c.stats.Embedded += s.Embedded
	c.stats.Calls += s.Calls
}

// claim returns the texts, by index, that this call has to embed now, each distinct
// one once. If there are none, it returns the flight of another call that embeds one
// of them, nil if all vectors are known.
func (c *Cache) claim(keys []key, texts []string) (missing []int, other chan struct{}, err error) {
	f := c.file
	f.mu.Lock()
	defer f.mu.Unlock()
	if c.closed {
		return nil, nil, fmt.Errorf("embedding %d texts: the embedding cache %s is closed", len(texts), f.name)
	}
	refreshed := false
	flight := make(chan struct{})
	for i, k := range keys {
		if f.records[k] != nil {
			continue
		}
		if !refreshed {
			if err := f.refresh(); err != nil {
				return nil, nil, err
			}
			refreshed = true
			if f.records[k] != nil {
				continue
			}
		}
		if c.replay {
			return nil, nil, c.missError(keys, texts, i)
		}
		if running, ok := c.flights[k]; !ok {
			missing = append(missing, i)
			c.flights[k] = flight
		} else if running != flight {
			other = running
		}
	}
	return missing, other, nil
}

// missError says that a replay lacks texts, of which text i is the first.
func (c *Cache) missError(keys []key, texts []string, i int) error {
	others := map[key]bool{}
	for _, k := range keys {
		if k != keys[i] && c.file.records[k] == nil {
			others[k] = true
		}
	}
	more, tail := "", ""
	if len(others) > 0 {
		more = fmt.Sprintf(", nor of %d others", len(others))
	}
	if d := c.file.scan.tail; d != nil {
		tail = fmt.Sprintf(" (which ends with a record that was cut short: %v)", d)
	}
	return fmt.Errorf("embedding text %d (%q): %s%s has no vector of it%s, and a replay embeds nothing; record it with\n\t%s", i, abbreviate(texts[i]), c.file.name, tail, more, c.command)
}

const (
	embedBatch  = 256 // texts in one call of the embedder, as in an evaluation
	callsAtOnce = 4
)

// fill embeds and stores the missing texts, which this call has claimed.
func (c *Cache) fill(ctx context.Context, of inputType, keys []key, texts []string, missing []int) error {
	defer c.land(keys, missing)
	missing, err := c.takeOver(ctx, keys, missing)
	if err != nil {
		return fmt.Errorf("embedding %d texts: %w", len(texts), err)
	}
	call := c.embedder.Embed
	if of == query {
		call = c.embedder.(ragtest.QueryEmbedder).EmbedQueries
	}
	batches := slices.Collect(slices.Chunk(missing, embedBatch))
	return parallel.Do(ctx, callsAtOnce, len(batches), func(ctx context.Context, b int) error {
		batch := make([]string, len(batches[b]))
		for i, at := range batches[b] {
			batch[i] = texts[at]
		}
		vectors, err := call(ctx, batch)
		c.count(Stats{Embedded: len(batch), Calls: 1})
		switch {
		case err != nil && len(batch) == len(texts):
			return err
		case err != nil:
			return fmt.Errorf("embedding the %d of %d texts that %s lacks, from text %d on: %w", len(batch), len(texts), c.file.name, batches[b][0], err)
		}
		describe := func(i int) string { return fmt.Sprintf("text %d (%q)", batches[b][i], abbreviate(batch[i])) }
		entries, err := encode(vectors, len(batch), c.options.Float16, describe)
		if err != nil {
			return fmt.Errorf("embedding %d texts: %w", len(texts), err)
		}
		for i, at := range batches[b] {
			entries[i].key = keys[at]
		}
		if err := c.store(ctx, len(vectors[0]), entries); err != nil {
			return fmt.Errorf("embedding %d texts: %w", len(texts), err)
		}
		return nil
	})
}

// takeOver stores what the previous file has of the missing texts, and returns those
// that are still missing.
func (c *Cache) takeOver(ctx context.Context, keys []key, missing []int) ([]int, error) {
	var entries []entry
	var rest []int
	for _, i := range missing {
		if r := c.previous.records[keys[i]]; r != nil {
			entries = append(entries, entry{keys[i], r.vector})
		} else {
			rest = append(rest, i)
		}
	}
	if len(entries) == 0 {
		return rest, nil
	}
	return rest, c.store(ctx, c.previous.want.dim, entries)
}

func (c *Cache) store(ctx context.Context, dim int, entries []entry) error {
	if err := c.file.append(ctx, dim, entries); err != nil {
		return err
	}
	c.file.mu.Lock()
	defer c.file.mu.Unlock()
	c.appended = true
	return nil
}

// land lets go of claimed texts.
func (c *Cache) land(keys []key, missing []int) {
	c.file.mu.Lock()
	defer c.file.mu.Unlock()
	close(c.flights[keys[missing[0]]])
	for _, i := range missing {
		delete(c.flights, keys[i])
	}
}

// encode returns an entry without its key for each of the vectors, which are those
// of n texts.
func encode(vectors [][]float32, n int, half bool, describe func(i int) string) ([]entry, error) {
	switch {
	case len(vectors) < n:
		return nil, fmt.Errorf("got %d vectors for %d texts: %s has none", len(vectors), n, describe(len(vectors)))
	case len(vectors) > n:
		return nil, fmt.Errorf("got %d vectors for %d texts", len(vectors), n)
	}
	entries := make([]entry, n)
	for i, v := range vectors {
		err := exact.ValidateVector(v, len(vectors[0]))
		if err == nil && len(v) > maxDim {
			err = fmt.Errorf("has dimension %d, want at most %d", len(v), maxDim)
		}
		if err == nil {
			entries[i].vector, err = encodeVector(v, half)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: the vector %w", describe(i), err)
		}
	}
	return entries, nil
}

// vectors returns the vectors of keys that are all known.
func (c *Cache) vectors(ctx context.Context, keys []key) ([][]float32, error) {
	f := c.file
	stored := make([][]byte, len(keys))
	f.mu.Lock()
	head := f.want
	for i, k := range keys {
		r := f.records[k]
		r.used = true
		stored[i] = r.vector
	}
	f.mu.Unlock()
	vectors := make([][]float32, len(keys))
	for i := range keys {
		if i%embedBatch == 0 && ctx.Err() != nil {
			return nil, fmt.Errorf("embedding %d texts: %w", len(keys), context.Cause(ctx))
		}
		var err error
		if vectors[i], err = decodeVector(stored[i], head); err != nil {
			return nil, fmt.Errorf("reading %s: the vector of text %d, record %x, %w", f.name, i, keys[i][:6], err)
		}
	}
	return vectors, nil
}

// abbreviate returns the beginning of a text on one line.
func abbreviate(text string) string {
	const most = 60
	var b strings.Builder
	n := 0
	for word := range strings.FieldsFuncSeq(text, unicode.IsSpace) {
		if n > 0 {
			b.WriteByte(' ')
			n++
		}
		for _, r := range word {
			if n == most {
				return b.String() + "…"
			}
			b.WriteRune(r)
			n++
		}
	}
	return b.String()
}
