// Package cputime tells benchmarks the processor time, which a busy machine hardly
// changes.
package cputime
