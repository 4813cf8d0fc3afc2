//go:build unix && !linux

package procid

import "syscall"

func ownStart() uint64 { return 0 }

// state checks whether the pid is taken, be it by a process of another user.
func (i Identity) state() Liveness {
	if i.PID > 0 && syscall.Kill(i.PID, 0) != syscall.ESRCH {
		return Alive
	}
	return Dead
}
