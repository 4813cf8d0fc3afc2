//go:build unix

package proc

import "syscall"

// Descriptors: what the rest of the process may need, and what one running step
// holds (two streams with their files or pipes, a pidfd, some slack).
const (
	reservedDescriptors = 200
	descriptorsPerStep  = 8
)

// MaxParallel is how many processes may run at once before this process runs out
// of descriptors, at least one.
func MaxParallel() int {
	return max((MaxFiles()-reservedDescriptors)/descriptorsPerStep, 1)
}

// MaxFiles is how many descriptors this process may have.
func MaxFiles() int {
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		return 1 << 19
	}
	return int(min(uint64(lim.Cur), 1<<30))
}
