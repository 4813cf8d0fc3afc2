//go:build unix && !linux

package procid

import "syscall"

// state checks whether the pid is taken, be it by a process of another user.
func (i Identity) state() Liveness {
	if i.PID > 0 && syscall.Kill(i.PID, 0) != syscall.ESRCH {
		return Alive
	}
	return Dead
}
