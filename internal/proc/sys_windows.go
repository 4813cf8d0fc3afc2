package proc

import (
	"os"
	"syscall"
)

// newSession has a process lead a group of its own: Windows has no sessions of this kind.
func newSession(bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// Windows has no process groups to ask about or to end.
func groupLives(int) bool { return false }

func killGroup(int) bool { return false }

// signalGroup ends the process; there is no gentle way without a console.
func signalGroup(p *os.Process, _ syscall.Signal) { p.Kill() }

func exitOf(state *os.ProcessState) Exit { return Exit{Code: state.ExitCode()} }
