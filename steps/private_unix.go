//go:build unix

package steps

import (
	"io/fs"
	"os"
	"syscall"
)

// ownedByUser says whether this user owns a file.
func ownedByUser(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
