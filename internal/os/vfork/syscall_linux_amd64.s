#include "textflag.h"

// func rawSyscall(number, a, b, c, d uintptr) (result, errno uintptr)
//
// The return address is kept in a register, because a child on the same stack overwrites it.
TEXT ·rawSyscall(SB),NOSPLIT|NOFRAME,$0-56
	MOVQ number+0(FP), AX
	MOVQ a+8(FP), DI
	MOVQ b+16(FP), SI
	MOVQ c+24(FP), DX
	MOVQ d+32(FP), R10
	MOVQ $0, R8
	MOVQ $0, R9
	POPQ R12
	SYSCALL
	PUSHQ R12
	CMPQ AX, $0xfffffffffffff001
	JLS  ok
	MOVQ $0, result+40(FP)
	NEGQ AX
	MOVQ AX, errno+48(FP)
	RET
ok:
	MOVQ AX, result+40(FP)
	MOVQ $0, errno+48(FP)
	RET
