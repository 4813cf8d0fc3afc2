//go:build unix

package rundir

import (
	"io/fs"
	"os"
	"syscall"
)

// OwnedByUser reports whether a file belongs to this user.
func OwnedByUser(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
