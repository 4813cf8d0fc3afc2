//go:build unix

package atomicfile

import (
	"os"
	"syscall"
)

// lockFile waits until this process alone holds the lock on a file. Closing the file releases it.
func lockFile(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != syscall.EINTR {
			return err
		}
	}
}
