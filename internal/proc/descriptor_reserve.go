package proc

import (
	"errors"
	"os"
	"syscall"
)

// OpenFile is os.OpenFile, with the descriptors that are held back where there are no
// others: for files without which a run cannot go on.
func OpenFile(path string, flags int, mode os.FileMode) (f *os.File, err error) {
	if f, err = os.OpenFile(path, flags, mode); errors.Is(err, syscall.EMFILE) {
		WithReserve(func() { f, err = os.OpenFile(path, flags, mode) })
	}
	return f, err
}
