//go:build unix

package proc

import "syscall"

// reservedDescriptors are for the rest of this process; descriptorsPerStep is what one running step
// holds: two streams with their files or pipes, a pidfd, and some more.
const (
	reservedDescriptors = 200
	descriptorsPerStep  = 8
)

// MaxParallel returns how many processes can run at the same time before this process runs out of
// descriptors. It is at least 1.
func MaxParallel() int {
	return max((MaxFiles()-reservedDescriptors)/descriptorsPerStep, 1)
}

// MaxFiles returns how many descriptors this process may have.
func MaxFiles() int {
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		return 1 << 19
	}
	return int(min(uint64(lim.Cur), 1<<30))
}
