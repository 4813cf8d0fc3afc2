//go:build unix

package atomicfile

import (
	"os"
	"syscall"
)

// lockFile waits until nobody else has a file. Closing it gives it up.
func lockFile(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != syscall.EINTR {
			return err
		}
	}
}
