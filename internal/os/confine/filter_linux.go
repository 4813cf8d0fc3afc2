package confine

import (
	"errors"
	"runtime"
	"slices"
	"syscall"
	"unsafe"
)

// instruction is struct sock_filter of the kernel.
type instruction struct {
	code   uint16
	jt, jf uint8 // how many instructions to skip if the comparison is true, and if it is false
	k      uint32
}

// Answers of a filter to a system call, and what its instructions do. A call is struct seccomp_data.
const (
	allowCall   = 0x7fff0000
	failCall    = 0x00050000 // with an errno in the low bits
	killProcess = 0x80000000

	loadWord   = 0x20
	maskWord   = 0x54
	ifEqual    = 0x15
	ifAtLeast  = 0x35
	ifAnyBit   = 0x45
	answerWith = 0x06

	callNumber   = 0
	callArch     = 4
	firstArg     = 16 // the low half on little-endian machines, which is all that these calls read
	secondArg    = 24
	newNamespace = 0x7e020000 // flags of clone that make namespaces
	newTimeSpace = 0x80       // the same, of unshare only
)

// machine holds the numbers of system calls on one architecture.
type machine struct {
	arch                                                             uint32 // AUDIT_ARCH
	clone, unshare, ioctl, socket, socketPair, limitsOfPID, addWatch uint32
	number                                                           func(call) int16
	secondTable                                                      bool // numbers from 0x40000000 belong to programs with another size of pointers
}

// machineOf returns an architecture; ok is false if there is no filter for it.
func machineOf(name string) (m machine, ok bool) {
	switch name {
	case "amd64":
		return machine{arch: 0xc000003e, clone: 56, unshare: 272, ioctl: 16, socket: 41, socketPair: 53, limitsOfPID: 302, addWatch: 254,
			number: func(c call) int16 { return c.amd64 }, secondTable: true}, true
	case "arm64":
		return machine{arch: 0xc00000b7, clone: 220, unshare: 97, ioctl: 29, socket: 198, socketPair: 199, limitsOfPID: 261, addWatch: 27,
			number: func(c call) int16 { return c.arm64 }}, true
	}
	return machine{}, false
}

// allowed returns the numbers of allowedCalls, sorted.
func (m machine) allowed() (list []uint32) {
	for _, g := range allowedCalls {
		for _, c := range g.calls {
			if n := m.number(c); n >= 0 {
				list = append(list, uint32(n))
			}
		}
	}
	slices.Sort(list)
	return list
}

// thisMachine returns the architecture of this program, which CheckFilter has accepted.
func thisMachine() machine {
	m, _ := machineOf(runtime.GOARCH)
	return m
}

const clone3 = 435 // on every architecture

// CheckFilter returns nil if the kernel can filter the system calls of a Sandbox, and otherwise why not.
func CheckFilter() error {
	if _, ok := machineOf(runtime.GOARCH); !ok {
		return errors.New("flowrun can filter system calls only on amd64 and arm64, not on " + runtime.GOARCH)
	}
	const getAction = 2
	action := uint32(killProcess)
	if _, _, errno := syscall.RawSyscall(seccompCall, getAction, 0, uintptr(unsafe.Pointer(&action))); errno != 0 {
		return errors.New("this kernel cannot filter system calls (seccomp)")
	}
	return nil
}

// Constants from linux/seccomp.h.
const (
	setModeFilter = 1
	keepSpeed     = 4 // SECCOMP_FILTER_FLAG_SPEC_ALLOW: no mitigations, which only untrusted JIT compilers need
)

// filterProgram is struct sock_fprog of the kernel.
type filterProgram struct {
	length uint16
	filter *instruction
}

func program(f []instruction) *filterProgram { return &filterProgram{uint16(len(f)), &f[0]} }

// restrictCalls adds the filters of system calls.
func (c *Confinement) restrictCalls(k *Calls) error {
	if c.Reduced && seccompCall != 0 {
		k.try(seccompCall, setModeFilter, keepSpeed, pointer(k, program(typingFilter(ioctlCalls))))
	}
	switch {
	case c.usesLandlock():
		k.must(seccompCall, setModeFilter, keepSpeed, pointer(k, program(thisMachine().filter(c.Sandbox))))
	case c.Sandbox != nil:
		return c.Sandbox.inBubblewrap(k)
	}
	return nil
}

// firstNewCall is the number from which all architectures number their calls alike (Linux 5.1).
const firstNewCall = 424

// filter returns the filter: what is not allowed is denied. An old call fails with EPERM, a new one with ENOSYS, as on a
// kernel that does not have it: programs then use an old one. A call for a socket fails with EACCES.
// clone3 fails with ENOSYS, because a filter cannot read its flags; the C library then uses clone.
// inotify_add_watch fails as when there are no more watches, so that programs look at their files themselves: Landlock does
// not limit it, and it tells the names of files in folders that the step may not list.
// A program of another architecture is killed: its calls have other numbers.
func (m machine) filter(s *Sandbox) []instruction {
	f := []instruction{
		{code: loadWord, k: callArch},
		{code: ifEqual, k: m.arch, jt: 1},
		{code: answerWith, k: killProcess},
		{code: loadWord, k: callNumber},
	}
	if m.secondTable {
		f = append(f, instruction{code: ifAtLeast, k: 0x40000000, jf: 1}, answer(syscall.ENOSYS))
	}
	f = append(f, instruction{code: ifEqual, k: clone3, jf: 1}, answer(syscall.ENOSYS))
	f = append(f, instruction{code: ifEqual, k: m.addWatch, jf: 1}, answer(syscall.ENOSPC))
	f = append(f, onCall(m.clone, firstArg, instruction{code: ifAnyBit, k: newNamespace, jf: 1}, answer(syscall.EPERM))...)
	f = append(f, onCall(m.unshare, firstArg, instruction{code: ifAnyBit, k: newNamespace | newTimeSpace, jf: 1}, answer(syscall.EPERM))...)
	f = append(f, onCall(m.limitsOfPID, firstArg, instruction{code: ifEqual, k: 0, jt: 1}, answer(syscall.EPERM))...) // 0: of itself
	f = append(f, onCall(m.ioctl, secondArg, instruction{code: ifEqual, k: tiocSTI, jt: 1}, instruction{code: ifEqual, k: tiocLinux, jf: 1}, answer(syscall.EPERM))...)
	f = append(f, onCall(m.socket, firstArg, allowOnly(syscall.EACCES, s.families())...)...)
	const kind = 0xf // without the flags of the type
	f = append(f, onCall(m.socketPair, secondArg, append([]instruction{{code: maskWord, k: kind}}, allowOnly(syscall.EACCES, s.pairs())...)...)...)
	for list := m.allowed(); len(list) > 0; {
		n := 1
		for n < len(list) && list[n] == list[n-1]+1 {
			n++
		}
		f = append(f, instruction{code: ifAtLeast, k: list[n-1] + 1, jt: 2}, instruction{code: ifAtLeast, k: list[0], jf: 1}, instruction{code: answerWith, k: allowCall})
		list = list[n:]
	}
	return append(f, instruction{code: ifAtLeast, k: firstNewCall, jf: 1}, answer(syscall.ENOSYS), answer(syscall.EPERM))
}

// families returns the address families of the sockets that a process may make.
func (s *Sandbox) families() (list []uint32) {
	if s.Unix {
		list = append(list, syscall.AF_UNIX)
	}
	if s.Internet {
		list = append(list, syscall.AF_INET, syscall.AF_INET6, syscall.AF_NETLINK)
	}
	return list
}

// pairs returns the types of the pairs of sockets that a process may make. A datagram socket can send to any Unix socket.
func (s *Sandbox) pairs() []uint32 {
	list := []uint32{syscall.SOCK_STREAM, syscall.SOCK_SEQPACKET}
	if s.Unix {
		list = append(list, syscall.SOCK_DGRAM)
	}
	return list
}

// onCall returns instructions for one system call, with an argument of it loaded. After them the
// call is allowed; other calls skip them.
func onCall(number, argument uint32, then ...instruction) []instruction {
	f := append([]instruction{{code: ifEqual, k: number, jf: uint8(len(then) + 2)}, {code: loadWord, k: argument}}, then...)
	return append(f, instruction{code: answerWith, k: allowCall})
}

// allowOnly returns instructions that fail the call unless the loaded argument is in a list.
func allowOnly(e syscall.Errno, values []uint32) (f []instruction) {
	for i, v := range values {
		f = append(f, instruction{code: ifEqual, k: v, jt: uint8(len(values) - i)})
	}
	return append(f, answer(e))
}

// answer returns the instruction that fails the call.
func answer(e syscall.Errno) instruction {
	return instruction{code: answerWith, k: failCall | uint32(e)}
}
