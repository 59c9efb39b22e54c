//go:build !purego

#include "textflag.h"

// Every product is rounded before it is added: no VFMADD.

// ADD8 adds the product of the factor in Y8 with eight values to a sum.
#define ADD8(offset, sum) \
	VMULPS offset(DX), Y8, Y9 \
	VADDPS Y9, sum, sum

// func columnDots64(scores *[64]float32, columns *float32, offsets *uint32, values *float32, ends *[8]uint32, sums *[512]float32)
TEXT ·columnDots64(SB), NOSPLIT, $0-48
	MOVQ columns+8(FP), R8
	MOVQ offsets+16(FP), R9
	MOVQ values+24(FP), R10
	MOVQ ends+32(FP), R11
	MOVQ sums+40(FP), R12
	XORQ AX, AX // the next term
	MOVQ $8, BX // lanes left

lane:
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	MOVL   (R11), CX
	ADDQ   $4, R11
	CMPQ   AX, CX
	JGE    store

term:
	MOVL         (R9)(AX*4), DX
	ADDQ         R8, DX
	VBROADCASTSS (R10)(AX*4), Y8
	ADD8(0, Y0)
	ADD8(32, Y1)
	ADD8(64, Y2)
	ADD8(96, Y3)
	ADD8(128, Y4)
	ADD8(160, Y5)
	ADD8(192, Y6)
	ADD8(224, Y7)
	INCQ         AX
	CMPQ         AX, CX
	JLT          term

store:
	VMOVUPS Y0, (R12)
	VMOVUPS Y1, 32(R12)
	VMOVUPS Y2, 64(R12)
	VMOVUPS Y3, 96(R12)
	VMOVUPS Y4, 128(R12)
	VMOVUPS Y5, 160(R12)
	VMOVUPS Y6, 192(R12)
	VMOVUPS Y7, 224(R12)
	ADDQ    $256, R12
	DECQ    BX
	JNE     lane

	// ((l0+l4) + (l2+l6)) + ((l1+l5) + (l3+l7)), eight vectors at a time.
	MOVQ scores+0(FP), DI
	MOVQ sums+40(FP), R12
	MOVQ $8, BX

reduce:
	VMOVUPS (R12), Y0
	VADDPS  1024(R12), Y0, Y0
	VMOVUPS 512(R12), Y1
	VADDPS  1536(R12), Y1, Y1
	VADDPS  Y1, Y0, Y0
	VMOVUPS 256(R12), Y2
	VADDPS  1280(R12), Y2, Y2
	VMOVUPS 768(R12), Y3
	VADDPS  1792(R12), Y3, Y3
	VADDPS  Y3, Y2, Y2
	VADDPS  Y2, Y0, Y0
	VMOVUPS Y0, (DI)
	ADDQ    $32, R12
	ADDQ    $32, DI
	DECQ    BX
	JNE     reduce
	VZEROUPPER
	RET
