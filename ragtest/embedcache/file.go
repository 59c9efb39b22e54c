package embedcache

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/rageval/rageval/internal/wholefile"
)

// record is a vector in the form in which it is stored.
type record struct {
	vector []byte // base64
	stored bool   // the file holds it
	old    bool   // the file held it when it was opened
	used   bool
}

// file is a cache file, and what is known of it. Others append to it and replace
// it at any time.
type file struct {
	name string // as the caller wrote it
	path string // absolute, without symbolic links

	mu      sync.Mutex
	held    *os.File // keeps the system from giving its number to another file; nil: there is none
	info    fs.FileInfo
	scan    scan
	want    header // with the dimension once it is known
	either  bool   // want.queries is whatever the file says
	records map[key]*record
}

// openFile returns the file at path, which need not exist. The header of an
// existing one must be as wanted, but for the dimension, and want.queries if either
// will do.
func openFile(path string, want header, either bool) (*file, error) {
	f := &file{name: path, want: want, either: either, records: map[key]*record{}}
	var err error
	if f.path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	if target, err := filepath.EvalSymlinks(f.path); err == nil {
		f.path = target
	} else if dir, err := filepath.EvalSymlinks(filepath.Dir(f.path)); err == nil {
		f.path = filepath.Join(dir, filepath.Base(f.path))
	}
	if err := f.refresh(); err != nil {
		f.close()
		return nil, err
	}
	for _, r := range f.records {
		r.old = true
	}
	return f, nil
}

func (f *file) exists() bool { return f.info != nil }

func (f *file) close() {
	if f.held != nil {
		f.held.Close()
		f.held = nil
	}
}

// refresh reads what was added to the file since the last call, or all of it if
// it has been replaced. The caller holds f.mu.
//
// It needs no lock. If it reads while a process cuts off an incomplete record and
// writes on in its place, it may see the beginning of the one and the end of the
// other; then it sees neither when it reads again.
func (f *file) refresh() error {
	err := f.read()
	for range 5 {
		var damaged *damagedError
		if !errors.As(err, &damaged) {
			break
		}
		f.forget()
		err = f.read()
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", f.name, err)
	}
	return nil
}

// damagedError says that the content of the file is wrong.
type damagedError struct{ error }

func (f *file) read() error {
	if info, err := os.Stat(f.path); errors.Is(err, fs.ErrNotExist) {
		f.forget()
		return nil
	} else if err == nil && !info.Mode().IsRegular() { // a pipe would block
		return fmt.Errorf("want a regular file, found mode %v", info.Mode())
	}
	r, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		f.forget()
		return nil
	}
	if err != nil {
		return err
	}
	info, err := r.Stat()
	if err != nil {
		r.Close()
		return err
	}
	if f.info == nil || !os.SameFile(f.info, info) || info.Size() < f.scan.pos.offset {
		f.forget()
	}
	f.close()
	f.info = info
	if runtime.GOOS == "windows" { // where an open file cannot be replaced, and its number is not used again
		defer r.Close()
	} else {
		f.held = r
	}
	size := info.Size() - f.scan.pos.offset
	if size == 0 {
		f.scan.tail = nil
		return nil
	}
	if _, err := r.Seek(f.scan.pos.offset, io.SeekStart); err != nil {
		return err
	}
	fresh := f.scan.pos.offset == 0
	if err := f.scan.read(r, size, f.add); err != nil {
		return &damagedError{err}
	}
	if fresh && f.scan.pos.offset > 0 {
		return f.checkHeader()
	}
	return nil
}

// forget makes the next read begin at the start.
func (f *file) forget() {
	f.close()
	f.info, f.scan = nil, scan{}
	for _, r := range f.records {
		r.stored = false
	}
}

// add adds a record that was read. Of several with one key the first counts.
func (f *file) add(k key, vector []byte) {
	r, ok := f.records[k]
	if !ok {
		r = &record{}
		f.records[k] = r
	}
	if !r.stored {
		r.vector, r.stored = vector, true
	}
}

func (f *file) checkHeader() error {
	got := f.scan.head
	switch want := f.want; {
	case got.model != want.model:
		return fmt.Errorf("it holds vectors of the model %q, want %q: keep one file for each model", got.model, want.model)
	case got.float16 != want.float16:
		return fmt.Errorf("it holds %s vectors, want %s: set Options.Float16 as it was when they were recorded, or remove the file and record it again", got.encoding(), want.encoding())
	case got.queries != want.queries && !f.either:
		return fmt.Errorf("it was recorded with an embedder that is %s, want one that is %s: remove the file and record it again", got.inputs(), want.inputs())
	case want.dim != 0 && got.dim != want.dim:
		return fmt.Errorf("it holds vectors of dimension %d, want %d as before it was replaced", got.dim, want.dim)
	}
	f.want = got
	return nil
}

// entry is a vector to be stored, in base64.
type entry struct {
	key    key
	vector []byte
}

// append stores vectors of dimension dim that the file does not hold, ordered by
// key, with a single write.
func (f *file) append(ctx context.Context, dim int, entries []entry) error {
	unlock, err := lock(ctx, f.path)
	if err != nil {
		return err
	}
	defer unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.refresh(); err != nil {
		return err
	}
	if f.want.dim != 0 && dim != f.want.dim {
		return fmt.Errorf("storing in %s: got vectors of dimension %d, but the file holds vectors of dimension %d: keep one file for each model", f.name, dim, f.want.dim)
	}
	var buf []byte
	if f.scan.pos.offset == 0 {
		h := f.want
		h.dim = dim
		buf = h.line()
	}
	entries = slices.SortedFunc(slices.Values(entries), func(a, b entry) int { return bytes.Compare(a.key[:], b.key[:]) })
	added := 0
	for _, e := range entries {
		if r := f.records[e.key]; r == nil || !r.stored {
			buf = appendRecord(buf, e.key, e.vector)
			added++
		}
	}
	if added == 0 {
		return nil
	}
	if err := f.write(buf); err != nil {
		return fmt.Errorf("storing %d vectors in %s: %w", added, f.name, err)
	}
	return f.refresh()
}

// write cuts off the tail and appends buf. If that fails, it leaves the file as it
// was, less the tail.
func (f *file) write(buf []byte) (err error) {
	w, err := os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, w.Close()) }()
	if f.scan.tail != nil {
		if err := w.Truncate(f.scan.pos.offset); err != nil {
			return err
		}
	}
	if _, err := w.Write(buf); err != nil {
		w.Truncate(f.scan.pos.offset)
		return err
	}
	return nil
}

// rewrite replaces the file by one with the records to keep, ordered by key.
func (f *file) rewrite(ctx context.Context, keep func(*record) bool) error {
	unlock, err := lock(ctx, f.path)
	if err != nil {
		return err
	}
	defer unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.refresh(); err != nil {
		return err
	}
	if f.want.dim == 0 {
		return nil // there is nothing yet
	}
	buf := f.want.line()
	for _, k := range slices.SortedFunc(maps.Keys(f.records), func(a, b key) int { return bytes.Compare(a[:], b[:]) }) {
		if r := f.records[k]; keep(r) {
			buf = appendRecord(buf, k, r.vector)
		}
	}
	if old, err := os.ReadFile(f.path); err == nil && bytes.Equal(old, buf) {
		return nil
	}
	if err := wholefile.Write(f.path, buf); err != nil {
		return err
	}
	return f.refresh()
}

// sync makes sure that what was appended outlives a failure of the machine.
func (f *file) sync() error {
	w, err := os.OpenFile(f.path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return cmp.Or(w.Sync(), w.Close())
}
