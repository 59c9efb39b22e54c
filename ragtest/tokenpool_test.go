package ragtest_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/google/go-cmp/cmp"
	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/ragtest"
)

// wrongFor embeds as letters does, but for texts that hold a word.
type wrongFor struct {
	letters
	word   string
	answer func(v []float32) ([]float32, error)
}

func (b wrongFor) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := b.letters.Embed(ctx, texts)
	for i, text := range texts {
		if err == nil && strings.Contains(text, b.word) {
			vectors[i], err = b.answer(vectors[i])
		}
	}
	return vectors, err
}

// pooled are three chunkings that have texts in common, and an evaluation of them.
func pooled(t *testing.T) (ragtest.TokenLevel, []chunkers.PositionAwareChunker) {
	t.Helper()
	docs := corpus(t, "a", strings.Repeat("apples are red\nplums are blue\nlimes are green\n", 3), "b", "grapes are green\nplums are blue\n")
	var queries []ragtest.TokenQuery
	for _, text := range []string{"what is red", "what is blue", "green fruit", "zzz"} {
		queries = append(queries, ragtest.TokenQuery{Query: ragtest.Query{Text: text}})
	}
	return ragtest.TokenLevel{Corpus: docs, Queries: queries, Embedder: letters{}},
		[]chunkers.PositionAwareChunker{placedLines{}, chunkers.FixedSize{Size: 9, Overlap: 4}, chunkers.WithPositions(lines)}
}

func chunked(t *testing.T, e ragtest.TokenLevel, all []chunkers.PositionAwareChunker) []*ragtest.TokenChunks {
	t.Helper()
	var list []*ragtest.TokenChunks
	for _, c := range all {
		e.Chunker = c
		chunks, err := e.Chunk(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, chunks)
	}
	return list
}

func TestPoolPreparesAsAlone(t *testing.T) {
	e, all := pooled(t)
	chunks := chunked(t, e, all)
	pool, err := ragtest.NewTokenPool(e, chunks...)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := pool.Bytes(), int64(4*16); got%want != 0 || got == 0 {
		t.Errorf("got %d bytes, want a multiple of %d", got, want)
	}
	for i, chunker := range all {
		p, err := pool.Prepare(t.Context(), chunker, chunks[i], 5)
		if err != nil {
			t.Fatal(err)
		}
		e.Chunker = chunker
		alone, err := e.Prepare(t.Context(), chunks[i], 5)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := p.EmbeddedCharacters(), alone.EmbeddedCharacters(); got != want || got == 0 {
			t.Errorf("chunker %d: got %d characters embedded, want %d", i, got, want)
		}
		var results [2]*ragtest.Result
		for j, prepared := range []*ragtest.PreparedTokenLevel{p, alone} {
			ranking, err := prepared.Rank(t.Context(), nil, 5)
			if err != nil {
				t.Fatal(err)
			}
			if results[j], err = ranking.Judge(t.Context(), "cell", 3); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(encode(t, results[1]), encode(t, results[0])); diff != "" {
			t.Errorf("chunker %d (-alone +pooled)\n%s", i, diff)
		}
	}
}

func TestPoolIsUsedInOrder(t *testing.T) {
	e, all := pooled(t)
	chunks := chunked(t, e, all)
	other, _ := pooled(t)
	for name, c := range map[string]struct {
		e      ragtest.TokenLevel
		chunks []*ragtest.TokenChunks
		want   string
	}{
		"no embedder":    {ragtest.TokenLevel{Corpus: e.Corpus}, chunks, "field Embedder: nil"},
		"a store":        {ragtest.TokenLevel{Corpus: e.Corpus, Embedder: letters{}, Store: ragtest.NewMemoryStore[chunkers.PositionAwareChunk]()}, chunks, "field Store: set"},
		"another corpus": {ragtest.TokenLevel{Corpus: other.Corpus, Embedder: letters{}}, chunks, "chunks 0 are none, or of another corpus"},
		"no chunks":      {e, []*ragtest.TokenChunks{chunks[0], nil}, "chunks 1 are none"},
	} {
		if _, err := ragtest.NewTokenPool(c.e, c.chunks...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q", name, err, c.want)
		}
	}
	pool, err := ragtest.NewTokenPool(e, chunks...)
	if err != nil {
		t.Fatal(err)
	}
	for i, next := range []int{1, 0, 0, 2, 1, 2, 2} {
		_, err := pool.Prepare(t.Context(), all[next], chunks[next], 2)
		if turn := i == 1 || i == 4 || i == 5; turn != (err == nil) {
			t.Errorf("step %d: got error %v", i, err)
		}
	}
}

func TestPoolKeepsNoChunksThatAreDone(t *testing.T) {
	e, all := pooled(t)
	chunks := chunked(t, e, all)
	pool, err := ragtest.NewTokenPool(e, chunks...)
	if err != nil {
		t.Fatal(err)
	}
	first := weak.Make(chunks[0])
	for i := range 2 {
		if _, err := pool.Prepare(t.Context(), all[i], chunks[i], 2); err != nil {
			t.Fatal(err)
		}
		chunks[i] = nil
	}
	runtime.GC()
	if first.Value() != nil {
		t.Error("the chunks that were prepared first are still in memory")
	}
	runtime.KeepAlive(pool)
}

// What an embedder does wrong is told as it is of a single evaluation.
func TestPoolTellsOfEmbedders(t *testing.T) {
	for name, embedder := range map[string]ragtest.Embedder{
		"an error":        wrongFor{word: "limes", answer: func([]float32) ([]float32, error) { return nil, errors.New("no limes") }},
		"not a number":    wrongFor{word: "limes", answer: func(v []float32) ([]float32, error) { v[1] = float32(math.NaN()); return v, nil }},
		"dimensions":      wrongFor{word: "limes", answer: func(v []float32) ([]float32, error) { return v[1:], nil }},
		"empty":           wrongFor{word: "limes", answer: func(v []float32) ([]float32, error) { return nil, nil }},
		"of a query":      wrongFor{word: "zzz", answer: func(v []float32) ([]float32, error) { return v[1:], nil }},
		"query no number": wrongFor{word: "zzz", answer: func(v []float32) ([]float32, error) { v[0] = float32(math.Inf(1)); return v, nil }},
	} {
		e, all := pooled(t)
		e.Embedder, e.Chunker = embedder, all[0]
		chunks := chunked(t, e, all[:1])
		_, want := e.Prepare(t.Context(), chunks[0], 2)
		pool, err := ragtest.NewTokenPool(e, chunks...)
		if err != nil {
			t.Fatal(err)
		}
		_, got := pool.Prepare(t.Context(), all[0], chunks[0], 2)
		if got == nil || want == nil || got.Error() != want.Error() {
			t.Errorf("%s: got error %v, want %v", name, got, want)
		}
	}
}

func TestPoolStops(t *testing.T) {
	e, all := pooled(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	e.Embedder = wrongFor{word: "limes", answer: func(v []float32) ([]float32, error) { cancel(stop); return v, nil }}
	chunks := chunked(t, e, all)
	pool, err := ragtest.NewTokenPool(e, chunks...)
	if err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	if _, err := pool.Prepare(ctx, all[0], chunks[0], 2); !errors.Is(err, stop) {
		t.Errorf("got error %v, want %v", err, stop)
	}
	for range 1000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("got %d goroutines, before %d", runtime.NumGoroutine(), before)
}
