package parallel

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
)

func TestDoCallsEachOnce(t *testing.T) {
	for _, workers := range []int{1, 2, 7, 100} {
		calls := make([]atomic.Int32, 50)
		var now, most atomic.Int32
		err := Do(t.Context(), workers, len(calls), func(_ context.Context, i int) error {
			n := now.Add(1)
			defer now.Add(-1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			calls[i].Add(1)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range calls {
			if n := calls[i].Load(); n != 1 {
				t.Errorf("%d workers: %d was called %d times", workers, i, n)
			}
		}
		if int(most.Load()) > workers {
			t.Errorf("%d calls at once, want at most %d", most.Load(), workers)
		}
	}
	if err := Do(t.Context(), 4, 0, nil); err != nil {
		t.Errorf("nothing to do: got %v", err)
	}
}

func TestDoReturnsTheLowestError(t *testing.T) {
	for range 200 {
		err := Do(t.Context(), 4, 1000, func(ctx context.Context, i int) error {
			if i < 3 {
				<-ctx.Done() // has no error of its own
				return ctx.Err()
			}
			return fmt.Errorf("call %d", i)
		})
		if err == nil || err.Error() != "call 3" {
			t.Fatalf("got %v, want call 3", err)
		}
	}
}

func TestDoStopsWithItsContext(t *testing.T) {
	cause := errors.New("had enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	var calls atomic.Int32
	err := Do(ctx, 2, 1000, func(ctx context.Context, i int) error {
		calls.Add(1)
		cancel(cause)
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, cause) {
		t.Errorf("got %v, want the cause", err)
	}
	if n := calls.Load(); n > 2 {
		t.Errorf("got %d calls, want at most the 2 under way", n)
	}
}

func TestDoTellsWhatWasUnderWayWhenItsContextEnded(t *testing.T) {
	cause := errors.New("had enough")
	for range 50 {
		ctx, cancel := context.WithCancelCause(t.Context())
		waiting := make(chan struct{})
		err := Do(ctx, 3, 1000, func(ctx context.Context, i int) error {
			switch i {
			case 0: // says no more than that it ended
				<-ctx.Done()
				return ctx.Err()
			case 1:
				close(waiting)
				<-ctx.Done()
				return fmt.Errorf("waiting for the server, which is busy: %w", context.Cause(ctx))
			}
			<-waiting
			cancel(cause)
			return nil
		})
		if !errors.Is(err, cause) || err.Error() != "waiting for the server, which is busy: had enough" {
			t.Fatalf("got %v, want what was under way, and the cause", err)
		}
	}
}

// A component that calls t.FailNow ends one of Do's goroutines, not the test's.
func TestDoReportsACallThatDoesNotReturn(t *testing.T) {
	for _, workers := range []int{1, 3} {
		err := Do(t.Context(), workers, 10, func(_ context.Context, i int) error {
			if i == 2 {
				runtime.Goexit()
			}
			return nil
		})
		if !errors.Is(err, errExited) {
			t.Errorf("%d workers: got %v, want %v", workers, err, errExited)
		}
	}
}
