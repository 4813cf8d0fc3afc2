package remote

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/flowrun/flowrun/internal/engine/rundir"
)

// memoryFile returns a file in memory and a path at which other processes of this user can open it, until it is closed or
// this process ends, however it ends. The file is nil where there is none: without /proc, or if this process hides its memory.
func memoryFile(text string) (f *os.File, path string, err error) {
	process, err := filepath.EvalSymlinks("/proc/self") // "self" would be the process that opens the path
	if err != nil {
		return nil, "", nil
	}
	fd, err := unix.MemfdCreate("flowrun", unix.MFD_CLOEXEC)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	f = os.NewFile(uintptr(fd), "memory")
	path = filepath.Join(process, "fd", strconv.Itoa(fd))
	if folder, err := os.Stat(filepath.Dir(path)); err != nil || !rundir.OwnedByUser(folder) {
		return nil, "", f.Close()
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Chmod(0o600)); err != nil {
		return nil, "", errors.Join(err, f.Close())
	}
	return f, path, nil
}
