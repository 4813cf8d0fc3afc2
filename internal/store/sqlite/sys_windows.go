package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock tries to lock a file for this process and reports whether it got the lock. The
// system releases it when the file is closed or the process ends.
func tryLock(f *os.File) (bool, error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// syncDir does nothing: on Windows the names in a directory are durable without it.
func syncDir(*os.File) error { return nil }
