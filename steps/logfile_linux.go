package steps

import (
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

// O_TMPFILE, whose value is the same on all but a few old architectures, where
// the open fails and a named file is made instead.
const oTmpfile = 0o20000000 | syscall.O_DIRECTORY

// unnamed opens a file without a name in dir; nil where the file system has none.
// Appending matters: a process that opens its own stdout again must not write over
// what is there.
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
