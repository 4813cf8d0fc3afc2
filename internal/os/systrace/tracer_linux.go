//go:build amd64 || arm64

package systrace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"unsafe"
)

// Tracer receives what processes report.
type Tracer struct {
	socket *os.File
	calls  map[int32]func(*stopped)
	report func(Access)
	done   sync.WaitGroup
}

// Listen returns a Tracer that calls report for every access. Processes wait until report returns. It is called by one
// goroutine for each process that called Start. dir is a private folder; the Tracer makes a socket there.
func Listen(dir string, report func(Access)) (*Tracer, error) {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot listen for traced processes: %w", err)
	}
	err = inFolder(dir, func(path string) error { return syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}) })
	if err != nil {
		syscall.Close(fd)
		return nil, fmt.Errorf("cannot listen for traced processes: %w", err)
	}
	t := &Tracer{socket: os.NewFile(uintptr(fd), filepath.Join(dir, socketName)), calls: observed(), report: report}
	t.done.Go(t.accept)
	return t, nil
}

// Close stops accepting processes. Those that still run are observed until they end. If this program ends first, their
// observed calls fail with ENOSYS. Close of a nil Tracer does nothing.
func (t *Tracer) Close() error {
	if t == nil {
		return nil
	}
	err := t.socket.Close()
	t.done.Wait()
	return err
}

// accept receives the listener of each process.
func (t *Tracer) accept() {
	raw, err := t.socket.SyscallConn()
	if err != nil {
		return
	}
	for {
		var listener int
		var problem error
		err := raw.Read(func(fd uintptr) bool {
			listener, problem = receive(int(fd))
			return problem != syscall.EAGAIN
		})
		switch {
		case err != nil: // closed
			return
		case problem == nil:
			go t.watch(listener)
		}
	}
}

// receive receives a descriptor from a socket.
func receive(socket int) (fd int, err error) {
	rights := make([]byte, syscall.CmsgSpace(4))
	_, n, _, _, err := syscall.Recvmsg(socket, make([]byte, 1), rights, syscall.MSG_CMSG_CLOEXEC)
	if err != nil {
		return -1, err
	}
	messages, err := syscall.ParseSocketControlMessage(rights[:n])
	if err != nil {
		return -1, err
	}
	for i := range messages {
		if fds, err := syscall.ParseUnixRights(&messages[i]); err == nil && len(fds) == 1 {
			return fds[0], nil
		}
	}
	return -1, errors.New("the message has no descriptor")
}

// notification is struct seccomp_notif of the kernel: a system call that waits.
type notification struct {
	id    uint64
	tid   uint32
	flags uint32
	nr    int32
	arch  uint32
	ip    uint64
	args  [6]uint64
}

// response is struct seccomp_notif_resp of the kernel.
type response struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

const (
	receiveCall  = 0xc0502100 // SECCOMP_IOCTL_NOTIF_RECV
	sendResponse = 0xc0182101 // SECCOMP_IOCTL_NOTIF_SEND
	setFlags     = 0x40082104 // SECCOMP_IOCTL_NOTIF_SET_FLAGS
	syncWakeUp   = 1          // SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP: the processes take turns on one processor
	continueCall = 1          // SECCOMP_USER_NOTIF_FLAG_CONTINUE
)

// watch handles the calls of one process and of everything that it has started, until all have ended.
func (t *Tracer) watch(listener int) {
	defer syscall.Close(listener)
	syscall.Syscall(syscall.SYS_IOCTL, uintptr(listener), setFlags, syncWakeUp) // faster; since Linux 6.6
	for waiting(listener) {
		var n notification
		if ioctl(listener, receiveCall, unsafe.Pointer(&n)) != 0 {
			continue // the process was killed in the meantime
		}
		if handle := t.calls[n.nr]; handle != nil {
			handle(&stopped{notification: &n, report: t.report})
		}
		ioctl(listener, sendResponse, unsafe.Pointer(&response{id: n.id, flags: continueCall})) // fails if the process was killed
	}
}

// waiting waits for a call and reports whether there will be one.
func waiting(listener int) bool {
	const in, hangUp = 1, 0x10
	for {
		poll := struct {
			fd              int32
			events, revents int16
		}{fd: int32(listener), events: in}
		_, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&poll)), 1, 0, 0, 0, 0)
		switch {
		case errno == syscall.EINTR:
		case errno != 0 || poll.revents&in == 0 && poll.revents&hangUp != 0:
			return false
		default:
			return true
		}
	}
}

func ioctl(fd int, request uintptr, arg unsafe.Pointer) syscall.Errno {
	for {
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), request, uintptr(arg))
		if errno != syscall.EINTR {
			return errno
		}
	}
}
