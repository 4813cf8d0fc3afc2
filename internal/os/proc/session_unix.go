//go:build unix

package proc

import "syscall"

// newSession returns attributes that make a process the leader of a session of its own, and so of a
// process group. If stdin is not a terminal, the session has no terminal: the process cannot open
// /dev/tty, type into the terminal that flowrun was started from, or make itself the foreground
// group of that terminal.
func newSession(tty bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Setctty: tty} // Ctty 0 is the stdin of the child
}
