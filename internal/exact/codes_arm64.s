//go:build !purego

#include "textflag.h"

// The assembler has no names for these: eight int8 of n, the lower (L) or the upper (L2)
// half, as int16; and the products of the lower or the upper four int16 of n and m, as
// int32, added to d.
#define SXTL(n, d)      WORD $(0x0F08A400 | n<<5 | d)
#define SXTL2(n, d)     WORD $(0x4F08A400 | n<<5 | d)
#define SMLAL(m, n, d)  WORD $(0x0E608000 | m<<16 | n<<5 | d)
#define SMLAL2(m, n, d) WORD $(0x4E608000 | m<<16 | n<<5 | d)

// CODES adds the products of the query's codes in V20, V21 with the 16 in V16 to the
// lanes of sum.
#define CODES(sum) \
	SXTL(16, 17)        \
	SXTL2(16, 18)       \
	SMLAL(20, 17, sum)  \
	SMLAL2(20, 17, sum) \
	SMLAL(21, 18, sum)  \
	SMLAL2(21, 18, sum)

// func codeQuad(sums *[4]int32, query *int16, vectors *int8, stride int)
TEXT ·codeQuad(SB), NOSPLIT, $0-32
	MOVD sums+0(FP), R0
	MOVD query+8(FP), R1
	MOVD vectors+16(FP), R2
	MOVD stride+24(FP), R7
	ADD  R7, R2, R3
	ADD  R7, R3, R4
	ADD  R7, R4, R5

	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16

loop:
	VLD1.P 32(R1), [V20.H8, V21.H8]
	VLD1.P 16(R2), [V16.B16]
	CODES(0)
	VLD1.P 16(R3), [V16.B16]
	CODES(1)
	VLD1.P 16(R4), [V16.B16]
	CODES(2)
	VLD1.P 16(R5), [V16.B16]
	CODES(3)
	SUBS   $16, R7
	BNE    loop

	VADDV V0.S4, V0
	VADDV V1.S4, V1
	VADDV V2.S4, V2
	VADDV V3.S4, V3
	FMOVS F0, (R0)
	FMOVS F1, 4(R0)
	FMOVS F2, 8(R0)
	FMOVS F3, 12(R0)
	RET
