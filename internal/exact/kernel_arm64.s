//go:build !purego

#include "textflag.h"

// The assembler has no names for these: a vertical multiply and a vertical add
// of four float32. Every product is rounded before it is added: no VFMLA.
#define FMUL(m, n, d) WORD $(0x6E20DC00 | m<<16 | n<<5 | d)
#define FADD(m, n, d) WORD $(0x4E20D400 | m<<16 | n<<5 | d)

// The same of two float64; and conversions between the lower (L, N) or upper
// (L2, N2) two float32 of a register and two float64.
#define FMULD(m, n, d) WORD $(0x6E60DC00 | m<<16 | n<<5 | d)
#define FADDD(m, n, d) WORD $(0x4E60D400 | m<<16 | n<<5 | d)
#define FCVTL(n, d)    WORD $(0x0E617800 | n<<5 | d)
#define FCVTL2(n, d)   WORD $(0x4E617800 | n<<5 | d)
#define FCVTN(n, d)    WORD $(0x0E616800 | n<<5 | d)
#define FCVTN2(n, d)   WORD $(0x4E616800 | n<<5 | d)

// PAIR adds the products of the query in V20, V21 with the vector in v0, v1 to
// the lanes a0, a1.
#define PAIR(v0, v1, a0, a1) \
	FMUL(20, v0, 22)  \
	FMUL(21, v1, 23)  \
	FADD(22, a0, a0)  \
	FADD(23, a1, a1)

// REDUCE adds up the lanes of four sums, which are in V0 to V7 or V8 to V15, to
// one float32 each, in a: the upper half to the lower until one is left.
#define REDUCE(a, an, b, bn, c, cn, d, dn, a1, b1, c1, d1) \
	FADD(a1, an, an)            \
	FADD(b1, bn, bn)            \
	FADD(c1, cn, cn)            \
	FADD(d1, dn, dn)            \
	VZIP1 b.S4, a.S4, V16.S4    \
	VZIP2 b.S4, a.S4, V17.S4    \
	FADD(17, 16, 16)            \
	VZIP1 d.S4, c.S4, V18.S4    \
	VZIP2 d.S4, c.S4, V19.S4    \
	FADD(19, 18, 18)            \
	VZIP1 V18.D2, V16.D2, a.D2  \
	VZIP2 V18.D2, V16.D2, b.D2  \
	FADD(bn, an, an)

#define ZERO8(a, b, c, d, e, f, g, h) \
	VEOR a.B16, a.B16, a.B16 \
	VEOR b.B16, b.B16, b.B16 \
	VEOR c.B16, c.B16, c.B16 \
	VEOR d.B16, d.B16, d.B16 \
	VEOR e.B16, e.B16, e.B16 \
	VEOR f.B16, f.B16, f.B16 \
	VEOR g.B16, g.B16, g.B16 \
	VEOR h.B16, h.B16, h.B16

// func tile(sums *[8]float32, queries, vectors *float32, stride int)
TEXT ·tile(SB), NOSPLIT, $0-32
	MOVD sums+0(FP), R0
	MOVD queries+8(FP), R1
	MOVD vectors+16(FP), R5
	MOVD stride+24(FP), R7
	LSL  $2, R7, R8
	ADD  R8, R1, R2
	ADD  R8, R2, R3
	ADD  R8, R3, R4
	ADD  R8, R5, R6

	ZERO8(V0, V1, V2, V3, V4, V5, V6, V7)
	ZERO8(V8, V9, V10, V11, V12, V13, V14, V15)

loop:
	VLD1.P 32(R5), [V16.S4, V17.S4]
	VLD1.P 32(R6), [V18.S4, V19.S4]
	VLD1.P 32(R1), [V20.S4, V21.S4]
	PAIR(16, 17, 0, 1)
	PAIR(18, 19, 2, 3)
	VLD1.P 32(R2), [V20.S4, V21.S4]
	PAIR(16, 17, 4, 5)
	PAIR(18, 19, 6, 7)
	VLD1.P 32(R3), [V20.S4, V21.S4]
	PAIR(16, 17, 8, 9)
	PAIR(18, 19, 10, 11)
	VLD1.P 32(R4), [V20.S4, V21.S4]
	PAIR(16, 17, 12, 13)
	PAIR(18, 19, 14, 15)
	SUBS   $8, R7
	BNE    loop

	REDUCE(V0, 0, V2, 2, V4, 4, V6, 6, 1, 3, 5, 7)
	REDUCE(V8, 8, V10, 10, V12, 12, V14, 14, 9, 11, 13, 15)
	VST1.P [V0.S4], 16(R0)
	VST1   [V8.S4], (R0)
	RET

// func quad(sums *[4]float32, query, vectors *float32, stride int)
TEXT ·quad(SB), NOSPLIT, $0-32
	MOVD sums+0(FP), R0
	MOVD query+8(FP), R1
	MOVD vectors+16(FP), R2
	MOVD stride+24(FP), R7
	LSL  $2, R7, R8
	ADD  R8, R2, R3
	ADD  R8, R3, R4
	ADD  R8, R4, R5

	ZERO8(V0, V1, V2, V3, V4, V5, V6, V7)

loop:
	VLD1.P 32(R1), [V20.S4, V21.S4]
	VLD1.P 32(R2), [V16.S4, V17.S4]
	VLD1.P 32(R3), [V18.S4, V19.S4]
	PAIR(16, 17, 0, 1)
	PAIR(18, 19, 2, 3)
	VLD1.P 32(R4), [V16.S4, V17.S4]
	VLD1.P 32(R5), [V18.S4, V19.S4]
	PAIR(16, 17, 4, 5)
	PAIR(18, 19, 6, 7)
	SUBS   $8, R7
	BNE    loop

	REDUCE(V0, 0, V2, 2, V4, 4, V6, 6, 1, 3, 5, 7)
	VST1 [V0.S4], (R0)
	RET

// func addSquares8(sums *[8]float64, v *float32, n int)
TEXT ·addSquares8(SB), NOSPLIT, $0-24
	MOVD sums+0(FP), R0
	MOVD v+8(FP), R1
	MOVD n+16(FP), R2
	VLD1 (R0), [V0.D2, V1.D2, V2.D2, V3.D2]

loop:
	VLD1.P 32(R1), [V4.S4, V5.S4]
	FCVTL(4, 6)
	FCVTL2(4, 7)
	FCVTL(5, 8)
	FCVTL2(5, 9)
	FMULD(6, 6, 6)
	FMULD(7, 7, 7)
	FMULD(8, 8, 8)
	FMULD(9, 9, 9)
	FADDD(6, 0, 0)
	FADDD(7, 1, 1)
	FADDD(8, 2, 2)
	FADDD(9, 3, 3)
	SUBS $8, R2
	BNE  loop

	VST1 [V0.D2, V1.D2, V2.D2, V3.D2], (R0)
	RET

// func scale8(dst, v *float32, n int, factor float64)
TEXT ·scale8(SB), NOSPLIT, $0-32
	MOVD dst+0(FP), R0
	MOVD v+8(FP), R1
	MOVD n+16(FP), R2
	MOVD factor+24(FP), R3
	VDUP R3, V0.D2

loop:
	VLD1.P 32(R1), [V4.S4, V5.S4]
	FCVTL(4, 6)
	FCVTL2(4, 7)
	FCVTL(5, 8)
	FCVTL2(5, 9)
	FMULD(0, 6, 6)
	FMULD(0, 7, 7)
	FMULD(0, 8, 8)
	FMULD(0, 9, 9)
	FCVTN(6, 4)
	FCVTN2(7, 4)
	FCVTN(8, 5)
	FCVTN2(9, 5)
	VST1.P [V4.S4, V5.S4], 32(R0)
	SUBS   $8, R2
	BNE    loop
	RET
