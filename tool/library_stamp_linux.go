package tool

import (
	"io/fs"
	"syscall"
)

// identity is when a file or its name last changed, in nanoseconds, and which file it is.
func identity(info fs.FileInfo) (changed int64, device, inode uint64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, 0
	}
	return st.Ctim.Nano(), uint64(st.Dev), st.Ino
}
