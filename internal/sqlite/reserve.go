package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// reserveName is a file that only takes up room. On a full disk it is removed, so that
// the end of a run can be recorded; the next run makes it again.
const reserveName = "history.reserve"

// reserveSize is room for some dozens of commits.
const reserveSize = 256 << 10

// keepReserve makes the file where it is not there. Without room for it no run begins: its
// end could not be recorded.
func (s *Store) keepReserve(op string) error {
	path := filepath.Join(s.dir, reserveName)
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	err := os.WriteFile(path, make([]byte, reserveSize), 0o600) // written, not sparse: the blocks are what counts
	if err == nil {
		return nil
	}
	os.Remove(path)
	if errors.Is(err, syscall.ENOSPC) {
		return &Error{Code: Full, File: s.file, Op: op, Err: err}
	}
	return nil
}

// withReserve does write, and once more with the reserve given up where the disk is full.
func (s *Store) withReserve(op string, write func() error) error {
	err := write()
	var e *Error
	if !errors.As(s.failed(op, err), &e) || e.Code != Full || os.Remove(filepath.Join(s.dir, reserveName)) != nil {
		return err
	}
	return write()
}
