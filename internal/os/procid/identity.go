package procid

import (
	"os"
	"sync"
)

// Identity names one process of one machine. A pid can be reused, but pid and start time together
// cannot. Fields without a meaning on a platform are zero. Compare Identities on one machine only:
// to another machine every Identity looks like one of an earlier boot.
type Identity struct {
	PID       int    `json:"pid"`
	Start     uint64 `json:"start"`               // clock ticks from boot to the start, as Namespace counts them, on Windows milliseconds since 1601; 0 if unknown
	Boot      string `json:"boot"`                // BootID when the process ran
	Namespace string `json:"namespace,omitempty"` // in which PID and Start are valid
}

// Liveness is whether a process is alive. The zero Liveness is Unknown.
type Liveness uint8

// Values of Liveness.
const (
	Unknown Liveness = iota // it cannot be determined from here
	Alive                   // it is running, or is suspended
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

// Self returns the Identity of this process.
func Self() Identity { return self() }

var self = sync.OnceValue(func() Identity {
	return Identity{PID: os.Getpid(), Start: ownStart(), Boot: BootID(), Namespace: namespace()}
})

// State returns whether the process is alive. It is Dead after a reboot, or if no living process
// has both its pid and its start time. It is Unknown if the process is in another namespace than
// this one, or if the system hides the process from this user. On Unix systems other than Linux only the
// pid is checked, so a reused pid counts as Alive.
func (i Identity) State() Liveness {
	switch {
	case i.Boot != BootID():
		return Dead
	case i.Namespace != Self().Namespace:
		return Unknown
	}
	return i.state()
}
