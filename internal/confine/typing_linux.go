package confine

import (
	"runtime"
	"syscall"
	"unsafe"
)

// ioctlCall is the number of the ioctl system call in one of the machine's calling conventions.
type ioctlCall struct{ arch, number uint32 }

// seccompCall is the number of the seccomp system call. ioctlCalls lists all ways to call ioctl,
// including those of 32-bit programs. Other architectures have no filter.
var (
	seccompCall = map[string]uintptr{"amd64": 317, "arm64": 277}[runtime.GOARCH]
	ioctlCalls  = map[string][]ioctlCall{
		"amd64": {{0xc000003e, 16}, {0xc000003e, 0x40000000 + 514}, {0x40000003, 54}}, // x86-64, x32, i386
		"arm64": {{0xc00000b7, 29}, {0x40000028, 54}},                                 // aarch64, arm
	}[runtime.GOARCH]
)

// RefuseTyping blocks, for this process and everything that it starts, the system calls that insert
// characters into the input of a terminal as if somebody had typed them (TIOCSTI, and TIOCLINUX for
// consoles). A session of its own already keeps a step from the terminals of its user, but root can
// type into any terminal. It does nothing if the kernel refuses the filter: users other than root
// may install one only if no_new_privs is set. They cannot type into terminals of other sessions
// anyway.
func RefuseTyping() {
	if seccompCall == 0 {
		return
	}
	const (
		setModeFilter = 1
		allThreads    = 1 // SECCOMP_FILTER_FLAG_TSYNC
		keepSpeed     = 4 // SECCOMP_FILTER_FLAG_SPEC_ALLOW: no mitigations, which only untrusted JIT compilers need
	)
	filter := typingFilter(ioctlCalls)
	program := struct {
		length uint16
		filter *instruction
	}{uint16(len(filter)), &filter[0]}
	syscall.RawSyscall(seccompCall, setModeFilter, allThreads|keepSpeed, uintptr(unsafe.Pointer(&program)))
}

// instruction is struct sock_filter of the kernel.
type instruction struct {
	code   uint16
	jt, jf uint8 // how many instructions to skip if the comparison is true, and if it is false
	k      uint32
}

// typingFilter returns a filter that fails the two ioctl requests with EPERM and allows everything
// else.
func typingFilter(calls []ioctlCall) []instruction {
	const (
		load, equal, answer     = 0x20, 0x15, 0x06 // a word of struct seccomp_data; jump; return
		number, arch, request   = 0, 4, 24         // offsets; request is the low half of the second argument, the only part that the kernel reads
		tiocSTI, tiocLinux      = 0x5412, 0x541c
		allow, refuse           = 0x7fff0000, 0x00050000 | uint32(syscall.EPERM)
		perCall, skipToRequests = 4, 1
	)
	var f []instruction
	for i := range calls {
		left := len(calls) - i - 1
		f = append(f,
			instruction{code: load, k: arch},
			instruction{code: equal, k: calls[i].arch, jf: 2},
			instruction{code: load, k: number},
			instruction{code: equal, k: calls[i].number, jt: uint8(left*perCall + skipToRequests)})
	}
	return append(f,
		instruction{code: answer, k: allow},
		instruction{code: load, k: request},
		instruction{code: equal, k: tiocSTI, jt: 1},
		instruction{code: equal, k: tiocLinux, jf: 1},
		instruction{code: answer, k: refuse},
		instruction{code: answer, k: allow})
}
