package steps

import (
	"math"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/flowrun/flowrun/internal/procid"
)

const (
	getModes, setModesNow = unix.TCGETS, unix.TCSETS

	mayPoll = true // terminals can be polled
)

// isBusy reports whether a process of a session is running, or waits for a disk. Such a session does
// not wait for input.
func isBusy(session int) bool {
	list, err := procid.ReadTable(math.MaxUint64)
	return err == nil && slices.ContainsFunc(list, func(e procid.Entry) bool {
		return e.Session == session && (e.State == 'R' || e.State == 'D')
	})
}
