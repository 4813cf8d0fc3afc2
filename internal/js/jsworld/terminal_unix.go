//go:build unix

package jsworld

import "golang.org/x/sys/unix"

// leaveTerminal detaches this process from the terminal that the program was started from. A
// script that broke out of the sandbox could otherwise type into it. The child stays in the
// program's process group, so it cannot have its own session.
func leaveTerminal() {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return // there is no terminal
	}
	_ = unix.IoctlSetInt(fd, unix.TIOCNOTTY, 0)
	unix.Close(fd)
}
