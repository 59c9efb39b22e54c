//go:build !purego

package exact

// vectorizedCodes tells that the kernel in assembly runs here.
var vectorizedCodes = true
