#include "textflag.h"

// func rawSyscall(number, a, b, c, d uintptr) (result, errno uintptr)
//
// The return address is in a register, where a child on the same stack does not overwrite it.
TEXT ·rawSyscall(SB),NOSPLIT,$0-56
	MOVD number+0(FP), R8
	MOVD a+8(FP), R0
	MOVD b+16(FP), R1
	MOVD c+24(FP), R2
	MOVD d+32(FP), R3
	MOVD $0, R4
	MOVD $0, R5
	SVC
	CMN  $4095, R0
	BCC  ok
	MOVD $0, R4
	MOVD R4, result+40(FP)
	NEG  R0, R0
	MOVD R0, errno+48(FP)
	RET
ok:
	MOVD R0, result+40(FP)
	MOVD ZR, errno+48(FP)
	RET
