// Package parallel runs a bounded number of calls at once.
package parallel

import (
	"context"
	"errors"
	"sync"
)

var errExited = errors.New("the call ended its goroutine (runtime.Goexit, or FailNow or SkipNow of a test) instead of returning an error")

// Do calls f(ctx, i) for every i in [0, n), at most workers at once and started
// in order of i, and returns when all calls that were started have returned. An
// error starts no more calls and cancels the context of those under way. Of the
// errors, that of the lowest i is returned, and none that only says that the
// context was cancelled. If the caller's ctx is done, its cause is returned, or an
// error that wraps it: what a call was waiting for. A call that ends its goroutine
// instead of returning, as t.FailNow does, is an error.
func Do(ctx context.Context, workers, n int, f func(ctx context.Context, i int) error) error {
	calls, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		next   int
		failed = n // the lowest i with an error of its own
		first  error
		ended  = n // the lowest i with an error that wraps the cause of ctx
		last   error
	)
	call := func(i int) {
		err := errExited
		defer func() {
			if err == nil {
				return
			}
			mu.Lock()
			if i < failed && (calls.Err() == nil || !errors.Is(err, context.Canceled)) {
				failed, first = i, err
			}
			if i < ended && ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
				ended, last = i, err
			}
			mu.Unlock()
			cancel()
		}()
		err = f(calls, i)
	}
	for range min(workers, n) {
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= n || calls.Err() != nil {
					return
				}
				call(i)
			}
		})
	}
	wg.Wait()
	switch {
	case last != nil:
		return last
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return first
}
