//go:build !purego

#include "textflag.h"

// CODES adds the products of the query's codes in Y8 with the next 16 of a row to the
// lanes of sum: VPMADDWD adds pairs of them, which no int32 is too small for.
#define CODES(row, sum) \
	VPMOVSXBW (row)(CX*1), Y9 \
	VPMADDWD  Y8, Y9, Y9      \
	VPADDD    Y9, sum, sum

// func codeQuad(sums *[4]int32, query *int16, vectors *int8, stride int)
TEXT ·codeQuad(SB), NOSPLIT, $0-32
	MOVQ sums+0(FP), DI
	MOVQ query+8(FP), R8
	MOVQ vectors+16(FP), R9
	MOVQ stride+24(FP), CX

	// The ends of the rows, and an index that counts up to them.
	LEAQ (R8)(CX*2), R8
	ADDQ CX, R9
	LEAQ (R9)(CX*1), R10
	LEAQ (R10)(CX*1), R11
	LEAQ (R11)(CX*1), R12
	NEGQ CX

	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3

loop:
	VMOVDQU (R8)(CX*2), Y8
	CODES(R9, Y0)
	CODES(R10, Y1)
	CODES(R11, Y2)
	CODES(R12, Y3)
	ADDQ    $16, CX
	JNE     loop

	// Pairs of lanes, then of pairs, then both halves: one lane for each sum.
	VPHADDD      Y1, Y0, Y0
	VPHADDD      Y3, Y2, Y2
	VPHADDD      Y2, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VMOVDQU      X0, (DI)
	VZEROUPPER
	RET

// func cpuidMax() (eax uint32)
TEXT ·cpuidMax(SB), NOSPLIT, $0-4
	XORL AX, AX
	XORL CX, CX
	CPUID
	MOVL AX, eax+0(FP)
	RET

// func cpuid7() (ebx uint32)
TEXT ·cpuid7(SB), NOSPLIT, $0-4
	MOVL $7, AX
	XORL CX, CX
	CPUID
	MOVL BX, ebx+0(FP)
	RET
