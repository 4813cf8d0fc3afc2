package terminal

import (
	"math"

	"golang.org/x/sys/unix"

	"github.com/flowrun/flowrun/internal/os/procid"
)

const (
	getModes, setModesNow = unix.TCGETS, unix.TCSETS
	inputIsUTF8           = unix.IUTF8

	mayPoll = true // terminals can be polled
)

// isBusy reports whether a process of a session is running, or waits for a disk, or the first one has
// ended. Such a session does not wait for input.
func isBusy(session int) bool {
	list, err := procid.ReadTable(math.MaxUint64)
	if err != nil {
		return false
	}
	leads := false
	for _, e := range list {
		if e.Session == session && (e.State == 'R' || e.State == 'D') {
			return true
		}
		leads = leads || e.PID == session && !e.Dead()
	}
	return !leads
}
