package output

import (
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/flowrun/flowrun/internal/engine/logtimes"
)

// oTmpfile is O_TMPFILE. A few old architectures use another value; there the open fails, and the
// caller creates a named file.
const oTmpfile = 0o20000000 | syscall.O_DIRECTORY

// unnamed opens a file without a name in dir. It returns nil if the file system does not support
// that. O_APPEND is necessary: a process that opens its own stdout again must not overwrite the
// file.
func unnamed(dir string) *os.File {
	fd, err := syscall.Open(dir, oTmpfile|syscall.O_RDWR|syscall.O_APPEND|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return nil
	}
	return os.NewFile(uintptr(fd), dir)
}

// link gives an unnamed file a name, which must be free.
func link(f *os.File, path string) error {
	const (
		atFDCWD         = -0x64
		atSymlinkFollow = 0x400
	)
	from, err := syscall.BytePtrFromString("/proc/self/fd/" + strconv.Itoa(int(f.Fd())))
	if err != nil {
		return err
	}
	to, err := syscall.BytePtrFromString(path)
	if err != nil {
		return err
	}
	cwd := atFDCWD
	_, _, errno := syscall.Syscall6(syscall.SYS_LINKAT, uintptr(cwd), uintptr(unsafe.Pointer(from)),
		uintptr(cwd), uintptr(unsafe.Pointer(to)), atSymlinkFollow, 0)
	if errno != 0 {
		return &os.LinkError{Op: "link", Old: "unnamed file", New: path, Err: errno}
	}
	return nil
}

// ownDescriptors is the folder in which the kernel lists the open files of this process, -1 if it
// cannot be opened. A path that starts there is followed in half the time.
func ownDescriptors() int {
	own.Do(func() {
		fd, err := syscall.Open("/proc/self/fd", syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
		if own.fd = fd; err != nil {
			own.fd = -1
		}
	})
	return own.fd
}

var own struct {
	sync.Once
	fd int
}

// reopen opens the file a second time, for a process to print into. It does not use os.OpenFile,
// which would try to add the file to the poller, twice for each step.
func reopen(f *os.File) (*os.File, error) {
	const folder = "/proc/self/fd/"
	path := folder + strconv.Itoa(int(f.Fd()))
	dir, rest := ownDescriptors(), path
	if dir >= 0 {
		rest = path[len(folder):]
	}
	fd, err := syscall.Openat(dir, rest, syscall.O_RDWR|syscall.O_APPEND|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// fileState returns the size of a file and when it was last written. It needs no memory, unlike Stat.
func fileState(f *os.File) (logtimes.State, error) {
	var st syscall.Stat_t
	if err := syscall.Fstat(int(f.Fd()), &st); err != nil {
		return logtimes.State{}, &os.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	return logtimes.State{Size: st.Size, Changed: time.Unix(st.Mtim.Unix())}, nil
}

// isOpenOnce reports whether the file is open only once. It asks for a write lease, which the
// kernel grants only then, and gives it back.
func isOpenOnce(f *os.File) bool {
	const setLease = 1024
	if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), setLease, syscall.F_WRLCK); errno != 0 {
		return false
	}
	_, _, errno := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), setLease, syscall.F_UNLCK)
	return errno == 0
}

// overwrite opens a log file a second time, to write anywhere in it.
func overwrite(l *logFile) (*os.File, error) {
	return os.OpenFile("/proc/self/fd/"+strconv.Itoa(int(l.Fd())), os.O_WRONLY, 0)
}
