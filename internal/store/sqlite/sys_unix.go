//go:build unix

package sqlite

import (
	"errors"
	"os"
	"syscall"
)

// tryLock tries to lock a file for this process and reports whether it got the lock. The
// system releases it when the file is closed or the process ends.
func tryLock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	return err == nil, err
}

// syncDir makes new names in a directory durable.
func syncDir(d *os.File) error { return d.Sync() }
