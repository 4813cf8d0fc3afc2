//go:build unix

package atomicfile

import (
	"os"
	"syscall"
)

// openNoFollow makes opening a symbolic link fail, and opening a pipe not wait.
const openNoFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// lockFile waits until this process alone holds the lock on a file. Closing the file releases it.
func lockFile(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != syscall.EINTR {
			return err
		}
	}
}
