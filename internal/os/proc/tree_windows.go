package proc

import (
	"os"
	"syscall"
)

// newSession returns attributes that put a process into a group of its own. Windows has no sessions
// of this kind.
func newSession(bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// Windows has no process groups that could be checked or ended.
func groupLives(int) bool { return false }

func killGroup(int) bool { return false }

// signalGroup kills the process: without a console, Windows has no signal like TERM.
func signalGroup(p *os.Process, _ syscall.Signal) { p.Kill() }

func exitOf(state *os.ProcessState) Exit {
	return Exit{Code: state.ExitCode(), Usage: Usage{User: state.UserTime(), System: state.SystemTime()}}
}
