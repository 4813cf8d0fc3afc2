package proc

import (
	"errors"
	"os"
	"syscall"
)

// OpenFile is os.OpenFile, which uses the reserved descriptors when this process has no others
// left. Use it for files without which a run cannot continue.
func OpenFile(path string, flags int, mode os.FileMode) (f *os.File, err error) {
	if f, err = os.OpenFile(path, flags, mode); errors.Is(err, syscall.EMFILE) {
		WithReserve(func() { f, err = os.OpenFile(path, flags, mode) })
	}
	return f, err
}
