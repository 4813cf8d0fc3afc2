//go:build unix && !linux

package confine

import (
	"os"
	"strconv"
	"syscall"
)

// CloseFilesOnExec marks every descriptor except stdin, stdout and stderr, including inherited
// ones, to be closed in the programs that this process starts.
func CloseFilesOnExec() {
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, f := range open {
		if fd, err := strconv.Atoi(f.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}
