//go:build unix

package steps

import (
	"io/fs"
	"os"
	"syscall"
)

// ownedByUser reports whether a file belongs to this user.
func ownedByUser(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
