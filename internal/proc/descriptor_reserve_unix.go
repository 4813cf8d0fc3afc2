//go:build unix

package proc

import (
	"os"
	"sync"
	"syscall"
)

// reserveSize is how many descriptors this program keeps for itself: what the start
// of one step takes, with its log files, pipes and handles. Where there are few in all it
// keeps fewer.
const reserveSize = 16

var reserve struct {
	sync.Mutex
	held []*os.File
}

// FillReserve holds some descriptors back, so that there are some for WithSpare when
// everything else of this process, such as the connections of strangers, has used up the
// others.
func FillReserve() {
	reserve.Lock()
	defer reserve.Unlock()
	fillReserve()
}

// fillReserve fills the reserve as far as that goes. The lock is held.
func fillReserve() {
	var lim syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim) != nil {
		return
	}
	for uint64(len(reserve.held)) < min(reserveSize, uint64(lim.Cur)/16) {
		f, err := os.OpenFile(os.DevNull, os.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err != nil {
			return
		}
		reserve.held = append(reserve.held, f)
	}
}

// WithReserve does something with the descriptors that are held back, one caller at a time.
func WithReserve(do func()) {
	reserve.Lock()
	defer reserve.Unlock()
	for _, f := range reserve.held {
		f.Close()
	}
	reserve.held = nil
	do()
	fillReserve()
}
