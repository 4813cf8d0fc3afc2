//go:build unix

package proc

import "syscall"

// reservedDescriptors are for everything in this process that is not a running step.
const reservedDescriptors = 200

// SpareDescriptors returns how many descriptors may be held only because that is faster. Steps never
// need them, so nothing waits for them. It is 0 where only a few files may be open.
func SpareDescriptors() int { return max(MaxFiles()-reservedDescriptors, 0) / 8 }

// StepDescriptors returns how many descriptors the running steps may have together. It is 0 or less
// where only a few files may be open.
func StepDescriptors() int { return MaxFiles() - reservedDescriptors - SpareDescriptors() }

// MaxFiles returns how many descriptors this process may have.
func MaxFiles() int {
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		return 1 << 19
	}
	return int(min(uint64(lim.Cur), 1<<30))
}
