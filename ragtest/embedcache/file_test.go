package embedcache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// sortedFile returns the content of a file of the given texts.
func sortedFile(t *testing.T, dim int, texts ...string) string {
	t.Helper()
	keyer := newKeyer("m", document)
	content := header{model: "m", dim: dim}.line()
	var lines [][]byte
	for _, text := range texts {
		vector, err := encodeVector(vectorOf(text, dim), false)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, appendRecord(nil, keyer.key(text), vector))
	}
	slices.SortFunc(lines, bytes.Compare)
	return string(append(content, bytes.Join(lines, nil)...))
}

func TestRecordSorts(t *testing.T) {
	path := newPath(t)
	c := mustOpen(t, path, &fake{dim: 3}, model)
	if err := c.Record(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("recording nothing: got %v, want no file", err)
	}
	for _, text := range []string{"c", "a", "d", "b"} {
		mustEmbed(t, c, text)
	}
	want := sortedFile(t, 3, "a", "b", "c", "d")
	if readFile(t, path) == want {
		t.Fatal("the file was sorted before")
	}
	lines := strings.SplitAfter(readFile(t, path), "\n")
	writeFile(t, path, readFile(t, path)+lines[2]+"half a rec") // a record twice, and a tail
	if err := c.Record(); err != nil || readFile(t, path) != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, readFile(t, path), want)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Record(); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Errorf("a file that is as it should be was replaced: %v", err)
	}
	mustEmbed(t, c, "e")
	if got, want := len(readFile(t, path)), len(sortedFile(t, 3, "a", "b", "c", "d", "e")); got != want {
		t.Errorf("got %d bytes after adding a text, want %d", got, want)
	}
	if got := entries(t, filepath.Dir(path)); !slices.Equal(got, []string{"m.embeddings"}) {
		t.Errorf("got the files %q, want only the cache", got)
	}
}

// Of two vectors of one text, which a merge may keep, the first counts.
func TestTwoVectorsOfOneText(t *testing.T) {
	path := newPath(t)
	whole := sortedFile(t, 3, "a")
	other, err := encodeVector([]float32{1, 2, 3}, false)
	if err != nil {
		t.Fatal(err)
	}
	second := appendRecord(nil, newKeyer("m", document).key("a"), other)
	writeFile(t, path, whole+string(second))
	c := mustOpen(t, path, &fake{dim: 3}, model)
	if v := mustEmbed(t, c, "a"); !slices.Equal(v[0], vectorOf("a", 3)) {
		t.Errorf("got %v, want the first vector", v[0])
	}
	if err := c.Record(); err != nil || readFile(t, path) != whole {
		t.Errorf("%v, got\n%s\nwant the first vector alone", err, readFile(t, path))
	}
}

func TestPrune(t *testing.T) {
	path := newPath(t)
	mustEmbed(t, mustOpen(t, path, &fake{dim: 3}, model), "a", "b", "c")
	c := mustOpen(t, path, &fake{dim: 3}, model)
	other := mustOpen(t, path, &fake{dim: 3}, model)
	mustEmbed(t, other, "others'")
	mustEmbed(t, c, "b", "new")
	if got, want := c.Stats(), (Stats{Texts: 2, Embedded: 1, Calls: 1, Records: 5, Unused: 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if err := c.Prune(); err != nil {
		t.Fatal(err)
	}
	if got, want := readFile(t, path), sortedFile(t, 3, "b", "new", "others'"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := c.Stats(); got.Records != 3 || got.Unused != 0 {
		t.Errorf("got %+v, want 3 records", got)
	}
	// A reader survives, and adds to the new file.
	mustEmbed(t, other, "a", "new", "newer")
	if got := other.Stats(); got.Embedded != 2 || got.Records != 4 {
		t.Errorf("got %+v, want only 2 texts embedded", got)
	}
	mustEmbed(t, mustOpen(t, path, nil, Options{Model: "m", Replay: true}), "b", "new", "newer", "others'")
	// All that nobody asked for.
	if err := mustOpen(t, path, &fake{dim: 3}, model).Prune(); err != nil || readFile(t, path) != sortedFile(t, 3) {
		t.Errorf("%v, got\n%s\nwant only the header", err, readFile(t, path))
	}
	mustEmbed(t, other, "again")
	if got := other.Stats().Records; got != 1 {
		t.Errorf("got %d records, want 1", got)
	}
}

func TestTakeOver(t *testing.T) {
	path := newPath(t)
	mustEmbed(t, mustOpen(t, path, &fake{dim: 3}, model), "a", "b", "c", "d")
	if err := os.Rename(path, path+previousSuffix); err != nil {
		t.Fatal(err)
	}
	e := &fake{dim: 3}
	c := mustOpen(t, path, e, model)
	if got := mustEmbed(t, c, "b", "new", "d"); !slices.Equal(got[2], vectorOf("d", 3)) {
		t.Errorf("got %v for d", got[2])
	}
	mustEmbed(t, mustOpen(t, path, e, model), "a", "b")
	if len(e.embedded) != 1 || e.embedded["new"] != 1 {
		t.Errorf("got %v embedded, want new alone", e.embedded)
	}
	if err := c.Record(); err != nil || readFile(t, path) != sortedFile(t, 3, "a", "b", "d", "new") {
		t.Errorf("%v, got\n%s", err, readFile(t, path))
	}
	writeFile(t, path+previousSuffix, "rubbish\n")
	_, err := Open(path, e, model)
	wantError(t, err, path+".old: not an embedding cache")
}

func TestOthersAppend(t *testing.T) {
	path := newPath(t)
	a, b := mustOpen(t, path, &fake{dim: 3}, model), mustOpen(t, path, &fake{dim: 3}, model)
	for i, text := range numberedTexts(10) {
		first, second := a, b
		if i%2 == 1 {
			first, second = b, a
		}
		mustEmbed(t, first, text)
		mustEmbed(t, second, text)
	}
	if x, y := a.Stats().Embedded, b.Stats().Embedded; x != 5 || y != 5 {
		t.Errorf("got %d and %d texts embedded, want 5 each", x, y)
	}
	// Two that embedded one text at once agree on the vector that was stored first.
	shared := &fake{dim: 3, wait: make(chan struct{})}
	drifting := embedderFunc(func() [][]float32 { <-shared.wait; return [][]float32{{1, 2, 3}} })
	c, d := mustOpen(t, path, shared, model), mustOpen(t, path, drifting, model)
	var vectors [2][][]float32
	var wg sync.WaitGroup
	for i, e := range []*Cache{c, d} {
		wg.Go(func() { vectors[i], _ = e.Embed(t.Context(), []string{"both"}) })
	}
	time.Sleep(10 * time.Millisecond)
	close(shared.wait)
	wg.Wait()
	if len(vectors[0]) != 1 || len(vectors[1]) != 1 || !slices.Equal(vectors[0][0], vectors[1][0]) {
		t.Errorf("got %v and %v, want one vector", vectors[0], vectors[1])
	}
	if got := strings.Count(readFile(t, path), "\n"); got != 12 {
		t.Errorf("got %d lines, want a header and 11 records", got)
	}
}

// Whatever a crash leaves at the end is cut off by the next write, and costs one
// record.
func TestTails(t *testing.T) {
	whole := sortedFile(t, 1, "a", "b")
	before := strings.LastIndex(whole[:len(whole)-1], "\n") + 1
	dir := filepath.Dir(newPath(t))
	for n := range len(whole) {
		for _, junk := range []string{"", "\x00\x00\x00\x00", "\n"} {
			if junk != "" && n%8 > 0 || n%2 > 0 && n < before { // every file is synced
				continue
			}
			path := filepath.Join(dir, fmt.Sprintf("%d-%d.embeddings", n, len(junk)))
			writeFile(t, path, whole[:n]+junk)
			c, err := Open(path, &fake{dim: 1}, model)
			if err == nil {
				defer c.Close()
			} else {
				if junk != "" && n < strings.Index(whole, "\n")+1 {
					continue // something else than a header that was cut short
				}
				t.Fatalf("%d bytes: %v", n, err)
			}
			if got := readFile(t, path); got != whole[:n]+junk {
				t.Fatalf("%d bytes: opening changed the file", n)
			}
			mustEmbed(t, c, "a", "b")
			if got := c.Stats(); got.Embedded > 2 || n >= before && got.Embedded > 1 {
				t.Errorf("%d bytes: got %+v", n, got)
			}
			if n%8 == 0 {
				if err := c.Record(); err != nil || readFile(t, path) != whole {
					t.Errorf("%d bytes: %v, got\n%s", n, err, readFile(t, path))
				}
			}
			again := mustOpen(t, path, nil, Options{Model: "m", Replay: true})
			mustEmbed(t, again, "a", "b")
			if again.file.scan.tail != nil {
				t.Errorf("%d bytes: got the tail %v after a write", n, again.file.scan.tail)
			}
		}
	}
}

// A reader, which takes no lock, meets a writer that cuts off what another left and
// writes on in its place, and never takes that for damage.
func TestReadingWhileTailsAreCut(t *testing.T) {
	path := newPath(t)
	const dim = 3000 // several pages, which are not written at once
	e := &fake{dim: dim}
	writer := mustOpen(t, path, e, model)
	mustEmbed(t, writer, "0")
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for ctx.Err() == nil {
				c, err := Open(path, nil, Options{Model: "m", Replay: true})
				if err != nil {
					t.Error(err)
					return
				}
				for range 20 {
					if _, err := c.Embed(t.Context(), []string{"missing"}); err == nil || !strings.Contains(err.Error(), "has no vector") {
						t.Error(err)
					}
				}
				c.Close()
			}
		})
	}
	for i := range 60 {
		w, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(bytes.Repeat([]byte{'0'}, 1+i*97%20_000))
		w.Close()
		mustEmbed(t, writer, fmt.Sprint(i))
	}
	stop()
	readers.Wait()
	if got := writer.Stats().Records; got != 60 || e.most() != 1 {
		t.Errorf("got %d records, texts embedded up to %d times", got, e.most())
	}
}

func TestReplayMentionsTail(t *testing.T) {
	path := newPath(t)
	whole := sortedFile(t, 3, "a")
	writeFile(t, path, whole[:len(whole)-5])
	_, err := mustOpen(t, path, nil, Options{Model: "m", Replay: true}).Embed(t.Context(), []string{"a"})
	wantError(t, err, path+" (which ends with a record that was cut short: line 2, at byte ", ": the line is not complete) has no vector of it")
	if readFile(t, path) != whole[:len(whole)-5] {
		t.Error("a replay changed the file")
	}
}

func TestDamage(t *testing.T) {
	path := newPath(t)
	whole := sortedFile(t, 3, "a", "b", "c")
	lines := strings.SplitAfter(whole, "\n")
	damaged := lines[0] + lines[1] + strings.Replace(lines[2], " ", "_", 1) + lines[3]
	writeFile(t, path, whole)
	open := mustOpen(t, path, &fake{dim: 3}, model)
	writeFile(t, path, damaged)
	_, err := Open(path, &fake{dim: 3}, model)
	want := fmt.Sprintf("reading %s: line 3, at byte %d: the checksum does not match; valid records follow", path, len(lines[0])+len(lines[1]))
	wantError(t, err, "opening the embedding cache "+path+": ", want)
	// Damage that is done while it is open shows as soon as more is read.
	writeFile(t, path, damaged+lines[1])
	_, err = open.Embed(t.Context(), []string{"a"})
	if err != nil {
		t.Errorf("a vector that was read before: %v", err)
	}
	os.Remove(path)
	writeFile(t, path, damaged)
	_, err = open.Embed(t.Context(), []string{"d"})
	wantError(t, err, want)
	wantError(t, open.Record(), want)
	if readFile(t, path) != damaged {
		t.Error("a damaged file was changed")
	}
	for _, content := range []string{"package main\n", "\n", "ragtest-embeddingz", lines[1], "\xef\xbb\xbf" + whole} {
		writeFile(t, path, content)
		_, err := Open(path, &fake{dim: 3}, model)
		wantError(t, err, "reading "+path+": not an embedding cache")
		if readFile(t, path) != content {
			t.Error("a file of another kind was changed")
		}
	}
	// A record that nobody could have written.
	for _, vector := range []string{"AADAfwAAAAAAAAAA", "!!!!!!!!!!!!!!!!"} {
		keyer := newKeyer("m", document)
		writeFile(t, path, lines[0]+string(appendRecord(nil, keyer.key("a"), []byte(vector))))
		_, err = mustOpen(t, path, &fake{dim: 3}, model).Embed(t.Context(), []string{"a"})
		wantError(t, err, "reading "+path+": the vector of text 0, record ")
	}
}

func TestReplacedByAnother(t *testing.T) {
	path := newPath(t)
	c := mustOpen(t, path, &fake{dim: 3}, model)
	mustEmbed(t, c, "a")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	mustEmbed(t, c, "a", "b")
	if got := c.Stats(); got.Embedded != 2 || got.Records != 1 {
		t.Errorf("got %+v after the file was removed", got)
	}
	if err := c.Record(); err != nil || readFile(t, path) != sortedFile(t, 3, "a", "b") {
		t.Errorf("%v, got\n%s\nwant what was used to come back", err, readFile(t, path))
	}
	os.Remove(path)
	mustEmbed(t, mustOpen(t, path, &fake{dim: 4}, model), "x")
	_, err := c.Embed(t.Context(), []string{"y"})
	wantError(t, err, path+": it holds vectors of dimension 4, want 3 as before it was replaced")
	// Replaced often enough for the system to give a number again.
	path = newPath(t)
	c = mustOpen(t, path, &fake{dim: 3}, model)
	mustEmbed(t, c, "0")
	for i := range 50 {
		os.Remove(path)
		text := fmt.Sprint(i)
		writeFile(t, path, sortedFile(t, 3, text, text+"x"))
		mustEmbed(t, c, text, text+"x")
	}
	if got := c.Stats().Embedded; got != 1 {
		t.Errorf("got %d texts embedded, want 1", got)
	}
}

func TestSymbolicLink(t *testing.T) {
	path := newPath(t)
	target := filepath.Join(t.TempDir(), "target")
	writeFile(t, target, sortedFile(t, 3, "a"))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Skip(err)
	}
	c := mustOpen(t, path, &fake{dim: 3}, model)
	t.Chdir(t.TempDir())
	mustEmbed(t, c, "b", "a")
	if err := c.Record(); err != nil || readFile(t, target) != sortedFile(t, 3, "a", "b") {
		t.Errorf("%v, got\n%s", err, readFile(t, target))
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info, err)
	}
}

func TestLock(t *testing.T) {
	path := newPath(t)
	c := mustOpen(t, path, &fake{dim: 3}, model)
	mustEmbed(t, c, "a")
	held := flock.New(path + ".lock")
	if ok, err := held.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	mustEmbed(t, c, "a") // reading needs no lock
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	_, err := c.Embed(ctx, []string{"b"})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got error %v, want that of the context", err)
	}
	time.AfterFunc(20*time.Millisecond, func() { held.Unlock() })
	mustEmbed(t, c, "b")
	if _, err := os.Stat(path + ".lock"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want the lock's file removed", err)
	}
	// Vectors that have been paid for are stored though the context is done.
	ctx, cancel = context.WithCancel(t.Context())
	e := embedderFunc(func() [][]float32 { cancel(); return [][]float32{{1, 2, 3}} })
	if _, err := mustOpen(t, path, e, model).Embed(ctx, []string{"paid"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want that of the context", err)
	}
	mustEmbed(t, mustOpen(t, path, nil, Options{Model: "m", Replay: true}), "paid")
}

// Who opened the lock's file before its holder removed it does not hold the lock.
func TestLockRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.embeddings.lock")
	early := flock.New(path)
	if ok, err := early.TryLock(); !ok || err != nil || !isInPlace(early) {
		t.Fatal(ok, err)
	}
	if err := os.Remove(path); err != nil {
		t.Skip(err) // Windows
	}
	if isInPlace(early) {
		t.Error("the lock counts though its file was removed")
	}
	late := flock.New(path)
	if ok, err := late.TryLock(); !ok || err != nil || !isInPlace(late) || isInPlace(early) {
		t.Errorf("%v, %v: want the new lock to count, and the old not to", ok, err)
	}
	release(late)
	early.Unlock()
}

func TestLockExcludes(t *testing.T) {
	path := newPath(t)
	var wg sync.WaitGroup
	var inside, most atomic.Int32
	for range 8 {
		wg.Go(func() {
			for range 50 {
				unlock, err := lock(t.Context(), path)
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); n > most.Load() {
					most.Store(n)
				}
				runtime.Gosched()
				inside.Add(-1)
				unlock()
			}
		})
	}
	wg.Wait()
	if most.Load() != 1 {
		t.Errorf("got %d holders at once", most.Load())
	}
}

func TestDiskFails(t *testing.T) {
	path := newPath(t)
	c := mustOpen(t, path, &fake{dim: 3}, model)
	mustEmbed(t, c, "a")
	if err := os.Mkdir(path+".lock", 0o777); err != nil {
		t.Fatal(err)
	}
	_, err := c.Embed(t.Context(), []string{"b"})
	wantError(t, err, "locking "+path+".lock: ")
	wantError(t, c.Record(), "rewriting the embedding cache: locking ")
}
