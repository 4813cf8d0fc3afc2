package steps

import "golang.org/x/sys/unix"

const (
	getModes, setModesNow = unix.TCGETS, unix.TCSETS

	mayPoll = true // terminals can be polled
)
