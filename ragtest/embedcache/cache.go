package embedcache

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"time"

	"github.com/rageval/rageval/chunkers"
	"github.com/rageval/rageval/internal/update"
	"github.com/rageval/rageval/ragtest"
)

const replayEnv = "RAGTEST_REPLAY"

// Options say what a cache holds and how it is used. Model is required.
type Options struct {
	// Model is the identity of the model, at most 1024 bytes: everything that a
	// vector depends on beside the text, such as "text-embedding-3-small/dim=256"
	// or the String of an embedder. It is written to the file; never put a key into
	// it.
	Model string

	// Float16 halves the file. It changes vectors: each component is rounded to
	// the nearest of float16, 11 significant bits from 6.1e-5 to 65504, ties to
	// even. The vectors of the first run are rounded as well, and so equal those of
	// all later ones.
	Float16 bool

	// Replay never calls the embedder: a text that is not in the file is an error.
	// So does the environment variable RAGTEST_REPLAY, if it is 1 or true when the
	// cache is opened. RAGTEST_UPDATE=1 overrules both unless the embedder is nil.
	Replay bool
}

// Cache is a [ragtest.Embedder], and a [ragtest.QueryEmbedder], that keeps the
// vectors of another embedder in a file. It is made by [Open] or [New], and safe
// for concurrent use.
//
// While one call embeds a text, others that need it wait for its vector. An error
// of the embedder is returned to the caller whose texts it was given: others try
// again themselves.
type Cache struct {
	file     *file
	previous *file            // nil: there is none
	embedder ragtest.Embedder // nil: there is none
	options  Options
	replay   bool
	command  string // records what is missing

	// The following are guarded by file.mu.
	flights  map[key]chan struct{} // keys that a call is embedding; closed when it has returned
	stats    Stats
	appended bool
	closed   bool
}

// Stats counts what a cache has done since it was opened.
type Stats struct {
	Texts    int // texts and queries asked for
	Embedded int // of those, the ones given to the embedder; all others cost nothing
	Calls    int // calls of the embedder
	Records  int // vectors that the file holds
	Unused   int // of those, the ones that were there when it was opened and were not asked for
}

// Open returns a cache of e's vectors in the file at path, which is created when
// there is a first vector to store. e may be nil if the cache only replays.
//
// The file may be open in any number of caches and processes. Each sees what
// the others add. If two embed one text at the same time, both return the vector that
// was stored first.
func Open(path string, e ragtest.Embedder, o Options) (*Cache, error) {
	return open(path, e, o, update.Command(nil))
}

func open(path string, e ragtest.Embedder, o Options, command string) (*Cache, error) {
	c, err := newCache(e, o, command)
	if err == nil && path == "" {
		err = errors.New("the path is empty")
	}
	if err == nil {
		_, queries := e.(ragtest.QueryEmbedder)
		head := header{model: o.Model, float16: o.Float16, queries: queries}
		c.file, err = openFile(path, head, e == nil)
		if err == nil && !c.replay {
			c.previous, err = openFile(path+previousSuffix, head, false)
		}
	}
	if err == nil && c.replay && !c.file.exists() {
		err = fmt.Errorf("it does not exist, and a replay embeds nothing; record it with\n\t%s", command)
	}
	if err != nil {
		if c != nil && c.file != nil {
			c.file.close()
		}
		return nil, fmt.Errorf("opening the embedding cache %s: %w", path, err)
	}
	return c, nil
}

// previousSuffix ends the name of a file from which vectors are taken over.
const previousSuffix = ".old"

// newCache returns a cache without a file.
func newCache(e ragtest.Embedder, o Options, command string) (*Cache, error) {
	if v := reflect.ValueOf(e); (v.Kind() == reflect.Pointer || v.Kind() == reflect.Func) && v.IsNil() {
		return nil, fmt.Errorf("the embedder holds a nil %T, want one that is set, or nil", e)
	}
	switch {
	case o.Model == "":
		return nil, errors.New("field Model: empty, want the identity of the model")
	case len(o.Model) > maxModel:
		return nil, fmt.Errorf("field Model: got %d bytes, want at most %d", len(o.Model), maxModel)
	}
	replay, err := update.Switch(replayEnv)
	if err != nil {
		return nil, err
	}
	recording, err := update.Switch(update.Env)
	if err != nil {
		return nil, err
	}
	replay = (replay || o.Replay) && (!recording || e == nil)
	if e == nil && !replay {
		return nil, fmt.Errorf("the embedder is nil, which only a replay allows: set Options.Replay or %s=1", replayEnv)
	}
	return &Cache{embedder: e, options: o, replay: replay, command: command, flights: map[key]chan struct{}{}}, nil
}

// String returns "embedcache", the model, and /float16 if so. It is the same when
// vectors are recorded and when they are replayed.
func (c *Cache) String() string {
	name := "embedcache/model=" + c.options.Model
	if c.options.Float16 {
		name += "/float16"
	}
	return name
}

// GoString returns String, so that %#v shows nothing of the embedder.
func (c *Cache) GoString() string { return c.String() }

// Validate returns the error of the embedder, if it can tell one, and is going to
// be called.
func (c *Cache) Validate() error {
	if v, ok := c.embedder.(chunkers.Validator); ok && !c.replay {
		return v.Validate()
	}
	return nil
}

// Stats returns the counts so far.
func (c *Cache) Stats() Stats {
	c.file.mu.Lock()
	defer c.file.mu.Unlock()
	s := c.stats
	for _, r := range c.file.records {
		if r.stored {
			s.Records++
		}
		if r.stored && r.old && !r.used {
			s.Unused++
		}
	}
	return s
}

// Embed returns a vector for each text, from the file or, for those that it lacks,
// from the embedder. What the embedder returned is in the file when Embed returns,
// even if it failed for other texts or ctx is done meanwhile (but then Embed waits
// for no other process).
//
// The embedder is given each missing text once, at most 256 in a call, several
// calls at once. Its errors are returned as they are; with "embedding the …" before
// them if it was not given all the texts, since it may number them.
func (c *Cache) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return c.embed(ctx, document, texts)
}

// EmbedQueries is Embed for queries. It calls EmbedQueries of the embedder, and
// keeps those vectors apart from those of Embed. If the embedder is no
// [ragtest.QueryEmbedder], it is Embed.
func (c *Cache) EmbedQueries(ctx context.Context, queries []string) ([][]float32, error) {
	c.file.mu.Lock()
	of := document
	if c.file.want.queries {
		of = query
	}
	c.file.mu.Unlock()
	return c.embed(ctx, of, queries)
}

// lockTimeout is how long Record and Prune wait for a process that holds the lock.
const lockTimeout = time.Minute

// Record rewrites the file: sorted, without repetitions, and with everything that
// it holds now, so that what is committed does not depend on the order in which
// vectors were added. Others may use the file meanwhile.
func (c *Cache) Record() error {
	return c.rewrite(func(r *record) bool { return r.stored || r.used })
}

// Prune is [Cache.Record] without the vectors that [Stats].Unused counts: those that
// were in the file when this cache was opened and have not been asked for since.
//
// It knows of no other cache: prune a file that several tests or processes share as
// the package documentation says.
func (c *Cache) Prune() error {
	return c.rewrite(func(r *record) bool { return r.used || r.stored && !r.old })
}

func (c *Cache) rewrite(keep func(*record) bool) error {
	switch {
	case c.replay:
		return fmt.Errorf("rewriting the embedding cache %s: it only replays", c.file.name)
	case c.isClosed():
		return fmt.Errorf("rewriting the embedding cache %s: it is closed", c.file.name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockTimeout)
	defer cancel()
	if err := c.file.rewrite(ctx, keep); err != nil {
		return fmt.Errorf("rewriting the embedding cache: %w", err)
	}
	return nil
}

func (c *Cache) isClosed() bool {
	c.file.mu.Lock()
	defer c.file.mu.Unlock()
	return c.closed
}

// Close makes sure that what was added is on the disk, and releases the file. It does
// not close the embedder. Calls that are under way must have returned; later ones
// fail, but for Close and Stats.
func (c *Cache) Close() error {
	f := c.file
	f.mu.Lock()
	defer f.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	f.close()
	if c.previous != nil {
		c.previous.close()
	}
	if !c.appended {
		return nil
	}
	if err := f.sync(); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("closing the embedding cache %s: %w", f.name, err)
	}
	return nil
}
