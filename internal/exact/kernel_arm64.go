//go:build !purego

package exact

// vectorized tells whether the kernel in assembly runs here: every 64-bit ARM
// has NEON.
var vectorized = true
