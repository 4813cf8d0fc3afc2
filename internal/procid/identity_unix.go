//go:build unix && !linux

package procid

import "syscall"

// state asks whether the number is taken: by another user's process as well.
func (i Identity) state() Liveness {
	if i.PID > 0 && syscall.Kill(i.PID, 0) != syscall.ESRCH {
		return Alive
	}
	return Dead
}
