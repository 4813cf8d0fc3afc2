//go:build amd64 || arm64

package systrace

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"
)

// Sender connects this process with a Tracer.
type Sender struct{ socket int }

// Dial connects with the Tracer that listens in a folder; "" for none.
func Dial(dir string) (*Sender, error) {
	if dir == "" {
		return nil, nil
	}
	s, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	err = inFolder(dir, func(path string) error { return syscall.Connect(s, &syscall.SockaddrUnix{Name: path}) })
	if err != nil {
		return nil, fmt.Errorf("cannot connect with the tracer: %w", err)
	}
	return &Sender{s}, nil
}

// Start lets this thread, and everything that it starts from now on, report to the Tracer. The thread must be locked,
// and should next execute a program. It cannot gain rights from then on (no_new_privs). A nil Sender does nothing.
func (s *Sender) Start() error {
	if s == nil {
		return nil
	}
	const setNoNewPrivs = 38
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, setNoNewPrivs, 1, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	listener, err := install(filter())
	if err != nil {
		return fmt.Errorf("cannot observe its system calls: %w", err)
	}
	return syscall.Sendmsg(s.socket, []byte{0}, syscall.UnixRights(listener), nil, 0) // not one of the calls that are observed
}

// install adds a filter to this thread and returns the descriptor that reports the calls.
func install(f []instruction) (listener int, err error) {
	const (
		setModeFilter = 1
		newListener   = 1 << 3
		waitKillable  = 1 << 5 // signals, which Go programs send themselves often, do not restart a call; since Linux 5.19
	)
	program := struct {
		length uint16
		filter *instruction
	}{uint16(len(f)), &f[0]}
	for _, flags := range []uintptr{newListener | waitKillable, newListener} {
		fd, _, errno := syscall.RawSyscall(sysSeccomp, setModeFilter, flags, uintptr(unsafe.Pointer(&program)))
		runtime.KeepAlive(&program)
		if errno == 0 {
			return int(fd), nil
		}
		err = errno
	}
	return -1, err
}

// socketName is the name of the Tracer's socket in its folder.
const socketName = "trace"

// inFolder calls f with the path of the socket in a folder. The path is short, whatever that of the folder: the
// address of a socket has at most 107 bytes.
func inFolder(dir string, f func(path string) error) error {
	const oPath = 0x200000
	fd, err := syscall.Open(dir, oPath|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	return f(filepath.Join("/proc/self/fd", strconv.Itoa(fd), socketName))
}
