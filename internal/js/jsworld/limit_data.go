//go:build linux && !race

package jsworld

import "syscall"

// limitData limits the memory that the system gives this process, so that a huge allocation
// fails before it is made. The limit leaves room for garbage that was not collected yet. If it
// cannot be set, only the guard limits the memory.
func limitData(limit int64) {
	var now syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_DATA, &now) != nil {
		return
	}
	most := uint64(2*limit) + 256<<20 // includes what the Go runtime needs
	if now.Max < most {
		most = now.Max
	}
	syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: most, Max: most})
}
