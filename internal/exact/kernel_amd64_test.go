//go:build !purego

package exact

import (
	"os"
	"regexp"
	"testing"
)

// A kernel that is never used passes every other test.
func TestAVXIsFound(t *testing.T) {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Skipf("skipped: the system does not tell what its processor has: %v", err)
	}
	if want := regexp.MustCompile(`(?m)^flags\s*:.*\bavx\b`).Match(info); vectorized != want {
		t.Errorf("AVX is used: %t, want %t as /proc/cpuinfo says", vectorized, want)
	}
}
