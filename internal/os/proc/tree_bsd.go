//go:build unix && !linux

package proc

import (
	"os"
	"runtime"
	"syscall"

	"github.com/flowrun/flowrun/internal/os/procid"
)

// tree is the first process of a step with the processes of its group.
type tree struct{ *os.Process }

// startTree starts a process in a session of its own.
func startTree(s Spec) (*tree, error) {
	p, err := os.StartProcess(s.Path, s.Args, &os.ProcAttr{Dir: s.Dir, Env: s.Env, Files: s.Files[:], Sys: newSession(s.TTY)})
	return &tree{p}, err
}

// wait waits for the first process.
func (t *tree) wait() Exit {
	state, err := t.Wait()
	if err != nil {
		return Exit{Code: 1}
	}
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

// ask asks all processes to end, and returns whether they can have noticed.
func (t *tree) ask() bool { return t.signal(syscall.SIGTERM) }

// kill ends all processes.
func (t *tree) kill() { t.signal(syscall.SIGKILL) }

func (t *tree) signal(sig syscall.Signal) bool { return syscall.Kill(-t.Pid, sig) == nil }

// left returns the processes of a step whose first process has ended. The system names only their group.
func (t *tree) left(s Spec) []procid.Info {
	if !t.signal(0) {
		return nil
	}
	return []procid.Info{{PID: t.Pid, Name: s.Args[0], Step: s.Step}}
}

// release gives up the tree without ending it.
func (t *tree) release() {}
