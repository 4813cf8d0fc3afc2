//go:build unix

package steps

import (
	"io/fs"
	"os"
	"syscall"
)

// ours says whether this user owns a file.
func ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
