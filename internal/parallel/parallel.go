// Package parallel runs a bounded number of calls at once.
package parallel

import (
	"context"
	"sync"
	"sync/atomic"
)

// Do calls f(ctx, i) for every i in [0, n), at most workers at once and started
// in order of i, and returns when all calls that were started have returned.
// The first error cancels the context of the others, starts no more calls and
// is returned; if ctx is done first, its cause is.
func Do(ctx context.Context, workers, n int, f func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, n) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := f(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}
