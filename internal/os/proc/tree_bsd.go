//go:build unix && !linux

package proc

import (
	"os"
	"runtime"
	"syscall"
)

func groupLives(pgid int) bool { return syscall.Kill(-pgid, 0) == nil }

func killGroup(pgid int) bool { return syscall.Kill(-pgid, syscall.SIGKILL) == nil }

func signalGroup(p *os.Process, sig syscall.Signal) { syscall.Kill(-p.Pid, sig) }

func exitOf(state *os.ProcessState) Exit {
	exit := Exit{Code: state.ExitCode(), Usage: usageOf(state)}
	if w, ok := state.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		exit.Code, exit.Signal = 128+int(w.Signal()), w.Signal()
	}
	return exit
}

func usageOf(state *os.ProcessState) Usage {
	u := Usage{User: state.UserTime(), System: state.SystemTime()}
	if r, ok := state.SysUsage().(*syscall.Rusage); ok {
		u.MaxRSS = int64(r.Maxrss)
		if runtime.GOOS != "darwin" && runtime.GOOS != "ios" { // there it is in bytes
			u.MaxRSS <<= 10
		}
	}
	return u
}
