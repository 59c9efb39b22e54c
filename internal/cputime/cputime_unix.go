//go:build unix

package cputime

import (
	"syscall"
	"testing"
	"time"
)

// Used returns the processor time of this process so far, in user and system mode.
func Used(tb testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
