//go:build unix

package jsworld

import (
	"os"
	"syscall"
)

// programSignals are the signals that a terminal, or a kill of the whole process group, sends to
// the program and its children. A child ignores them: it is in the program's group and ends when
// the program does.
var programSignals = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU}
