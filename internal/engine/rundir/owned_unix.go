//go:build unix

package steps

import (
	"io/fs"
	"os"
	"syscall"
)

// openNoFollow makes opening a symbolic link fail, and opening a pipe not wait.
const openNoFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// ownedByUser reports whether a file belongs to this user.
func ownedByUser(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
