//go:build linux && !race

package jsworld

import "syscall"

// limitData bounds the memory that the system gives this process at all, so that a huge
// allocation fails before it is made. Beside what a script may hold there is room for
// what was not collected yet. Without the limit the guard is alone.
func limitData(limit int64) {
	var now syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_DATA, &now) != nil {
		return
	}
	most := uint64(2*limit) + 256<<20 // Go's own needs included
	if now.Max < most {
		most = now.Max
	}
	syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: most, Max: most})
}
