//go:build !purego

package exact

// vectorizedCodes tells whether the processor has AVX2.
var vectorizedCodes = vectorized && hasAVX2()

func hasAVX2() bool {
	const avx2 = 1 << 5
	return cpuidMax() >= 7 && cpuid7()&avx2 != 0
}

// cpuidMax returns the largest leaf of CPUID.
func cpuidMax() (eax uint32)

// cpuid7 returns what CPUID returns in EBX for EAX = 7 and ECX = 0.
func cpuid7() (ebx uint32)
