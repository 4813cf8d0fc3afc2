//go:build !linux

package steps

import (
	"errors"
	"os"
)

// Only Linux has files without a name.
func unnamed(string) *os.File     { return nil }
func link(*os.File, string) error { return errors.ErrUnsupported }

func reopen(f *os.File) (*os.File, error) { return os.OpenFile(f.Name(), os.O_RDWR|os.O_APPEND, 0) }
func isOpenOnce(*os.File) bool            { return false }

// overwrite opens a log file a second time, to write anywhere in it.
func overwrite(l *logFile) (*os.File, error) { return os.OpenFile(l.Name(), os.O_WRONLY, 0) }
