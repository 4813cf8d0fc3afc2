//go:build unix

package jsworld

import (
	"os"
	"syscall"
)

// others are the signals that a terminal, or who ends a whole process group, means for
// the program: a child stays in the program's group, and ends with it.
var others = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU}
