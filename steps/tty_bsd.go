//go:build unix && !linux

package steps

import "golang.org/x/sys/unix"

const (
	getModes, setModesNow = unix.TIOCGETA, unix.TIOCSETA

	mayPoll = false // not every kqueue supports terminals
)
