//go:build unix && !linux

package confine

import (
	"os"
	"strconv"
	"syscall"
)

// CloseFilesOnExec has every open descriptor but stdin, stdout and stderr closed in the
// programs that this process starts, those that it has inherited itself included.
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
