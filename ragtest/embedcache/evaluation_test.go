package embedcache

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/fixtures"
	"github.com/rageval/rageval/internal/realdata"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
	"github.com/rageval/rageval/spans"
)

// counting counts the texts that it embeds.
type counting struct {
	lexical.Embedder
	texts atomic.Int64
}

func (c *counting) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	c.texts.Add(int64(len(texts)))
	return c.Embedder.Embed(ctx, texts)
}

// sweep evaluates three chunkers.
func sweep(t *testing.T, e ragtest.Embedder, corpus *spans.Corpus, queries []ragtest.TokenQuery) []*ragtest.Result {
	t.Helper()
	var results []*ragtest.Result
	for _, chunker := range []chunkers.PositionAwareChunker{
		chunkers.RecursiveCharacter{Size: 800},
		chunkers.RecursiveCharacter{Size: 400},
		chunkers.RecursiveCharacter{Size: 400, Overlap: 100},
	} {
		r, err := ragtest.TokenLevel{Corpus: corpus, Queries: queries, Chunker: chunker, Embedder: e}.Evaluate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	return results
}

// On real corpora, a second run calls the embedder for nothing and has the same
// result, chunk by chunk; a text that several chunkers make is embedded once.
func TestRealCorpora(t *testing.T) {
	data := realdata.Dir(t, "data", "chroma")
	plainEnvironment(t)
	collection, err := fixtures.ReadChroma(os.DirFS(data))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.embeddings")
	for _, half := range []bool{false, true} {
		o := Options{Model: "lexical/dim=256", Float16: half}
		e := &counting{Embedder: lexical.Embedder{Dim: 256}}
		cache := mustOpen(t, path, e, o)
		first := sweep(t, cache, collection.Corpus, collection.Queries)
		embedded := e.texts.Load()
		if got := cache.Stats(); int64(got.Embedded) != embedded || got.Records != got.Embedded || got.Texts < got.Embedded+2*len(collection.Queries) {
			t.Errorf("got %+v after %d texts were embedded", got, embedded)
		}
		again := mustOpen(t, path, e, o)
		second := sweep(t, again, collection.Corpus, collection.Queries)
		if got := e.texts.Load() - embedded; got != 0 {
			t.Errorf("the second run embedded %d texts", got)
		}
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("float16 %v: the second run differs (-first +second)\n%s", half, diff)
		}
		if !half { // float32 changes nothing
			direct := sweep(t, e, collection.Corpus, collection.Queries)
			for i := range direct {
				direct[i].Components = first[i].Components // the one is named as the cache
			}
			if diff := cmp.Diff(direct, first); diff != "" {
				t.Errorf("the cache changes the result (-without +with)\n%s", diff)
			}
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("float16 %v: %d texts asked for, %d embedded, %d bytes; span recall %.6f", half, cache.Stats().Texts, embedded, info.Size(), first[0].Metrics[0].Value)
		path += ".16"
	}
}
