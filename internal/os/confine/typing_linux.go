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
	const allThreads = 1 // SECCOMP_FILTER_FLAG_TSYNC
	filter := program(typingFilter(ioctlCalls))
	syscall.RawSyscall(seccompCall, setModeFilter, allThreads|keepSpeed, uintptr(unsafe.Pointer(filter)))
}

// Requests of ioctl that insert characters.
const (
	tiocSTI   = 0x5412
	tiocLinux = 0x541c
)

// typingFilter returns a filter that fails the two ioctl requests with EPERM and allows everything
// else.
func typingFilter(calls []ioctlCall) []instruction {
	const (
		perCall        = 4
		skipToRequests = 1
	)
	var f []instruction
	for i := range calls {
		left := len(calls) - i - 1
		f = append(f,
			instruction{code: loadWord, k: callArch},
			instruction{code: ifEqual, k: calls[i].arch, jf: 2},
			instruction{code: loadWord, k: callNumber},
			instruction{code: ifEqual, k: calls[i].number, jt: uint8(left*perCall + skipToRequests)})
	}
	return append(f,
		instruction{code: answerWith, k: allowCall},
		instruction{code: loadWord, k: secondArg},
		instruction{code: ifEqual, k: tiocSTI, jt: 1},
		instruction{code: ifEqual, k: tiocLinux, jf: 1},
		answer(syscall.EPERM),
		instruction{code: answerWith, k: allowCall})
}
