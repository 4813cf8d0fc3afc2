//go:build unix

package diskuse

import (
	"io/fs"
	"syscall"
)

// stat returns what a file takes, what identifies it, and how many names it has.
func stat(info fs.FileInfo) (bytes int64, id ID, names uint64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return rounded(info.Size()), ID{}, 1
	}
	return int64(st.Blocks) * 512, ID{uint64(st.Dev), uint64(st.Ino)}, uint64(st.Nlink)
}
