package beam

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rageval/rageval/internal/excerpt"
	"github.com/rageval/rageval/internal/parallel"
	"github.com/rageval/rageval/ragtest"
)

func init() {
	register.DoFn3x1[context.Context, []byte, func(vectors), error](&queriesFn{})
	register.Emitter1[vectors]()
	register.DoFn6x1[context.Context, int, func(*occurrence) bool, func(*vectors) bool, func(int, ranking), func(int, tally), error](&searchFn{})
	register.Iter1[occurrence]()
	register.Iter1[vectors]()
	register.Emitter2[int, ranking]()
	register.Combiner1[ranking](&bestFn{})
}

// queriesFn embeds the queries of a sweep, by each embedder.
type queriesFn struct{}

func (*queriesFn) ProcessElement(ctx context.Context, description []byte, emit func(vectors)) error {
	s, err := decodeSweep(description)
	if err != nil {
		return err
	}
	texts := make([]string, len(s.Queries))
	for i, q := range s.Queries {
		texts[i] = q.Text
	}
	for i, name := range s.Embedders {
		e, err := embedderKinds.new(name)
		if err != nil {
			return err
		}
		call := e.Embed
		if q, ok := e.(ragtest.QueryEmbedder); ok {
			call = q.EmbedQueries
		}
		of, err := embed(ctx, call, texts)
		if err != nil {
			return fmt.Errorf("embedder %s: query %w", name, err)
		}
		emit(vectors{i, of})
	}
	return nil
}

func decodeSweep(description []byte) (Sweep, error) {
	var s Sweep
	if err := json.Unmarshal(description, &s); err != nil {
		return s, fmt.Errorf("reading a sweep: %w", err)
	}
	return s, nil
}

const (
	embedBatch  = 256 // texts in one call of an embedder
	callsAtOnce = 8   // of an embedder, by one shard
)

// embed embeds texts in batches, several at once. An error begins with the text.
func embed(ctx context.Context, call func(context.Context, []string) ([][]float32, error), texts []string) ([][]float32, error) {
	found := make([][]float32, len(texts))
	err := parallel.Do(ctx, callsAtOnce, (len(texts)+embedBatch-1)/embedBatch, func(ctx context.Context, b int) error {
		batch := texts[b*embedBatch : min((b+1)*embedBatch, len(texts))]
		got, err := call(ctx, slices.Clone(batch))
		if err == nil && len(got) != len(batch) {
			err = fmt.Errorf("got %d vectors for %d texts", len(got), len(batch))
		}
		if err != nil {
			return fmt.Errorf("%q and %d more: %w", excerpt.Line(batch[0], 60), len(batch)-1, err)
		}
		copy(found[b*embedBatch:], got)
		return nil
	})
	return found, err
}

// searchFn embeds the distinct texts of a shard and finds the best of its chunks for
// each query. It emits them by ranking number, and how many texts each chunker had embedded.
type searchFn struct {
	Chunkers  int
	Embedders []string
	Depth     int

	embedders []ragtest.Embedder
}

func (fn *searchFn) Setup() (err error) {
	fn.embedders, err = newAll("Embedders", fn.Embedders, embedderKinds.new)
	return err
}

// blockTexts is how many texts of a shard have vectors at a time.
const blockTexts = 4096

// rankingNumber numbers the rankings of a sweep of n queries by chunker, embedder and
// query.
func rankingNumber(chunker, embedder, embedders, query, queries int) int {
	return (chunker*embedders+embedder)*queries + query
}

func (fn *searchFn) ProcessElement(ctx context.Context, _ int, occurrences func(*occurrence) bool, queries func(*vectors) bool, emit func(int, ranking), count func(int, tally)) error {
	shard := collect(occurrences, fn.Chunkers, fn.Depth)
	for c := range fn.Chunkers {
		var embeds tally
		for _, t := range shard {
			if len(t.at[c]) > 0 {
				embeds.texts++
				embeds.chars += utf8.RuneCountInString(t.text)
			}
		}
		count(c, embeds)
	}
	var v vectors
	for queries(&v) {
		best := make([][]ranking, fn.Chunkers)
		for block := range slices.Chunk(shard, blockTexts) {
			texts := make([]string, len(block))
			for i, t := range block {
				texts[i] = t.text
			}
			embedded, err := embed(ctx, fn.embedders[v.embedder].Embed, texts)
			if err != nil {
				return fmt.Errorf("embedder %s: %w", fn.Embedders[v.embedder], err)
			}
			for c := range fn.Chunkers {
				found, err := search(ctx, block, c, embedded, v.of, fn.Depth)
				if err != nil {
					return fmt.Errorf("embedder %s: %w", fn.Embedders[v.embedder], err)
				}
				if best[c] == nil {
					best[c] = found
					continue
				}
				for q := range found {
					best[c][q] = merge(best[c][q], found[q], fn.Depth)
				}
			}
		}
		for c := range best {
			for q, found := range best[c] {
				if len(found.hits) > 0 {
					emit(rankingNumber(c, v.embedder, len(fn.embedders), q, len(v.of)), found)
				}
			}
		}
	}
	return nil
}

// sharedText is a text with the first places where each chunker makes it.
type sharedText struct {
	text string
	hash uint64
	at   [][]chunkPlace // by chunker, in order
}

// collect returns the distinct texts of a shard, in order. Chunks of one text have one
// score, so that none but the first depth of them can be among the best depth.
func collect(occurrences func(*occurrence) bool, chunkers, depth int) []*sharedText {
	byText := map[string]*sharedText{}
	first := func(places []chunkPlace) []chunkPlace {
		slices.SortFunc(places, chunkPlace.compare)
		return places[:min(depth, len(places))]
	}
	var o occurrence
	for occurrences(&o) {
		t, ok := byText[o.text]
		if !ok {
			t = &sharedText{o.text, hashOf(o.text), make([][]chunkPlace, chunkers)}
			byText[o.text] = t
		}
		t.at[o.chunker] = append(t.at[o.chunker], o.at)
		if len(t.at[o.chunker]) >= 2*depth {
			t.at[o.chunker] = first(t.at[o.chunker])
		}
	}
	for _, t := range byText {
		for c := range t.at {
			t.at[c] = first(t.at[c])
		}
	}
	list := make([]*sharedText, 0, len(byText))
	for _, text := range slices.Sorted(maps.Keys(byText)) {
		list = append(list, byText[text])
	}
	return list
}

// search returns the best chunks for each query that a chunker made of the texts.
func search(ctx context.Context, texts []*sharedText, chunker int, embedded, queries [][]float32, depth int) ([]ranking, error) {
	var hits []hit
	var of [][]float32
	for i, t := range texts {
		for _, at := range t.at[chunker] {
			hits = append(hits, hit{at: at, hash: t.hash})
			of = append(of, embedded[i])
		}
	}
	order := make([]int, len(hits))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return hits[i].at.compare(hits[j].at) })
	sorted := make([][]float32, len(of))
	for i, j := range order {
		sorted[i] = of[j]
	}
	store := ragtest.NewMemoryStore[int]()
	if err := store.Add(ctx, order, sorted); err != nil {
		return nil, err
	}
	found, err := store.SearchBatch(ctx, queries, depth)
	if err != nil {
		return nil, err
	}
	best := make([]ranking, len(found))
	for q, list := range found {
		best[q].hits = make([]hit, len(list))
		for i, h := range list {
			best[q].hits[i] = hits[h.Chunk]
			best[q].hits[i].score = float32(h.Score) // which it was before
		}
	}
	return best, nil
}

// merge returns the best hits of two rankings.
func merge(a, b ranking, depth int) ranking {
	n := min(depth, len(a.hits)+len(b.hits))
	merged := make([]hit, 0, n)
	x, y := a.hits, b.hits
	for len(merged) < n {
		if len(y) == 0 || len(x) > 0 && x[0].compare(y[0]) < 0 {
			merged, x = append(merged, x[0]), x[1:]
		} else {
			merged, y = append(merged, y[0]), y[1:]
		}
	}
	return ranking{merged}
}

// bestFn merges the rankings of a query.
type bestFn struct{ Depth int }

func (fn *bestFn) MergeAccumulators(a, b ranking) ranking { return merge(a, b, fn.Depth) }
