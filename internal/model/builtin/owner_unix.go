//go:build unix

package builtin

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file the owner and group of the file that it replaces. Only some users may do so; for others the
// error is ignored and the file belongs to them.
func keepOwner(f *os.File, was fs.FileInfo) {
	if s, ok := was.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(s.Uid), int(s.Gid))
	}
}
