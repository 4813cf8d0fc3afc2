//go:build !linux

package output

import (
	"errors"
	"os"

	"github.com/flowrun/flowrun/internal/engine/logtimes"
)

// Only Linux has files without a name.
func unnamed(string) *os.File     { return nil }
func link(*os.File, string) error { return errors.ErrUnsupported }

func reopen(f *os.File) (*os.File, error) { return os.OpenFile(f.Name(), os.O_RDWR|os.O_APPEND, 0) }
func isOpenOnce(*os.File) bool            { return false }

// overwrite opens a log file a second time, to write anywhere in it.
func overwrite(l *logFile) (*os.File, error) { return os.OpenFile(l.Name(), os.O_WRONLY, 0) }

func fileState(f *os.File) (logtimes.State, error) {
	info, err := f.Stat()
	if err != nil {
		return logtimes.State{}, err
	}
	return logtimes.State{Size: info.Size(), Changed: info.ModTime()}, nil
}
