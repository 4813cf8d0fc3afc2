package atomicfile

import (
	"fmt"
	"os"
)

// Lock waits until this caller alone holds the lock of a file, which it creates if it does not exist. Others are callers in this
// process as well as other processes. unlock releases the lock, as the end of the process does; the file stays.
func Lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|openNoFollow, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot lock %s: %w", path, err)
	}
	if err := lockFile(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("cannot lock %s: %w", path, err)
	}
	return func() { f.Close() }, nil
}
