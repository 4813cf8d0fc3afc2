//go:build unix

package jsworld

import "golang.org/x/sys/unix"

// leaveTerminal gives up the terminal that the program was started from: a script that
// broke out of the sandbox could otherwise type into it. The child stays in the program's
// process group, so it cannot have a session of its own.
func leaveTerminal() {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return // there is none
	}
	_ = unix.IoctlSetInt(fd, unix.TIOCNOTTY, 0)
	unix.Close(fd)
}
