package embedcache

import (
	"testing"

	"github.com/rageval/rageval/internal/update"
	"github.com/rageval/rageval/ragtest"
)

// New is [Open] for a test. It fails the test if the cache cannot be opened. When
// the test ends, it closes the cache and, if vectors were added, calls
// [Cache.Record] before, so that a file under testdata is always ready to be
// committed. The command that a miss names records for this test alone.
func New(tb testing.TB, path string, e ragtest.Embedder, o Options) *Cache {
	tb.Helper()
	c, err := open(path, e, o, update.Command(tb))
	if err != nil {
		tb.Fatalf("ragtest: %v", err)
	}
	tb.Cleanup(func() {
		tb.Helper()
		if err := c.finish(); err != nil {
			tb.Errorf("ragtest: %v", err)
		}
		if s := c.Stats(); s.Embedded > 0 {
			tb.Logf("ragtest: embedding cache %s: embedded %d of %d texts", path, s.Embedded, s.Texts)
		}
	})
	return c
}

// finish closes the cache, sorted if it was added to.
func (c *Cache) finish() error {
	c.file.mu.Lock()
	record := c.appended && !c.closed
	c.file.mu.Unlock()
	if record {
		if err := c.Record(); err != nil {
			c.Close()
			return err
		}
	}
	return c.Close()
}
