package embedcache

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"
)

// lockDelay is the time between two attempts to take a lock. A lock is held for
// as long as some records are read and written.
const lockDelay = 2 * time.Millisecond

// lockGrace is how long a lock is waited for once the context is done, so that
// vectors which have been paid for are stored.
const lockGrace = 200 * time.Millisecond

// lock takes the lock of the file at path, which lets one process at a time
// change it, and returns the function that releases it. The system releases the
// lock of a process that dies.
//
// What is locked is a file beside it, path.lock, since the file itself is replaced
// by others.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	l := flock.New(path+".lock", flock.SetPermissions(0o666))
	done := ctx.Done()
	var graceOver <-chan time.Time
	for {
		locked, err := l.TryLock()
		if err != nil {
			return nil, fmt.Errorf("locking %s: %w", l.Path(), err)
		}
		if locked {
			if isInPlace(l) {
				return func() { release(l) }, nil
			}
			l.Unlock()
			continue
		}
		select {
		case <-done:
			done, graceOver = nil, time.After(lockGrace)
		case <-graceOver:
			return nil, fmt.Errorf("waiting for the lock %s, which another process holds: %w", l.Path(), context.Cause(ctx))
		case <-time.After(lockDelay):
		}
	}
}

// isInPlace reports whether the file that was locked is still there: whoever held
// the lock before removed it.
func isInPlace(l *flock.Flock) bool {
	locked, err := l.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(l.Path())
	return err == nil && os.SameFile(locked, there)
}

// release removes the lock's file, so that none lies about in testdata, and
// unlocks it. Windows cannot remove a file that is open: there it stays.
func release(l *flock.Flock) {
	if runtime.GOOS != "windows" {
		os.Remove(l.Path())
	}
	l.Unlock()
}
