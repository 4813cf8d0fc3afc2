//go:build unix && !linux

package terminal

import "golang.org/x/sys/unix"

const (
	getModes, setModesNow = unix.TIOCGETA, unix.TIOCSETA

	mayPoll = false // not every kqueue supports terminals
)

// isBusy is known on Linux only.
func isBusy(int) bool { return false }
