//go:build unix

package terminal

import (
	"os"
	"syscall"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// openPty opens a pseudo-terminal. hasPerson means that a person uses it.
func openPty(hasPerson bool) (master, slave *os.File, err error) {
	first, slave, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	defer first.Close()
	if err = setModes(slave, hasPerson); err == nil {
		master, err = polled(first)
	}
	if err != nil {
		slave.Close()
		return nil, nil, err
	}
	return master, slave, nil
}

func setModes(slave *os.File, hasPerson bool) error {
	fd := int(slave.Fd()) // also makes it blocking, as programs expect of a terminal
	modes, err := unix.IoctlGetTermios(fd, getModes)
	if err != nil {
		return os.NewSyscallError("tcgetattr", err)
	}
	modes.Iflag |= inputIsUTF8
	if !hasPerson {
		modes.Lflag &^= unix.ECHO | unix.ECHONL
		modes.Oflag &^= unix.ONLCR
	}
	return os.NewSyscallError("tcsetattr", unix.IoctlSetTermios(fd, setModesNow, modes))
}

// polled returns the file in Go's poller, if the system can poll terminals. Then reading occupies
// no thread and can be ended.
func polled(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	if mayPoll {
		if err := syscall.SetNonblock(fd, true); err != nil {
			syscall.Close(fd)
			return nil, os.NewSyscallError("fcntl", err)
		}
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// resize sets the size of the window.
func (p *TTY) resize(s Size) {
	clip := func(n int) uint16 { return uint16(max(0, min(n, 1<<16-1))) }
	conn, err := p.slave.SyscallConn()
	if err != nil {
		return // closed
	}
	conn.Control(func(fd uintptr) {
		unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: clip(s.Rows), Col: clip(s.Cols)})
	})
}

// inputModes reports whether the step reads lines, and whether the terminal echoes what is typed.
func (p *TTY) inputModes() (canonical, echo bool) {
	conn, err := p.slave.SyscallConn()
	if err != nil {
		return true, false // closed
	}
	conn.Control(func(fd uintptr) {
		if modes, err := unix.IoctlGetTermios(int(fd), getModes); err == nil {
			canonical, echo = modes.Lflag&unix.ICANON != 0, modes.Lflag&unix.ECHO != 0
		}
	})
	return canonical, echo
}

// inFlight reports whether the step has not read everything that was typed, or this process not
// everything that was printed.
func (p *TTY) inFlight() bool { return Readable(p.slave) || Readable(p.master) }

// Readable reports whether a side of the terminal has something to read. A closed side has: a step
// whose terminal is closed cannot be waiting for input.
func Readable(f *os.File) (yes bool) {
	conn, err := f.SyscallConn()
	if err != nil {
		return true
	}
	conn.Control(func(fd uintptr) {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(poll, 0)
		yes = err == nil && n > 0
	})
	return yes
}
