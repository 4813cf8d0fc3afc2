//go:build unix && !linux

package proc

import (
	"os"
	"syscall"
)

func groupLives(pgid int) bool { return syscall.Kill(-pgid, 0) == nil }

func killGroup(pgid int) bool { return syscall.Kill(-pgid, syscall.SIGKILL) == nil }

func signalGroup(p *os.Process, sig syscall.Signal) { syscall.Kill(-p.Pid, sig) }

func exitOf(state *os.ProcessState) Exit {
	if w, ok := state.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return Exit{Code: 128 + int(w.Signal()), Signal: w.Signal()}
	}
	return Exit{Code: state.ExitCode()}
}
