package embedcache

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/lexical"
)

// fake is an embedder whose vectors are hashes of the texts. It counts how often it
// embeds each.
type fake struct {
	dim  int
	fail func(texts []string) error // nil: never
	wait chan struct{}              // nil: not at all

	mu       sync.Mutex
	embedded map[string]int
}

func (f *fake) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if f.fail != nil {
		if err := f.fail(texts); err != nil {
			return nil, err
		}
	}
	if f.wait != nil {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-f.wait:
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		if f.embedded == nil {
			f.embedded = map[string]int{}
		}
		f.embedded[text]++
		vectors[i] = vectorOf(text, f.dim)
	}
	return vectors, nil
}

// most returns the largest number of times a text was embedded.
func (f *fake) most() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	most := 0
	for _, n := range f.embedded {
		most = max(most, n)
	}
	return most
}

func vectorOf(text string, dim int) []float32 {
	sum := sha256.Sum256([]byte(text))
	v := make([]float32, dim)
	for i := range v {
		v[i] = (float32(sum[i%len(sum)]) - 128) / 300 // no number of float16
	}
	return v
}

// asymmetric embeds queries differently.
type asymmetric struct{ *fake }

func (a asymmetric) EmbedQueries(ctx context.Context, queries []string) ([][]float32, error) {
	prefixed := make([]string, len(queries))
	for i, q := range queries {
		prefixed[i] = "query: " + q
	}
	return a.Embed(ctx, prefixed)
}

var model = Options{Model: "m"}

// plainEnvironment unsets the switches that a developer may have set.
func plainEnvironment(t *testing.T) {
	t.Helper()
	t.Setenv(replayEnv, "")
	t.Setenv("RAGTEST_UPDATE", "")
}

func newPath(t *testing.T) string {
	t.Helper()
	plainEnvironment(t)
	return filepath.Join(t.TempDir(), "sub", "m.embeddings")
}

func mustOpen(t *testing.T, path string, e ragtest.Embedder, o Options) *Cache {
	t.Helper()
	c, err := Open(path, e, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func mustEmbed(t *testing.T, e ragtest.Embedder, texts ...string) [][]float32 {
	t.Helper()
	vectors, err := e.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	return vectors
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("got error %v, want it to hold %q", err, part)
		}
	}
}

func TestSecondRunEmbedsNothing(t *testing.T) {
	for _, half := range []bool{false, true} {
		path := newPath(t)
		o := Options{Model: "m", Float16: half}
		texts := []string{"a", "b", "a", "", "b\x00\xff", "a"}
		first := &fake{dim: 5}
		c := mustOpen(t, path, first, o)
		got := mustEmbed(t, c, texts...)
		if first.most() != 1 || len(first.embedded) != 4 {
			t.Errorf("got %v, want each distinct text embedded once", first.embedded)
		}
		if want := (Stats{Texts: 6, Embedded: 4, Calls: 1, Records: 4}); c.Stats() != want {
			t.Errorf("got %+v, want %+v", c.Stats(), want)
		}
		for i, text := range texts {
			for j, x := range vectorOf(text, 5) {
				if half {
					x = fromHalf(toHalf(x))
				}
				if got[i][j] != x {
					t.Errorf("half %v: vector of %q: got %v in component %d, want %v", half, text, got[i][j], j, x)
				}
			}
		}
		if &got[0][0] == &got[2][0] {
			t.Error("equal texts share a vector")
		}
		second := &fake{dim: 5}
		for _, e := range []*Cache{c, mustOpen(t, path, second, o), mustOpen(t, path, nil, Options{Model: "m", Float16: half, Replay: true})} {
			if diff := cmp.Diff(got, mustEmbed(t, e, texts...)); diff != "" {
				t.Errorf("second run (-first +second)\n%s", diff)
			}
		}
		if len(second.embedded) > 0 || first.most() != 1 {
			t.Errorf("got %v embedded in the second run", second.embedded)
		}
	}
}

func TestInputTypes(t *testing.T) {
	path := newPath(t)
	e := asymmetric{&fake{dim: 3}}
	c := mustOpen(t, path, e, model)
	chunks := mustEmbed(t, c, "a")
	queries, err := c.EmbedQueries(t.Context(), []string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]float32{vectorOf("a", 3), vectorOf("query: a", 3)}, append(chunks, queries...)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	replay := mustOpen(t, path, nil, Options{Model: "m", Replay: true})
	if again, err := replay.EmbedQueries(t.Context(), []string{"a"}); err != nil || !cmp.Equal(queries, again) {
		t.Errorf("replay: got %v, %v, want %v", again, err, queries)
	}
	if n := c.Stats().Records; n != 2 {
		t.Errorf("got %d records, want 2", n)
	}
	_, err = Open(path, &fake{dim: 3}, model)
	wantError(t, err, "opening the embedding cache "+path, "it was recorded with an embedder that is asymmetric, want one that is symmetric")

	// Queries of a symmetric embedder are texts like any other.
	symmetric := &fake{dim: 3}
	c = mustOpen(t, newPath(t), symmetric, model)
	mustEmbed(t, c, "a")
	if queries, err = c.EmbedQueries(t.Context(), []string{"a"}); err != nil || !cmp.Equal(queries[0], vectorOf("a", 3)) || symmetric.most() != 1 {
		t.Errorf("got %v, %v after %v", queries, err, symmetric.embedded)
	}
}

func TestKeysDiffer(t *testing.T) {
	seen := map[key]string{}
	for _, model := range []string{"", "m", "md", "m\x01d", "\x00"} {
		for _, of := range []inputType{document, query} {
			k := newKeyer(model, of)
			for _, text := range []string{"", "d", "dd", "m", "\x00"} {
				name := fmt.Sprintf("%q %c %q", model, of, text)
				if other, ok := seen[k.key(text)]; ok {
					t.Errorf("%s and %s have one key", other, name)
				}
				seen[k.key(text)] = name
			}
		}
	}
}

func TestReplay(t *testing.T) {
	path := newPath(t)
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	replay := Options{Model: "m", Replay: true}
	_, err = Open(path, nil, replay)
	wantError(t, err, "opening the embedding cache "+path+": it does not exist, and a replay embeds nothing; record it with\n\tRAGTEST_UPDATE=1 go test "+dir)
	_, err = Open(path, nil, model)
	wantError(t, err, "the embedder is nil, which only a replay allows: set Options.Replay or RAGTEST_REPLAY=1")

	mustEmbed(t, mustOpen(t, path, &fake{dim: 3}, model), "a")
	before := readFile(t, path)
	never := &fake{dim: 3, fail: func([]string) error { t.Error("a replay called the embedder"); return nil }}
	miss := "embedding text 1 (\"b c\"): " + path + " has no vector of it, and a replay embeds nothing; record it with\n\tRAGTEST_UPDATE=1 go test " + dir
	for _, test := range []struct {
		env string
		o   Options
	}{{"", replay}, {"1", model}, {"true", model}, {"0", replay}} {
		t.Setenv(replayEnv, test.env)
		c := mustOpen(t, path, never, test.o)
		_, err := c.Embed(t.Context(), []string{"a", "b\n c"})
		if err == nil || err.Error() != miss {
			t.Errorf("got error %v, want %s", err, miss)
		}
		if _, err := c.EmbedQueries(t.Context(), []string{"a", "b\n c"}); err == nil || err.Error() != miss {
			t.Errorf("queries: got error %v, want %s", err, miss)
		}
		wantError(t, c.Prune(), "it only replays")
		wantError(t, c.Record(), "it only replays")
	}
	_, err = mustOpen(t, path, nil, replay).Embed(t.Context(), []string{"x", "a", "y", "x", "z", "y"})
	wantError(t, err, `embedding text 0 ("x"): `, " has no vector of it, nor of 2 others, and")
	t.Setenv(replayEnv, "yes")
	_, err = Open(path, never, model)
	wantError(t, err, `RAGTEST_REPLAY="yes": want 1, true, 0, false or nothing`)
	if readFile(t, path) != before {
		t.Error("a replay changed the file")
	}

	// The command in the message records, whatever else is set.
	t.Setenv(replayEnv, "1")
	t.Setenv("RAGTEST_UPDATE", "1")
	mustEmbed(t, mustOpen(t, path, &fake{dim: 3}, replay), "a", "b\n c")
	if _, err := mustOpen(t, path, nil, replay).Embed(t.Context(), []string{"a", "b\n c", "d"}); err == nil {
		t.Error("a replay without an embedder: got no error")
	}
	t.Setenv("RAGTEST_UPDATE", "")
	mustEmbed(t, mustOpen(t, path, nil, replay), "a", "b\n c")
}

// A replay works where nothing can be written.
func TestReplayReadOnly(t *testing.T) {
	path := newPath(t)
	mustEmbed(t, mustOpen(t, path, &fake{dim: 3}, model), "a")
	dir := filepath.Dir(path)
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o755)
	mustEmbed(t, mustOpen(t, path, nil, Options{Model: "m", Replay: true}), "a")
	mustEmbed(t, mustOpen(t, path, &fake{}, model), "a")
	if names := entries(t, dir); !slices.Equal(names, []string{"m.embeddings"}) {
		t.Errorf("got %q beside the file", names)
	}
}

func names(entries []os.DirEntry) []string {
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	found, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return names(found)
}

func TestOptionsAreChecked(t *testing.T) {
	path := newPath(t)
	mustEmbed(t, mustOpen(t, path, &fake{dim: 3}, model), "a")
	for _, test := range []struct {
		path string
		e    ragtest.Embedder
		o    Options
		want string
	}{
		{path, &fake{}, Options{}, "field Model: empty, want the identity of the model"},
		{path, &fake{}, Options{Model: strings.Repeat("m", 1025)}, "field Model: got 1025 bytes, want at most 1024"},
		{"", &fake{}, model, "the path is empty"},
		{path, (*fake)(nil), model, "the embedder holds a nil *embedcache.fake"},
		{path, embedderFunc(nil), model, "the embedder holds a nil embedcache.embedderFunc"},
		{path, &fake{}, Options{Model: "n"}, path + `: it holds vectors of the model "m", want "n": keep one file for each model`},
		{path, &fake{}, Options{Model: "m", Float16: true}, path + ": it holds float32 vectors, want float16"},
		{filepath.Dir(path), &fake{}, model, "want a regular file, found mode d"},
		{os.DevNull, &fake{}, model, "want a regular file"},
		{filepath.Join(path, "below"), &fake{}, model, "not a directory"},
	} {
		_, err := Open(test.path, test.e, test.o)
		wantError(t, err, "opening the embedding cache "+test.path, test.want)
	}
}

func TestWrongVectors(t *testing.T) {
	path := newPath(t)
	c := mustOpen(t, path, &fake{dim: 3}, model)
	mustEmbed(t, c, "a")
	before := readFile(t, path)
	wrong := func(vectors ...[]float32) ragtest.Embedder {
		return embedderFunc(func() [][]float32 { return vectors })
	}
	for _, test := range []struct {
		e    ragtest.Embedder
		half bool
		want string
	}{
		{wrong([]float32{1, 2}, []float32{3, 4}), false, "storing in " + path + ": got vectors of dimension 2, but the file holds vectors of dimension 3"},
		{wrong([]float32{1, 2, 3}), false, `got 1 vectors for 2 texts: text 2 ("c") has none`},
		{wrong(nil, nil, nil), false, "got 3 vectors for 2 texts"},
		{wrong(nil, nil), false, `text 1 ("b"): the vector is empty`},
		{wrong([]float32{1, 2, 3}, []float32{1, 2}), false, `text 2 ("c"): the vector has dimension 2, want 3`},
		{wrong([]float32{1, 2, 3}, []float32{1, float32(nan()), 3}), false, `text 2 ("c"): the vector has component 1 = NaN`},
		{wrong([]float32{1, 2, 3}, []float32{1, 2, 65520}), true, `text 2 ("c"): the vector has component 2 = 65520, beyond the largest of float16`},
	} {
		path, texts := path, []string{"a", "b", "c"}
		if test.half {
			path = newPath(t)
			mustEmbed(t, mustOpen(t, path, &fake{dim: 3}, Options{Model: "m", Float16: true}), "a")
		}
		c := mustOpen(t, path, test.e, Options{Model: "m", Float16: test.half})
		_, err := c.Embed(t.Context(), texts)
		wantError(t, err, "embedding 3 texts: ", test.want)
	}
	big := embedderFunc(func() [][]float32 { return [][]float32{make([]float32, maxDim+1)} })
	_, err := mustOpen(t, newPath(t), big, model).Embed(t.Context(), []string{"a"})
	wantError(t, err, "has dimension 1048577, want at most 1048576")
	if readFile(t, path) != before {
		t.Error("the file was changed")
	}
}

func nan() float64 { zero := 0.0; return zero / zero }

type embedderFunc func() [][]float32

func (f embedderFunc) Embed(context.Context, []string) ([][]float32, error) { return f(), nil }

func numberedTexts(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("text %d", i)
	}
	return texts
}

func TestEmbedderFails(t *testing.T) {
	path := newPath(t)
	unavailable := errors.New("unavailable")
	e := &fake{dim: 3, fail: func(texts []string) error {
		if slices.Contains(texts, "text 700") {
			return unavailable
		}
		return nil
	}}
	c := mustOpen(t, path, e, model)
	if _, err := c.Embed(t.Context(), []string{"text 700"}); err != unavailable {
		t.Errorf("got error %v, want that of the embedder as it is", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want no file", err)
	}
	mustEmbed(t, c, "text 0")
	texts := numberedTexts(1000)
	_, err := c.Embed(t.Context(), texts)
	if !errors.Is(err, unavailable) {
		t.Errorf("got error %v, want that of the embedder", err)
	}
	wantError(t, err, "embedding the 256 of 1000 texts that "+path+" lacks, from text 513 on: unavailable")
	// What succeeded is kept, and only the rest is embedded.
	if got, want := c.Stats().Records, len(e.embedded); got != want {
		t.Errorf("got %d records, want the %d that were embedded", got, want)
	}
	e.fail = nil
	mustEmbed(t, c, texts...)
	if e.most() > 1 || len(e.embedded) != 1000 {
		t.Errorf("got a text embedded %d times, %d texts", e.most(), len(e.embedded))
	}
	if got := mustOpen(t, path, nil, Options{Model: "m", Replay: true}).Stats().Records; got != 1000 {
		t.Errorf("got %d records, want 1000", got)
	}
}

func TestConcurrentMisses(t *testing.T) {
	path := newPath(t)
	e := &fake{dim: 3}
	c := mustOpen(t, path, e, model)
	texts := numberedTexts(600)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			mine := slices.Clone(texts[i*10 : 440+i*10])
			if i%2 == 1 {
				slices.Reverse(mine)
			}
			vectors, err := c.Embed(t.Context(), mine)
			if err != nil {
				t.Error(err)
				return
			}
			for j, v := range vectors {
				if !slices.Equal(v, vectorOf(mine[j], 3)) {
					t.Errorf("got another text's vector for %s", mine[j])
				}
			}
		})
	}
	wg.Wait()
	if e.most() != 1 {
		t.Errorf("a text was embedded %d times, want once", e.most())
	}
	if len(c.flights) != 0 {
		t.Errorf("got %d flights after the last call", len(c.flights))
	}
}

// Who waits for another call is not failed by its error or cancellation.
func TestWaitingForAnotherCall(t *testing.T) {
	path := newPath(t)
	e := &fake{dim: 3, wait: make(chan struct{})}
	c := mustOpen(t, path, e, model)
	first, cancel := context.WithCancel(t.Context())
	started := make(chan struct{})
	var once sync.Once
	e.fail = func([]string) error { once.Do(func() { close(started) }); return nil }
	errs := make(chan error, 3)
	go func() {
		_, err := c.Embed(first, []string{"a"})
		errs <- err
	}()
	<-started
	impatient, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	if _, err := c.Embed(impatient, []string{"b", "a"}[1:]); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got error %v, want that of the context", err)
	}
	var second [][]float32
	go func() {
		vectors, err := c.Embed(t.Context(), []string{"a"})
		second = vectors
		errs <- err
	}()
	cancel()
	if err := <-errs; !errors.Is(err, context.Canceled) {
		t.Errorf("first call: got error %v, want that of its context", err)
	}
	close(e.wait)
	if err := <-errs; err != nil || !slices.Equal(second[0], vectorOf("a", 3)) {
		t.Errorf("second call: got %v, %v", second, err)
	}
}

func TestCancelled(t *testing.T) {
	c := mustOpen(t, newPath(t), &fake{dim: 3}, model)
	mustEmbed(t, c, "a")
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := c.Embed(ctx, []string{"a"}); !errors.Is(err, cause) {
		t.Errorf("got error %v, want the cause", err)
	}
	if _, err := c.EmbedQueries(ctx, nil); !errors.Is(err, cause) {
		t.Errorf("got error %v, want the cause", err)
	}
}

func TestConformance(t *testing.T) {
	for _, half := range []bool{false, true} {
		path := newPath(t)
		o := Options{Model: "lexical", Float16: half}
		c := mustOpen(t, path, lexical.Embedder{Dim: 64}, o)
		if err := ragtest.CheckEmbedder(t.Context(), c); err != nil {
			t.Error(err)
		}
		o.Replay = true
		if err := ragtest.CheckEmbedder(t.Context(), mustOpen(t, path, nil, o)); err != nil {
			t.Errorf("replay: %v", err)
		}
		o.Replay = false
		if err := ragtest.CheckEmbedder(t.Context(), mustOpen(t, newPath(t), asymmetric{&fake{dim: 8}}, o)); err != nil {
			t.Errorf("asymmetric: %v", err)
		}
	}
}

func TestClosed(t *testing.T) {
	path := newPath(t)
	c := mustOpen(t, path, &fake{dim: 3}, model)
	mustEmbed(t, c, "a")
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := c.Embed(t.Context(), []string{"a"})
	wantError(t, err, "the embedding cache "+path+" is closed")
	wantError(t, c.Prune(), "it is closed")
	wantError(t, c.Record(), "it is closed")
	if err := c.Close(); err != nil || c.Stats().Records != 1 {
		t.Errorf("closing again: got %v, %+v", err, c.Stats())
	}
}

type keyed struct {
	*fake
	Key string
}

func (k keyed) Validate() error {
	if k.dim == 0 {
		return errors.New("field dim: 0")
	}
	return nil
}

func TestSecretsStayOut(t *testing.T) {
	const canary = "sk-canary-5e1f"
	path := newPath(t)
	t.Setenv("OPENAI_API_KEY", canary)
	e := keyed{&fake{dim: 3}, canary}
	c := mustOpen(t, path, e, model)
	mustEmbed(t, c, "a")
	e.fail = func([]string) error { return errors.New("refused") }
	_, err := c.Embed(t.Context(), []string{"b"})
	_, wrong := Open(path, e, Options{Model: "n"})
	for _, s := range []string{readFile(t, path), c.String(), fmt.Sprintf("%v %+v %#v", c, c, c), fmt.Sprintf("%+v", c.Stats()), err.Error(), wrong.Error()} {
		if strings.Contains(s, canary) || strings.Contains(s, "a\n") {
			t.Errorf("got a secret or a text in %s", s)
		}
	}
}

func TestNames(t *testing.T) {
	path := newPath(t)
	c := mustOpen(t, path, keyed{&fake{}, ""}, Options{Model: "m", Float16: true})
	if got, want := c.String(), "embedcache/model=m/float16"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	wantError(t, c.Validate(), "field dim: 0")
	mustEmbed(t, mustOpen(t, path, &fake{dim: 3}, Options{Model: "m", Float16: true}), "a")
	replay := mustOpen(t, path, keyed{&fake{}, ""}, Options{Model: "m", Float16: true, Replay: true})
	if err := replay.Validate(); err != nil || replay.String() != c.String() {
		t.Errorf("got %v, %s", err, replay)
	}
}

func TestAbbreviate(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		" a \n\t b ":                    "a b",
		strings.Repeat("é", 60):         strings.Repeat("é", 60),
		strings.Repeat("é", 61):         strings.Repeat("é", 60) + "…",
		strings.Repeat("word ", 30):     strings.Repeat("word ", 11) + "word …",
		strings.Repeat("é", 60) + " \n": strings.Repeat("é", 60),
	} {
		if got := abbreviate(text); got != want {
			t.Errorf("abbreviate(%q): got %q, want %q", text, got, want)
		}
	}
}
