//go:build amd64 || arm64

package systrace

import "syscall"

// instruction is struct sock_filter of the kernel.
type instruction struct {
	code   uint16
	jt, jf uint8 // how many instructions to skip if the comparison is true, and if it is false
	k      uint32
}

// answerReport is SECCOMP_RET_USER_NOTIF: the call waits until it has been reported.
const answerReport = 0x7fc00000

// filter returns a filter that reports the observed calls and allows all others. It fails io_uring, as a kernel
// without it would: what a program does through it cannot be observed. Calls of other architectures (32-bit programs)
// are allowed and not observed.
func filter() []instruction {
	const (
		load, equal, answer = 0x20, 0x15, 0x06 // a word of struct seccomp_data; jump; return
		number, arch        = 0, 4             // offsets
		allow               = 0x7fff0000
		absent              = 0x00050000 | uint32(syscall.ENOSYS)
	)
	f := []instruction{
		{code: load, k: arch},
		{code: equal, k: auditArch, jt: 1},
		{code: answer, k: allow},
		{code: load, k: number},
		{code: equal, k: sysIoUringSetup, jf: 1},
		{code: answer, k: absent},
	}
	calls := observed()
	left := len(calls)
	for nr := range calls {
		left--
		f = append(f, instruction{code: equal, k: uint32(nr), jt: uint8(left + 1)})
	}
	return append(f, instruction{code: answer, k: allow}, instruction{code: answer, k: answerReport})
}
