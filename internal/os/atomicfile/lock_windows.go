package atomicfile

import (
	"os"
	"syscall"
	"unsafe"
)

// openNoFollow has no effect: creating a symbolic link needs a privilege.
const openNoFollow = 0

var lockFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")

// lockFile waits until this process alone holds the lock on a file. Closing the file releases it.
func lockFile(f *os.File) error {
	const exclusive = 2
	ok, _, err := lockFileEx.Call(f.Fd(), exclusive, 0, 1, 0, uintptr(unsafe.Pointer(new(syscall.Overlapped))))
	if ok == 0 {
		return err
	}
	return nil
}
