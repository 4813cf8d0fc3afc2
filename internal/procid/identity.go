package procid

import (
	"os"
	"sync"
)

// Identity names one process of one machine for good: its number may be given to
// another process, the number and the start time together never are. What has no
// meaning on a platform is left zero. It is for processes that share a machine: to
// another machine every Identity is of another boot.
type Identity struct {
	PID       int    `json:"pid"`
	Start     uint64 `json:"start"`               // clock ticks from boot to the start; 0 where it cannot be known
	Boot      string `json:"boot"`                // BootID when the process ran
	Namespace string `json:"namespace,omitempty"` // in which PID and Start count
}

// Liveness says whether a process lives. The zero Liveness is Unknown.
type Liveness uint8

// What can be said of a process.
const (
	Unknown Liveness = iota // it cannot be told from here
	Alive                   // it runs, or is stopped
	Dead                    // it has ended, or is a zombie
)

func (l Liveness) String() string {
	switch l {
	case Alive:
		return "alive"
	case Dead:
		return "dead"
	}
	return "unknown"
}

// Self is this process.
func Self() Identity { return self() }

var self = sync.OnceValue(func() Identity {
	return Identity{PID: os.Getpid(), Start: ownStart(), Boot: BootID(), Namespace: namespace()}
})

// State says whether the process lives. It is Dead when this is another boot, or
// when no living process has both its number and its start time; Unknown when it
// is in another namespace than this process, or where the platform (Windows) or a
// /proc that hides processes cannot tell. On Unix systems other than Linux the
// number alone decides, so that a number used again counts as Alive.
func (i Identity) State() Liveness {
	switch {
	case i.Boot != BootID():
		return Dead
	case i.Namespace != Self().Namespace:
		return Unknown
	}
	return i.state()
}
