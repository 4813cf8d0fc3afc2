package sqlite

import (
	"os"
	"syscall"
)

// allocate gives an empty file size bytes of disk space without writing them.
func allocate(f *os.File, size int64) error {
	for {
		if err := syscall.Fallocate(int(f.Fd()), 0, 0, size); err != syscall.EINTR {
			return err
		}
	}
}
