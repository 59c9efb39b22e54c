//go:build !purego

package exact

// vectorized tells whether the kernel in assembly runs here: whether the
// processor has AVX and the operating system keeps its registers.
var vectorized = hasAVX()

func hasAVX() bool {
	const osxsave, avx = 1 << 27, 1 << 28
	const xmm, ymm = 1 << 1, 1 << 2
	return cpuid1()&(osxsave|avx) == osxsave|avx && xgetbv0()&(xmm|ymm) == xmm|ymm
}

// cpuid1 returns what CPUID returns in ECX for EAX = 1.
func cpuid1() (ecx uint32)

// xgetbv0 returns the low half of the extended control register 0. It needs
// OSXSAVE.
func xgetbv0() (eax uint32)
