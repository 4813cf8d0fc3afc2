package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// reserveName is a file that only takes up space. If the disk is full it is removed, so
// that the end of a run can be recorded; the next run creates it again.
const reserveName = "history.reserve"

// reserveSize is space for some dozens of commits.
const reserveSize = 256 << 10

// keepReserve creates the file if it is missing. If there is no space for it, no run can
// start, because its end could not be recorded.
func (d *db) keepReserve(op string) error {
	path := filepath.Join(d.dir, reserveName)
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	err := takeSpace(path)
	if err == nil {
		return nil
	}
	os.Remove(path)
	if errors.Is(err, syscall.ENOSPC) {
		return &Error{Code: Full, File: d.file, Op: op, Err: err}
	}
	return nil
}

// takeSpace creates a file that takes disk blocks: allocated ones, or written ones where the file
// system cannot allocate. A sparse file would take none.
func takeSpace(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	err = allocate(f, reserveSize)
	if errors.Is(err, errors.ErrUnsupported) {
		_, err = f.Write(make([]byte, reserveSize))
	}
	return errors.Join(err, f.Close())
}

// withReserve calls write, and if the disk is full, removes the reserve and calls write
// again.
func (d *db) withReserve(op string, write func() error) error {
	err := write()
	var e *Error
	if !errors.As(d.failed(op, err), &e) || e.Code != Full || os.Remove(filepath.Join(d.dir, reserveName)) != nil {
		return err
	}
	return write()
}
