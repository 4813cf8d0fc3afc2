package filestamp

import (
	"io/fs"
	"syscall"
)

// Identity returns when a file or its metadata last changed, in nanoseconds since 1970, and its device and inode.
func Identity(info fs.FileInfo) (changed int64, device, inode uint64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, 0
	}
	return st.Ctim.Nano(), uint64(st.Dev), st.Ino
}
