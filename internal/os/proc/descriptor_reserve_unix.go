//go:build unix

package proc

import (
	"os"
	"sync"
	"syscall"
)

// reserveSize is how many descriptors are held back: enough to start one step, with its log files,
// pipes and handles. If the limit of this process is low, the reserve is a sixteenth of it.
const reserveSize = 16

var reserve struct {
	sync.Mutex
	held []int
}

// FillReserve opens descriptors and holds them back for WithReserve. They are still available when
// the rest of this process, such as the network connections of its clients, has used up all others.
func FillReserve() {
	reserve.Lock()
	defer reserve.Unlock()
	fillReserve()
}

// fillReserve opens descriptors until the reserve is full or an open fails. The lock is held.
func fillReserve() {
	var lim syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim) != nil {
		return
	}
	for uint64(len(reserve.held)) < min(reserveSize, uint64(lim.Cur)/16) {
		fd, err := syscall.Open(os.DevNull, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err != nil {
			return
		}
		reserve.held = append(reserve.held, fd)
	}
}

// WithReserve closes the reserved descriptors, calls do, and fills the reserve again. Concurrent
// calls run one after the other.
func WithReserve(do func()) {
	reserve.Lock()
	defer reserve.Unlock()
	for _, fd := range reserve.held {
		syscall.Close(fd)
	}
	reserve.held = nil
	do()
	fillReserve()
}
