//go:build unix

package proc

import "syscall"

// newSession has a process lead a session of its own, and with that a process group.
// Without a terminal on its stdin the session has none: whatever terminal flowrun was
// started from, the process cannot open /dev/tty, type into it or make itself its
// foreground group.
func newSession(tty bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Setctty: tty} // Ctty 0 is the child's stdin
}
